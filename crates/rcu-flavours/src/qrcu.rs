//! QRCU: an RCU that can have many instances, and whose readers may sleep (AP-RCU §III.B, after McKenney's
//! description).
//!
//! Two counters count the readers in sections. The parity of `phase` says which one is *current*; that one is one
//! larger than the number of its readers. A reader increments the current counter unless it is zero, and decrements
//! the same counter later. To wait for a grace period, an updater makes the other counter current, takes the extra
//! one from the previous counter, and waits until that is zero.
//!
//! *Invariant:* a counter is zero only when it is not current and no reader counted by it is left; from then on
//! until it is made current again, no reader enters by it.
//!
//! *Orderings:*
//! 1. A reader leaves by a *release* decrement; the waiter loads the counter with *acquire*. The counter changes
//!    by read-modify-writes only, so a load of zero acquires all decrements.
//! 2. A reader increments, *fences* (SeqCst), then reads; an updater unlinks, *fences*, then looks at the
//!    counters. Either the updater finds the reader counted, or the reader finds the update.
//! 3. A reader that reads a new `phase` (*acquire*) sees that counter non-zero (*release*), so entering does not spin.
//!
//! *Grace period:* let R be a reader that found X before X was unlinked. By 2 its increment comes before every look
//! that the updater takes. On the slow path the counter that is not current is zero, since the updater that switched
//! last waited for that under the same lock. So R is in the current counter, and the updater waits until that has drained.
//! (If it shows no more than the extra one, R has left.) Readers that enter by the new current counter increment it
//! after the updater, so their fence comes after the updater's, and they do not find X.
//!
//! There is a fast path for when no thread reads: the sum of the counters is one. They cannot be loaded atomically
//! together, so the updater adds them up twice. Say R is in counter `k` meanwhile. A load of `k` says at least two,
//! or else another updater has switched away from `k`; then, by 1, later loads of the other say at least one, and no
//! updater switches back before R leaves. So at most the first sum can be one, if `k` was loaded last.
//!
//! *Publication:* acquire and release of the structure's own links.

use std::sync::PoisonError;

use crate::{
    flavour::{Divisible, Flavour, Thread},
    sync::{Arc, AtomicUsize, Condvar, Mutex, Ordering, fence, fence_after_rmw, ordering, pause, protect},
};

/// An RCU per structure, or per bucket of one. Its readers may sleep in their sections: only this instance waits.
#[derive(Clone)]
pub struct Qrcu {
    shared: Arc<Shared>,
}

struct Shared {
    /// Its parity says which counter is current.
    phase: AtomicUsize,
    counters: [AtomicUsize; 2],
    /// Held by who waits for a grace period.
    switching: Mutex<()>,
    /// To sleep until a former counter is zero.
    sleeping: Mutex<()>,
    drained: Condvar,
}

impl Qrcu {
    /// A new instance.
    pub fn new() -> Self {
        let shared = Shared {
            phase: AtomicUsize::new(0),
            counters: [AtomicUsize::new(1), AtomicUsize::new(0)],
            switching: Mutex::new(()),
            sleeping: Mutex::new(()),
            drained: Condvar::new(),
        };
        Self { shared: Arc::new(shared) }
    }
}

impl Default for Qrcu {
    fn default() -> Self {
        Self::new()
    }
}

impl Shared {
    /// Counts a reader. Returns the counter that it has to leave.
    #[inline]
    fn enter(&self) -> &AtomicUsize {
        loop {
            let counter = &self.counters[self.phase.load(Ordering::Acquire) & 1];
            let mut count = counter.load(Ordering::Relaxed);
            while count != 0 {
                // Acquire: a reader that enters by a counter sees what was published before it was made current.
                match counter.compare_exchange(count, count + 1, Ordering::Acquire, Ordering::Relaxed) {
                    Ok(_) => {
                        fence_after_rmw();
                        return counter;
                    }
                    Err(now) => count = now,
                }
            }
            pause();
        }
    }

    fn leave(&self, counter: &AtomicUsize) {
        if counter.fetch_sub(1, ordering!("qrcu_leave", Release)) == 1 {
            self.wake();
        }
    }

    /// Who waits has looked at the counter before, or has the lock until it sleeps.
    #[cold]
    fn wake(&self) {
        drop(self.sleeping.lock().unwrap_or_else(PoisonError::into_inner));
        self.drained.notify_all();
    }

    /// True if no reader seems to be counted.
    fn looks_idle(&self) -> bool {
        let load = |counter: &AtomicUsize| counter.load(Ordering::Acquire);
        load(&self.counters[0]) + load(&self.counters[1]) <= 1
    }

    fn synchronize(&self) {
        fence(Ordering::SeqCst);
        let idle = (0..2).all(|_| self.looks_idle());
        if !idle {
            self.switch_and_wait();
        }
    }

    fn switch_and_wait(&self) {
        let _one_at_a_time = self.switching.lock().unwrap_or_else(PoisonError::into_inner);
        let phase = self.phase.load(Ordering::Relaxed);
        let (former, next) = (&self.counters[phase & 1], &self.counters[(phase + 1) & 1]);
        // Acquire: if all readers left meanwhile, their sections are over.
        if former.load(Ordering::Acquire) == 1 {
            return;
        }
        next.fetch_add(1, Ordering::Relaxed);
        self.phase.store(phase + 1, Ordering::Release);
        self.leave(former);
        let mut asleep = self.sleeping.lock().unwrap_or_else(PoisonError::into_inner);
        protect!(
            "qrcu_wait",
            while former.load(Ordering::Acquire) != 0 {
                asleep = self.drained.wait(asleep).unwrap_or_else(PoisonError::into_inner);
            }
        );
    }
}

impl Divisible for Qrcu {}

// SAFETY: see the top of the file.
unsafe impl Flavour for Qrcu {
    const NAME: &'static str = "qrcu";
    type Thread = QrcuThread;

    fn register(&self) -> QrcuThread {
        QrcuThread { qrcu: self.clone() }
    }
}

/// A thread's handle of [`Qrcu`].
#[derive(Debug)]
pub struct QrcuThread {
    qrcu: Qrcu,
}

/// A section of [`Qrcu`].
pub struct QrcuSection<'a> {
    shared: &'a Shared,
    counter: &'a AtomicUsize,
}

impl Drop for QrcuSection<'_> {
    #[inline]
    fn drop(&mut self) {
        self.shared.leave(self.counter);
    }
}

// SAFETY: see the top of the file.
unsafe impl Thread for QrcuThread {
    type Read<'a> = QrcuSection<'a>;
    type Update<'a> = QrcuSection<'a>;

    #[inline]
    fn read(&mut self) -> QrcuSection<'_> {
        let shared = &*self.qrcu.shared;
        QrcuSection { shared, counter: shared.enter() }
    }

    #[inline]
    fn update(&mut self) -> QrcuSection<'_> {
        self.read()
    }

    fn synchronize(&mut self) {
        self.qrcu.shared.synchronize();
    }
}

impl std::fmt::Debug for Qrcu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Qrcu")
    }
}

impl std::fmt::Debug for QrcuSection<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("QrcuSection")
    }
}
