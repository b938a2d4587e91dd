//! The index of a flow table: which entries a hash may belong to.
//!
//! Buckets are cache lines of twelve slots: a tag of eight bits for each, all of which are compared at once, and the
//! entries' numbers. An entry is in the first bucket on its path that had room for it; each bucket counts the entries that
//! went past it, so that a search ends at a bucket that nothing went past. Readers take no lock. An updater
//! writes an entry's number, then its tag. The index consists of shards, each of which is replaced by a larger copy of
//! itself when it fills up, through RCU: a reader goes on with the old copy, in which everything is that was there when it
//! began. An updater of a shard holds its lock; updaters of different shards work side by side.

use super::sync::{AtomicU32, AtomicU64, Cell, LINES, SHARDS, SLOTS, ShardGuard, ShardLock, in_order};
use packet::Roomy;
use rcu::{Turn, Updater};
use std::hint::select_unpredictable;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Buckets whose entries' records are asked for together when a shard grows: the loads do not wait for each other.
const TOGETHER: usize = 4;
/// Tags in the first word; the others are in the lower half of the second one.
const FIRST: usize = 8;
/// Where the second word counts entries that went past the bucket.
const PAST: u64 = 1 << 32;

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
struct Slots(u64);

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
    /// The slots with a tag, and whether entries went past the bucket.
    #[inline]
    fn slots(&self, tag: u8) -> (Slots, bool) {
        // Acquire: who sees a tag sees the entry's number, and its record filled in.
        let words = [&self.words[0], &self.words[1]].map(|word| word.load(Acquire));
        (Bucket::with(words, tag), words[1] >= PAST)
    }

    #[inline]
    fn with([first, second]: [u64; 2], tag: u8) -> Slots {
        Slots(equal(first, tag) & TAGS[0] | (equal(second, tag) & TAGS[1]) >> 4)
    }

    /// The first of the entries in some slots for which `is` holds.
    #[inline]
    fn pick(&self, slots: Slots, is: &mut impl FnMut(u32) -> bool) -> Option<u32> {
        let mut entries = slots.map(|slot| self.entry(slot));
        entries.find(|&entry| is(entry))
    }

    /// An empty slot. For the updater.
    #[inline]
    fn vacant(&self) -> Option<u32> {
        Bucket::with([&self.words[0], &self.words[1]].map(|word| word.load(Relaxed)), 0).next()
    }

    /// The entries. For the updater.
    fn all(&self) -> impl Iterator<Item = u32> {
        let [first, second] = [&self.words[0], &self.words[1]].map(|word| !equal(word.load(Relaxed), 0));
        let high = !LOW;
        Slots(first & high & TAGS[0] | (second & high & TAGS[1]) >> 4).map(|slot| self.entry(slot))
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

    /// Sets a slot's tag. For the updater.
    fn set_tag(&self, slot: usize, tag: u8) {
        let (word, shift) = (&self.words[slot / FIRST], slot % FIRST * 8);
        let others = word.load(Relaxed) & !(0xff << shift);
        word.store(others | u64::from(tag) << shift, Release);
    }

    /// Puts an entry into an empty slot. For the updater.
    #[inline]
    fn fill(&self, slot: u32, tag: u8, entry: u32) {
        self.entries[slot as usize].store(entry, Relaxed);
        self.set_tag(slot as usize, tag);
    }

    /// One entry more, or less, went past. For the updater.
    fn went_past(&self, less: bool) {
        let count = self.words[1].load(Relaxed);
        self.words[1].store(if less { count - PAST } else { count + PAST }, Release);
    }
}

/// One version of a shard.
struct Table {
    buckets: Roomy<Bucket>,
}

