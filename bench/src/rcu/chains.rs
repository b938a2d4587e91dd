//! The table of the hash mini-benchmark: a dense array of buckets, doubly linked chains of one element each, under any
//! flavour of protection, with one instance for the whole table or one for each bucket.
#![allow(unsafe_code)] // Doubly linked chains have two owners for each element; the flavours see to it that it is in order.

use rcu_flavours::{Divisible, Flavour, Garbage, Thread};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{
    AtomicPtr,
    Ordering::{Acquire, Relaxed, Release},
};

/// A table that holds, to begin with, one element for each bucket: keys from 0 to `buckets - 1`.
pub(crate) struct Chains<F: Flavour> {
    buckets: Box<[Bucket]>,
    /// One, or one for each bucket.
    instances: Vec<F>,
}

/// A chain's beginning.
struct Bucket {
    first: AtomicPtr<Element>,
    /// What updaters take if the flavour does not exclude them from each other.
    updaters: parking_lot::Mutex<()>,
}

struct Element {
    key: u64,
    next: AtomicPtr<Element>,
    /// The place that points to this element. Looked at by updaters of the chain only.
    back: UnsafeCell<*const AtomicPtr<Element>>,
}

// SAFETY: elements are reached through the table, whose updaters alone use `back`, one at a time for each chain.
unsafe impl Send for Element {}
// SAFETY: as above.
unsafe impl Sync for Element {}

impl<F: Flavour> Chains<F> {
    /// A table under one instance.
    pub(crate) fn new(buckets: usize, instance: F) -> Self {
        Self::with(buckets, vec![instance])
    }

    /// A table under as many instances as there are buckets.
    pub(crate) fn per_bucket(buckets: usize) -> Self
    where
        F: Divisible,
    {
        Self::with(buckets, (0..buckets).map(|_| F::default()).collect())
    }

    fn with(buckets: usize, instances: Vec<F>) -> Self {
        let bucket = |_| Bucket { first: AtomicPtr::default(), updaters: parking_lot::Mutex::new(()) };
        let table = Self { buckets: (0..buckets).map(bucket).collect(), instances };
        for (key, bucket) in table.buckets.iter().enumerate() {
            // SAFETY: no other thread has the table yet.
            unsafe { bucket.link(Element::new(key as u64)) };
        }
        table
    }

    /// How many buckets, and keys.
    pub(crate) fn len(&self) -> usize {
        self.buckets.len()
    }

    /// One thread's access.
    pub(crate) fn session(&self) -> Session<'_, F> {
        Session { table: self, threads: self.instances.iter().map(Flavour::register).collect() }
    }
}

impl<F: Flavour> Drop for Chains<F> {
    fn drop(&mut self) {
        for bucket in &mut self.buckets {
            let mut at = *bucket.first.get_mut();
            while !at.is_null() {
                // SAFETY: from a box, linked once, and no other thread has the table any more.
                at = *unsafe { Box::from_raw(at) }.next.get_mut();
            }
        }
    }
}

impl Element {
    fn new(key: u64) -> Box<Element> {
        Box::new(Element { key, next: AtomicPtr::default(), back: UnsafeCell::new(ptr::null()) })
    }
}

impl Bucket {
    /// # Safety
    /// Within a section of the table.
    unsafe fn find(&self, key: u64) -> *mut Element {
        let mut at = self.first.load(Acquire);
        // SAFETY: found within the section, so not freed before its end.
        while let Some(element) = unsafe { at.as_ref() } {
            if element.key == key {
                break;
            }
            at = element.next.load(Acquire);
        }
        at
    }

    /// # Safety
    /// The caller is the chain's only updater.
    unsafe fn link(&self, element: Box<Element>) {
        let first = self.first.load(Relaxed);
        element.next.store(first, Relaxed);
        // SAFETY: not linked yet.
        unsafe { *element.back.get() = &raw const self.first };
        let element = Box::into_raw(element);
        // SAFETY: linked elements are alive for their updater, who alone uses `back`.
        unsafe {
            if let Some(first) = first.as_ref() {
                *first.back.get() = &raw const (*element).next;
            }
        }
        self.first.store(element, Release);
    }

