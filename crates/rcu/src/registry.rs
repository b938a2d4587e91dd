//! A list of slots that grows, is scanned without locks and never shrinks; a scan skips what no reader has.
//!
//! Entries come in blocks, which are only ever prepended and live as long as the registry, so a scan is a walk over a
//! linked list whose links do not change. A claimed entry belongs to one owner; a released one is handed to the next.
//! There are as many entries as the largest number of owners there ever was at once, and a few more. A block counts its
//! owners, and [`live`](Registry::live) looks into those blocks only that have one. An owner that leaves something behind in its entry
//! [leaves its count](Registry::leave) there, too: the next owner takes that over, or a scan that finds nothing left
//! [takes it away](Registry::take_away).

use std::ptr::{self, NonNull};

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, ordering};

/// Entries of the first block; each further one has twice as many, up to the most.
const FIRST: usize = if cfg!(loom) { 1 } else { 4 };
const MOST: usize = if cfg!(loom) { 1 } else { 64 };

/// The list.
pub struct Registry<T> {
    head: AtomicPtr<Block<T>>,
}

struct Block<T> {
    entries: Box<[Entry<T>]>,
    /// How many of them have an owner.
    owners: AtomicUsize,
    next: *mut Block<T>,
}

/// One slot, alone in its cache lines.
pub struct Entry<T> {
    value: CachePadded<T>,
    taken: AtomicBool,
    /// Whether the block counts it for what an owner has left in it.
    left: AtomicBool,
    /// Where it is.
    block: *const Block<T>,
}

impl<T: Default> Default for Registry<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Default> Registry<T> {
    /// An empty list.
    pub fn new() -> Self {
        Self { head: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Takes a free entry, or adds one.
    ///
    /// Acquires what the entry's previous owner did before [`release`](Self::release).
    pub fn claim(&self) -> NonNull<Entry<T>> {
        let free = self.entries().find(|entry| {
            let acquire = ordering!("claim_acquire", Acquire);
            entry.taken.compare_exchange(false, true, acquire, Ordering::Relaxed).is_ok()
        });
        match free {
            Some(entry) => {
                // Before whatever the owner does. Relaxed: a scan that must not miss the owner comes after a fence that comes
                // after the owner's (rules 3 and 8). A count that was left is taken over (rule 9).
                if !entry.left.load(Ordering::Relaxed) || !entry.left.swap(false, Ordering::Relaxed) {
                    entry.block().owners.fetch_add(1, Ordering::Relaxed);
                }
                NonNull::from(entry)
            }
            None => self.add(),
        }
    }

    /// Adds a block, and takes its first entry.
    fn add(&self) -> NonNull<Entry<T>> {
        let mut head = self.head.load(Ordering::Acquire);
        let length = (FIRST << self.blocks().count().min(8)).min(MOST);
        let block = Block { entries: Box::default(), owners: AtomicUsize::new(1), next: head };
        let block = NonNull::from(Box::leak(Box::new(block)));
        let entry = |at| Entry {
            value: CachePadded::new(T::default()),
            taken: AtomicBool::new(at == 0),
            left: AtomicBool::new(false),
            block: block.as_ptr(),
        };
        // SAFETY: not in the list yet, so ours alone.
        unsafe { (*block.as_ptr()).entries = (0..length).map(entry).collect() };
        // SAFETY: as above; from here on it is only shared.
        let first = NonNull::from(unsafe { &(*block.as_ptr()).entries[0] });
        loop {
            // Release: who sees the block in the list sees it initialised. The orderings of successive
            // additions chain, because each is a read-modify-write of the same head.
            match self.head.compare_exchange(head, block.as_ptr(), Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return first,
                Err(now) => {
                    head = now;
                    // SAFETY: not in the list yet, so ours alone.
                    unsafe { (*block.as_ptr()).next = now };
                }
            }
        }
    }

    /// Gives an entry back.
    ///
    /// # Safety
    /// `entry` came from [`claim`](Self::claim) of this registry and is released once.
    pub unsafe fn release(&self, entry: NonNull<Entry<T>>) {
        // SAFETY: entries live as long as the registry.
        let entry = unsafe { entry.as_ref() };
        // Release: a scan that skips the block comes after all that its owners did (rule 1).
        entry.block().owners.fetch_sub(1, ordering!("owners_release", Release));
        entry.taken.store(false, ordering!("claim_release", Release));
    }

    /// Gives an entry back in which something is left that scans are to find, until [`take_away`](Self::take_away).
    ///
    /// # Safety
    /// As for [`release`](Self::release).
    pub unsafe fn leave(&self, entry: NonNull<Entry<T>>) {
        // SAFETY: entries live as long as the registry.
        let entry = unsafe { entry.as_ref() };
        // Release: who takes the count away looks once more, and finds what is left (rule 9).
        if entry.left.swap(true, ordering!("left_release", Release)) {
            entry.block().owners.fetch_sub(1, Ordering::Release);
        }
        entry.taken.store(false, ordering!("claim_release", Release));
    }

    /// Takes the count away that an owner has left in an entry, if nothing is left there. One thread at a time may call it.
    pub fn take_away(&self, entry: &Entry<T>, is_empty: impl Fn(&T) -> bool) {
        let is_left = entry.left.load(Ordering::Relaxed);
        if !is_left || !is_empty(&entry.value) || !entry.left.swap(false, ordering!("left_acquire", Acquire))
        {
            return;
        }
        // Another owner may have come, left something and gone since: its count is the one that was taken (rule 9).
        let is_empty = cfg!(rcu_mutant = "look_for_what_is_left") || is_empty(&entry.value);
        if is_empty || entry.left.swap(true, Ordering::AcqRel) {
            entry.block().owners.fetch_sub(1, Ordering::Release);
        }
    }

    /// All slots, claimed or not.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries().map(|entry| &*entry.value)
    }

    /// All slots that are claimed or have something left in them, and some others.
    pub fn live(&self) -> impl Iterator<Item = &T> {
        self.live_entries().map(Entry::value)
    }

    /// The same with their entries.
    pub fn live_entries(&self) -> impl Iterator<Item = &Entry<T>> {
        // Acquire: where there is no owner any more, all that the last one did is over.
        let live = |block: &&Block<T>| block.owners.load(ordering!("owners_acquire", Acquire)) > 0;
        self.blocks().filter(live).flat_map(|block| &block.entries)
    }

    fn entries(&self) -> impl Iterator<Item = &Entry<T>> {
        self.blocks().flat_map(|block| &block.entries)
    }

    fn blocks(&self) -> impl Iterator<Item = &Block<T>> {
        let mut at = self.head.load(Ordering::Acquire);
        std::iter::from_fn(move || {
            // SAFETY: blocks are published initialised and freed only with the registry, which is borrowed.
            let block = unsafe { at.as_ref() }?;
            at = block.next;
            Some(block)
        })
    }
}

impl<T> Entry<T> {
    /// The slot.
    pub fn value(&self) -> &T {
        &self.value
    }

