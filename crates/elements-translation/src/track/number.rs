//! Numbers by which packets say which table remembers their connections.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Numbers in use, a bit for each. Number 0 is none.
static USED: AtomicU32 = AtomicU32::new(1);

/// A number that no other table has, or 0 if all are taken.
#[derive(Debug)]
pub(super) struct Number(u8);

impl Number {
    /// Takes a number.
    pub(super) fn take() -> Number {
        let free = |used: u32| (!used != 0).then(|| used | (used + 1));
        let before = USED.fetch_update(Relaxed, Relaxed, free);
        Number(before.map_or(0, |used| used.trailing_ones() as u8))
    }

    /// From 1 to 31, or 0.
    #[inline]
    pub(super) fn get(&self) -> u8 {
        self.0
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        if self.0 != 0 {
            USED.fetch_and(!(1 << self.0), Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_have_one_at_the_same_time() {
        let all: Vec<Number> = (0..40).map(|_| Number::take()).collect();
        let taken: Vec<u8> = all.iter().map(Number::get).filter(|&number| number != 0).collect();
        assert!(taken.iter().all(|&number| number < 32));
        assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), taken.len());
        drop(all);
        // Other tests take some meanwhile, but never all.
        assert_ne!(Number::take().get(), 0);
    }
}
