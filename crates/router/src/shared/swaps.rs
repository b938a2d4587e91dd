//! How often configurations were replaced.

use std::sync::atomic::{AtomicU64, Ordering};

/// How often configurations were replaced.
#[derive(Debug, Default)]
pub struct Swaps {
    done: AtomicU64,
    refused: AtomicU64,
}

impl Swaps {
    /// Those that were carried out.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Those that were not, because something was wrong.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Notes one that was refused.
    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Goes on where the configuration was that has just been replaced.
    pub(crate) fn follow(&self, old: &Swaps) {
        self.done.store(old.done() + 1, Ordering::Relaxed);
        self.refused.store(old.refused(), Ordering::Relaxed);
    }
}
