//! Deferred reclamation: what updaters queue, and who runs it.
//!
//! Each updater pushes callbacks onto a stack of its own. The reclaimer takes all stacks at once, waits for
//! one grace period for all of them, and runs them in the order in which each updater queued them. Meanwhile
//! the next batch gathers. So there are at most two groups of callbacks at any time: one that waits for a
//! grace period, and one that waits for its turn to wait.

use std::{
    mem::size_of,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::{self, NonNull},
    sync::{TryLockError, atomic as unordered},
};

use crate::{
    grace::{Period, Shared},
    registry::Entry,
    sync::{Arc, AtomicPtr, Backoff, MutexGuard, Ordering, ordering, protect},
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

/// The head of a queued callback; a [`Node`] begins with one.
#[repr(C)]
struct Header {
    next: *mut Header,
    /// Bytes charged for it.
    charge: usize,
    /// Whether it may block, and so runs in the pool.
    blocking: bool,
    /// Frees the node and runs its closure.
    run: unsafe fn(*mut Header),
}

#[repr(C)]
struct Node<F> {
    header: Header,
    closure: F,
}

impl<F: FnOnce()> Node<F> {
    /// # Safety
    /// `header` heads a leaked `Box<Node<F>>`, which the caller gives up.
    unsafe fn run(header: *mut Header) {
        // SAFETY: passed on to the caller; `repr(C)` puts the header at the node's address.
        let node = unsafe { Box::from_raw(header.cast::<Self>()) };
        (node.closure)();
    }
}

/// A callback taken out of its queue.
pub(crate) struct Callback(NonNull<Header>);

impl Callback {
    fn may_block(&self) -> bool {
        // SAFETY: the callback owns its node.
        unsafe { self.0.as_ref() }.blocking
    }
}

// SAFETY: a node is owned by its `Callback`, and its closure is `Send` (see `Room::defer`).
unsafe impl Send for Callback {}

/// One updater's callbacks, newest first: anybody pushes, the reclaimer takes all.
#[derive(Default)]
pub(crate) struct Queue {
    head: AtomicPtr<Header>,
}

// SAFETY: the nodes on the stack are `Send` and owned by it.
unsafe impl Send for Queue {}
// SAFETY: as above; the head is atomic.
unsafe impl Sync for Queue {}

impl Queue {
    fn push(&self, node: NonNull<Header>) {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: the node is ours until the exchange below succeeds.
            unsafe { (*node.as_ptr()).next = head };
            // Release: the reclaimer, whose `take` acquires, sees the node, and all that its updater unlinked.
            let release = ordering!("push_release", Release);
            match self.head.compare_exchange(head, node.as_ptr(), release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Moves all callbacks to the end of `batch`, oldest first.
    fn take(&self, batch: &mut Vec<Callback>) {
        let first = batch.len();
        let mut at = self.head.swap(ptr::null_mut(), Ordering::Acquire);
        while let Some(node) = NonNull::new(at) {
            // SAFETY: taken off the stack, so ours alone.
            at = unsafe { node.as_ref() }.next;
            batch.push(Callback(node));
        }
        batch[first..].reverse();
    }
}

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
        let header = Header { next: ptr::null_mut(), charge: self.charge, blocking, run: Node::<F>::run };
        let node = Box::leak(Box::new(Node { header, closure }));
        let shared = &self.updater.shared;
        // SAFETY: entries live as long as their registry, which `shared` keeps alive.
        unsafe { self.updater.queue.as_ref() }.value().push(NonNull::from(node).cast());
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

/// The callbacks that wait for a grace period that has begun. Consistent at every point where a holder of
/// its lock can panic: a batch leaves it before it runs.
#[derive(Default)]
pub(crate) struct Reclaimer {
    batch: Option<(Period, Vec<Callback>)>,
}

/// Counts itself while it exists.
struct Counted<'a>(&'a unordered::AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a unordered::AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How many callbacks are accounted for at once.
const TALLY: usize = if cfg!(loom) { 1 } else { 64 };

/// Callbacks that have run and are still charged for.
#[derive(Default)]
struct Tally {
    run: usize,
    bytes: usize,
    panicked: u64,
}

impl Tally {
    fn run(&mut self, Callback(node): Callback) {
        // SAFETY: the callback owns its node, which is read before it is given up to `run`.
        let (charge, run) = unsafe { (node.as_ref().charge, node.as_ref().run) };
        // SAFETY: as above.
        let outcome = catch_unwind(AssertUnwindSafe(|| unsafe { run(node.as_ptr()) }));
        self.run += 1;
        self.bytes += charge;
        self.panicked += u64::from(outcome.is_err());
    }
}

impl Shared {
    /// Moves everything queued into a batch and starts its grace period, unless a batch is waiting already.
    /// Says which grace period the batch waits for, `None` if there is nothing to wait for.
    fn gather(&self, reclaimer: &mut Reclaimer) -> Option<Period> {
        if reclaimer.batch.is_none() {
            let mut callbacks = Vec::new();
            self.queues.iter().for_each(|queue| queue.take(&mut callbacks));
            if !callbacks.is_empty() {
                reclaimer.batch = Some((self.begin(), callbacks));
            }
        }
        reclaimer.batch.as_ref().map(|(period, _)| *period)
    }

    /// Runs the batch whose grace period is over; callbacks that may block go to the pool.
    fn run_batch(&self, reclaimer: &mut Reclaimer) {
        let Some((_, mut callbacks)) = reclaimer.batch.take() else { return };
        if cfg!(rcu_mutant = "one_generation_early") {
            self.queues.iter().for_each(|queue| queue.take(&mut callbacks));
        }
        let mut tally = Tally::default();
        for callback in callbacks {
            if callback.may_block() {
                self.pool.push(callback);
                continue;
            }
            tally.run(callback);
            // Updaters write the same counters: often enough for them not to be refused, seldom enough not to slow them.
            if tally.run == TALLY {
                self.settle(std::mem::take(&mut tally));
            }
        }
        self.settle(tally);
    }

    pub(crate) fn run_callback(&self, callback: Callback) {
        let mut tally = Tally::default();
        tally.run(callback);
        self.settle(tally);
    }

    /// Gives back the room of callbacks that have run, and counts them.
    fn settle(&self, tally: Tally) {
        self.budget.refund_many(tally.run, tally.bytes);
        self.metrics.count_callbacks(tally.run as u64, tally.panicked);
    }

    /// Gathers, waits and runs once. False if there was nothing.
    fn run_round(&self, reclaimer: &mut Reclaimer) -> bool {
        let Some(period) = self.gather(reclaimer) else { return false };
        protect!("wait_before_free", self.wait_for(period));
        self.run_batch(reclaimer);
        true
    }

    /// Returns when everything that was queued before the call has run.
    pub(crate) fn barrier(&self) {
        let mut reclaimer = self.lock_reclaimer();
        // A batch that waits already may be older than what our caller queued, which is then in the next.
        let rounds = if reclaimer.batch.is_some() { 2 } else { 1 };
        for _ in 0..rounds {
            self.run_round(&mut reclaimer);
        }
        drop(reclaimer); // callbacks of others go on while this thread waits for those that block
        self.drain_pool();
    }

    /// Waits for the lock by looking, because its holder may be waiting for this very thread's reader.
    fn lock_reclaimer(&self) -> MutexGuard<'_, Reclaimer> {
        let _served_first = Counted::new(&self.barriers);
        let mut backoff = Backoff::default();
        let period = self.latest();
        loop {
            match self.reclaimer.try_lock() {
                Ok(guard) => return guard,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {}
            }
            self.check_not_waiting_for_myself(period);
            backoff.snooze();
        }
    }

    /// Runs what is ready and starts what is not, without waiting. Says whether anything still waits.
    pub(crate) fn reclaim(&self) -> bool {
        let mut reclaimer = match self.reclaimer.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return true,
        };
        // Twice: a batch that is ready makes room for the next.
        for _ in 0..2 {
            match self.gather(&mut reclaimer) {
                None => return false,
                Some(period) if !self.poll(period.token) => {
                    self.urge(period);
                    return true;
                }
                Some(_) => self.run_batch(&mut reclaimer),
            }
        }
        self.gather(&mut reclaimer).is_some()
    }

    /// Runs everything that is queued. For the last owner of the domain, when there are no readers left.
    pub(crate) fn run_leftovers(&self) {
        let mut reclaimer = self.lock_reclaimer();
        while self.gather(&mut reclaimer).is_some() {
            self.run_batch(&mut reclaimer);
            self.drain_pool();
        }
        self.drain_pool();
    }
}

/// The background thread: sleeps until something is queued, and ends with its domain.
#[cfg(not(loom))]
pub(crate) mod thread {
    use std::{
        sync::{Arc, Mutex, OnceLock, PoisonError, Weak, atomic::AtomicBool},
        thread::Thread,
    };

    use super::{Backoff, Ordering, Shared};

    /// How the thread is woken: by the first callback after it last looked.
    #[derive(Default)]
    pub(crate) struct Bell {
        rung: AtomicBool,
        thread: OnceLock<Thread>,
        starting: Mutex<()>,
    }

    impl Bell {
        /// Wakes the thread unless it is about to look anyway.
        pub(crate) fn ring(&self) {
            // AcqRel: the thread's swap, later in this chain, sees everything pushed before any of the rings.
            if !self.rung.swap(true, Ordering::AcqRel)
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

    /// Starts the thread if it does not run yet. Should the system refuse a thread, control threads still
    /// reclaim by `reclaim` and `barrier`, and the next updater tries again.
    pub(crate) fn start(shared: &Arc<Shared>) {
        if shared.bell.thread.get().is_some() {
            return;
        }
        let _one_at_a_time = shared.bell.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.bell.thread.get().is_some() {
            return;
        }
        let domain = Arc::downgrade(shared);
        let spawned = std::thread::Builder::new().name("rcu-reclaimer".into()).spawn(move || run(&domain));
        if let Ok(handle) = spawned {
            // Wakes it for what was queued before the bell knew it.
            shared.bell.thread.get_or_init(|| handle.thread().clone()).unpark();
        }
    }

    fn run(domain: &Weak<Shared>) {
        while let Some(shared) = domain.upgrade() {
            shared.bell.rung.swap(false, Ordering::AcqRel);
            run_until_idle(&shared);
            drop(shared);
            std::thread::park();
        }
    }

    /// Runs rounds until nothing is queued; between them a control thread's barrier goes first, which a
    /// steady stream of updates would otherwise keep waiting.
    fn run_until_idle(shared: &Arc<Shared>) {
        let lock = || shared.reclaimer.lock().unwrap_or_else(PoisonError::into_inner);
        while shared.run_round(&mut lock()) {
            crate::pool::staff(shared);
            let mut backoff = Backoff::default();
            while shared.barriers.load(Ordering::Relaxed) > 0 {
                backoff.snooze();
            }
        }
    }
}
