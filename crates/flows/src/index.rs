//! Which records a hash may belong to.

use crate::bucket::{Bucket, tag};

/// Names in a bucket, on average, when the index is full.
const FULL: usize = 8;
/// Buckets that are made at a time while an index is being built: a few microseconds.
const STRETCH: usize = if cfg!(test) { 2 } else { 4096 };

/// No name: there is none.
pub(crate) const NOTHING: u32 = u32::MAX;
/// No name: there may be one.
pub(crate) const PERHAPS: u32 = u32::MAX - 1;

/// Buckets, in which each name is in the first one from its own on that had room.
#[derive(Default)]
pub(crate) struct Index {
    buckets: Vec<Bucket>,
}

impl Index {
    /// An index for so many names.
    pub(crate) fn new(names: usize) -> Index {
        let mut index = Index::begin(names);
        while !index.build(names) {}
        index
    }

    /// An index that is to be [built](Index::build).
    pub(crate) fn begin(names: usize) -> Index {
        Index { buckets: packet::roomy_vec(Index::buckets_for(names)) }
    }

    /// Builds some more of an index for so many names; whether it is complete.
    pub(crate) fn build(&mut self, names: usize) -> bool {
        let all = Index::buckets_for(names);
        self.buckets.resize(all.min(self.buckets.len() + STRETCH), Bucket::default());
        self.buckets.len() == all
    }

    fn buckets_for(names: usize) -> usize {
        names.div_ceil(FULL).max(1)
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>()
    }

    /// Where a hash's search begins. Any number of buckets will do: the hash is a fraction of it.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        (((hash & 0xffff_ffff) * self.buckets.len() as u64) >> 32) as usize
    }

    /// The bucket after one.
    #[inline]
    fn after(&self, at: usize) -> usize {
        if at + 1 == self.buckets.len() { 0 } else { at + 1 }
    }

    /// Asks for the memory that a search begins with.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        if let Some(bucket) = self.buckets.get(self.home(hash)) {
            packet::prefetch(bucket);
        }
    }

    /// What the hash most likely belongs to, or [`NOTHING`], or [`PERHAPS`] something that a search would find.
    #[inline]
    pub(crate) fn guess(&self, hash: u64) -> u32 {
        let Some(bucket) = self.buckets.get(self.home(hash)) else { return NOTHING };
        match bucket.alike(tag(hash)).next() {
            Some(slot) => bucket.number(slot),
            None if bucket.was_passed() => PERHAPS,
            None => NOTHING,
        }
    }

    /// The first name for which `is` holds, of those that may have this hash.
    #[inline]
    pub(crate) fn find(&self, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let (mut at, tag) = (self.home(hash), tag(hash));
        loop {
            let bucket = self.buckets.get(at)?;
            for slot in bucket.alike(tag) {
                let number = bucket.number(slot);
                if is(number) {
                    return Some(number);
                }
            }
            if !bucket.was_passed() {
                return None;
            }
            at = self.after(at);
        }
    }

    /// Puts a name in. The caller sees to it that there are never more than the index was made for.
    pub(crate) fn insert(&mut self, hash: u64, number: u32) {
        let mut at = self.home(hash);
        loop {
            let bucket = &mut self.buckets[at];
            if let Some(slot) = bucket.vacant() {
                bucket.set(slot, tag(hash), number);
                return;
            }
            bucket.pass();
            at = self.after(at);
        }
    }

    /// Takes a name out; whether it was there.
    pub(crate) fn remove(&mut self, hash: u64, number: u32) -> bool {
        let (home, tag) = (self.home(hash), tag(hash));
        let mut at = home;
        loop {
            let Some(bucket) = self.buckets.get_mut(at) else { return false };
            // A tag that is next to the wanted one is none of this number.
            if let Some(slot) = bucket.alike(tag).find(|&slot| bucket.number(slot) == number) {
                bucket.clear(slot);
                break;
            }
            if !bucket.was_passed() {
                return false;
            }
            at = self.after(at);
        }
        let mut passed = home;
        while passed != at {
            self.buckets[passed].unpass();
            passed = self.after(passed);
        }
        true
    }

    /// Names in a bucket; `None` behind the last.
    pub(crate) fn bucket(&self, at: usize) -> Option<impl Iterator<Item = u32> + '_> {
        self.buckets.get(at).map(Bucket::numbers)
    }

    /// Names that there are.
    #[cfg(test)]
    pub(crate) fn names(&self) -> usize {
        self.buckets.iter().map(|bucket| bucket.numbers().count()).sum()
    }

    #[cfg(test)]
    pub(crate) fn is_clear(&self) -> bool {
        self.buckets.iter().all(Bucket::is_clear)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Names come and go as in a set, with hashes that collide often; and nothing is left behind that makes searches longer.
        #[test]
        fn as_a_set(steps in prop::collection::vec((any::<bool>(), 0u32..90), 0..800)) {
            let mut index = Index::new(90);
            // Few homes, few tags: searches go through many buckets.
            let hash = |number: u32| (u64::from(number) % 5) << 56 | (u64::from(number) % 3) << 30;
            let mut set = BTreeSet::new();
            for (insert, number) in steps {
                match insert {
                    true if set.insert(number) => index.insert(hash(number), number),
                    false => prop_assert_eq!(index.remove(hash(number), number), set.remove(&number)),
                    true => {}
                }
            }
            prop_assert_eq!(index.names(), set.len());
            for number in 0..90 {
                prop_assert_eq!(index.find(hash(number), |found| found == number).is_some(), set.contains(&number));
            }
            let listed: BTreeSet<u32> = (0..).map_while(|at| Some(index.bucket(at)?.collect::<Vec<_>>())).flatten().collect();
            prop_assert_eq!(&listed, &set);
            set.iter().for_each(|&number| assert!(index.remove(hash(number), number)));
            prop_assert!(index.is_clear());
        }
    }
}
