//! A non-blocking hash table: an array of chains that are searched, extended and shortened without locks, after
//! the one that AP-RCU is measured with (§V.A).
//!
//! An item is *valid* until it is removed. The lowest bit of its `next` pointer says whether it is, so that one
//! compare-and-swap can invalidate the item and at the same time freeze what follows it: nothing can be inserted
//! behind an item that is being removed.
//!
//! *Invariants:*
//! 1. An item is appended only at the last link of its chain, by a compare-and-swap from null. So a thread that
//!    adds a key that it did not find fails if any thread has appended anything since then, and at most one valid
//!    item has a given key.
//! 2. The link of an invalid item does not change any more.
//! 3. An item is unlinked only when it is invalid, by a compare-and-swap of a valid link that points to it. Once
//!    unlinked it is not linked again; the thread that unlinked it retires it.
//! 4. A removal succeeds for the thread whose compare-and-swap invalidated the item, and for no other.
//!
//! *Why it needs grace periods:* a walk may stand on an item that is unlinked meanwhile, and a compare-and-swap
//! compares addresses, which must not be reused while any thread compares them (the "ABA problem"). Walks and changes
//! are sections, so no item that one of them could meet is freed before it is over.
//!
//! *Orderings:* a link is written with release and read with acquire, so an item that is found is complete.

use std::{marker::PhantomData, ptr};

use crate::{
    flavour::{Divisible, Flavour, Thread},
    garbage::Garbage,
    sync::{Arc, AtomicPtr, Ordering, ordering},
};

/// A map from numbers to values, over one instance of a flavour, or an instance for each bucket.
///
/// Clones are the same table. A thread works on it through a [session](Self::session).
pub struct HashTable<V: Send + Sync + 'static, F: Flavour> {
    shared: Arc<Shared<V, F>>,
}

struct Shared<V, F> {
    /// A power of two of them.
    buckets: Box<[Link<V>]>,
    /// One, or one for each bucket.
    instances: Box<[F]>,
    _owns: PhantomData<Box<Item<V>>>,
}

/// Points to the next item; the lowest bit is set if the item that this link belongs to is invalid.
type Link<V> = AtomicPtr<Item<V>>;

struct Item<V> {
    key: u64,
    value: V,
    next: Link<V>,
}

const INVALID: usize = 1;

fn is_invalid<V>(link: *mut Item<V>) -> bool {
    link.addr() & INVALID != 0
}

fn invalid<V>(link: *mut Item<V>) -> *mut Item<V> {
    link.map_addr(|addr| addr | INVALID)
}

fn target<V>(link: *mut Item<V>) -> *mut Item<V> {
    link.map_addr(|addr| addr & !INVALID)
}

impl<V: Send + Sync + 'static, F: Flavour> HashTable<V, F> {
    /// A table with at least so many buckets, all of them protected by `instance`.
    pub fn new(buckets: usize, instance: F) -> Self {
        Self::with_instances(buckets, [instance].into())
    }

    /// A table with at least so many buckets, each with an instance of the flavour for itself.
    pub fn per_bucket(buckets: usize) -> Self
    where
        F: Divisible,
    {
        Self::with_instances(buckets, (0..buckets.next_power_of_two()).map(|_| F::default()).collect())
    }

    fn with_instances(buckets: usize, instances: Box<[F]>) -> Self {
        let buckets = (0..buckets.next_power_of_two()).map(|_| Link::new(ptr::null_mut())).collect();
        Self { shared: Arc::new(Shared { buckets, instances, _owns: PhantomData }) }
    }

    /// One thread's access to the table.
    pub fn session(&self) -> HashSession<V, F> {
        let threads = self.shared.instances.iter().map(F::register).collect();
        HashSession { table: self.shared.clone(), threads, unlinked: Vec::new() }
    }
}

impl<V: Send + Sync + 'static, F: Flavour> Clone for HashTable<V, F> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<V, F> Shared<V, F> {
    /// Keys are used as they are: mix those that differ in high bits only.
    #[inline]
    fn bucket(&self, key: u64) -> usize {
        key as usize & (self.buckets.len() - 1)
    }

    #[inline]
    fn instance(&self, bucket: usize) -> usize {
        bucket & (self.instances.len() - 1)
    }
}

impl<V, F> Drop for Shared<V, F> {
    fn drop(&mut self) {
        for bucket in &self.buckets {
            let mut at = bucket.load(Ordering::Acquire);
            while !at.is_null() {
                // SAFETY: no session is left, so the linked items are this table's alone, and none is invalid:
                // who invalidates an item does not leave its section before the item is unlinked.
                let item = unsafe { Box::from_raw(at) };
                at = item.next.load(Ordering::Acquire);
            }
        }
    }
}

/// One thread's access to a [`HashTable`].
pub struct HashSession<V: Send + Sync + 'static, F: Flavour> {
    table: Arc<Shared<V, F>>,
    threads: Box<[F::Thread]>,
    /// Items that this thread has unlinked and has still to retire; empty between calls.
    unlinked: Vec<Garbage>,
}

