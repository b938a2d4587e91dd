//! Finding the interval that a number of two bytes is in, without searching.

/// Words of 32 numbers each.
const WORDS: usize = 1 << 11;

/// A bit for each number, set where an interval starts, in the lower halves of words, whose upper halves say how many start in front of the
/// word: sixteen kilobytes in all. One load tells the interval of a number, however many there are; a
/// [`super::search::SearchTree`] of a thousand starts takes three that wait for each other. Words have no more bits than 32
/// because counting those of 64 takes twice as many instructions where the processor may have none for it.
#[derive(Clone, Debug)]
pub(super) struct Ranks(Box<[u64; WORDS]>);

impl Ranks {
    /// For the starts of intervals: in order, different, of two bytes, none of them 0. What is below the first start is an
    /// interval, too.
    pub(super) fn new(starts: &[u32]) -> Ranks {
        let mut words = Box::new([0u64; WORDS]);
        for &start in starts {
            words[start as usize / 32 % WORDS] |= 1 << (start % 32);
        }
        let mut passed = 0;
        for word in words.iter_mut() {
            let own = u64::from(word.count_ones());
            *word |= passed << 32;
            passed += own;
        }
        Ranks(words)
    }

    /// The number of starts that are not greater than a number.
    #[inline]
    pub(super) fn find(&self, number: u32) -> usize {
        let word = self.0[number as usize / 32 % WORDS];
        let started = word as u32 & u32::MAX >> (31 - number % 32);
        (word >> 32) as usize + started.count_ones() as usize
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