    /// # Safety
    /// The caller is the chain's only updater, and found `element` as such.
    unsafe fn unlink(element: *mut Element) {
        // SAFETY: linked, so alive, and so are its neighbours; `back` is the updater's.
        unsafe {
            let next = (*element).next.load(Relaxed);
            let back = *(*element).back.get();
            (*back).store(next, Release);
            if let Some(next) = next.as_ref() {
                *next.back.get() = back;
            }
        }
    }
}

/// One thread's access to a table.
pub(crate) struct Session<'a, F: Flavour> {
    table: &'a Chains<F>,
    threads: Vec<F::Thread>,
}

impl<F: Flavour> Session<'_, F> {
    fn place(&mut self, key: u64) -> (&Bucket, &mut F::Thread) {
        let at = key as usize & (self.table.buckets.len() - 1);
        let thread = if self.threads.len() == 1 { 0 } else { at };
        (&self.table.buckets[at], &mut self.threads[thread])
    }

    /// True if the key is there.
    #[inline]
    pub(crate) fn search(&mut self, key: u64) -> bool {
        let (bucket, thread) = self.place(key);
        let section = thread.read();
        // SAFETY: within the section.
        let found = !unsafe { bucket.find(key) }.is_null();
        drop(section);
        found
    }

    /// Removes a key and inserts it again. False if another thread just does the same.
    pub(crate) fn delete_and_reinsert(&mut self, key: u64) -> bool {
        let (bucket, thread) = self.place(key);
        let section = thread.update();
        let updating = (!F::EXCLUSIVE).then(|| bucket.updaters.lock());
        // SAFETY: within the section, and as the only updater.
        let old = unsafe { bucket.find(key) };
        if !old.is_null() {
            // SAFETY: just found by the only updater.
            unsafe { Bucket::unlink(old) };
        }
        drop((updating, section));
        if old.is_null() {
            return false;
        }
        // SAFETY: from a box, and unlinked here.
        thread.retire(unsafe { Garbage::from_raw(old) });
        let new = Element::new(key);
        let section = thread.update();
        let updating = (!F::EXCLUSIVE).then(|| bucket.updaters.lock());
        // SAFETY: within the section, and as the only updater.
        unsafe { bucket.link(new) };
        drop((updating, section));
        true
    }

    /// Holds no reference now.
    #[inline]
    pub(crate) fn quiescent(&mut self) {
        self.threads.iter_mut().for_each(Thread::quiescent);
    }

    /// Waits until everything that was removed is freed.
    pub(crate) fn finish(&mut self) {
        self.threads.iter_mut().for_each(Thread::barrier);
        self.threads.iter_mut().for_each(Thread::offline);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcu_flavours::{Lock, Qsbr};

    fn keys_stay<F: Flavour>(table: Chains<F>) {
        std::thread::scope(|scope| {
            for thread in 0..3u64 {
                let table = &table;
                scope.spawn(move || {
                    let mut session = table.session();
                    for turn in 0..400 {
                        // Two of the threads contend for the same keys.
                        session.delete_and_reinsert((turn * 7 + thread / 2) % 64);
                        session.search(turn % 64);
                        session.quiescent();
                    }
                    session.finish();
                });
            }
        });
        let mut session = table.session();
        assert!((0..64).all(|key| session.search(key)));
        session.finish();
        let count = |bucket: &Bucket| {
            let mut at = bucket.first.load(Acquire);
            let mut count = 0;
            // SAFETY: the other threads are gone.
            while let Some(element) = unsafe { at.as_ref() } {
                (count, at) = (count + 1, element.next.load(Acquire));
            }
            count
        };
        assert_eq!(table.buckets.iter().map(count).sum::<u32>(), 64);
    }

    #[test]
    fn no_key_is_lost_or_doubled_under_updates_of_the_same_keys() {
        keys_stay(Chains::new(16, Qsbr::new()).with_more(48));
        keys_stay(Chains::<Lock>::per_bucket(16).with_more(48));
    }

    impl<F: Flavour> Chains<F> {
        /// The same with further keys, so that chains have more than one element.
        fn with_more(self, keys: u64) -> Self {
            let buckets = self.buckets.len() as u64;
            for key in buckets..buckets + keys {
                // SAFETY: no other thread has the table yet.
                unsafe { self.buckets[(key % buckets) as usize].link(Element::new(key)) };
            }
            self
        }
    }
}
