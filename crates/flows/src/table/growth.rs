//! How a table gets larger while it is used.

use super::Table;
use crate::bucket::SLOTS;
use crate::index::Index;
use crate::key::Key;
use crate::limits::Limits;
use crate::quota::Quota;
use crate::records::MARK;

/// Buckets whose names move at a time: a few microseconds.
const STRETCH: usize = if cfg!(test) { 1 } else { 64 };

/// What goes on beside the index that is in use.
#[derive(Default)]
pub(super) struct Growth {
    /// The one that is to be in use, with the capacity that it is for.
    coming: Option<(Index, usize)>,
    /// The one that was in use, and which of its buckets is emptied next.
    pub(super) leaving: Option<(Index, usize)>,
}

impl Growth {
    #[inline]
    pub(super) fn find(&self, hash: u64, is: impl FnMut(u32) -> bool) -> Option<u32> {
        self.leaving.as_ref().and_then(|(index, _)| index.find(hash, is))
    }

    /// Whether names may be in the index that was in use.
    #[inline]
    pub(super) fn is_moving(&self) -> bool {
        self.leaving.is_some()
    }

    pub(super) fn remove(&mut self, hash: u64, name: u32) {
        if let Some((index, _)) = &mut self.leaving {
            index.remove(hash, name);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        [&self.coming, &self.leaving].into_iter().flatten().map(|(index, _)| index.bytes()).sum()
    }
}

impl<K: Key, V: Default, const KEYS: usize> Table<K, V, KEYS> {
    /// Goes on towards room for so many flows, a few microseconds at a time; whether there is that room now. The part for unconfirmed flows grows
    /// with it. A table does not shrink: a smaller one takes its flows over ([`Table::drain`]).
    pub fn grow(&mut self, to: usize) -> bool {
        if self.growth.leaving.is_some() {
            self.move_names();
            return false;
        }
        if let Some((index, capacity)) = &mut self.growth.coming {
            if index.build(*capacity * KEYS) {
                self.switch();
            }
            return false;
        }
        if to <= self.limits.capacity {
            return true;
        }
        self.records.extend(to - self.limits.capacity);
        let capacity = to.min(self.records.capacity());
        if capacity <= self.limits.capacity {
            return true; // there are no more numbers
        }
        self.growth.coming = Some((Index::begin(capacity * KEYS), capacity));
        false
    }

    /// Has new names go into the index that is complete now.
    fn switch(&mut self) {
        let Some((index, capacity)) = self.growth.coming.take() else { return };
        let old = std::mem::replace(&mut self.index, index);
        self.growth.leaving = Some((old, 0));
        let Limits { unconfirmed, capacity: before, .. } = self.limits;
        let unconfirmed = (unconfirmed as u128 * capacity as u128 / before.max(1) as u128) as usize;
        self.limits = Limits { capacity, unconfirmed: unconfirmed.min(capacity), ..self.limits };
        if self.limits.quota > 0 {
            self.quota = Quota::new(&self.limits);
            self.lists.queued(&self.records).for_each(|key| self.quota.take(&key, &self.key));
        }
    }

    /// Moves the names of some buckets from the old index into the new one.
    fn move_names(&mut self) {
        let Some((old, next)) = &mut self.growth.leaving else { return };
        for _ in 0..STRETCH {
            let Some(names) = old.bucket(*next) else {
                self.growth.leaving = None;
                return;
            };
            *next += 1;
            let (mut moving, mut count) = ([0; SLOTS], 0);
            names.for_each(|name| {
                moving[count] = name;
                count += 1;
            });
            for &name in &moving[..count] {
                let record = self.records.get(name & !MARK);
                if let Some(key) = record.and_then(|record| record.key(name)) {
                    let hash = key.hash(&self.key);
                    old.remove(hash, name);
                    self.index.insert(hash, name);
                }
            }
        }
    }
}
