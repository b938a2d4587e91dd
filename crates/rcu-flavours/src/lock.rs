//! A mutual exclusion lock around every section.
//!
//! *Grace period:* sections exclude each other, so once a thread has unlinked X in its section, no other thread is in
//! a section that found X: a later section takes the lock, which acquires what the previous holder's release
//! published, and does not find X. Nothing is deferred.
//!
//! *Publication:* the lock's.

use std::sync::PoisonError;

use crate::{
    flavour::{Divisible, Flavour, Thread},
    garbage::Garbage,
    sync::{Arc, Mutex, MutexGuard},
};

/// One lock that readers and updaters take. With an instance per bucket it is the per-bucket lock.
#[derive(Clone, Default)]
pub struct Lock {
    mutex: Arc<Mutex<()>>,
}

impl Lock {
    /// A new instance.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Divisible for Lock {}

// SAFETY: see the top of the file.
unsafe impl Flavour for Lock {
    const NAME: &'static str = "lock";
    const EXCLUSIVE: bool = true;
    type Thread = LockThread;

    fn register(&self) -> LockThread {
        LockThread { lock: self.clone() }
    }
}

/// A thread's handle of [`Lock`].
#[derive(Debug)]
pub struct LockThread {
    lock: Lock,
}

/// A section of [`Lock`].
#[derive(Debug)]
pub struct LockSection<'a> {
    _held: MutexGuard<'a, ()>,
}

// SAFETY: see the top of the file.
unsafe impl Thread for LockThread {
    type Read<'a> = LockSection<'a>;
    type Update<'a> = LockSection<'a>;

    fn read(&mut self) -> LockSection<'_> {
        // The lock protects no data of its own that a panic could leave half-changed.
        LockSection { _held: self.lock.mutex.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    fn update(&mut self) -> LockSection<'_> {
        self.read()
    }

    /// Takes the lock once: what is in a section meanwhile began it later.
    fn synchronize(&mut self) {
        drop(self.read());
    }

    /// At once: the section that unlinked it excluded all others.
    fn retire(&mut self, garbage: Garbage) {
        drop(garbage);
    }
}

impl std::fmt::Debug for Lock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lock")
    }
}
