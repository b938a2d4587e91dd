//! A list of slots that grows, is scanned without locks and never shrinks.
//!
//! Entries are only ever prepended and live as long as the registry, so a scan is a walk over a linked list
//! whose links do not change. A claimed entry belongs to one owner; a released one is handed to the next.
//! The list is as long as the largest number of owners there ever was at once.

use std::ptr::NonNull;

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicBool, AtomicPtr, Ordering, ordering};

/// The list.
pub struct Registry<T> {
    head: AtomicPtr<Entry<T>>,
}

/// One slot, alone in its cache lines.
pub struct Entry<T> {
    value: CachePadded<T>,
    taken: AtomicBool,
    next: *mut Entry<T>,
}

impl<T: Default> Default for Registry<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Default> Registry<T> {
    /// An empty list.
    pub fn new() -> Self {
        Self { head: AtomicPtr::new(std::ptr::null_mut()) }
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
            Some(entry) => NonNull::from(entry),
            None => self.add(),
        }
    }

    fn add(&self) -> NonNull<Entry<T>> {
        let mut head = self.head.load(Ordering::Relaxed);
        let fresh = Entry { value: CachePadded::new(T::default()), taken: AtomicBool::new(true), next: head };
        let entry = NonNull::from(Box::leak(Box::new(fresh)));
        loop {
            // Release: who sees the entry in the list sees it initialised. The orderings of successive
            // additions chain, because each is a read-modify-write of the same head.
            match self.head.compare_exchange(head, entry.as_ptr(), Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return entry,
                Err(now) => {
                    head = now;
                    // SAFETY: not in the list yet, so ours alone.
                    unsafe { (*entry.as_ptr()).next = now };
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
        unsafe { entry.as_ref() }.taken.store(false, ordering!("claim_release", Release));
    }

    /// All slots, claimed or not.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries().map(|entry| &*entry.value)
    }

    fn entries(&self) -> impl Iterator<Item = &Entry<T>> {
        let mut at = self.head.load(Ordering::Acquire);
        std::iter::from_fn(move || {
            // SAFETY: entries are published initialised and freed only with the registry, which is borrowed.
            let entry = unsafe { at.as_ref() }?;
            at = entry.next;
            Some(entry)
        })
    }
}

impl<T> Entry<T> {
    /// The slot.
    pub fn value(&self) -> &T {
        &self.value
    }
}

impl<T> Drop for Registry<T> {
    fn drop(&mut self) {
        let mut at = self.head.load(Ordering::Acquire);
        while !at.is_null() {
            // SAFETY: the registry is going, so no thread walks it or owns an entry; each came from a box.
            at = unsafe { Box::from_raw(at) }.next;
        }
    }
}

// SAFETY: entries are shared by reference (`T: Sync`) and dropped with the registry (`T: Send`); `next` is
// written before an entry is published and never again.
unsafe impl<T: Send + Sync> Send for Registry<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Registry<T> {}
