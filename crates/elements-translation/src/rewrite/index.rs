//! The index of a flow table: which entries a hash may belong to.
//!
//! Buckets are cache lines of twelve slots: a tag of eight bits for each, all of which are compared at once, and the
//! entries' numbers. An entry is in the first bucket on its path that had room for it; each bucket counts the entries that
//! went past it, so that a search ends at a bucket that nothing went past. Readers take no lock. An updater
//! writes an entry's number, then its tag. The index consists of shards, each of which is replaced by a larger copy of
//! itself when it fills up, through RCU: a reader goes on with the old copy, in which everything is that was there when it
//! began.
//!
//! Each bucket has a lock, a bit in one of its words. An updater locks the bucket where an entry's path begins, its *home*: what is to be changed there is
//! in its cache then, and another updater waits only where an entry of the same home is changed. So who has the home is the only one who adds or removes
//! entries of that home, wherever they are. Two homes are locked in the order of their shards and places. A bucket further on the path is
//! locked, too, before it is changed, but without waiting: who does not get it lets go of all and begins again. Who replaces a shard locks all its
//! buckets in their order, and for ever: who waits for one of them goes on in the copy.

use super::bucket::{Bucket, tag};
use super::sync::{AtomicUsize, Cell, FILL, Mutex, SHARDS, SLOTS, as_lock, is_in_order, pause};
use packet::Roomy;
use rcu::{Turn, Updater};
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

/// Buckets whose entries' records are asked for together when a shard grows: the loads do not wait for each other.
const TOGETHER: usize = 4;
/// Buckets that an updater has beside two homes, at most, where it adds entries.
const FURTHER: usize = 8;
/// Shards from so many buckets on count one entry in [`PART`] only, so that updaters seldom change the same number.
const COUNT_ALL: usize = 256;
/// As said there: a power of two.
const PART: usize = 16;

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

    /// The first entry for which `is` holds, of those that may have this hash.
    #[inline]
    fn find(&self, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let home = self.home(hash);
        let (slots, past) = home.slots(tag(hash));
        match home.pick(slots, &mut is) {
            None if past => self.find_past(hash, is),
            found => found,
        }
    }

    /// The same of those that are not in its own bucket.
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

    /// Puts an entry into the first free slot on its path, in a table that no other thread knows yet. False if there is none.
    fn put(&self, hash: u64, entry: u32) -> bool {
        let mut path = self.path(hash).enumerate();
        let found = path.find_map(|(past, bucket)| Some((past, bucket, bucket.vacant().next()?)));
        let Some((past, bucket, slot)) = found else { return false };
        self.path(hash).take(past).for_each(|bucket| bucket.went_past(false));
        bucket.fill(slot, tag(hash), entry);
        true
    }

    /// Whether an entry with this hash is one of those that are counted.
    #[inline]
    fn counts(&self, hash: u64) -> bool {
        // Bits that choose neither shard nor place, nor are the tag.
        self.buckets.len() < COUNT_ALL || (hash >> 48).is_multiple_of(PART as u64)
    }

    /// So many counted entries are too many.
    fn limit(&self) -> usize {
        let all = self.buckets.len() * SLOTS * FILL / 100;
        if self.buckets.len() < COUNT_ALL { all + 1 } else { all / PART + 1 }
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
        for bucket in buckets {
            for entry in bucket.all() {
                entries.prefetch(entry);
                self.entries[self.len] = entry;
                self.len += 1;
            }
        }
    }

    /// Puts them into a larger table, which has room. Says how many of them are counted there.
    fn put_into(&self, table: &Table, entries: &impl Entries) -> usize {
        let all = self.entries[..self.len].iter();
        let put = all.map(|&entry| {
            let hash = entries.hash_of(entry);
            table.put(hash, entry);
            usize::from(table.counts(hash))
        });
        put.sum()
    }
}

/// How many buckets a shard with `buckets` gets when it is full: many times as many while so many may be needed, so that entries move
/// seldom, otherwise twice as many.
fn grown(buckets: usize, most: usize) -> usize {
    let needed = most / SHARDS / (SLOTS * FILL / 100).max(1);
    match buckets {
        few if few * 8 <= needed => few * 16,
        some if some * 2 <= needed => some * 4,
        many => many * 2,
    }
}

/// What is written with changes: apart from what look-ups read, and from what others write.
#[repr(align(128))]
#[derive(Default)]
struct Apart<T>(T);

