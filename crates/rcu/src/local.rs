//! Updaters that run their callbacks themselves: for control threads that update much.
//!
//! An [`Updater`] hands callbacks to the reclaimer's thread. That costs an allocation and some atomic
//! operations for each, and the allocator gets memory back on another thread than it came from, which is slow in most
//! allocators. Here nothing changes threads, and what is atomic is done once for a batch. Soundness rests on
//! nothing new: a batch is closed, then its grace period starts, and the batch runs when that is over.

use std::mem::{MaybeUninit, align_of, size_of};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{
    defer::{Backpressure, Defer, DeferRoom, Updater},
    grace::{Period, Shared},
    sync::{Arc, Ordering},
};

/// How many callbacks share a grace period.
const BATCH: usize = if cfg!(loom) { 1 } else { 256 };

/// Room is taken from the domain's limit in such pieces, and no more than two are kept unused.
const PIECE_BYTES: usize = 16 << 10;

/// An updater that runs its callbacks itself, on whatever thread uses it, within later updates.
///
/// For control threads with many updates: several times faster than an [`Updater`]. Never for packet workers,
/// since destructors take as long as they take. Nothing runs while it is not used: before its thread turns to other things
/// it calls [`hand_over`](Self::hand_over), as dropping it does, and the reclaimer takes over. Until then
/// [`Domain::barrier`](crate::Domain::barrier) knows nothing of these callbacks; [`barrier`](Self::barrier) does.
///
/// ```
/// let domain = rcu::Domain::global();
/// let cell = rcu::Cell::new(0);
/// let mut updater = domain.local_updater();
/// for value in 1..=1000 {
///     cell.replace(Box::new(value), &mut updater)?;
/// }
/// updater.barrier(); // all old values are freed
/// # Ok::<(), rcu::Backpressure<Box<i32>>>(())
/// ```
pub struct LocalUpdater {
    shared: Arc<Shared>,
    /// What has been unlinked since the last grace period of this updater started, oldest first.
    filling: Vec<Deferred>,
    filling_bytes: usize,
    /// What waits for that grace period.
    waiting: Vec<Deferred>,
    period: Option<Period>,
    /// Bytes of the domain's limit that are taken and not in use.
    credit: usize,
}

/// A callback in place, without an allocation if it is small.
struct Deferred {
    charge: usize,
    /// Runs the callback in the words, which is then gone.
    run: unsafe fn(&mut Words),
    words: Words,
}

type Words = MaybeUninit<[usize; 2]>;

// SAFETY: holds a closure that is `Send` (see `Deferred::new`).
unsafe impl Send for Deferred {}

impl Deferred {
    fn new<F: FnOnce() + Send + 'static>(charge: usize, callback: F) -> Self {
        if size_of::<F>() <= size_of::<Words>() && align_of::<F>() <= align_of::<Words>() {
            Self::in_place(charge, callback)
        } else {
            let callback = Box::new(callback);
            Self::in_place(charge, callback)
        }
    }

    fn in_place<F: FnOnce() + Send + 'static>(charge: usize, callback: F) -> Self {
        assert!(size_of::<F>() <= size_of::<Words>() && align_of::<F>() <= align_of::<Words>());
        unsafe fn run<F: FnOnce()>(words: &mut Words) {
            // SAFETY: `in_place` put an `F` there, and `Deferred::run` takes it out once.
            (unsafe { words.as_mut_ptr().cast::<F>().read() })();
        }
        let mut words = Words::uninit();
        // SAFETY: large enough and aligned, as asserted.
        unsafe { words.as_mut_ptr().cast::<F>().write(callback) };
        Self { charge, run: run::<F>, words }
    }

    fn run(mut self) {
        // SAFETY: consumes `self`, so this is the only time.
        unsafe { (self.run)(&mut self.words) }
    }
}

