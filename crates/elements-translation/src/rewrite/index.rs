//! The index of a flow table: which entries a hash may belong to.
//!
//! Buckets are cache lines of twelve slots: a tag of eight bits for each, all of which are compared at once, and the
//! entries' numbers. An entry is in the first bucket on its path that had room for it; each bucket counts the entries that
//! went past it, so that a search ends at a bucket that nothing went past. Readers take no lock. An updater
//! writes an entry's number, then its tag. The index consists of shards, each of which is replaced by a larger copy of
//! itself when it fills up, through RCU: a reader goes on with the old copy, in which everything is that was there when it
//! began. An updater of a shard holds its lock; updaters of different shards work side by side.

use super::sync::{AtomicU32, AtomicU64, Cell, LINES, SHARDS, SLOTS, ShardGuard, ShardLock, in_order};
use rcu::{Turn, Updater};
use std::hint::select_unpredictable;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Buckets whose entries' hashes are found together when a shard grows: the loads do not wait for each other.
const TOGETHER: usize = 4;
/// Tags in the first word; the others are in the lower half of the second one.
const FIRST: usize = 8;
/// Where the second word counts entries that went past the bucket.
const PAST: u64 = 1 << 32;

/// Each byte is one.
const ONES: u64 = 0x0101_0101_0101_0101;
/// Each byte's lower bits.
const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;

#[repr(align(64))]
#[derive(Default)]
struct Bucket {
    /// Tags, 0 for empty slots; and the count of entries that went past.
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
fn tag(hash: u64) -> u8 {
    ((hash >> 56) as u8).max(1)
}

impl Bucket {
    /// The slots with a tag, as bits, and whether entries went past the bucket.
    #[inline]
    fn slots(&self, tag: u8) -> (u32, bool) {
        // Acquire: who sees a tag sees the entry's number, and its record filled in.
        let [first, second] = [&self.words[0], &self.words[1]].map(|word| word.load(Acquire));
        (gather(equal(first, tag)) | gather(equal(second, tag)) << FIRST & ((1 << SLOTS) - 1), second >= PAST)
    }

    /// The first slot with a tag; none has the number that is returned otherwise.
    #[inline]
    fn first(&self, tag: u8) -> u32 {
        // Acquire: as above.
        let [first, second] = [&self.words[0], &self.words[1]].map(|word| equal(word.load(Acquire), tag));
        // The count behind the last tags may look like tags, of slots behind the last; so does a word without the tag.
        let [first_at, second_at] = [first, second].map(|bits| bits.trailing_zeros() / 8);
        select_unpredictable(first != 0, first_at, FIRST as u32 + second_at)
    }

    #[inline]
    fn entry(&self, slot: u32) -> u32 {
        self.entries.get(slot as usize).map_or(u32::MAX, |entry| entry.load(Relaxed))
    }

    fn tag_of(&self, slot: usize) -> u8 {
        (self.words[slot / FIRST].load(Relaxed) >> (slot % FIRST * 8)) as u8
    }

    /// Sets a slot's tag. For the updater.
    fn set_tag(&self, slot: usize, tag: u8) {
        let (word, shift) = (&self.words[slot / FIRST], slot % FIRST * 8);
        let others = word.load(Relaxed) & !(0xff << shift);
        word.store(others | u64::from(tag) << shift, Release);
    }

    fn is_empty(&self, slot: usize) -> bool {
        self.tag_of(slot) == 0
    }