    fn block(&self) -> &Block<T> {
        // SAFETY: set when the block was made, which lives as long as its entries.
        unsafe { &*self.block }
    }
}

impl<T> Drop for Registry<T> {
    fn drop(&mut self) {
        let mut at = self.head.load(Ordering::Acquire);
        while !at.is_null() {
            // SAFETY: the registry is going, so no thread walks it or owns an entry; each block came from a box.
            at = unsafe { Box::from_raw(at) }.next;
        }
    }
}

// SAFETY: entries are shared by reference (`T: Sync`) and dropped with the registry (`T: Send`); `next` and `block` are
// written before a block is published and never again.
unsafe impl<T: Send + Sync> Send for Registry<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Registry<T> {}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A scan visits what there is, not what there ever was.
    #[test]
    fn slots_that_are_gone_are_not_visited() {
        let registry = Registry::<u64>::new();
        let stays = registry.claim();
        let gone: Vec<_> = (0..10_000).map(|_| registry.claim()).collect();
        assert!(registry.live().count() > 10_000);
        for entry in gone {
            // SAFETY: claimed above, released once.
            unsafe { registry.release(entry) };
        }
        assert!(registry.live().count() <= FIRST, "{}", registry.live().count());
        assert!(registry.blocks().count() < 200);
        // Others take places that are free already, and few blocks are looked into for them.
        let few: Vec<_> = (0..3).map(|_| registry.claim()).collect();
        assert!(registry.live().count() <= FIRST + MOST);
        for entry in few.into_iter().chain([stays]) {
            // SAFETY: as above.
            unsafe { registry.release(entry) };
        }
        assert_eq!(registry.live().count(), 0);
        assert!(registry.iter().count() < 10_200, "and all is there to be used again");
    }

    /// What an owner leaves is visited, whichever reader takes it over, until nothing is left.
    #[test]
    fn what_is_left_is_visited() {
        let registry = Registry::<u64>::new();
        let counts = |empty: bool| {
            registry.live_entries().for_each(|entry| registry.take_away(entry, |_| empty));
            registry.live().count()
        };
        for _ in 0..3 {
            let entry = registry.claim();
            assert_eq!(counts(true), FIRST, "an owner's count is not taken");
            // SAFETY: claimed above, given back once.
            unsafe { registry.leave(entry) };
            assert_eq!(counts(false), FIRST);
            let again = registry.claim();
            assert_eq!((again, counts(false)), (entry, FIRST));
            // SAFETY: as above.
            unsafe { registry.leave(again) };
            assert_eq!((counts(false), counts(true), counts(true)), (FIRST, 0, 0));
            let last = registry.claim();
            // SAFETY: as above.
            unsafe { registry.release(last) };
            assert_eq!(counts(true), 0);
        }
    }
}
