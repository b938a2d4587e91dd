//! Updaters that run their callbacks themselves: for control threads that update much.
//!
//! An [`Updater`] hands callbacks to the reclaimer's thread, so memory is freed on another thread than the one that
//! allocated it, which is slow in most allocators. Here nothing changes threads, and atomic operations happen once
//! for a batch. When a batch's grace period is over, its callbacks do not run all at once, but one with each update,
//! so that the allocator still has the freed memory at hand when the next update asks for as much. The soundness
//! argument is the usual one: a batch is closed, then its grace period starts, and the batch runs when that is over.

use std::mem::{needs_drop, size_of};

use crate::{
    budget::PIECE_BYTES,
    callbacks::survives,
    defer::{Backpressure, Defer, DeferRoom, Updater, charge_for, closure_bytes, private::Sealed},
    queue::Deferred,
    shared::Shared,
    stages::{BATCH, Stages},
    sync::Arc,
    weigh::Weigh,
};

/// An updater that runs its callbacks itself, on whatever thread uses it, within later updates.
///
/// For control threads of other programs with many updates of small values: several times faster than an [`Updater`]. (Clique's control
/// threads change few cells for a route, and wait for more than the allocator.) Never for packet workers,
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
    stages: Stages<Deferred>,
    /// Bytes of the batch that is filling.
    filling_bytes: usize,
    /// Callbacks that have run since that was last counted where others see it, and how many of them panicked.
    run: u64,
    panicked: u64,
    /// Has the domain, and what is taken from its limit and not in use; takes over in the end.
    updater: Updater,
}

impl LocalUpdater {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let updater = Updater::new(shared);
        Self { stages: Stages::new(), filling_bytes: 0, run: 0, panicked: 0, updater }
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
        match self.reserve(closure_bytes::<F>(bytes)) {
            Some(room) => room.defer(callback),
            None => return Err(Backpressure::new(callback)),
        }
        Ok(())
    }

    /// Drops `value`, which no new turn can reach any more, within a later call, after a grace period.
    ///
    /// # Errors
    /// Gives `value` back as [`call`](Self::call) does.
    pub fn retire<T: Weigh + Send + 'static>(&mut self, value: Box<T>) -> Result<(), Backpressure<Box<T>>> {
        match self.reserve(value.heap_bytes()) {
            Some(room) => room.defer(move || drop(value)),
            None => return Err(Backpressure::new(value)),
        }
        Ok(())
    }

    /// Runs what is ready, and starts the grace period of what is not, without waiting.
    pub fn advance(&mut self) {
        self.next_batch();
        self.run_ready();
    }

    /// Waits until all callbacks of this updater have run.
    ///
    /// # Panics
    /// As [`Domain::synchronize`](crate::Domain::synchronize).
    pub fn barrier(&mut self) {
        while self.next_batch() {
            self.stages.wait(&self.updater.shared);
        }
        self.run_ready();
    }

    /// Leaves all callbacks to the domain's reclaimer.
    pub fn hand_over(&mut self) {
        self.stages.take_all().for_each(|deferred| self.updater.push(deferred));
        self.filling_bytes = 0;
        self.settle();
        self.updater.return_credit();
    }

    /// Looks at the batch that waits, which may be ready then, and starts the next. True if one waits then.
    fn next_batch(&mut self) -> bool {
        self.run_ready();
        let waits = self.stages.advance(&self.updater.shared);
        if self.stages.is_fresh() {
            self.filling_bytes = 0;
        }
        self.settle();
        waits
    }

    fn run_ready(&mut self) {
        while let Some(deferred) = self.stages.ready.pop() {
            self.run_one(deferred);
        }
        self.settle();
    }

    #[inline]
    fn run_one(&mut self, deferred: Deferred) {
        self.updater.set_credit(self.updater.credit() + deferred.charge());
        self.run += 1;
        self.panicked += u64::from(!survives(|| deferred.run()));
    }

    /// Counts what has run, and what waits, where others see it; gives back room that is not needed.
    fn settle(&mut self) {
        let shared = &self.updater.shared;
        shared.metrics.count_callbacks(std::mem::take(&mut self.run), std::mem::take(&mut self.panicked));
        self.updater.set_held(self.stages.waiting() + self.stages.ready.len());
        if self.updater.credit() > 2 * PIECE_BYTES {
            self.updater.return_credit();
        }
    }

    /// Makes the credit at least `charge` if the limit allows it, also by running what could run by now.
    fn earn(&mut self, charge: usize) -> bool {
        self.updater.earn(charge) || {
            self.advance();
            self.updater.earn(charge)
        }
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

impl Sealed for &mut LocalUpdater {}

impl<'u> Defer for &'u mut LocalUpdater {
    type Room = LocalRoom<'u>;

    #[inline]
    fn reserve(self, bytes: usize) -> Option<LocalRoom<'u>> {
        let charge = charge_for(bytes);
        if self.updater.credit() < charge && !self.earn(charge) {
            self.updater.refuse();
            return None;
        }
        Some(LocalRoom { updater: self, charge })
    }

    #[inline]
    fn reserve_for<T>(self) -> Option<LocalRoom<'u>> {
        if needs_drop::<T>() && self.updater.shared.is_over_limit() {
            self.advance();
            if self.updater.shared.is_over_limit() {
                self.updater.refuse();
                return None;
            }
        }
        self.reserve(size_of::<T>())
    }
}

impl DeferRoom for LocalRoom<'_> {
    #[inline]
    fn add(&mut self, bytes: usize) {
        self.charge = self.charge.saturating_add(bytes);
        self.updater.updater.earn_anyway(self.charge);
    }

    #[inline]
    fn defer<F: FnOnce() + Send + 'static>(self, callback: F) {
        let LocalRoom { updater, charge } = self;
        updater.updater.set_credit(updater.updater.credit() - charge);
        updater.filling_bytes += charge;
        let complete = updater.stages.push(Deferred::new(charge, callback));
        // One for each update; two while more than a batch is ready.
        if let Some(deferred) = updater.stages.ready.pop() {
            updater.run_one(deferred);
            if updater.stages.ready.len() > BATCH
                && let Some(deferred) = updater.stages.ready.pop()
            {
                updater.run_one(deferred);
            }
        }
        // Large values do not wait for a full batch to gather.
        if complete || updater.filling_bytes > updater.updater.shared.budget.large() {
            updater.next_batch();
        }
    }
}