impl Table {
    fn new(buckets: usize) -> Table {
        Table { buckets: Roomy::new(buckets, Bucket::default) }
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

    /// The first entry for which `is` holds, of those that may have this hash and are not in its own bucket.
    #[inline(never)]
    fn find_past(&self, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let tag = tag(hash);
        for bucket in self.path(hash).skip(1) {
            let (slots, past) = bucket.slots(tag);
            if let Some(entry) = bucket.pick(slots, &mut is) {
                return Some(entry);
            }
            if !past {
                return None;
            }
        }
        None
    }

    /// Puts an entry into the first free slot on its path. False if there is none.
    #[inline]
    fn put(&self, hash: u64, entry: u32) -> bool {
        let home = self.home(hash);
        match home.vacant() {
            Some(slot) => home.fill(slot, tag(hash), entry),
            None => return self.put_past(hash, entry),
        }
        true
    }

    /// The same where its own bucket is full.
    #[inline(never)]
    fn put_past(&self, hash: u64, entry: u32) -> bool {
        let mut path = self.path(hash).enumerate();
        let found = path.find_map(|(past, bucket)| Some((past, bucket, bucket.vacant()?)));
        let Some((past, bucket, slot)) = found else { return false };
        // The count first: a search must not end before the bucket in which the entry will be.
        self.path(hash).take(past).for_each(|bucket| bucket.went_past(false));
        bucket.fill(slot, tag(hash), entry);
        true
    }

    /// Removes an entry, if it is there.
    fn take(&self, hash: u64, entry: u32) -> bool {
        let wanted = tag(hash);
        for (past, bucket) in self.path(hash).enumerate() {
            let (mut slots, was_passed) = bucket.slots(wanted);
            if let Some(slot) = slots.find(|&slot| bucket.entry(slot) == entry) {
                bucket.set_tag(slot as usize, 0);
                self.path(hash).take(past).for_each(|bucket| bucket.went_past(true));
                return true;
            }
            if !was_passed {
                return false;
            }
        }
        false
    }
}

/// What an index knows of entries only by their numbers.
pub(crate) trait Entries {
    /// An entry's hash.
    fn hash_of(&self, entry: u32) -> u64;

    /// Asks for the memory that its hash is made from.
    fn prefetch(&self, entry: u32) {
        let _ = entry;
    }

    /// How many entries there will be at most, if that is known.
    fn most(&self) -> usize {
        0
    }
}

impl<F: Fn(u32) -> u64> Entries for F {
    fn hash_of(&self, entry: u32) -> u64 {
        self(entry)
    }
}

/// The entries of some buckets.
struct Group {
    entries: [u32; TOGETHER * SLOTS],
    len: usize,
}

impl Group {
    const EMPTY: Group = Group { entries: [0; TOGETHER * SLOTS], len: 0 };

    /// Lists entries and asks for what their hashes are made from.
    fn list(&mut self, buckets: &[Bucket], entries: &impl Entries) {
        self.len = 0;
        for entry in buckets.iter().flat_map(Bucket::all) {
            entries.prefetch(entry);
            self.entries[self.len] = entry;
            self.len += 1;
        }
    }

    /// Puts them into a larger table, which has room.
    fn put_into(&self, table: &Table, entries: &impl Entries) {
        for &entry in &self.entries[..self.len] {
            table.put(entries.hash_of(entry), entry);
        }
    }
}

/// How many buckets a shard with `buckets` gets when it is full: four times as many while so many may be needed, so that entries move
/// seldom, otherwise twice as many.
fn grown(buckets: usize, most: usize) -> usize {
    let needed = most / SHARDS / (SLOTS * 3 / 4);
    if buckets * 2 <= needed { buckets * 4 } else { buckets * 2 }
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
    first: (usize, ShardGuard<'i>),
    /// If it is another one.
    second: Option<(usize, ShardGuard<'i>)>,
}

#[inline]
fn shard_of(hash: u64) -> usize {
    hash as usize % SHARDS
}

/// Where the search for a hash begins, for a caller that searches for many at once.
#[derive(Clone, Copy)]
pub(crate) struct Home<'t>(&'t Bucket);

impl Home<'_> {
    /// Asks for what [`Home::guess`] will look at.
    #[inline]
    pub(crate) fn prefetch(self) {
        packet::prefetch(self.0);
    }

    /// The entry that the hash most likely belongs to, or `u32::MAX`. Without branches that depend on what is found.
    #[inline]
    pub(crate) fn guess(self, hash: u64) -> u32 {
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
        let table = self.shard(turn, hash);
        let home = table.home(hash);
        let (slots, past) = home.slots(tag(hash));
        match home.pick(slots, &mut is) {
            None if past => table.find_past(hash, is),
            found => found,
        }
    }

    /// Where the search for a hash begins.
    #[inline]
    pub(crate) fn home<'t>(&'t self, turn: Turn<'t>, hash: u64) -> Home<'t> {
        Home(self.shard(turn, hash).home(hash))
    }

    /// Waits for the right to change the shards of these hashes. A caller that holds it must not ask again.
    pub(crate) fn hold(&self, hashes: [u64; 2]) -> Held<'_> {
        let [first, second] = in_order(hashes.map(shard_of));
        // A change is one to a shard's table, made by atomic stores, and then to this count: one that was left half done is no reason
        // to stop.
        let lock = |shard: usize| (shard, self.live[shard].0.lock().unwrap_or_else(PoisonError::into_inner));
        Held { index: self, first: lock(first), second: (first != second).then(|| lock(second)) }
    }
}