/// What is known of a shard beside its table.
struct Size {
    /// Entries that [`Table::counts`] says are counted.
    counted: AtomicUsize,
    /// The right to replace the table.
    growth: Mutex<()>,
}

/// The index.
pub(crate) struct Index {
    shards: [Cell<Table>; SHARDS],
    sizes: [Apart<Size>; SHARDS],
}

impl Default for Index {
    fn default() -> Index {
        let size = || Size { counted: AtomicUsize::new(0), growth: Mutex::new(()) };
        Index {
            shards: std::array::from_fn(|_| Cell::new(Table::new(1))),
            sizes: std::array::from_fn(|_| Apart(size())),
        }
    }
}

/// Why a change was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stuck {
    /// Another updater has a bucket that an entry's path goes through.
    Busy,
    /// There is no room on an entry's path: that of the first hash, or of the second.
    Full(usize),
}

/// A hash whose home is locked.
#[derive(Clone, Copy)]
struct Locked<'t> {
    hash: u64,
    table: &'t Table,
    home: &'t Bucket,
}

impl Locked<'_> {
    /// Where the home is in the order in which homes are locked.
    #[inline]
    fn rank(&self) -> u64 {
        (shard_of(self.hash) as u64) << 48 | self.table.place(self.hash) as u64
    }
}

/// A slot that an entry will be put into, and how many buckets it goes past.
#[derive(Clone, Copy)]
struct Claim<'t> {
    bucket: &'t Bucket,
    slot: u32,
    past: usize,
}

