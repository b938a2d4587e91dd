//! How far a packet that is alone goes in one stretch.

/// Hops that are left of a stretch. Work that an element makes for the worker cuts it short, so that one look after each hop tells both.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leash(i32);

/// Marks a leash that was cut. What is left stays to be read.
const CUT: i32 = i32::MIN;

impl Leash {
    /// One of so many hops, at least one.
    pub(crate) fn of(hops: usize) -> Leash {
        Leash(i32::try_from(hops).unwrap_or(i32::MAX).max(1))
    }

    /// Ends the stretch with the hop that is being made.
    #[inline]
    pub(crate) fn cut(&mut self) {
        self.0 |= CUT;
    }

    /// A hop is made: whether there may be another.
    #[inline]
    pub(crate) fn step(&mut self) -> bool {
        self.0 = self.0.wrapping_sub(1);
        self.0 > 0
    }

    /// Hops that are left.
    #[inline]
    pub(crate) fn left(self) -> usize {
        (self.0 & !CUT) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_after_its_hops_or_when_it_is_cut() {
        let mut leash = Leash::of(3);
        assert_eq!([leash.step(), leash.step(), leash.step()], [true, true, false]);
        assert_eq!(leash.left(), 0);
        let mut leash = Leash::of(64);
        assert!(leash.step());
        leash.cut();
        leash.cut();
        assert!(!leash.step());
        assert_eq!(leash.left(), 62);
        let mut last = Leash::of(0);
        last.cut();
        assert!(!last.step());
        assert_eq!(last.left(), 0);
    }
}
