//! A bucket of the index: twelve tags in a cache line, all compared at once.

/// Records that a bucket names.
pub(crate) const SLOTS: usize = 12;

/// Each byte is one.
const ONES: u64 = 0x0101_0101_0101_0101;
/// Each byte's highest bit.
const HIGH: u64 = 0x8080_8080_8080_8080;
/// The bytes of the second word that are tags.
const TAGS: u64 = 0xffff_ffff;
/// Where the second word counts records that went past the bucket.
const PAST: u64 = 1 << 32;

/// The tag of an empty slot. Those of hashes begin at 2, so that none is next to it: see [`Bucket::alike`].
const EMPTY: u8 = 0;

/// A cache line.
#[repr(C, align(64))]
#[derive(Clone, Default)]
pub(crate) struct Bucket {
    /// Tags, and the count of records that went past.
    words: [u64; 2],
    numbers: [u32; SLOTS],
}

const _: () = assert!(size_of::<Bucket>() == 64);

/// The tag of a hash.
#[inline]
pub(crate) fn tag(hash: u64) -> u8 {
    ((hash >> 56) as u8).max(2)
}

/// Some slots of a bucket.
#[derive(Clone, Copy)]
pub(crate) struct Slots(u64);

impl Iterator for Slots {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        // Bit 7 of a byte is the first word's, bit 3 the second word's.
        Some(bit / 8 + if bit & 4 == 0 { 8 } else { 0 })
    }
}

impl Bucket {
    /// The slots with a tag, and now and then others that are not empty: where a tag differs in its lowest bit alone from the one that
    /// is looked for, which a lower slot has.
    #[inline]
    pub(crate) fn alike(&self, tag: u8) -> Slots {
        let wanted = ONES * u64::from(tag);
        let [first, second] = self.words.map(|word| {
            let other = word ^ wanted;
            other.wrapping_sub(ONES) & !other & HIGH
        });
        Slots(first | (second & TAGS) >> 4)
    }

    /// An empty slot.
    #[inline]
    pub(crate) fn vacant(&self) -> Option<usize> {
        // The lowest byte that this finds is empty, whatever is above it.
        let [first, second] = self.words.map(|word| word.wrapping_sub(ONES) & !word & HIGH);
        match (first, second & TAGS) {
            (0, 0) => None,
            (0, second) => Some(8 + second.trailing_zeros() as usize / 8),
            (first, _) => Some(first.trailing_zeros() as usize / 8),
        }
    }

    /// What a slot names; of an empty one, something that was there.
    #[inline]
    pub(crate) fn number(&self, slot: usize) -> u32 {
        self.numbers.get(slot).copied().unwrap_or(u32::MAX)
    }

    pub(crate) fn set(&mut self, slot: usize, tag: u8, number: u32) {
        self.numbers[slot] = number;
        self.set_tag(slot, tag);
    }

    pub(crate) fn clear(&mut self, slot: usize) {
        self.set_tag(slot, EMPTY);
    }

    fn set_tag(&mut self, slot: usize, tag: u8) {
        let (word, shift) = (&mut self.words[slot / 8], slot % 8 * 8);
        *word = *word & !(0xff << shift) | u64::from(tag) << shift;
    }

    /// What the slots name that are not empty.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        (0..SLOTS)
            .filter(|slot| (self.words[slot / 8] >> (slot % 8 * 8)) as u8 != EMPTY)
            .map(|slot| self.numbers[slot])
    }

    /// Whether records went past the bucket.
    #[inline]
    pub(crate) fn was_passed(&self) -> bool {
        self.words[1] >= PAST
    }

    /// One record more went past.
    pub(crate) fn pass(&mut self) {
        self.words[1] += PAST;
    }

    /// One record less went past.
    pub(crate) fn unpass(&mut self) {
        self.words[1] -= PAST;
    }

    /// Whether it is as in the beginning, but for numbers that nothing looks at.
    #[cfg(test)]
    pub(crate) fn is_clear(&self) -> bool {
        self.words == [0; 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// All slots with a tag are found, and of others none that is empty; and an empty slot is found if there is one.
        #[test]
        fn finds_tags(tags in prop::collection::vec(prop_oneof![Just(0u8), 2u8..6, Just(255)], SLOTS), wanted in 2u8..6, past in 0u32..3) {
            let mut bucket = Bucket::default();
            for (slot, &tag) in tags.iter().enumerate() {
                bucket.set(slot, tag, slot as u32);
            }
            (0..past).for_each(|_| bucket.pass());
            let found: Vec<usize> = bucket.alike(wanted).collect();
            for (slot, &tag) in tags.iter().enumerate() {
                prop_assert!(found.contains(&slot) || tag != wanted, "{slot} missing");
            }
            for slot in found {
                prop_assert!(slot < SLOTS && tags[slot] != EMPTY && tags[slot] ^ wanted <= 1, "{slot}");
            }
            match bucket.vacant() {
                Some(slot) => prop_assert_eq!(tags[slot], EMPTY),
                None => prop_assert!(!tags.contains(&EMPTY)),
            }
            prop_assert_eq!(bucket.was_passed(), past > 0);
            prop_assert_eq!(bucket.numbers().count(), tags.iter().filter(|&&tag| tag != EMPTY).count());
        }
    }
}
