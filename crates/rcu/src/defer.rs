//! Deferred reclamation: how updaters queue what is to be freed, and how much may wait.

use std::{
    mem::{needs_drop, size_of},
    ptr::NonNull,
};

use crate::{
    budget::PIECE_BYTES,
    queue::{Deferred, Queue},
    registry::Entry,
    shared::Shared,
    sync::{Arc, Ordering},
    weigh::Weigh,
};

/// Too much memory waits to be reclaimed; `T` is what could not be accepted.
///
/// A worker on the packet path drops its update and counts; a control thread calls
/// [`Domain::wait_for_room`](crate::Domain::wait_for_room) and tries again.
pub struct Backpressure<T> {
    refused: T,
}

impl<T> Backpressure<T> {
    /// The refusal of `refused`, by whatever has a limit.
    pub fn new(refused: T) -> Self {
        Self { refused }
    }

    /// What was refused.
    pub fn into_inner(self) -> T {
        self.refused
    }

    /// The same refusal of something else.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Backpressure<U> {
        Backpressure { refused: f(self.refused) }
    }
}

impl<T> std::fmt::Debug for Backpressure<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Backpressure { .. }")
    }
}

impl<T> std::fmt::Display for Backpressure<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("too much memory is waiting for a grace period")
    }
}

impl<T> std::error::Error for Backpressure<T> {}

/// The right to replace values. A program holds one for each updating thread, or for each lock that updaters take.
///
/// The callbacks of one updater run in the order in which they were queued. Dropping the updater leaves its
/// callbacks queued. It takes room from the domain's limit in pieces, as long as half of the limit is free, so that
/// most updates touch nothing that threads share; see [`Stats::bytes_waiting`](crate::Stats::bytes_waiting).
pub struct Updater {
    pub(crate) shared: Arc<Shared>,
    /// A raw pointer: not to be shared, since a queue has one updater at a time.
    queue: NonNull<Entry<Queue>>,
}

// SAFETY: a shared domain, and a queue that has no owner but this one, whichever thread it is used from.
unsafe impl Send for Updater {}

impl Updater {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let queue = shared.queues.claim();
        Self { shared, queue }
    }

    fn queue(&self) -> &Queue {
        // SAFETY: entries live as long as their registry, which `shared` keeps alive.
        unsafe { self.queue.as_ref() }.value()
    }

    /// Queues a callback that has been charged for.
    #[inline]
    pub(crate) fn push(&self, deferred: Deferred) {
        // SAFETY: this updater owns the entry, and is not shared between threads.
        unsafe { self.queue().push(deferred) };
        self.shared.wake_reclaimer_after_rmw();
    }

    /// Bytes of the domain's limit that are taken and not in use.
    #[inline]
    pub(crate) fn credit(&self) -> usize {
        self.queue().credit.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn set_credit(&self, bytes: usize) {
        self.queue().credit.store(bytes, Ordering::Relaxed);
    }

    /// Says how many callbacks wait in its owner's hands.
    pub(crate) fn set_held(&self, callbacks: usize) {
        self.queue().held.store(callbacks, Ordering::Relaxed);
    }

    /// Makes the credit at least `charge` if the limit allows it.
    #[inline]
    pub(crate) fn earn(&self, charge: usize) -> bool {
        self.credit() >= charge || self.earn_more(charge)
    }

    #[cold]
    fn earn_more(&self, charge: usize) -> bool {
        let budget = &self.shared.budget;
        if charge <= PIECE_BYTES && budget.take_piece() {
            self.set_credit(self.credit() + PIECE_BYTES);
            return true;
        }
        // Beyond half of the limit every byte counts.
        self.return_credit();
        let enough = budget.take(charge) || {
            self.shared.settle_accounts();
            budget.take(charge) || budget.take_alone(charge, self.shared.taken_in_advance())
        };
        if enough {
            self.set_credit(charge);
        }
        enough
    }

    /// Makes the credit at least `charge`, which waits already, whatever the limit.
    #[inline]
    pub(crate) fn earn_anyway(&self, charge: usize) {
        let missing = charge.saturating_sub(self.credit());
        if missing > 0 {
            self.shared.budget.take_anyway(missing);
            self.set_credit(self.credit() + missing);
        }
    }

    /// Counts a refusal.
    #[cold]
    pub(crate) fn refuse(&self) {
        self.shared.budget.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Gives back what is taken and not in use.
    pub(crate) fn return_credit(&self) {
        let unused = self.credit();
        self.set_credit(0);
        self.shared.budget.refund(unused);
    }

    /// Runs `callback` on the reclaimer's thread after a grace period.
    ///
    /// The callback must not block, because it delays the others; see [`call_blocking`](Self::call_blocking).
    /// `bytes` is its weight: how much memory stays occupied until it has run, the queue entry not counted, which
    /// is charged on top. Queueing allocates nothing for a callback of up to two words, but a segment of the queue for
    /// many of them now and then, and makes no system call unless the reclaimer sleeps.
    ///
    /// # Errors
    /// Gives `callback` back if more than the domain's limit would then wait.
    pub fn call<F: FnOnce() + Send + 'static>(
        &self,
        bytes: usize,
        callback: F,
    ) -> Result<(), Backpressure<F>> {
        match self.reserve(closure_bytes::<F>(bytes)) {
            Some(room) => room.defer(callback),
            None => return Err(Backpressure::new(callback)),
        }
        Ok(())
    }

    /// Runs `callback`, which may block, on a thread of the domain's pool after a grace period.
    ///
    /// For other programs: nothing that Clique frees may block. Callbacks for the pool are handed over without waiting: that all its threads are stuck delays other
    /// blocking callbacks, and nothing else. They may run in any order, several at a time. What they free stays
    /// charged until they have run.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn call_blocking<F: FnOnce() + Send + 'static>(
        &self,
        bytes: usize,
        callback: F,
    ) -> Result<(), Backpressure<F>> {
        match self.reserve(closure_bytes::<F>(bytes)) {
            Some(room) => room.queue(callback, true),
            None => return Err(Backpressure::new(callback)),
        }
        Ok(())
    }

    /// Sets room aside for the next so many updates by this updater, which free so many bytes in sum: none of them is refused if
    /// each says what it frees. For changes that are made completely or not at all.
    ///
    /// # Errors
    /// If more than the domain's limit would then wait.
    pub fn prepare(&self, updates: usize, bytes: usize) -> Result<(), Backpressure<()>> {
        let charge = updates.saturating_mul(charge_for(0)).saturating_add(bytes).min(isize::MAX as usize);
        if self.earn(charge) {
            return Ok(());
        }
        self.refuse();
        Err(Backpressure::new(()))
    }

    /// Drops `value`, which no new turn can reach any more, on a control thread after a grace period.
    ///
    /// # Errors
    /// Gives `value` back as [`call`](Self::call) does.
    pub fn retire<T: Weigh + Send + 'static>(&self, value: Box<T>) -> Result<(), Backpressure<Box<T>>> {
        match self.reserve(value.heap_bytes()) {
            Some(room) => room.defer(move || drop(value)),
            None => return Err(Backpressure::new(value)),
        }
        Ok(())
    }
}

