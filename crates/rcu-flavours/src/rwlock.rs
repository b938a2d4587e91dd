//! A reader-writer lock: sections that read share it, one that updates has it alone.
//!
//! *Grace period:* an update section excludes every other, so when it ends no thread is in a section that found
//! what it unlinked; later sections take the lock after it, which acquires what its release published, and do not
//! find it. Nothing is deferred.
//!
//! *Publication:* the lock's.

use std::sync::PoisonError;

use crate::{
    flavour::{Divisible, Flavour, Thread},
    garbage::Garbage,
    sync::{Arc, RwLock as Primitive, RwLockReadGuard, RwLockWriteGuard},
};

/// The reader-writer lock that RCU is usually compared with.
#[derive(Clone, Default)]
pub struct RwLock {
    lock: Arc<Primitive<()>>,
}

impl RwLock {
    /// A new instance.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Divisible for RwLock {}

// SAFETY: see the top of the file.
unsafe impl Flavour for RwLock {
    const NAME: &'static str = "rwlock";
    const EXCLUSIVE: bool = true;
    type Thread = RwLockThread;

    fn register(&self) -> RwLockThread {
        RwLockThread { lock: self.clone() }
    }
}

/// A thread's handle of [`RwLock`].
#[derive(Debug)]
pub struct RwLockThread {
    lock: RwLock,
}

// SAFETY: see the top of the file.
unsafe impl Thread for RwLockThread {
    type Read<'a> = RwLockReadGuard<'a, ()>;
    type Update<'a> = RwLockWriteGuard<'a, ()>;

    #[inline]
    fn read(&mut self) -> RwLockReadGuard<'_, ()> {
        self.lock.lock.read().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn update(&mut self) -> RwLockWriteGuard<'_, ()> {
        self.lock.lock.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the lock alone once: what is in a section meanwhile began it later.
    fn synchronize(&mut self) {
        drop(self.update());
    }

    /// At once: the section that unlinked it excluded all others.
    #[inline]
    fn retire(&mut self, garbage: Garbage) {
        drop(garbage);
    }
}

impl std::fmt::Debug for RwLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RwLock")
    }
}
