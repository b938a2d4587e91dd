//! The index of a flow table: which entries a hash may belong to.
//!
//! Buckets are cache lines of eight slots, a slot is a number of 64 bits: the upper half of the hash and the entry's
//! number. Readers take no lock: they load slots until they find the entry, or a bucket that was never full. One updater
//! at a time fills empty slots; a removed entry's slot stays taken until its bucket needs it, so that the buckets behind
//! are still found. The index consists of shards, each of which is replaced by a larger copy of itself when it fills up,
//! through RCU: a reader goes on with the old copy, in which everything is that was there when it began.

use rcu::{Cell, Turn, Updater};
use std::sync::atomic::{AtomicU64, Ordering};

/// Shards: a power of two. An insertion moves one shard's entries at most.
const SHARDS: usize = 64;
const SLOTS: usize = 8;

/// A slot that was never used.
const EMPTY: u64 = 0;
/// A slot whose entry was removed.
const REMOVED: u64 = 1;
/// What entry numbers are raised by.
const RAISE: u64 = 2;

#[repr(align(64))]
#[derive(Default)]
struct Bucket([AtomicU64; SLOTS]);

/// One version of a shard.
struct Table {
    buckets: Box<[Bucket]>,
}

impl Table {
    fn new(buckets: usize) -> Table {
        Table { buckets: (0..buckets).map(|_| Bucket::default()).collect() }
    }

    /// The buckets that an entry with this hash can be in, in the order of search.
    #[inline]
    fn path(&self, hash: u64) -> impl Iterator<Item = &Bucket> {
        let mask = self.buckets.len() - 1;
        let home = (hash as usize / SHARDS) & mask;
        (0..self.buckets.len()).map(move |i| &self.buckets[(home + i) & mask])
    }

    /// The slot in which an entry is found.
    fn slot_of(&self, hash: u64, entry: u32) -> Option<&AtomicU64> {
        let value = slot(hash, entry);
        for bucket in self.path(hash) {
            if let found @ Some(_) = bucket.0.iter().find(|slot| slot.load(Ordering::Relaxed) == value) {
                return found;
            }
            if bucket.0[SLOTS - 1].load(Ordering::Relaxed) == EMPTY {
                return None;
            }
        }
        None
    }

    /// Puts an entry into the first free slot on its path. `None` if there is none; otherwise whether the slot was
    /// never used.
    fn put(&self, hash: u64, value: u64) -> Option<bool> {
        for slot in self.path(hash).flat_map(|bucket| &bucket.0) {
            let old = slot.load(Ordering::Relaxed);
            if old == EMPTY || old == REMOVED {
                slot.store(value, Ordering::Release);
                return Some(old == EMPTY);
            }
        }
        None
    }
}

#[inline]
fn slot(hash: u64, entry: u32) -> u64 {
    (hash & 0xffff_ffff_0000_0000) | (u64::from(entry) + RAISE)
}

/// What the updater knows about a shard.
#[derive(Clone, Copy, Default)]
struct Fill {
    /// Entries.
    live: usize,
    /// Slots that are not empty.
    used: usize,
}

/// What only the updater needs.
pub(super) struct Writer {
    fill: [Fill; SHARDS],
    updater: Updater,
}

impl Writer {
    pub(super) fn new(updater: Updater) -> Writer {
        Writer { fill: [Fill::default(); SHARDS], updater }
    }

    /// What replaces RCU-protected values.
    pub(super) fn updater(&self) -> &Updater {
        &self.updater
    }
}

/// The index.
pub(super) struct Index {
    shards: [Cell<Table>; SHARDS],
}

impl Default for Index {
    fn default() -> Index {
        Index { shards: std::array::from_fn(|_| Cell::new(Table::new(1))) }
    }
}

impl Index {
    #[inline]
    fn shard<'t>(&'t self, turn: Turn<'t>, hash: u64) -> &'t Table {
        self.shards[hash as usize % SHARDS].read(turn)
    }

