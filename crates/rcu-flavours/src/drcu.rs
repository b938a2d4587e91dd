//! The dummy RCU: a reader-writer lock used the other way round (AP-RCU §V).
//!
//! Readers *and* updaters hold the read side. The write side is only acquired and released, to wait for a grace
//! period. This has RCU's interface and none of its merits: readers wait for threads that wait for readers.
//!
//! *Grace period:* a thread that gets the write side knows that all that held the read side have released it (and
//! acquires what those releases published). A later section takes the lock after the write side was released, which
//! publishes what was unlinked before, so it does not find that.
//!
//! *Publication:* acquire and release of the structure's own links; sections of updaters do not exclude others.

use std::sync::PoisonError;

use crate::{
    flavour::{Divisible, Flavour, Thread},
    sync::{Arc, RwLock, RwLockReadGuard, protect},
};

/// A reader-writer lock that only serves to wait for grace periods.
#[derive(Clone, Default)]
pub struct Drcu {
    lock: Arc<RwLock<()>>,
}

impl Drcu {
    /// A new instance.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Divisible for Drcu {}

// SAFETY: see the top of the file.
unsafe impl Flavour for Drcu {
    const NAME: &'static str = "drcu";
    type Thread = DrcuThread;

    fn register(&self) -> DrcuThread {
        DrcuThread { drcu: self.clone() }
    }
}

/// A thread's handle of [`Drcu`].
#[derive(Debug)]
pub struct DrcuThread {
    drcu: Drcu,
}

// SAFETY: see the top of the file.
unsafe impl Thread for DrcuThread {
    type Read<'a> = RwLockReadGuard<'a, ()>;
    type Update<'a> = RwLockReadGuard<'a, ()>;

    #[inline]
    fn read(&mut self) -> RwLockReadGuard<'_, ()> {
        self.drcu.lock.read().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn update(&mut self) -> RwLockReadGuard<'_, ()> {
        self.read()
    }

    fn synchronize(&mut self) {
        protect!("drcu_wait", drop(self.drcu.lock.write().unwrap_or_else(PoisonError::into_inner)));
    }
}

impl std::fmt::Debug for Drcu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Drcu")
    }
}
