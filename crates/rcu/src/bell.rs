//! The bell that wakes the reclaimer's thread.

use std::sync::{Mutex, OnceLock};

use crate::sync::{AtomicBool, Ordering, fence, fence_after_rmw, protect, thread::Thread};

/// How the thread is woken: by the first callback after it has found nothing.
///
/// The thread says that it is about to sleep, *fences*, then looks at the queues once more; an updater counts its
/// callback, *fences*, then looks whether the thread sleeps (rule 8). One of the two sees the other.
#[derive(Default)]
pub(crate) struct Bell {
    asleep: AtomicBool,
    pub(crate) thread: OnceLock<Thread>,
    #[cfg_attr(loom, expect(dead_code, reason = "a model starts the thread itself"))]
    pub(crate) starting: Mutex<()>,
}

impl Bell {
    /// Wakes the thread if it sleeps. To be called right after the read-modify-write that queued something.
    #[inline]
    pub(crate) fn ring_after_rmw(&self) {
        protect!("ring_fence", fence_after_rmw());
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

    /// The thread looks for work, and need not be woken.
    pub(crate) fn awake(&self) {
        self.asleep.store(false, Ordering::Relaxed);
    }

    /// The thread has found nothing. It is to look once more, and to sleep only if it finds nothing again.
    pub(crate) fn fall_asleep(&self) {
        self.asleep.store(true, Ordering::Relaxed);
        protect!("sleep_fence", fence(Ordering::SeqCst));
    }

    /// Wakes the thread so that it finds its domain gone.
    pub(crate) fn close(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}
