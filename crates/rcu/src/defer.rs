//! Deferred reclamation: how updaters queue what is to be freed, and how much may wait.

use std::{mem::size_of, ptr::NonNull, sync::atomic as unordered};

use crate::{
    grace::Shared,
    queue::{Callback, Header, Queue},
    registry::Entry,
    sync::{Arc, Ordering},
};

/// Too much memory waits to be reclaimed; `T` is what could not be accepted.
///
/// A worker on the packet path drops its update and counts; a control thread calls
/// [`Domain::barrier`](crate::Domain::barrier) and tries again.
pub struct Backpressure<T> {
    refused: T,
}

impl<T> Backpressure<T> {
    pub(crate) fn new(refused: T) -> Self {
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

/// Whoever replaces values holds one of these; it can be shared, but one per updating thread scales better.
///
/// The callbacks of one updater run in the order in which they were queued. Dropping the updater leaves its
/// callbacks queued.
pub struct Updater {
    shared: Arc<Shared>,
    queue: NonNull<Entry<Queue>>,
}

// SAFETY: a shared domain and a queue that any thread may push to.
unsafe impl Send for Updater {}
// SAFETY: as above.
unsafe impl Sync for Updater {}

impl Updater {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let queue = shared.queues.claim();
        Self { shared, queue }
    }

    /// Runs `callback` on the reclaimer's thread after a grace period.
    ///
    /// The callback must not block, because it delays the others; see [`call_blocking`](Self::call_blocking).
    /// `bytes` is its weight: how much memory stays occupied until it has run, the queue entry not counted, which
    /// is charged on top. Queueing allocates the entry and makes no system call unless the reclaimer sleeps.
    ///
    /// # Errors
    /// Gives `callback` back if more than the domain's limit would then wait.
    pub fn call<F: FnOnce() + Send + 'static>(
        &self,
        bytes: usize,
        callback: F,
    ) -> Result<(), Backpressure<F>> {
        match self.reserve(bytes) {
            Some(room) => room.defer(callback),
            None => return Err(Backpressure::new(callback)),
        }
        Ok(())
    }

    /// Runs `callback`, which may block, on a thread of the domain's pool after a grace period.
    ///
    /// Callbacks for the pool are handed over without waiting: that all its threads are stuck delays other
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
        match self.reserve(bytes) {
            Some(room) => room.queue(callback, true),
            None => return Err(Backpressure::new(callback)),
        }
        Ok(())
    }

    /// Drops `value`, which no new turn can reach any more, on a control thread after a grace period.
    ///
    /// # Errors
    /// Gives `value` back as [`call`](Self::call) does.
    pub fn retire<T: Send + 'static>(&self, value: Box<T>) -> Result<(), Backpressure<Box<T>>> {
        match self.reserve(size_of::<T>()) {
            Some(room) => room.defer(move || drop(value)),
            None => return Err(Backpressure::new(value)),
        }
        Ok(())
    }

    /// Queues a callback that has been charged for already.
    pub(crate) fn adopt<F: FnOnce() + Send + 'static>(&self, charge: usize, callback: F) {
        self.shared.budget.callbacks.fetch_add(1, Ordering::Relaxed);
        Room { updater: self, charge }.defer(callback);
    }
}

/// Whoever takes care of what was replaced: `&`[`Updater`] or `&mut` [`LocalUpdater`](crate::LocalUpdater). Not for others to implement.
pub trait Defer: private::Sealed {
    #[doc(hidden)]
    type Room: DeferRoom;

    /// Sets room aside for a callback that frees `bytes`, before there is no way back.
    #[doc(hidden)]
    fn reserve(self, bytes: usize) -> Option<Self::Room>;
}

#[doc(hidden)]
pub trait DeferRoom {
    /// Uses the room for a callback that does not block.
    fn defer<F: FnOnce() + Send + 'static>(self, callback: F);
}

mod private {
    pub trait Sealed {}
    impl Sealed for &super::Updater {}
    impl Sealed for &mut super::Updater {}
    impl Sealed for &mut crate::local::LocalUpdater {}
}

impl<'u> Defer for &'u Updater {
    type Room = Room<'u>;

    fn reserve(self, bytes: usize) -> Option<Room<'u>> {
        let charge = bytes.saturating_add(size_of::<Header>());
        self.shared.budget.charge(charge).then(|| Room { updater: self, charge })
    }
}

impl Drop for Updater {
    fn drop(&mut self) {
        // SAFETY: claimed in `new`, released here only. What is still queued stays where the reclaimer looks.
        unsafe { self.shared.queues.release(self.queue) };
    }
}

impl std::fmt::Debug for Updater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Updater { .. }")
    }
}

impl<'u> Defer for &'u mut Updater {
    type Room = Room<'u>;

    fn reserve(self, bytes: usize) -> Option<Room<'u>> {
        (&*self).reserve(bytes)
    }
}

/// Room set aside for one callback; given back when it is dropped unused.
#[derive(Debug)]
pub struct Room<'u> {
    updater: &'u Updater,
    charge: usize,
}

impl DeferRoom for Room<'_> {
    fn defer<F: FnOnce() + Send + 'static>(self, closure: F) {
        self.queue(closure, false);
    }
}

impl Room<'_> {
    fn queue<F: FnOnce() + Send + 'static>(self, closure: F, blocking: bool) {
        let shared = &self.updater.shared;
        let callback = Callback::new(closure, self.charge, blocking);
        // SAFETY: entries live as long as their registry, which `shared` keeps alive.
        unsafe { self.updater.queue.as_ref() }.value().push(callback);
        std::mem::forget(self);
        shared.wake_reclaimer();
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.updater.shared.budget.refund(self.charge);
    }
}

/// How much waits, and how much may. Counters only: they order nothing.
pub(crate) struct Budget {
    pub(crate) limit: unordered::AtomicUsize,
    pub(crate) bytes: unordered::AtomicUsize,
    pub(crate) callbacks: unordered::AtomicUsize,
    pub(crate) refused: unordered::AtomicU64,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit: limit.into(), bytes: 0.into(), callbacks: 0.into(), refused: 0.into() }
    }

    /// Adds a callback if the limit allows it. When nothing waits, one of any size is allowed.
    fn charge(&self, charge: usize) -> bool {
        let accepted = self.take(charge);
        if accepted {
            self.callbacks.fetch_add(1, Ordering::Relaxed);
        } else {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        accepted
    }

    /// Takes bytes, if the limit allows it, for callbacks that are counted later.
    pub(crate) fn take(&self, charge: usize) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        let fits = |now: usize| match now.checked_add(charge) {
            Some(sum) if now == 0 || sum <= limit || cfg!(rcu_mutant = "no_limit") => Some(sum),
            _ => None,
        };
        self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    fn refund(&self, charge: usize) {
        self.refund_many(1, charge);
    }

    /// Gives back the bytes of so many callbacks that have run.
    pub(crate) fn refund_many(&self, callbacks: usize, bytes: usize) {
        self.callbacks.fetch_sub(callbacks, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// True if readers should hurry.
    pub(crate) fn is_tight(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > self.limit.load(Ordering::Relaxed) / 2
    }
}
