//! The detector: announces boundaries while a thread waits for one, and sleeps otherwise.

use std::sync::PoisonError;
#[cfg(not(loom))]
use std::time::{Duration, Instant};

use super::{OFFLINE, Shared, Slot};
use crate::sync::{Backoff, Condvar, Mutex, MutexGuard, Ordering, ordering, varied_fence as fence};

#[derive(Default)]
pub(super) struct Detector {
    /// Held while looking, so that boundaries are announced one after the other.
    looking: Mutex<()>,
    demand: Mutex<Demand>,
    /// A thread waits.
    demanded: Condvar,
    /// There was a boundary.
    announced: Condvar,
}

#[derive(Default)]
pub(super) struct Demand {
    /// The last boundary that a thread waits for.
    wanted: u64,
    pub(super) stopped: bool,
}

impl Shared {
    fn demand(&self) -> MutexGuard<'_, Demand> {
        self.detector.demand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reached(&self, end: u64) -> bool {
        // Acquire: rule 1.
        self.boundary.load(ordering!("ap_act", Acquire)) >= end
    }

    /// Announces a boundary if all readers have been quiescent since the last.
    pub(super) fn detect(&self) -> bool {
        let _one_at_a_time = self.detector.looking.lock().unwrap_or_else(PoisonError::into_inner);
        let last = self.boundary.load(Ordering::Relaxed);
        // Rule 3.
        fence(Ordering::SeqCst);
        if self.readers.iter().any(|slot| is_late(slot, last)) {
            return false;
        }
        self.boundary.store(last + 1, ordering!("ap_announce", Release));
        // Who waits has looked before this lock, and sleeps, or looks after it.
        drop(self.demand());
        self.detector.announced.notify_all();
        true
    }

    /// Waits until a boundary is announced, and has the detector look for it.
    pub(super) fn wait_for_boundary(&self, end: u64) {
        if !self.config.background {
            return self.detect_by_hand(end);
        }
        let mut demand = self.demand();
        demand.wanted = demand.wanted.max(end);
        self.detector.demanded.notify_one();
        while !self.reached(end) && !demand.stopped {
            demand = self.detector.announced.wait(demand).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until a boundary is announced, if others have the detector look for it, for a limited time.
    #[cfg(not(loom))]
    pub(super) fn wait_for_others(&self, end: u64, patience: Duration) {
        let reached = |_: &mut Demand| !self.reached(end);
        drop(self.detector.announced.wait_timeout_while(self.demand(), patience, reached));
    }

    /// Without a detector thread, the waiter looks.
    fn detect_by_hand(&self, end: u64) {
        let mut backoff = Backoff::default();
        while !self.reached(end) {
            self.detect();
            backoff.snooze();
        }
    }

    /// Has the threads end.
    pub(super) fn stop(&self) {
        self.demand().stopped = true;
        self.detector.demanded.notify_all();
        self.detector.announced.notify_all();
        self.processors.iter().for_each(|processor| processor.stop());
    }

    /// The detector's thread.
    #[cfg(not(loom))]
    pub(super) fn run_detector(&self) {
        loop {
            let mut demand = self.demand();
            while self.reached(demand.wanted) && !demand.stopped {
                demand = self.detector.demanded.wait(demand).unwrap_or_else(PoisonError::into_inner);
            }
            if demand.stopped {
                return;
            }
            drop(demand);
            self.find_boundary();
        }
    }

    /// Looks until there is a boundary: first for what happens by itself, then forcing.
    #[cfg(not(loom))]
    fn find_boundary(&self) {
        let start = Instant::now();
        let mut backoff = Backoff::default();
        while !self.detect() && !self.demand().stopped {
            let much = self.bytes_waiting.load(Ordering::Relaxed) > self.config.high_water_bytes;
            if much || start.elapsed() > self.config.interval {
                self.force();
            }
            backoff.snooze();
        }
    }

    /// Asks the readers that are late for a quiescent state, each once, and wakes them if they sleep.
    #[cfg(not(loom))]
    fn force(&self) {
        let last = self.boundary.load(Ordering::Relaxed);
        for slot in self.readers.iter().filter(|slot| is_late(slot, last)) {
            if slot.asked.swap(true, Ordering::Relaxed) {
                continue;
            }
            self.forced.fetch_add(1, Ordering::Relaxed);
            if let Some(thread) = &*slot.thread.lock().unwrap_or_else(PoisonError::into_inner) {
                thread.unpark();
            }
        }
    }
}

/// True if the reader has not been quiescent since boundary `last`.
fn is_late(slot: &Slot, last: u64) -> bool {
    // Acquire: rule 1.
    let seen = slot.seen.load(ordering!("ap_look", Acquire));
    seen != OFFLINE && seen < last && !cfg!(rcu_mutant = "ap_ignore_readers")
}