    /// The first entry for which `is` holds, of those that may have this hash.
    #[inline]
    pub(super) fn find(&self, turn: Turn<'_>, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let tag = hash >> 32;
        for bucket in self.shard(turn, hash).path(hash) {
            for slot in &bucket.0 {
                // Acquire: who finds the number finds the record filled in.
                let value = slot.load(Ordering::Acquire);
                if value >> 32 == tag && value & 0xffff_ffff >= RAISE {
                    let entry = (value as u32).wrapping_sub(RAISE as u32);
                    if is(entry) {
                        return Some(entry);
                    }
                }
            }
            if bucket.0[SLOTS - 1].load(Ordering::Relaxed) == EMPTY {
                return None;
            }
        }
        None
    }

    /// Adds an entry. False if there is no room and none can be had now.
    pub(super) fn insert(
        &self,
        turn: Turn<'_>,
        writer: &mut Writer,
        hash: u64,
        entry: u32,
        hash_of: impl Fn(u32) -> u64,
    ) -> bool {
        let shard = hash as usize % SHARDS;
        let slots = self.shards[shard].read(turn).buckets.len() * SLOTS;
        if (writer.fill[shard].used + 1) * 4 > slots * 3 {
            self.rebuild(turn, writer, shard, hash_of);
        }
        let Some(fresh) = self.shards[shard].read(turn).put(hash, slot(hash, entry)) else { return false };
        let fill = &mut writer.fill[shard];
        fill.live += 1;
        fill.used += usize::from(fresh);
        true
    }

    /// Removes an entry, if it is there.
    pub(super) fn remove(&self, turn: Turn<'_>, writer: &mut Writer, hash: u64, entry: u32) {
        if let Some(slot) = self.shard(turn, hash).slot_of(hash, entry) {
            slot.store(REMOVED, Ordering::Relaxed);
            writer.fill[hash as usize % SHARDS].live -= 1;
        }
    }

    /// Replaces a shard by a copy without removed entries in which there is room. If too much memory waits to be
    /// reclaimed the shard stays as it is.
    #[cold]
    fn rebuild(&self, turn: Turn<'_>, writer: &mut Writer, shard: usize, hash_of: impl Fn(u32) -> u64) {
        let old = self.shards[shard].read(turn);
        // At most three eighths full afterwards, so that the next copy is far.
        let buckets = (writer.fill[shard].live * 8 / 3 / SLOTS + 1).next_power_of_two();
        let new = Table::new(buckets);
        let values = old.buckets.iter().flat_map(|bucket| &bucket.0).map(|slot| slot.load(Ordering::Relaxed));
        for value in values.filter(|&value| value >= RAISE) {
            let hash = hash_of((value as u32).wrapping_sub(RAISE as u32));
            // There is room: the new table has more slots than the old one has entries.
            new.put(hash, value);
        }
        let bytes = size_of_val(&*old.buckets);
        if self.shards[shard].replace_weighing(Box::new(new), bytes, &writer.updater).is_ok() {
            writer.fill[shard].used = writer.fill[shard].live;
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
            let mut writer = Writer::new(Domain::global().updater());
            // One shard, few tags: the paths overlap.
            let hash_of = |entry: u32| (u64::from(entry) % 7) << 32 | (u64::from(entry) % 64) << 6;
            let mut model: HashMap<u32, ()> = HashMap::new();
            for (insert, entry) in ops {
                let entry = entry as u32;
                match (insert, model.contains_key(&entry)) {
                    (true, false) => {
                        prop_assert!(index.insert(turn, &mut writer, hash_of(entry), entry, hash_of));
                        model.insert(entry, ());
                    }
                    (false, true) => {
                        index.remove(turn, &mut writer, hash_of(entry), entry);
                        model.remove(&entry);
                    }
                    _ => {}
                }
            }
            for entry in 0..400 {
                let found = index.find(turn, hash_of(entry), |found| found == entry);
                prop_assert_eq!(found.is_some(), model.contains_key(&entry));
            }
            prop_assert_eq!(writer.fill[0].live, model.len());
        }
    }
}
