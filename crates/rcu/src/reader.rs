//! The read side: readers, turns and guards.

use std::{cell::Cell, marker::PhantomData, panic::Location, ptr::NonNull, sync::PoisonError};

use crate::{
    registry::Entry,
    shared::Shared,
    slot::{Name, OFFLINE, Slot},
    stats::thread_id,
    sync::{Arc, Ordering, fence, ordering, protect},
};

/// A thread's right to read: made by [`Domain::register`](crate::Domain::register), moved to the thread that reads.
///
/// A reader is *online* or *offline*. Online, it holds up every grace period that starts, until it passes
/// through a [quiescent state](Self::quiescent). Offline it holds up no grace period. It starts offline and goes
/// online with the first [`turn`](Self::turn).
///
/// Dropping the reader unregisters it. Leaking an online one is safe, but nothing is reclaimed afterwards.
pub struct Reader {
    shared: Arc<Shared>,
    slot: NonNull<Entry<Slot>>,
    /// What the slot says: only this reader writes it, so it need not be read back.
    seen: Cell<u64>,
}

// SAFETY: a reader is a shared domain, a slot that only it writes, and a copy of what it wrote; none of them
// cares which thread it is used from, as long as it is one at a time (`Reader` is not `Sync`).
unsafe impl Send for Reader {}

/// Permission to read RCU-protected values: what lies between two quiescent states of a reader.
///
/// It is a token of no size that borrows its reader, so everything read under it must be let go before the
/// next [`Reader::quiescent`], [`Reader::offline`] or drop of the reader. Anything else does not compile:
///
/// ```compile_fail,E0502
/// let domain = rcu::Domain::global();
/// let cell = rcu::Cell::new(1);
/// let mut reader = domain.register("worker 0");
/// let value = cell.read(reader.turn());
/// reader.quiescent();
/// assert_eq!(*value, 1); // `value` may be gone
/// ```
/// ```compile_fail,E0502
/// let domain = rcu::Domain::global();
/// let cell = rcu::Cell::new(1);
/// let mut reader = domain.register("worker 0");
/// let value = cell.read(reader.turn());
/// reader.offline();
/// assert_eq!(*value, 1);
/// ```
/// ```compile_fail,E0505
/// let domain = rcu::Domain::global();
/// let cell = rcu::Cell::new(1);
/// let reader = domain.register("worker 0");
/// let value = cell.read(reader.turn());
/// drop(reader);
/// assert_eq!(*value, 1);
/// ```
/// Nor does it leave its thread:
/// ```compile_fail,E0277
/// let domain = rcu::Domain::global();
/// let reader = domain.register("worker 0");
/// let turn = reader.turn();
/// std::thread::scope(|scope| {
///     scope.spawn(move || turn);
/// });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Turn<'t> {
    /// Borrows the reader; a raw pointer is neither `Send` nor `Sync`.
    _reader: PhantomData<(&'t Reader, *const ())>,
}

impl Reader {
    pub(crate) fn new(shared: Arc<Shared>, name: Name) -> Self {
        let slot = shared.readers.claim();
        let reader = Self { shared, slot, seen: Cell::new(OFFLINE) };
        let stays = matches!(name, Name::At(_)) || cfg!(rcu_mutant = "reader_stays");
        let owner = if stays { thread_id() } else { 0 };
        reader.slot().owner.store(owner, Ordering::Relaxed);
        *reader.slot().name.lock().unwrap_or_else(PoisonError::into_inner) = name;
        reader
    }

    fn slot(&self) -> &Slot {
        // SAFETY: entries live as long as their registry, which `shared` keeps alive.
        unsafe { self.slot.as_ref() }.value()
    }

