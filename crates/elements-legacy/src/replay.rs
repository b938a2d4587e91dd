//! Which sequence numbers of an association have come. Several workers may ask at once: each number is for one of them.

use elements_shared::replay_window::Refused;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Numbers that share a word.
const IN_WORD: u32 = 32;
/// Words in the ring: more than the largest window of 255 numbers touches.
const WORDS: usize = 16;

/// A window of up to 255 numbers, without a lock. A word of the ring is for 32 numbers in a row: in the upper half, which, counted from
/// 1; in the lower, those of them that have come. A word goes on to later numbers only, and none of those before them may come then.
pub(super) struct Replay {
    first: u32,
    size: u32,
    greatest: AtomicU32,
    words: [AtomicU64; WORDS],
}

impl Replay {
    /// A window of `size` numbers, which begin at `first`.
    pub(super) fn new(first: u32, size: u8) -> Replay {
        let size = u32::from(size.max(1));
        Replay { first, size, greatest: AtomicU32::new(0), words: Default::default() }
    }

    /// The greatest number that has come, 0 if none has.
    pub(super) fn greatest(&self) -> u32 {
        self.greatest.load(Ordering::Relaxed)
    }

    /// Takes a number. Words alone decide who gets one; nothing else depends on them, so any order of memory will do.
    ///
    /// # Errors
    /// [`Refused`], if it has come, or is too old for that to be known.
    pub(super) fn take(&self, number: u32) -> Result<(), Refused> {
        let greatest = self.greatest();
        if number < self.first.max(1) || number < greatest && greatest - number >= self.size {
            return Err(Refused::Old);
        }
        let (row, bit) = (u64::from(number / IN_WORD) + 1, 1 << (number % IN_WORD));
        let mark = |word: u64| match word >> 32 {
            old if old < row => Some(row << 32 | bit),
            now if now == row && word & bit == 0 => Some(word | bit),
            _ => None,
        };
        let word = &self.words[(number / IN_WORD) as usize % WORDS];
        match word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, mark) {
            Ok(_) => {
                self.greatest.fetch_max(number, Ordering::Relaxed);
                Ok(())
            }
            Err(word) if word >> 32 == row => Err(Refused::Again),
            Err(_) => Err(Refused::Old),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against a set of numbers, with steps farther than the ring is long.
        #[test]
        fn as_a_set_of_numbers(first in 1u32..1000, size in any::<u8>(), steps in prop::collection::vec(-300i64..700, 1..300)) {
            let (replay, mut seen) = (Replay::new(first, size), BTreeSet::new());
            for step in steps {
                let greatest = seen.last().copied().unwrap_or(0);
                let number = (i64::from(greatest.max(first)) + step).max(0) as u32;
                let expected = if number < first || number + u32::from(size.max(1)) <= greatest {
                    Err(Refused::Old)
                } else if seen.insert(number) {
                    Ok(())
                } else {
                    Err(Refused::Again)
                };
                prop_assert_eq!(replay.take(number), expected, "number {}", number);
                prop_assert_eq!(replay.greatest(), seen.last().copied().unwrap_or(0));
            }
        }
    }

    /// The last number is followed by none, and 0 never comes.
    #[test]
    fn at_the_ends() {
        let replay = Replay::new(0, 64);
        assert_eq!(
            [0, 1, u32::MAX, u32::MAX, 0, 1].map(|number| replay.take(number).is_ok()),
            [false, true, true, false, false, false]
        );
        assert_eq!(replay.take(u32::MAX - 63), Ok(()));
        assert_eq!(replay.take(u32::MAX - 64), Err(Refused::Old));
    }

    /// Of several threads that take the same numbers, one at most gets each.
    #[test]
    fn each_number_once() {
        const NUMBERS: usize = 20_000;
        let replay = Replay::new(1, 255);
        let taken: Vec<AtomicU32> = (0..NUMBERS).map(|_| AtomicU32::new(0)).collect();
        let take_all = || {
            for (number, taken) in (0..).zip(&taken) {
                taken.fetch_add(replay.take(number).is_ok().into(), Ordering::Relaxed);
            }
        };
        std::thread::scope(|scope| [(); 4].map(|()| drop(scope.spawn(take_all))));
        assert!(taken.iter().all(|taken| taken.load(Ordering::Relaxed) <= 1));
        assert_eq!(
            (replay.greatest() as usize, taken[NUMBERS - 1].load(Ordering::Relaxed)),
            (NUMBERS - 1, 1)
        );
    }
}