impl Held<'_> {
    /// The number of entries in a shard that is held.
    #[inline]
    fn live(&mut self, shard: usize) -> Option<&mut usize> {
        match (&mut self.first, &mut self.second) {
            ((held, live), _) if *held == shard => Some(live),
            (_, Some((held, live))) if *held == shard => Some(live),
            _ => None,
        }
    }

    /// Adds an entry; its shard must be held. False if there is no room and none can be had now.
    pub(crate) fn insert(
        &mut self,
        turn: Turn<'_>,
        updater: &Updater,
        hash: u64,
        entry: u32,
        entries: &impl Entries,
    ) -> bool {
        let (index, shard) = (self.index, shard_of(hash));
        let Some(live) = self.live(shard) else { return false };
        let mut table = index.shards[shard].read(turn);
        if (*live + 1) * 4 > table.buckets.len() * SLOTS * 3 {
            index.enlarge(turn, updater, shard, entries);
            table = index.shards[shard].read(turn);
        }
        let done = table.put(hash, entry);
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
    /// Replaces a shard by a larger copy, for who holds it. If too much memory waits to be reclaimed the shard stays as it is.
    #[cold]
    fn enlarge(&self, turn: Turn<'_>, updater: &Updater, shard: usize, entries: &impl Entries) {
        let old = self.shards[shard].read(turn);
        let new = Table::new(grown(old.buckets.len(), entries.most()));
        // The next ones are on their way from memory while some move.
        let (mut next, mut now) = (Group::EMPTY, Group::EMPTY);
        for buckets in old.buckets.chunks(TOGETHER) {
            next.list(buckets, entries);
            now.put_into(&new, entries);
            std::mem::swap(&mut next, &mut now);
        }
        now.put_into(&new, entries);
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
                        prop_assert!(index.hold([hash; 2]).insert(turn, &updater, hash, entry, &hash_of));
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

    /// Slots are told apart by their tags, whatever the count of entries that went past; and the first empty one is filled.
    #[test]
    fn slots_of_a_bucket() {
        let bucket = Bucket::default();
        (0..3).for_each(|_| bucket.went_past(false));
        let tags = [5, 5, 1, 255, 128, 127, 5, 1, 5, 2, 5, 3];
        for (at, tag) in tags.into_iter().enumerate() {
            let vacant = bucket.vacant().expect("an empty slot");
            assert_eq!((bucket.all().count(), bucket.slots(tag).1), (at, true));
            bucket.fill(vacant, tag, vacant + 100);
        }
        assert_eq!(bucket.vacant(), None);
        for wanted in [1, 2, 3, 4, 5, 127, 128, 255] {
            let count = tags.iter().filter(|&&tag| tag == wanted).count();
            assert_eq!(bucket.slots(wanted).0.count(), count, "{wanted}");
        }
        let all: std::collections::BTreeSet<u32> = bucket.all().collect();
        assert!(all.into_iter().eq(100..112));
        bucket.set_tag(9, 0);
        assert_eq!((bucket.vacant(), bucket.all().count()), (Some(9), 11));
    }

    /// A shard grows by four as long as that is not more than what a full table needs, or than twice what it needs now.
    #[test]
    fn growth() {
        let full = 2 << 20; // entries; 3640 buckets a shard
        let sizes: Vec<usize> =
            std::iter::successors(Some(1), |&now| Some(grown(now, full)).filter(|&next| next <= 16_384))
                .collect();
        assert_eq!(sizes, [1, 4, 16, 64, 256, 1024, 4096, 8192, 16_384]);
        assert_eq!([grown(1, 0), grown(512, 0), grown(2048, full), grown(1820, full)], [2, 1024, 4096, 7280]);
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
    }
}