/// Takes care of what was replaced: `&`[`Updater`] or `&mut` [`LocalUpdater`](crate::LocalUpdater). Sealed.
pub trait Defer: private::Sealed {
    #[doc(hidden)]
    type Room: DeferRoom;

    /// Sets room aside for a callback that frees `bytes`, before there is no way back.
    #[doc(hidden)]
    fn reserve(self, bytes: usize) -> Option<Self::Room>;

    /// Sets room aside for a value that is weighed once it is unlinked: for its own size, while no more than the limit waits.
    #[doc(hidden)]
    fn reserve_for<T>(self) -> Option<Self::Room>;
}

#[doc(hidden)]
pub trait DeferRoom {
    /// Adds what is found to be freed when it is too late to refuse.
    fn add(&mut self, bytes: usize);

    /// Uses the room for a callback that does not block.
    fn defer<F: FnOnce() + Send + 'static>(self, callback: F);
}

pub(crate) mod private {
    pub trait Sealed {}
    impl Sealed for &super::Updater {}
    impl Sealed for &mut super::Updater {}
}

impl<'u> Defer for &'u Updater {
    type Room = Room<'u>;

    #[inline]
    fn reserve(self, bytes: usize) -> Option<Room<'u>> {
        let charge = charge_for(bytes);
        if !self.earn(charge) {
            self.refuse();
            return None;
        }
        self.set_credit(self.credit() - charge);
        Some(Room { updater: self, charge })
    }

    #[inline]
    fn reserve_for<T>(self) -> Option<Room<'u>> {
        if !cfg!(rcu_mutant = "deep_on_credit") && needs_drop::<T>() && self.shared.is_over_limit() {
            self.refuse();
            return None;
        }
        self.reserve(size_of::<T>())
    }
}

/// What a callback frees that says `bytes`, with its closure, if that is too large to be kept in place.
pub(crate) fn closure_bytes<F>(bytes: usize) -> usize {
    bytes.saturating_add(if Deferred::is_small::<F>() { 0 } else { size_of::<F>() })
}

/// What a callback is charged that frees so many bytes.
pub(crate) fn charge_for(bytes: usize) -> usize {
    bytes.saturating_add(size_of::<Deferred>()).min(isize::MAX as usize)
}

impl Drop for Updater {
    fn drop(&mut self) {
        self.return_credit();
        // SAFETY: this updater owns the entry.
        let over = cfg!(rcu_mutant = "leave_queued") || unsafe { self.queue().has_run() };
        // SAFETY: claimed in `new`, given back here only. What is still queued stays where the reclaimer looks (rule 9).
        unsafe {
            match over {
                true => self.shared.queues.release(self.queue),
                false => self.shared.queues.leave(self.queue),
            }
        }
    }
}

impl std::fmt::Debug for Updater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Updater { .. }")
    }
}

impl<'u> Defer for &'u mut Updater {
    type Room = Room<'u>;

    #[inline]
    fn reserve(self, bytes: usize) -> Option<Room<'u>> {
        (&*self).reserve(bytes)
    }

    #[inline]
    fn reserve_for<T>(self) -> Option<Room<'u>> {
        (&*self).reserve_for::<T>()
    }
}

/// Room set aside for one callback; given back when it is dropped unused.
#[derive(Debug)]
pub struct Room<'u> {
    updater: &'u Updater,
    charge: usize,
}

impl DeferRoom for Room<'_> {
    #[inline]
    fn add(&mut self, bytes: usize) {
        self.updater.earn_anyway(bytes);
        self.updater.set_credit(self.updater.credit() - bytes);
        self.charge = self.charge.saturating_add(bytes);
    }

    #[inline]
    fn defer<F: FnOnce() + Send + 'static>(self, closure: F) {
        self.queue(closure, false);
    }
}

impl Room<'_> {
    #[inline]
    fn queue<F: FnOnce() + Send + 'static>(self, closure: F, blocking: bool) {
        let deferred = Deferred::new(self.charge, closure);
        let updater = self.updater;
        std::mem::forget(self);
        updater.push(if blocking { deferred.blocking() } else { deferred });
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.updater.set_credit(self.updater.credit() + self.charge);
        if self.updater.credit() > 2 * PIECE_BYTES {
            self.updater.return_credit();
        }
    }
}
