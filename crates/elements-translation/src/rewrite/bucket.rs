//! Buckets of a flow table's index: cache lines of twelve slots, each with a lock.
//!
//! See [`super::index`].

use super::sync::{AtomicU32, AtomicU64, LINES, SLOTS, pause, try_set};
use std::hint::select_unpredictable;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Tags in the first word; the others are in the lower half of the second one.
const FIRST: usize = 8;
/// Where the second word counts entries that went past the bucket.
const PAST: u64 = 1 << 32;
/// Set in the second word while an updater has the bucket.
const LOCK: u64 = 1 << 63;
/// The bits of that count.
const COUNT: u64 = LOCK - PAST;

/// Each byte is one.
const ONES: u64 = 0x0101_0101_0101_0101;
/// Each byte's lower bits.
const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
/// The bytes of both words that are tags.
const TAGS: [u64; 2] = [bytes(SLOTS), bytes(SLOTS.saturating_sub(FIRST))];

/// So many of a word's lower bytes, up to all.
const fn bytes(number: usize) -> u64 {
    if number < 8 { (1 << (8 * number)) - 1 } else { u64::MAX }
}

/// Some slots of a bucket: bit 7 of a byte is the first word's slot, bit 3 the second word's.
#[derive(Clone, Copy)]
pub(super) struct Slots(u64);

impl Iterator for Slots {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(bit / 8 + if bit & 4 == 0 { FIRST as u32 } else { 0 })
    }
}

/// Twelve slots for entries.
#[repr(align(64))]
#[derive(Default)]
pub(super) struct Bucket {
    /// Tags, 0 for empty slots; then the count of entries that went past, and the lock.
    words: [AtomicU64; 2],
    entries: [AtomicU32; SLOTS],
}

const _: () = assert!(size_of::<Bucket>() == 64 || !LINES);

/// The bytes of a word that are equal to a tag: the highest bit of each.
#[inline]
fn equal(word: u64, tag: u8) -> u64 {
    let other = word ^ (ONES * u64::from(tag));
    !(((other & LOW) + LOW) | other | LOW)
}

/// The tag of a hash: never 0.
#[inline]
pub(super) fn tag(hash: u64) -> u8 {
    ((hash >> 56) as u8).max(1)
}

impl Bucket {
    /// The slots with a tag, and whether entries went past the bucket.
    #[inline]
    pub(super) fn slots(&self, tag: u8) -> (Slots, bool) {
        // Acquire: who sees a tag sees the entry's number, and its record filled in.
        let words = [&self.words[0], &self.words[1]].map(|word| word.load(Acquire));
        (Bucket::with(words, tag), words[1] & COUNT != 0)
    }

    /// Whether entries went past the bucket.
    #[inline]
    pub(super) fn was_passed(&self) -> bool {
        self.words[1].load(Acquire) & COUNT != 0
    }

    #[inline]
    fn with([first, second]: [u64; 2], tag: u8) -> Slots {
        Slots(equal(first, tag) & TAGS[0] | (equal(second, tag) & TAGS[1]) >> 4)
    }

    /// The first of the entries in some slots for which `is` holds.
    #[inline]
    pub(super) fn pick(&self, slots: Slots, is: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        let mut entries = slots.map(|slot| self.entry(slot));
        entries.find(|&entry| is(entry))
    }

    /// Tries to become the one who may change the bucket.
    #[inline]
    pub(super) fn try_lock(&self) -> bool {
        let word = self.words[1].load(Relaxed);
        word & LOCK == 0 && try_set(&self.words[1], word, word | LOCK)
    }

    /// Waits for that.
    pub(super) fn lock(&self) {
        let mut tries = 0;
        while !self.try_lock() {
            pause(&mut tries);
        }
    }

    /// Lets others change it. For the updater.
    #[inline]
    pub(super) fn unlock(&self) {
        // Release: who locks it next sees what was changed, here and for the entries whose home this is.
        self.words[1].store(self.words[1].load(Relaxed) & !LOCK, Release);
    }

    /// The empty slots. For the updater.
    #[inline]
    pub(super) fn vacant(&self) -> Slots {
        Bucket::with([&self.words[0], &self.words[1]].map(|word| word.load(Relaxed)), 0)
    }

    /// The first empty slot, if no entry has this tag, here or further on. For the updater.
    #[inline]
    pub(super) fn open(&self, tag: u8) -> Option<u32> {
        let words = [&self.words[0], &self.words[1]].map(|word| word.load(Acquire));
        let may_be_there = Bucket::with(words, tag).0 | words[1] & COUNT;
        if may_be_there != 0 { None } else { Bucket::with(words, 0).next() }
    }

