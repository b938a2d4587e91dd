//! Finding the interval that a number of two bytes is in, without searching.

use std::array;

/// Words of 64 numbers each.
const WORDS: usize = 1 << 10;

/// A bit for each number, set where an interval starts, and how many start in front of each word of 64 bits: ten kilobytes in
/// all. Two loads, neither of which waits for the other, tell the interval of a number, however many there are; a
/// [`super::search::SearchTree`] of a thousand starts takes three that wait for each other.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    starts: Box<[u64; WORDS]>,
    /// Starts in front of each word.
    before: Box<[u16; WORDS]>,
}

impl Ranks {
    /// For the starts of intervals: in order, different, of two bytes, none of them 0. What is below the first start is an
    /// interval, too.
    pub(super) fn new(starts: &[u32]) -> Ranks {
        let mut bits = [0u64; WORDS];
        for &start in starts {
            bits[start as usize / 64 % WORDS] |= 1 << (start % 64);
        }
        let mut passed = 0;
        let before = array::from_fn(|word| {
            let before = passed as u16; // at most 65,535 starts
            passed += bits[word].count_ones();
            before
        });
        Ranks { starts: Box::new(bits), before: Box::new(before) }
    }

    /// The number of starts that are not greater than a number.
    #[inline]
    pub(super) fn find(&self, number: u32) -> usize {
        let word = number as usize / 64 % WORDS;
        let started = self.starts[word] & u64::MAX >> (63 - number % 64);
        usize::from(self.before[word]) + started.count_ones() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_a_walk_finds(
            starts in prop::collection::btree_set(prop_oneof![1u32..=0xffff, 1u32..200, 0xfff0u32..=0xffff], 0..600),
            numbers in prop::collection::vec(0u32..=0xffff, 50),
        ) {
            let starts: Vec<u32> = starts.into_iter().collect();
            let ranks = Ranks::new(&starts);
            let edges = starts.iter().flat_map(|&start| [start - 1, start, (start + 1).min(0xffff)]);
            for number in numbers.into_iter().chain(edges).chain([0, 0xffff]) {
                prop_assert_eq!(ranks.find(number), starts.iter().filter(|&&start| start <= number).count());
            }
        }
    }

    /// Every number but 0 starts an interval: the most that there can be.
    #[test]
    fn all_numbers() {
        let ranks = Ranks::new(&(1..=0xffff).collect::<Vec<u32>>());
        assert!((0..=0xffff).all(|number| ranks.find(number) == number as usize));
    }
}
