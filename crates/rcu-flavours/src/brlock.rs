//! A reader-writer lock per core ("brlock"): a reader takes one of them, an updater takes all.
//!
//! Readers on different cores share no cache line, so a read costs no more than the atomic instructions; an update
//! takes as many locks as there are cores.
//!
//! *Grace period:* an updater holds every reader's lock, so the argument of the plain reader-writer lock holds
//! with any of them. Updaters take the locks in one order, so they do not wait for each other in a circle.
//!
//! *Publication:* the locks'. A reader's lock was held, and released, by every updater before.

use std::sync::{PoisonError, atomic as unordered};

use crossbeam_utils::CachePadded;

use crate::{
    flavour::{Divisible, Flavour, Thread},
    garbage::Garbage,
    sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

/// One reader-writer lock per core. A thread is given the next core's when it registers, and keeps it.
#[derive(Clone)]
pub struct BrLock {
    shared: Arc<Shared>,
}

struct Shared {
    locks: Box<[CachePadded<RwLock<()>>]>,
    /// Where the next thread goes. Orders nothing.
    next: unordered::AtomicUsize,
}

impl BrLock {
    /// A new instance with a lock for each core.
    pub fn new() -> Self {
        Self::with_locks(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// A new instance with so many locks, but at least one.
    pub fn with_locks(locks: usize) -> Self {
        let locks = (0..locks.max(1)).map(|_| CachePadded::new(RwLock::new(()))).collect();
        Self { shared: Arc::new(Shared { locks, next: 0.into() }) }
    }
}

impl Default for BrLock {
    fn default() -> Self {
        Self::new()
    }
}

impl Divisible for BrLock {}

// SAFETY: see the top of the file.
unsafe impl Flavour for BrLock {
    const NAME: &'static str = "brlock";
    const EXCLUSIVE: bool = true;
    type Thread = BrLockThread;

    fn register(&self) -> BrLockThread {
        let next = self.shared.next.fetch_add(1, unordered::Ordering::Relaxed);
        BrLockThread { lock: self.clone(), mine: next % self.shared.locks.len() }
    }
}

/// A thread's handle of [`BrLock`].
#[derive(Debug)]
pub struct BrLockThread {
    lock: BrLock,
    mine: usize,
}

/// An update section of [`BrLock`]: all locks.
#[derive(Debug)]
pub struct BrLockUpdate<'a> {
    _held: Vec<RwLockWriteGuard<'a, ()>>,
}

// SAFETY: see the top of the file.
unsafe impl Thread for BrLockThread {
    type Read<'a> = RwLockReadGuard<'a, ()>;
    type Update<'a> = BrLockUpdate<'a>;

    #[inline]
    fn read(&mut self) -> RwLockReadGuard<'_, ()> {
        self.lock.shared.locks[self.mine].read().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&mut self) -> BrLockUpdate<'_> {
        let locks = self.lock.shared.locks.iter();
        BrLockUpdate {
            _held: locks.map(|lock| lock.write().unwrap_or_else(PoisonError::into_inner)).collect(),
        }
    }

    /// Has all locks alone once: what is in a section meanwhile began it later.
    fn synchronize(&mut self) {
        drop(self.update());
    }

    /// At once: the section that unlinked it excluded all others.
    #[inline]
    fn retire(&mut self, garbage: Garbage) {
        drop(garbage);
    }
}

impl std::fmt::Debug for BrLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrLock").field("locks", &self.shared.locks.len()).finish()
    }
}