/// The right to change entries of two hashes, for as long as it lives.
pub(crate) struct Held<'t> {
    index: &'t Index,
    locked: [Locked<'t>; 2],
    /// Other buckets on the paths.
    further: [Option<&'t Bucket>; FURTHER],
    /// Those for which there is no room there: hardly ever any.
    more: Vec<&'t Bucket>,
    /// Whether the shard of either hash is to grow.
    crowded: [bool; 2],
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

    /// Whether entries went past, so that one may be further on.
    #[inline]
    pub(super) fn was_passed(self) -> bool {
        self.0.was_passed()
    }
}

impl Index {
    #[inline]
    fn shard<'t>(&'t self, turn: Turn<'t>, hash: u64) -> &'t Table {
        self.shards[shard_of(hash)].read(turn)
    }

    /// The first entry for which `is` holds, of those that may have this hash.
    #[inline]
    pub(crate) fn find(&self, turn: Turn<'_>, hash: u64, is: impl FnMut(u32) -> bool) -> Option<u32> {
        self.shard(turn, hash).find(hash, is)
    }

    /// Where the search for a hash begins.
    #[inline]
    pub(crate) fn home<'t>(&'t self, turn: Turn<'t>, hash: u64) -> Home<'t> {
        Home(self.shard(turn, hash).home(hash))
    }

    /// Makes a change to entries of these hashes, with their homes locked; again where it was not made because another updater had a
    /// bucket, or there was no room and now is some. `None` if none can be had now. A caller that is in the middle of a change must not ask for another.
    #[inline]
    pub(crate) fn change<R>(
        &self,
        turn: Turn<'_>,
        updater: &Updater,
        hashes: [u64; 2],
        entries: &impl Entries,
        mut change: impl FnMut(&mut Held<'_>) -> Result<R, Stuck>,
    ) -> Option<R> {
        let mut tries = 0;
        loop {
            let mut held = self.hold(turn, hashes);
            let result = change(&mut held);
            let tables = held.locked.map(|locked| locked.table);
            let crowded = held.crowded;
            drop(held);
            let full = match result {
                Ok(_) if crowded == [false; 2] => None,
                Ok(_) => Some(usize::from(crowded[1])),
                Err(Stuck::Full(which)) if self.is_sparse(hashes[which], tables[which]) => return None,
                Err(Stuck::Full(which)) => Some(which),
                Err(Stuck::Busy) => {
                    pause(&mut tries);
                    None
                }
            };
            let has_grown = full
                .map(|which| self.enlarge(turn, updater, shard_of(hashes[which]), tables[which], entries));
            match result {
                Ok(result) => return Some(result),
                Err(_) if has_grown == Some(false) => return None,
                Err(_) => {}
            }
        }
    }

    /// Whether a shard has few entries for its size: a larger one would not have more room on a path.
    fn is_sparse(&self, hash: u64, table: &Table) -> bool {
        self.sizes[shard_of(hash)].0.counted.load(Relaxed) * 4 < table.limit()
    }

    /// Adds an entry. False if there is no room and none can be had now.
    pub(crate) fn insert(
        &self,
        turn: Turn<'_>,
        updater: &Updater,
        hash: u64,
        entry: u32,
        entries: &impl Entries,
    ) -> bool {
        self.change(turn, updater, [hash; 2], entries, |held| held.insert([None, Some(entry)])).is_some()
    }

    /// Removes an entry, if it is there.
    pub(crate) fn remove(&self, turn: Turn<'_>, hash: u64, entry: u32) {
        let mut tries = 0;
        while self.hold(turn, [hash; 2]).remove(entry).is_err() {
            pause(&mut tries);
        }
    }

    /// Waits for the right to change entries of these hashes.
    #[inline(always)] // so that it is made where it stays
    fn hold<'t>(&'t self, turn: Turn<'t>, hashes: [u64; 2]) -> Held<'t> {
        let mut tries = 0;
        loop {
            let first = self.at(turn, hashes[0]);
            // With one version of the shard, of which both places are.
            let second = match shard_of(hashes[0]) == shard_of(hashes[1]) {
                true => Locked { hash: hashes[1], home: first.table.home(hashes[1]), ..first },
                false => self.at(turn, hashes[1]),
            };
            let ranks = [first.rank(), second.rank()];
            let is_in_order = is_in_order(ranks);
            let (before, mut after) = if is_in_order { (first, second) } else { (second, first) };
            if !before.home.try_lock() {
                // Perhaps for ever, and there is another table now.
                pause(&mut tries);
                continue;
            }
            // From here on the shard of that one is not replaced.
            while ranks[0] != ranks[1] && !after.home.try_lock() {
                pause(&mut tries);
                after = self.at(turn, after.hash);
            }
            let locked = if is_in_order { [before, after] } else { [after, before] };
            let (further, more, crowded) = ([None; FURTHER], Vec::new(), [false; 2]);
            return Held { index: self, locked, further, more, crowded };
        }
    }

    #[inline]
    fn at<'t>(&'t self, turn: Turn<'t>, hash: u64) -> Locked<'t> {
        let table = self.shard(turn, hash);
        Locked { hash, table, home: table.home(hash) }
    }

    /// Replaces a shard's table by a larger copy, if it is still this one. If too much memory waits to be reclaimed it stays as it is, and
    /// that is false.
    #[cold]
    fn enlarge(
        &self,
        turn: Turn<'_>,
        updater: &Updater,
        shard: usize,
        old: &Table,
        entries: &impl Entries,
    ) -> bool {
        let size = &self.sizes[shard].0;
        // A thread that stopped half way through has replaced nothing.
        let _growth = size.growth.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::ptr::eq(self.shards[shard].read(turn), old) {
            return true;
        }
        let new = Table::new(grown(old.buckets.len(), entries.most()));
        // The next ones are on their way from memory while some move.
        let (mut next, mut now, mut counted) = (Group::EMPTY, Group::EMPTY, 0);
        for buckets in old.buckets.chunks(TOGETHER) {
            as_lock(|| buckets.iter().for_each(Bucket::lock));
            next.list(buckets, entries);
            counted += now.put_into(&new, entries);
            std::mem::swap(&mut next, &mut now);
        }
        counted += now.put_into(&new, entries);
        // Nothing is added or removed before there is the new one.
        let before = size.counted.load(Relaxed);
        size.counted.store(counted, Relaxed);
        let bytes = size_of_val(&*old.buckets);
        let is_done = self.shards[shard].replace_weighing(Box::new(new), bytes, updater).is_ok();
        if !is_done {
            size.counted.store(before, Relaxed);
            as_lock(|| old.buckets.iter().for_each(Bucket::unlock));
        }
        is_done
    }
}

impl<'t> Held<'t> {
    /// The first entry for which `is` holds, of those that may have one of the two hashes. It stays as long as this lives.
    #[inline]
    pub(crate) fn find(&self, which: usize, is: impl FnMut(u32) -> bool) -> Option<u32> {
        let Locked { hash, table, .. } = self.locked[which];
        table.find(hash, is)
    }

    /// An empty slot of a hash's home, if it is plain that no entry has the hash.
    #[inline]
    fn open(&self, which: usize) -> Option<u32> {
        let Locked { hash, home, .. } = self.locked[which];
        home.open(tag(hash))
    }

    /// Adds an entry for each hash, if it is plain that no entry has either of them, and they have different homes with room: mostly. Before that
    /// it does what has to be `done`. Whether it did.
    #[inline]
    pub(crate) fn insert_if_plain(&mut self, entries: [u32; 2], done: impl FnOnce()) -> bool {
        if std::ptr::eq(self.locked[0].home, self.locked[1].home) {
            return false;
        }
        let (Some(first), Some(second)) = (self.open(0), self.open(1)) else { return false };
        done();
        for (which, slot) in [(0, first), (1, second)] {
            let Locked { hash, table, home } = self.locked[which];
            home.fill(slot, tag(hash), entries[which]);
            self.count(which, hash, table);
        }
        true
    }

    /// Adds an entry for each hash, or for one of them.
    ///
    /// # Errors
    /// Why neither was added.
    #[inline]
    pub(crate) fn insert(&mut self, entries: [Option<u32>; 2]) -> Result<(), Stuck> {
        let first = match entries[0] {
            Some(_) => Some(self.claim(0, None)?),
            None => None,
        };
        if let Some(entry) = entries[1] {
            let claim = self.claim(1, first)?;
            self.put(1, claim, entry);
        }
        if let (Some(claim), Some(entry)) = (first, entries[0]) {
            self.put(0, claim, entry);
        }
        Ok(())
    }

    /// Finds room for an entry of a hash, that is not another one's.
    #[inline]
    fn claim(&mut self, which: usize, other: Option<Claim<'t>>) -> Result<Claim<'t>, Stuck> {
        let bucket = self.locked[which].home;
        match vacant(bucket, other) {
            Some(slot) => Ok(Claim { bucket, slot, past: 0 }),
            None => self.claim_past(which, other),
        }
    }

    /// The same where the home is full.
    #[inline(never)]
    fn claim_past(&mut self, which: usize, other: Option<Claim<'t>>) -> Result<Claim<'t>, Stuck> {
        let Locked { hash, table, .. } = self.locked[which];
        for (past, bucket) in table.path(hash).enumerate().skip(1) {
            if !self.lock_too(bucket, true)? {
                return Err(Stuck::Full(which));
            }
            if let Some(slot) = vacant(bucket, other) {
                return Ok(Claim { bucket, slot, past });
            }
        }
        Err(Stuck::Full(which))
    }

    /// Locks a further bucket. False if that is one too many, and there is to be no more than that.
    fn lock_too(&mut self, bucket: &'t Bucket, is_bounded: bool) -> Result<bool, Stuck> {
        let homes = self.locked.iter().map(|locked| locked.home);
        let mut all = homes.chain(self.further.iter().copied().flatten()).chain(self.more.iter().copied());
        if all.any(|other| std::ptr::eq(bucket, other)) {
            return Ok(true);
        }
        let free = self.further.iter_mut().find(|place| place.is_none());
        if free.is_none() && is_bounded {
            return Ok(false);
        }
        if !bucket.try_lock() {
            return Err(Stuck::Busy);
        }
        match free {
            Some(free) => *free = Some(bucket),
            None => self.more.push(bucket),
        }
        Ok(true)
    }

    #[inline]
    fn put(&mut self, which: usize, Claim { bucket, slot, past }: Claim<'t>, entry: u32) {
        let Locked { hash, table, .. } = self.locked[which];
        if past > 0 {
            // The count first: a search must not end before the bucket in which the entry will be.
            table.path(hash).take(past).for_each(|bucket| bucket.went_past(false));
        }
        bucket.fill(slot, tag(hash), entry);
        self.count(which, hash, table);
    }

    /// Counts an entry more.
    #[inline]
    fn count(&mut self, which: usize, hash: u64, table: &Table) {
        if table.counts(hash) {
            let counted = self.index.sizes[shard_of(hash)].0.counted.fetch_add(1, Relaxed) + 1;
            self.crowded[which] = counted >= table.limit();
        }
    }

    /// Removes an entry of the first hash, if it is there.
    fn remove(&mut self, entry: u32) -> Result<(), Stuck> {
        let Locked { hash, table, .. } = self.locked[0];
        let wanted = tag(hash);
        for (past, bucket) in table.path(hash).enumerate() {
            let (mut slots, was_passed) = bucket.slots(wanted);
            if let Some(slot) = slots.find(|&slot| bucket.entry(slot) == entry) {
                for further in table.path(hash).take(past + 1).skip(1) {
                    self.lock_too(further, false)?;
                }
                bucket.set_tag(slot as usize, 0);
                table.path(hash).take(past).for_each(|bucket| bucket.went_past(true));
                if table.counts(hash) {
                    self.index.sizes[shard_of(hash)].0.counted.fetch_sub(1, Relaxed);
                }
                return Ok(());
            }
            if !was_passed {
                break;
            }
        }
        Ok(())
    }
}

/// An empty slot of a bucket that is not claimed.
#[inline]
fn vacant(bucket: &Bucket, claim: Option<Claim<'_>>) -> Option<u32> {
    let claimed = claim.filter(|claim| std::ptr::eq(claim.bucket, bucket)).map(|claim| claim.slot);
    bucket.vacant().find(|&slot| Some(slot) != claimed)
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        let [first, second] = self.locked.map(|locked| locked.home);
        first.unlock();
        if !std::ptr::eq(first, second) {
            second.unlock();
        }
        if self.further[0].is_some() {
            self.further.iter().flatten().chain(&self.more).for_each(|bucket| bucket.unlock());
        }
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
                        prop_assert!(index.insert(turn, &updater, hash, entry, &hash_of));
                        model.insert(entry, ());
                    }
                    (false, true) => {
                        index.remove(turn, hash_of(entry), entry);
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
                    index.remove(turn, hash_of(entry), entry);
                }
            }
            let words = index.shards[0].read(turn).buckets.iter().all(Bucket::is_clear);
            prop_assert!(words);
        }
    }

    /// A shard grows by sixteen as long as that is not much more than what a full table needs, then by less.
    #[test]
    fn growth() {
        let full = 2 << 20; // entries; 3640 buckets a shard
        let sizes: Vec<usize> =
            std::iter::successors(Some(1), |&now| Some(grown(now, full)).filter(|&next| next <= 16_384))
                .collect();
        assert_eq!(sizes, [1, 16, 256, 4096, 8192, 16_384]);
        let some = [grown(1, 0), grown(512, 0), grown(455, full), grown(456, full), grown(2048, full)];
        assert_eq!(some, [2, 1024, 7280, 1824, 4096]);
    }

    /// Threads that add and remove entries, of which many have the same homes and go past them, lose none and leave nothing behind.
    #[test]
    fn threads_that_meet() {
        const THREADS: u32 = 4;
        const EACH: u32 = 40;
        let index = Index::default();
        // Sixteen homes of one shard, with ten entries each.
        let hash_of = |entry: u32| (u64::from(entry) % 251) << 56 | (u64::from(entry) % 16) << 6;
        let work = |thread: u32| {
            let reader = Domain::global().register("test");
            let updater = Domain::global().updater();
            for _ in 0..300 {
                let turn = reader.turn();
                let mine = thread * EACH..(thread + 1) * EACH;
                for entry in mine.clone() {
                    assert!(index.insert(turn, &updater, hash_of(entry), entry, &hash_of));
                }
                for entry in mine {
                    let found = index.find(turn, hash_of(entry), |found| found == entry);
                    assert_eq!(found, Some(entry));
                    index.remove(turn, hash_of(entry), entry);
                }
            }
        };
        std::thread::scope(|scope| (0..THREADS).for_each(|thread| _ = scope.spawn(move || work(thread))));
        let reader = Domain::global().register("test");
        assert!(index.shards[0].read(reader.turn()).buckets.iter().all(Bucket::is_clear));
        assert_eq!(index.sizes[0].0.counted.load(Relaxed), 0);
    }

    /// Where very many entries have one hash, they are refused: a larger table would be of no use.
    #[test]
    fn the_same_hash_too_often() {
        let reader = Domain::global().register("test");
        let updater = Domain::global().updater();
        let (turn, index) = (reader.turn(), Index::default());
        let add = |entry: u32| index.insert(turn, &updater, 64, entry, &|_| 64);
        let added = (0..1000).take_while(|&entry| add(entry)).count();
        assert!((SLOTS..1000).contains(&added), "{added}");
        let table = index.shards[0].read(turn);
        assert!(table.buckets.len() <= COUNT_ALL);
        // However long the paths are.
        assert!(added > SLOTS * FURTHER);
        (0..1000).for_each(|entry| index.remove(turn, 64, entry));
        assert!(table.buckets.iter().all(Bucket::is_clear));
    }
}
