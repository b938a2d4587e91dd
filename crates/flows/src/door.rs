//! Which hashes came lately, as far as a small memory can tell.

/// Marks for each unconfirmed flow that there can be.
const MARKS: usize = 4;
/// Marks at least, and at most: 128 KiB, which stays in a processor's own caches.
const LEAST: usize = 1 << 10;
const MOST: usize = 1 << 16;

/// A mark for each place, of the hash that came last for it. Another hash has the same mark once in 65,536 times.
pub(crate) struct Door {
    marks: Box<[u16]>,
}

impl Door {
    /// A door, shut, or one that is open for all.
    pub(crate) fn new(unconfirmed: usize, shut: bool) -> Door {
        let marks = (MARKS * unconfirmed).next_power_of_two().clamp(LEAST, MOST);
        Door { marks: vec![0; if shut { marks } else { 0 }].into() }
    }

    /// Whether a hash came before, and was not forgotten since for another one.
    #[inline]
    pub(crate) fn knows(&mut self, hash: u64) -> bool {
        let at = (hash >> 8) as usize & self.marks.len().wrapping_sub(1);
        let Some(mark) = self.marks.get_mut(at) else { return true };
        let new = (hash >> 40) as u16;
        std::mem::replace(mark, new) == new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_came() {
        let mut door = Door::new(100, true);
        let hash = |number: u64| (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        assert!((0..100).all(|number| !door.knows(hash(number))));
        let known = (0..100).filter(|&number| door.knows(hash(number))).count();
        assert!(known > 70, "{known}: few share a place");
        (1000..100_000).for_each(|number| assert!(!door.knows(hash(number)) || number > 5000));
        assert!((0..100).filter(|&number| door.knows(hash(number))).count() < 5, "a flood makes it forget");
        assert!(Door::new(100, false).knows(5));
    }
}
