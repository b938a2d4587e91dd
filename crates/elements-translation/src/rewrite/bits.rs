//! A set of numbers in which the next one that is missing is found in a few words, however many are there.
//!
//! Words of bits, with a bit above for each word that is full, and so on until one word is left.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const BITS: usize = u64::BITS as usize;

/// The set. Several threads may add numbers at once; who removes one is alone. Readers see what is there at some time.
pub(super) struct Bits {
    /// The lowest level first.
    levels: Box<[Box<[AtomicU64]>]>,
}

/// Words for so many bits, of which those in excess are set.
fn words(bits: usize) -> Box<[AtomicU64]> {
    let word = |at: usize| match bits - at * BITS {
        inside if inside >= BITS => 0,
        inside => u64::MAX << inside,
    };
    (0..bits.div_ceil(BITS)).map(|at| AtomicU64::new(word(at))).collect()
}

impl Bits {
    /// None of the numbers up to the largest one is there.
    pub(super) fn new(top: u32) -> Bits {
        let mut levels = vec![words(top as usize + 1)];
        while let Some(above) = levels.last().map(|below| below.len()).filter(|&words| words > 1) {
            levels.push(words(above));
        }
        Bits { levels: levels.into() }
    }

    /// Bytes that a set up to this number takes.
    pub(super) fn bytes(top: u32) -> usize {
        (top as usize + 1).div_ceil(BITS) * 8 * 65 / 64 + 128
    }

    /// Adds a number.
    pub(super) fn add(&self, number: u32) {
        let mut at = number as usize;
        for level in &self.levels {
            let bit = 1 << (at % BITS);
            let before = level[at / BITS].fetch_or(bit, Relaxed);
            if before & bit != 0 || before | bit != u64::MAX {
                return;
            }
            at /= BITS;
        }
    }

    /// Removes a number. No other thread may change the set meanwhile.
    pub(super) fn remove(&self, number: u32) {
        let mut at = number as usize;
        for level in &self.levels {
            let before = level[at / BITS].fetch_and(!(1 << (at % BITS)), Relaxed);
            if before != u64::MAX {
                return;
            }
            at /= BITS;
        }
    }

    /// The first number from here on that is missing; how many words it takes is added to `looks`.
    pub(super) fn missing(&self, from: u32, looks: &mut usize) -> Option<u32> {
        let (mut level, mut at) = (0, from as usize);
        loop {
            let word = self.levels.get(level)?.get(at / BITS)?.load(Relaxed);
            *looks += 1;
            let gaps = !word & u64::MAX << (at % BITS);
            let found = at / BITS * BITS + gaps.trailing_zeros() as usize;
            match (gaps, level) {
                (0, _) => (level, at) = (level + 1, at / BITS + 1),
                (_, 0) => return Some(found as u32),
                _ => (level, at) = (level - 1, found * BITS),
            }
        }
    }

    /// How many numbers are there, about: those in excess count, too.
    pub(super) fn count(&self) -> usize {
        self.levels[0].iter().map(|word| word.load(Relaxed).count_ones() as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Words of a search, at most: up all levels and down again.
    const WORDS: usize = 7;

    proptest! {
        /// Numbers come and go as in a naive set, by runs, so that words and words of words fill up.
        #[test]
        fn as_a_naive_set(
            top in prop_oneof![0u32..200, 3900u32..4300, 64_000u32..66_000, 262_000u32..263_000],
            ops in prop::collection::vec((0u8..6, any::<u32>(), any::<u32>()), 1..60),
        ) {
            let (bits, mut naive) = (Bits::new(top), BTreeSet::new());
            let mut looks = 0;
            for (what, from, more) in ops {
                let from = from % (top + 1);
                let run = from..=from.saturating_add(more % [1, 70, 5000, 70_000][more as usize % 4]).min(top);
                match what {
                    0..3 => run.for_each(|number| {
                        bits.add(number);
                        naive.insert(number);
                    }),
                    3 => run.for_each(|number| {
                        bits.remove(number);
                        naive.remove(&number);
                    }),
                    _ => {}
                }
                for from in [from, 0, top] {
                    let before = looks;
                    let missing = (from..=top).find(|number| !naive.contains(number));
                    prop_assert_eq!(bits.missing(from, &mut looks), missing);
                    prop_assert!(looks - before <= WORDS);
                }
                let excess = bits.levels[0].len() * BITS - top as usize - 1;
                prop_assert_eq!(bits.count() - excess, naive.len());
            }
        }
    }

    /// Two threads that fill one word after the other leave no word above that does not know of it.
    #[test]
    fn two_that_add() {
        for _ in 0..50 {
            let bits = Bits::new(8191);
            let add = |first: u32| (first..8192).step_by(2).for_each(|number| bits.add(number));
            std::thread::scope(|scope| (0..2).for_each(|first| _ = scope.spawn(move || add(first))));
            let mut looks = 0;
            assert_eq!(bits.missing(0, &mut looks), None);
            assert!(looks <= WORDS, "{looks}");
            bits.remove(4000);
            assert_eq!(bits.missing(0, &mut looks), Some(4000));
        }
    }
}