    /// One entry more, or less, went past. For the updater.
    fn went_past(&self, less: bool) {
        let count = self.words[1].load(Relaxed);
        self.words[1].store(if less { count - PAST } else { count + PAST }, Release);
    }
}

/// The highest bits of a word's bytes as the lowest bits.
#[inline]
fn gather(bits: u64) -> u32 {
    // Each factor's bit moves one byte's bit to its place in the highest byte; no two meet elsewhere.
    ((bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
}

/// One version of a shard.
struct Table {
    buckets: Box<[Bucket]>,
}

impl Table {
    fn new(buckets: usize) -> Table {
        let mut all = packet::roomy_vec(buckets);
        all.resize_with(buckets, Bucket::default);
        Table { buckets: all.into() }
    }

    /// The first bucket that an entry with this hash can be in.
    #[inline]
    fn home(&self, hash: u64) -> &Bucket {
        &self.buckets[self.place(hash)]
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        (hash as usize / SHARDS) & (self.buckets.len() - 1)
    }

    /// The buckets that an entry with this hash can be in, in the order of search.
    #[inline]
    fn path(&self, hash: u64) -> impl Iterator<Item = &Bucket> {
        let (home, mask) = (self.place(hash), self.buckets.len() - 1);
        (0..self.buckets.len()).map(move |i| &self.buckets[(home + i) & mask])
    }

    /// Puts an entry into the first free slot on its path. False if there is none.
    fn put(&self, hash: u64, entry: u32) -> bool {
        let has_room = |bucket: &Bucket| (0..SLOTS).position(|slot| bucket.is_empty(slot));
        let Some((past, slot)) =
            self.path(hash).enumerate().find_map(|(past, bucket)| Some((past, has_room(bucket)?)))
        else {
            return false;
        };
        // The count first: a search must not end before the bucket in which the entry will be.
        self.path(hash).take(past).for_each(|bucket| bucket.went_past(false));
        if let Some(bucket) = self.path(hash).nth(past) {
            bucket.entries[slot].store(entry, Relaxed);
            bucket.set_tag(slot, tag(hash));
        }
        true
    }

    /// Removes an entry, if it is there.
    fn take(&self, hash: u64, entry: u32) -> bool {
        let wanted = tag(hash);
        for (past, bucket) in self.path(hash).enumerate() {
            let is = |slot: &usize| bucket.tag_of(*slot) == wanted && bucket.entry(*slot as u32) == entry;
            if let Some(slot) = (0..SLOTS).find(is) {
                bucket.set_tag(slot, 0);
                self.path(hash).take(past).for_each(|bucket| bucket.went_past(true));
                return true;
            }
            if !bucket.slots(wanted).1 {
                return false;
            }
        }
        false
    }
}

/// What is written with every change: apart from what look-ups read, and from what others write.
#[repr(align(128))]
struct Apart<T>(T);

/// The index.
pub(crate) struct Index {
    shards: [Cell<Table>; SHARDS],
    /// Entries of each shard, and the right to change it.
    live: [Apart<ShardLock>; SHARDS],
}

impl Default for Index {
    fn default() -> Index {
        Index {
            shards: std::array::from_fn(|_| Cell::new(Table::new(1))),
            live: std::array::from_fn(|_| Apart(ShardLock::new(0))),
        }
    }
}

/// The right to change the shards of two hashes, for as long as it lives.
pub(crate) struct Held<'i> {
    index: &'i Index,
    /// One, if both are the same.
    live: [Option<(usize, ShardGuard<'i>)>; 2],
}

#[inline]
fn shard_of(hash: u64) -> usize {
    hash as usize % SHARDS
}

/// Where the search for a hash begins, for a caller that searches for many at once.
#[derive(Clone, Copy)]
pub(super) struct Home<'t>(&'t Bucket);

impl Home<'_> {
    /// Asks for what [`Home::guess`] will look at.
    #[inline]
    pub(super) fn prefetch(self) {
        packet::prefetch(self.0);
    }

    /// The entry that the hash most likely belongs to, or `u32::MAX`. Without branches that depend on what is found.
    #[inline]
    pub(super) fn guess(self, hash: u64) -> u32 {
        self.0.entry(self.0.first(tag(hash)))
    }
}

impl Index {
    #[inline]
    fn shard<'t>(&'t self, turn: Turn<'t>, hash: u64) -> &'t Table {
        self.shards[shard_of(hash)].read(turn)
    }

    /// The first entry for which `is` holds, of those that may have this hash.
    #[inline]
    pub(crate) fn find(&self, turn: Turn<'_>, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let tag = tag(hash);
        for bucket in self.shard(turn, hash).path(hash) {
            let (mut slots, past) = bucket.slots(tag);
            while slots != 0 {
                let entry = bucket.entry(slots.trailing_zeros());
                if is(entry) {
                    return Some(entry);
                }
                slots &= slots - 1;
            }
            if !past {
                return None;
            }
        }
        None
    }

    /// Where the search for a hash begins.
    #[inline]
    pub(super) fn home<'t>(&'t self, turn: Turn<'t>, hash: u64) -> Home<'t> {
        Home(self.shard(turn, hash).home(hash))
    }

    /// Waits for the right to change the shards of these hashes. A caller that holds it must not ask again.
    pub(crate) fn hold(&self, hashes: [u64; 2]) -> Held<'_> {
        let [first, second] = in_order(hashes.map(shard_of));
        // A change is one to a shard's table, made by atomic stores, and then to this count: one that was left half done is no reason
        // to stop.
        let lock = |shard: usize| (shard, self.live[shard].0.lock().unwrap_or_else(PoisonError::into_inner));
        Held { index: self, live: [Some(lock(first)), (first != second).then(|| lock(second))] }
    }
}

impl Held<'_> {
    /// The number of entries in a shard that is held.
    fn live(&mut self, shard: usize) -> Option<&mut usize> {
        let held = self.live.iter_mut().flatten().find(|(held, _)| *held == shard);
        held.map(|(_, live)| &mut **live)
    }