impl LocalUpdater {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let (filling, waiting) = (Vec::new(), Vec::new());
        Self { shared, filling, filling_bytes: 0, waiting, period: None, credit: 0 }
    }

    /// Runs `callback` within a later call, after a grace period. `bytes` as for [`Updater::call`].
    ///
    /// # Errors
    /// Gives `callback` back if more than the domain's limit would then wait.
    pub fn call<F: FnOnce() + Send + 'static>(
        &mut self,
        bytes: usize,
        callback: F,
    ) -> Result<(), Backpressure<F>> {
        match self.reserve(bytes) {
            Some(room) => room.defer(callback),
            None => return Err(Backpressure::new(callback)),
        }
        Ok(())
    }

    /// Drops `value`, which no new turn can reach any more, within a later call, after a grace period.
    ///
    /// # Errors
    /// Gives `value` back as [`call`](Self::call) does.
    pub fn retire<T: Send + 'static>(&mut self, value: Box<T>) -> Result<(), Backpressure<Box<T>>> {
        match self.reserve(size_of::<T>()) {
            Some(room) => room.defer(move || drop(value)),
            None => return Err(Backpressure::new(value)),
        }
        Ok(())
    }

    /// Runs what is ready, and starts the grace period of what is not, without waiting.
    pub fn advance(&mut self) {
        if let Some(period) = self.period {
            if !cfg!(rcu_mutant = "local_wait") && !self.shared.poll(period.token) {
                return self.shared.urge(period);
            }
            self.run_waiting();
        }
        if !self.filling.is_empty() {
            std::mem::swap(&mut self.filling, &mut self.waiting);
            self.filling_bytes = 0;
            self.shared.budget.callbacks.fetch_add(self.waiting.len(), Ordering::Relaxed);
            self.period = Some(self.shared.begin());
        }
    }

    /// Waits until all callbacks of this updater have run.
    ///
    /// # Panics
    /// As [`Domain::synchronize`](crate::Domain::synchronize).
    pub fn barrier(&mut self) {
        loop {
            self.advance();
            let Some(period) = self.period else { return };
            self.shared.wait_for(period);
        }
    }

    /// Leaves all callbacks to the domain's reclaimer.
    pub fn hand_over(&mut self) {
        let started = self.waiting.len();
        self.period = None;
        if started + self.filling.len() > 0 {
            let queue = Updater::new(self.shared.clone());
            let all = self.waiting.drain(..).chain(self.filling.drain(..));
            all.for_each(|deferred| queue.adopt(deferred.charge, move || deferred.run()));
        }
        self.filling_bytes = 0;
        self.shared.budget.refund_many(started, std::mem::take(&mut self.credit));
    }

    fn run_waiting(&mut self) {
        self.period = None;
        let (count, mut panics) = (self.waiting.len(), 0);
        for deferred in self.waiting.drain(..) {
            self.credit += deferred.charge;
            panics += u64::from(catch_unwind(AssertUnwindSafe(|| deferred.run())).is_err());
        }
        self.shared.metrics.count_callbacks(count as u64, panics);
        let surplus = if self.credit > 2 * PIECE_BYTES { self.credit - PIECE_BYTES } else { 0 };
        self.credit -= surplus;
        self.shared.budget.refund_many(count, surplus);
    }

    /// Makes the credit at least `charge` if the limit allows it.
    fn earn(&mut self, charge: usize) -> bool {
        if self.credit >= charge {
            return true;
        }
        let budget = &self.shared.budget;
        if charge <= PIECE_BYTES && budget.take(PIECE_BYTES) {
            self.credit += PIECE_BYTES;
            return true;
        }
        // Near the limit: what is taken and unused may be what is missing, or what could run by now.
        budget.refund_many(0, std::mem::take(&mut self.credit));
        if budget.take(charge) {
            self.credit = charge;
            return true;
        }
        self.advance();
        let missing = charge.saturating_sub(self.credit);
        let enough = missing == 0 || self.shared.budget.take(missing);
        if enough {
            self.credit += missing;
        } else {
            self.shared.budget.refused.fetch_add(1, Ordering::Relaxed);
        }
        enough
    }
}

impl Drop for LocalUpdater {
    fn drop(&mut self) {
        self.hand_over();
    }
}

impl std::fmt::Debug for LocalUpdater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LocalUpdater { .. }")
    }
}

/// Room set aside for one callback of a [`LocalUpdater`].
#[derive(Debug)]
pub struct LocalRoom<'u> {
    updater: &'u mut LocalUpdater,
    charge: usize,
}

impl<'u> Defer for &'u mut LocalUpdater {
    type Room = LocalRoom<'u>;

    fn reserve(self, bytes: usize) -> Option<LocalRoom<'u>> {
        let charge = bytes.saturating_add(size_of::<Deferred>());
        self.earn(charge).then_some(LocalRoom { updater: self, charge })
    }
}

impl DeferRoom for LocalRoom<'_> {
    fn defer<F: FnOnce() + Send + 'static>(self, callback: F) {
        let LocalRoom { updater, charge } = self;
        updater.credit -= charge;
        updater.filling_bytes += charge;
        updater.filling.push(Deferred::new(charge, callback));
        // Large values do not wait for a full batch to gather.
        let large = updater.shared.budget.limit.load(Ordering::Relaxed) / 16;
        if updater.filling.len() % BATCH == 0 || updater.filling_bytes > large {
            updater.advance();
        }
    }
}