impl<V: Send + Sync + 'static, F: Flavour> HashSession<V, F> {
    /// Calls `look` with the value of a key, if there is one.
    #[inline]
    pub fn get<R>(&mut self, key: u64, look: impl FnOnce(&V) -> R) -> Option<R> {
        let bucket = self.table.bucket(key);
        let _section = self.threads[self.table.instance(bucket)].read();
        let mut at = self.table.buckets[bucket].load(ordering!("hash_read", Acquire));
        // SAFETY: found by a link within the section, so it is complete, and not freed before the section ends.
        while let Some(item) = unsafe { target(at).as_ref() } {
            let next = item.next.load(ordering!("hash_read", Acquire));
            if item.key == key && !is_invalid(next) {
                return Some(look(&item.value));
            }
            at = next;
        }
        None
    }

    /// Adds a key. Of several threads that add the same key at once, one succeeds.
    ///
    /// # Errors
    /// Gives the value back if the key is there already.
    pub fn insert(&mut self, key: u64, value: V) -> Result<(), V> {
        let bucket = self.table.bucket(key);
        let instance = self.table.instance(bucket);
        let new = Box::into_raw(Box::new(Item { key, value, next: Link::new(ptr::null_mut()) }));
        let section = self.threads[instance].update();
        let inserted = loop {
            let Cursor { link, item } = find(&self.table.buckets[bucket], key, &mut self.unlinked);
            if !item.is_null() {
                break false;
            }
            let release = ordering!("hash_publish", Release);
            // If this fails, another thread has appended something, or has invalidated the last item.
            if link.compare_exchange(item, new, release, Ordering::Relaxed).is_ok() {
                break true;
            }
        };
        drop(section);
        self.retire_unlinked(instance);
        if inserted {
            return Ok(());
        }
        // SAFETY: no thread but this one has seen it.
        Err(unsafe { Box::from_raw(new) }.value)
    }

    /// Removes a key. Of several threads that remove the same key at once, one succeeds (returns true). Its value
    /// is dropped after a grace period.
    pub fn remove(&mut self, key: u64) -> bool {
        let bucket = self.table.bucket(key);
        let instance = self.table.instance(bucket);
        let section = self.threads[instance].update();
        let removed = invalidate(&self.table.buckets[bucket], key, &mut self.unlinked);
        drop(section);
        self.retire_unlinked(instance);
        removed
    }

    fn retire_unlinked(&mut self, instance: usize) {
        for garbage in self.unlinked.drain(..) {
            self.threads[instance].retire(garbage);
        }
    }

    /// See [`Thread::quiescent`].
    #[inline]
    pub fn quiescent(&mut self) {
        self.threads.iter_mut().for_each(Thread::quiescent);
    }

    /// See [`Thread::offline`].
    pub fn offline(&mut self) {
        self.threads.iter_mut().for_each(Thread::offline);
    }

    /// Waits until all that this session has removed is dropped.
    pub fn barrier(&mut self) {
        self.threads.iter_mut().for_each(Thread::barrier);
    }
}

/// A link, and the item that it was found to point to, or null.
struct Cursor<'a, V> {
    link: &'a Link<V>,
    item: *mut Item<V>,
}

/// Finds the link to a key's valid item, or else the last link of the chain. Unlinks invalid items on the way, into
/// `unlinked`. To be called in an update section, within which the answer is good.
fn find<'a, V: Send + 'static>(bucket: &'a Link<V>, key: u64, unlinked: &mut Vec<Garbage>) -> Cursor<'a, V> {
    'again: loop {
        let mut link = bucket;
        let mut at = link.load(Ordering::Acquire);
        loop {
            // The link's own item was valid when its link was loaded: an invalid one is unlinked, not stepped on.
            // SAFETY: found by a link within the section, so it is complete, and not freed before the section ends.
            let Some(item) = (unsafe { at.as_ref() }) else { return Cursor { link, item: at } };
            let next = item.next.load(Ordering::Acquire);
            if is_invalid(next) {
                match link.compare_exchange(at, target(next), Ordering::AcqRel, Ordering::Relaxed) {
                    // SAFETY: invariant 3: this thread alone has unlinked it.
                    Ok(_) => unlinked.push(unsafe { Garbage::from_raw(at) }),
                    Err(_) => continue 'again,
                }
                at = target(next);
            } else if item.key == key {
                return Cursor { link, item: at };
            } else {
                (link, at) = (&item.next, next);
            }
        }
    }
}

/// Invalidates a key's item and sees to it that it is unlinked. True if it was this thread that invalidated it.
fn invalidate<V: Send + 'static>(bucket: &Link<V>, key: u64, unlinked: &mut Vec<Garbage>) -> bool {
    loop {
        let item = find(bucket, key, unlinked).item;
        // SAFETY: found within the section, or null.
        let Some(item) = (unsafe { item.as_ref() }) else { return false };
        if try_invalidate(item) {
            break;
        }
    }
    // This walk ends at the chain's end or at another item of this key, which was appended behind; so it passes the
    // item's place, and finds it unlinked or unlinks it.
    find(bucket, key, unlinked);
    true
}

/// False if another thread was quicker.
fn try_invalidate<V>(item: &Item<V>) -> bool {
    let mut next = item.next.load(Ordering::Acquire);
    while !is_invalid(next) {
        match item.next.compare_exchange(next, invalid(next), Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return true,
            Err(now) => next = now,
        }
    }
    false
}

impl<V: Send + Sync + 'static, F: Flavour> std::fmt::Debug for HashTable<V, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shared { buckets, instances, .. } = &*self.shared;
        let mut debug = f.debug_struct("HashTable");
        debug.field("flavour", &F::NAME).field("buckets", &buckets.len());
        debug.field("instances", &instances.len()).finish()
    }
}

impl<V: Send + Sync + 'static, F: Flavour> std::fmt::Debug for HashSession<V, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HashSession").field("flavour", &F::NAME).finish_non_exhaustive()
    }
}