    /// The entries. For the updater.
    pub(super) fn all(&self) -> impl Iterator<Item = u32> {
        let [first, second] = [&self.words[0], &self.words[1]].map(|word| !equal(word.load(Relaxed), 0));
        let high = !LOW;
        Slots(first & high & TAGS[0] | (second & high & TAGS[1]) >> 4).map(|slot| self.entry(slot))
    }

    /// The first slot with a tag; none has the number that is returned otherwise.
    #[inline]
    pub(super) fn first(&self, tag: u8) -> u32 {
        // Acquire: as above.
        let [first, second] = [&self.words[0], &self.words[1]].map(|word| equal(word.load(Acquire), tag));
        // The count behind the last tags may look like tags, of slots behind the last; so does a word without the tag.
        let [first_at, second_at] = [first, second].map(|bits| bits.trailing_zeros() / 8);
        select_unpredictable(first != 0, first_at, FIRST as u32 + second_at)
    }

    #[inline]
    pub(super) fn entry(&self, slot: u32) -> u32 {
        self.entries.get(slot as usize).map_or(u32::MAX, |entry| entry.load(Relaxed))
    }

    /// Sets a slot's tag. For the updater.
    pub(super) fn set_tag(&self, slot: usize, tag: u8) {
        let (word, shift) = (&self.words[slot / FIRST], slot % FIRST * 8);
        let others = word.load(Relaxed) & !(0xff << shift);
        word.store(others | u64::from(tag) << shift, Release);
    }

    /// Puts an entry into an empty slot. For the updater.
    #[inline]
    pub(super) fn fill(&self, slot: u32, tag: u8, entry: u32) {
        self.entries[slot as usize].store(entry, Relaxed);
        self.set_tag(slot as usize, tag);
    }

    /// Whether it is as it was made.
    #[cfg(test)]
    pub(super) fn is_clear(&self) -> bool {
        self.words.iter().all(|word| word.load(Relaxed) == 0)
    }

    /// One entry more, or less, went past. For the updater.
    pub(super) fn went_past(&self, less: bool) {
        let count = self.words[1].load(Relaxed);
        self.words[1].store(if less { count - PAST } else { count + PAST }, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots are told apart by their tags, whatever the count of entries that went past; and the first empty one is filled.
    #[test]
    fn slots_of_a_bucket() {
        let bucket = Bucket::default();
        (0..3).for_each(|_| bucket.went_past(false));
        assert!(bucket.try_lock() && !bucket.try_lock());
        let tags = [5, 5, 1, 255, 128, 127, 5, 1, 5, 2, 5, 3];
        for (at, tag) in tags.into_iter().enumerate() {
            let vacant = bucket.vacant().next().expect("an empty slot");
            assert_eq!((bucket.all().count(), bucket.slots(tag).1), (at, true));
            bucket.fill(vacant, tag, vacant + 100);
        }
        assert_eq!(bucket.vacant().next(), None);
        assert_eq!(bucket.open(9), None);
        for wanted in [1, 2, 3, 4, 5, 127, 128, 255] {
            let count = tags.iter().filter(|&&tag| tag == wanted).count();
            assert_eq!(bucket.slots(wanted).0.count(), count, "{wanted}");
        }
        let all: std::collections::BTreeSet<u32> = bucket.all().collect();
        assert!(all.into_iter().eq(100..112));
        bucket.set_tag(9, 0);
        assert_eq!((bucket.vacant().next(), bucket.all().count()), (Some(9), 11));
        bucket.unlock();
        assert!(bucket.slots(1).1, "the count is still there");
        assert_eq!(bucket.open(9), None);
        (0..3).for_each(|_| bucket.went_past(true));
        assert_eq!([1, 2, 9].map(|tag| bucket.open(tag)), [None, None, Some(9)]);
        assert!(!bucket.slots(1).1 && bucket.try_lock() && !bucket.slots(1).1);
    }

    /// The count of entries that went past a bucket stands where more tags would.
    #[test]
    fn counts_are_no_tags() {
        let bucket = Bucket::default();
        (0..5).for_each(|_| bucket.went_past(false));
        bucket.lock();
        assert_eq!(bucket.entry(bucket.first(5)), u32::MAX);
        bucket.entries[SLOTS - 1].store(7, Relaxed);
        bucket.set_tag(SLOTS - 1, 5);
        assert_eq!(bucket.entry(bucket.first(5)), 7);
    }

    #[test]
    fn equal_bytes_are_found_in_a_word() {
        assert_eq!(equal(0x05_00_05_80_01_ff_04_05, 5), 0x80_00_80_00_00_00_00_80);
        assert_eq!(equal(0, 1), 0);
    }
}