    /// Permission to read until the next quiescent state. Brings an offline reader online.
    ///
    /// Costs one predictable branch when the reader is online: ask once a turn and pass it on.
    #[inline]
    pub fn turn(&self) -> Turn<'_> {
        if self.seen.get() == OFFLINE {
            self.go_online();
        }
        Turn { _reader: PhantomData }
    }

    /// Announces that this reader holds no references: ends its turn.
    ///
    /// Costs one load and one compare, and a store if a grace period began since the last one.
    #[inline]
    pub fn quiescent(&mut self) {
        // Acquire: a reader that sees an epoch sees what was unlinked before that epoch began, so this reader
        // cannot find it again (rule 2 of the crate's proof).
        let now = self.shared.epoch.load(ordering!("quiescent_acquire", Acquire));
        if now != self.seen.get() {
            self.report(now);
        }
    }

    /// The slow half of [`quiescent`](Self::quiescent), run once a grace period.
    fn report(&mut self, now: u64) {
        if self.seen.get() == OFFLINE {
            return;
        }
        self.announce(now);
    }

    /// Writes the slot.
    fn announce(&self, state: u64) {
        let slot = self.slot();
        // Release: the turn's reads are over before any thread sees its end (rule 1).
        slot.seen.store(state, ordering!("report_release", Release));
        self.seen.set(state);
        if slot.asked.load(Ordering::Relaxed) {
            slot.asked.store(false, Ordering::Relaxed);
        }
    }

    /// True if a thread has waited long for this reader, or memory waits to be reclaimed: end the turn soon.
    ///
    /// A worker with long turns tests this between work items. It costs one load of the reader's own line. True only while a
    /// grace period waits for this reader: who asks may be late, and ask for a turn that has just ended.
    #[inline]
    pub fn asked(&self) -> bool {
        self.slot().asked.load(Ordering::Relaxed)
            && self.is_online()
            && self.shared.epoch.load(Ordering::Relaxed) != self.seen.get()
    }

    /// True if grace periods wait for this reader.
    pub fn is_online(&self) -> bool {
        self.seen.get() != OFFLINE
    }

    /// Goes offline: this reader holds up no grace period until the next [`turn`](Self::turn) or
    /// [`online`](Self::online). Call it before sleeping.
    pub fn offline(&mut self) {
        if self.is_online() {
            self.announce(OFFLINE);
        }
    }

    /// Comes back early, to take the cost of coming back out of the next [`turn`](Self::turn).
    pub fn online(&mut self) {
        if !self.is_online() {
            self.go_online();
        }
    }

    #[cold]
    fn go_online(&self) {
        // Relaxed: the fence below orders it, too. An epoch that is already old here is harmless: this reader
        // is then waited for once more than needed.
        let now = self.shared.epoch.load(Ordering::Relaxed);
        self.announce(now);
        // The store above comes before every read of the turn, in the eyes of any updater that unlinks, then
        // fences, then scans (rule 3): either its scan sees this reader online, or this reader sees its update.
        protect!("online_fence", fence(Ordering::SeqCst));
    }

    /// Waits for a grace period without waiting for itself: this reader is offline meanwhile, and afterwards.
    ///
    /// Not for the packet path: a worker that must not stop uses [`Domain::start`](crate::Domain::start) and
    /// [`Domain::poll`](crate::Domain::poll).
    pub fn synchronize(&mut self) {
        self.offline();
        let token = self.shared.start();
        self.shared.wait(token);
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.offline();
        // SAFETY: claimed in `new`, released here only. The slot says OFFLINE, as a free one must.
        unsafe { self.shared.readers.release(self.slot) };
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("name", &self.slot().name()).field("seen", &self.seen.get()).finish()
    }
}

/// A short read by a thread that is not a worker: a reader for the time of one scope.
///
/// In reports it is named after the place in the source that made it.
#[derive(Debug)]
pub struct Guard {
    reader: Reader,
    /// A guard is used and dropped where it was made.
    _not_send: PhantomData<*const ()>,
}

impl Guard {
    pub(crate) fn new(shared: Arc<Shared>, place: &'static Location<'static>) -> Self {
        Self { reader: Reader::new(shared, Name::At(place)), _not_send: PhantomData }
    }

    /// Permission to read until the guard is dropped.
    #[inline]
    pub fn turn(&self) -> Turn<'_> {
        self.reader.turn()
    }
}
