//! Who runs what updaters queue.
//!
//! Each updater pushes callbacks onto a stack of its own. The reclaimer takes all stacks at once, waits for
//! one grace period for all of them, and runs them in the order in which each updater queued them. Meanwhile
//! the next batch gathers. So there are at most two groups of callbacks at any time: one that waits for a
//! grace period, and one that waits for its turn to wait.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{TryLockError, atomic as unordered},
};

use crate::{
    grace::{Period, Shared},
    queue::Callback,
    sync::{Backoff, MutexGuard, Ordering, protect},
};

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
    fn run(&mut self, callback: Callback) {
        let charge = callback.charge();
        let outcome = catch_unwind(AssertUnwindSafe(|| callback.run()));
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
