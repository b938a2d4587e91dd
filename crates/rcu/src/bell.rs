//! The bell that wakes the reclaimer's thread.

use std::{
    sync::{Mutex, OnceLock, atomic::AtomicBool},
    thread::Thread,
};

use crate::sync::{Ordering, fence_after_rmw};

/// How the thread is woken: by the first callback after it has found nothing.
///
/// The thread says that it is about to sleep, *fences*, then looks at the queues once more; an updater counts its
/// callback, *fences*, then looks whether the thread sleeps (rule 8). One of the two sees the other.
#[derive(Default)]
pub(crate) struct Bell {
    pub(crate) asleep: AtomicBool,
    pub(crate) thread: OnceLock<Thread>,
    pub(crate) starting: Mutex<()>,
}

impl Bell {
    /// Wakes the thread if it sleeps. To be called right after the read-modify-write that queued something.
    #[inline]
    pub(crate) fn ring_after_rmw(&self) {
        fence_after_rmw();
        if self.asleep.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        if self.asleep.swap(false, Ordering::Relaxed)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }

    /// Wakes the thread so that it finds its domain gone.
    pub(crate) fn close(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}