    /// Adds an entry; its shard must be held. False if there is no room and none can be had now.
    pub(crate) fn insert(
        &mut self,
        turn: Turn<'_>,
        updater: &Updater,
        hash: u64,
        entry: u32,
        hash_of: impl Fn(u32) -> u64,
    ) -> bool {
        let (index, shard) = (self.index, shard_of(hash));
        let Some(live) = self.live(shard) else { return false };
        let slots = index.shards[shard].read(turn).buckets.len() * SLOTS;
        if (*live + 1) * 4 > slots * 3 {
            index.enlarge(turn, updater, shard, hash_of);
        }
        let done = index.shards[shard].read(turn).put(hash, entry);
        *live += usize::from(done);
        done
    }

    /// Removes an entry, if it is there; its shard must be held.
    pub(crate) fn remove(&mut self, turn: Turn<'_>, hash: u64, entry: u32) {
        let index = self.index;
        if let Some(live) = self.live(shard_of(hash)) {
            *live -= usize::from(index.shard(turn, hash).take(hash, entry));
        }
    }
}

impl Index {
    /// Replaces a shard by a copy of twice the size, for who holds it. If too much memory waits to be reclaimed the shard stays as it
    /// is.
    #[cold]
    fn enlarge(&self, turn: Turn<'_>, updater: &Updater, shard: usize, hash_of: impl Fn(u32) -> u64) {
        let old = self.shards[shard].read(turn);
        let new = Table::new(old.buckets.len() * 2);
        for buckets in old.buckets.chunks(TOGETHER) {
            let (mut entries, mut count) = ([(0, 0); TOGETHER * SLOTS], 0);
            for bucket in buckets {
                for slot in (0..SLOTS).filter(|&slot| !bucket.is_empty(slot)) {
                    let entry = bucket.entry(slot as u32);
                    entries[count] = (hash_of(entry), entry);
                    count += 1;
                }
            }
            for &(hash, entry) in &entries[..count] {
                new.put(hash, entry); // there is room
            }
        }
        let bytes = size_of_val(&*old.buckets);
        // Refused, the old one goes on filling up.
        let _ = self.shards[shard].replace_weighing(Box::new(new), bytes, updater);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rcu::Domain;
    use std::collections::HashMap;

    proptest! {
        /// Entries come and go as in a map from hashes, with hashes that collide often.
        #[test]
        fn as_a_map(ops in prop::collection::vec((any::<bool>(), 0u64..400), 0..2000)) {
            let reader = Domain::global().register("test");
            let turn = reader.turn();
            let index = Index::default();
            let updater = Domain::global().updater();
            // One shard, few tags: the paths overlap.
            let hash_of = |entry: u32| (u64::from(entry) % 7) << 56 | (u64::from(entry) % 64) << 6;
            let mut model: HashMap<u32, ()> = HashMap::new();
            for (insert, entry) in ops {
                let entry = entry as u32;
                match (insert, model.contains_key(&entry)) {
                    (true, false) => {
                        let hash = hash_of(entry);
                        prop_assert!(index.hold([hash; 2]).insert(turn, &updater, hash, entry, hash_of));
                        model.insert(entry, ());
                    }
                    (false, true) => {
                        index.hold([hash_of(entry); 2]).remove(turn, hash_of(entry), entry);
                        model.remove(&entry);
                    }
                    _ => {}
                }
            }
            for entry in 0..400 {
                let found = index.find(turn, hash_of(entry), |found| found == entry);
                prop_assert_eq!(found.is_some(), model.contains_key(&entry));
            }
            // Nothing is left behind that would make searches longer.
            for entry in 0..400 {
                if model.contains_key(&entry) {
                    index.hold([hash_of(entry); 2]).remove(turn, hash_of(entry), entry);
                }
            }
            let words = index.shards[0].read(turn).buckets.iter().flat_map(|bucket| &bucket.words);
            prop_assert!(words.into_iter().all(|word| word.load(Relaxed) == 0));
        }
    }

    /// The count of entries that went past a bucket stands where more tags would.
    #[test]
    fn counts_are_no_tags() {
        let bucket = Bucket::default();
        (0..5).for_each(|_| bucket.went_past(false));
        assert_eq!(Home(&bucket).guess(5 << 56), u32::MAX);
        bucket.entries[SLOTS - 1].store(7, Relaxed);
        bucket.set_tag(SLOTS - 1, 5);
        assert_eq!(Home(&bucket).guess(5 << 56), 7);
    }

    #[test]
    fn equal_bytes_are_found_in_a_word() {
        assert_eq!(equal(0x05_00_05_80_01_ff_04_05, 5), 0x80_00_80_00_00_00_00_80);
        assert_eq!(equal(0, 1), 0);
        assert_eq!(gather(0x80_00_80_00_00_00_00_80), 0b1010_0001);
        for bit in 0..8 {
            assert_eq!(gather(0x80 << (8 * bit)), 1 << bit);
        }
        assert_eq!(gather(!LOW), 0xff);
    }
}
