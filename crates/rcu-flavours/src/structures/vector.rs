//! A growing array of values with a list of free places, read without locks: the thesis' route vector (§2.1.2).
//!
//! A reader finds an index elsewhere (in a trie's node) and reads the value there. One updater at a time writes.
//! These invariants prevent what goes wrong without grace periods (§3.3.1).
//!
//! *Invariants:*
//! 1. A place is written only while no reader can have its index: either it has never been used, or it comes from the list
//!    of free places, where it was put a grace period after its index was taken away from readers.
//! 2. When the array is full, a copy of twice the size takes its place, and the old array is freed after a grace period;
//!    meanwhile its readers find all values whose index they can have.
//!
//! *Orderings:* the updater writes the value, publishes the array if it is new (*release*), then publishes the index
//! (*release*). A reader loads the index (*acquire*), then the array (*acquire*): so it gets the array that the value was
//! written to, or a later one.

use std::{mem::MaybeUninit, sync::PoisonError};

use crate::{
    garbage::Garbage,
    sync::{Arc, AtomicPtr, Mutex, Ordering, UnsafeCell, ordering},
};

/// The array and what its updater knows of it.
pub(super) struct Vector<T> {
    array: AtomicPtr<Array<T>>,
    /// Places in use, or free by the list. Written by the updater only.
    len: UnsafeCell<u32>,
    /// Free places. Callbacks add to it, so it outlives the vector.
    free: Arc<Mutex<Vec<u32>>>,
}

struct Array<T> {
    places: Box<[UnsafeCell<MaybeUninit<T>>]>,
}

// SAFETY: by the invariants, a place is not written while any thread reads it; what is shared is `T: Copy`.
unsafe impl<T: Send> Send for Array<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Vector<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for Vector<T> {}

impl<T> Array<T> {
    fn new(capacity: usize) -> Self {
        Self { places: (0..capacity).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect() }
    }
}

impl<T: Copy + Send + Sync + 'static> Vector<T> {
    pub(super) fn new(capacity: usize) -> Self {
        let array = Box::into_raw(Box::new(Array::new(capacity.max(1))));
        Self { array: AtomicPtr::new(array), len: UnsafeCell::new(0), free: Arc::new(Mutex::new(Vec::new())) }
    }

    /// The value at an index.
    ///
    /// # Safety
    /// The caller is in a section in which it acquired `index` from where it was published after
    /// [`add`](Self::add) returned it; or it is the updater, and the index is in use.
    #[inline]
    pub(super) unsafe fn get(&self, index: u32) -> T {
        let array = self.array.load(ordering!("vector_read", Acquire));
        // SAFETY: an array is freed a grace period after it was replaced; the section lasts that long.
        let array = unsafe { &*array };
        // SAFETY: invariant 1: written before the index was published, and not again while the section lasts.
        array.places[index as usize].with(|place| unsafe { (*place).assume_init() })
    }

    /// Adds a value and returns its index, which is then to be published.
    ///
    /// # Safety
    /// The caller is the only updater. `unlinked` is retired after the update section.
    pub(super) unsafe fn add(&self, value: T, unlinked: &mut Vec<Garbage>) -> u32 {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // SAFETY: passed on to the caller.
        let index = free.unwrap_or_else(|| unsafe { self.extend(unlinked) });
        // SAFETY: only the updater replaces arrays.
        let array = unsafe { &*self.array.load(Ordering::Relaxed) };
        // SAFETY: invariant 1.
        array.places[index as usize].with_mut(|place| unsafe { (*place).write(value) });
        index
    }

    /// A place that has never been used. Makes room if there is none.
    ///
    /// # Safety
    /// As [`add`](Self::add).
    unsafe fn extend(&self, unlinked: &mut Vec<Garbage>) -> u32 {
        let old = self.array.load(Ordering::Relaxed);
        // SAFETY: the caller is the only updater.
        let len = self.len.with_mut(|len| unsafe {
            *len += 1;
            *len - 1
        });
        // SAFETY: only the updater replaces arrays.
        let places = unsafe { &(*old).places };
        if len as usize == places.len() {
            self.array.store(Box::into_raw(Box::new(grown(places))), ordering!("vector_publish", Release));
            // SAFETY: made by `Box::into_raw`, replaced by this thread.
            unlinked.push(unsafe { Garbage::from_raw(old) });
        }
        len
    }

    /// Gives an index back that was taken away from readers: the result is to be retired, and makes the place free.
    #[must_use]
    pub(super) fn remove(&self, index: u32) -> Garbage {
        let free = self.free.clone();
        let give_back = move || free.lock().unwrap_or_else(PoisonError::into_inner).push(index);
        if cfg!(rcu_mutant = "vector_reuse_at_once") {
            give_back();
            return Garbage::from_fn(0, || ());
        }
        Garbage::from_fn(0, give_back)
    }
}

/// Twice as many places, the first of them as here.
fn grown<T: Copy>(places: &[UnsafeCell<MaybeUninit<T>>]) -> Array<T> {
    let array = Array::new(places.len() * 2);
    for (from, to) in places.iter().zip(&array.places) {
        // SAFETY: the updater alone writes places, and it is here; no other thread has the new array yet.
        from.with(|from| to.with_mut(|to| unsafe { *to = *from }));
    }
    array
}

impl<T> Drop for Vector<T> {
    fn drop(&mut self) {
        // SAFETY: this call has the vector alone, so no thread reads its present array.
        drop(unsafe { Box::from_raw(self.array.load(Ordering::Acquire)) });
    }
}
