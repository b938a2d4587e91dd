//! Who runs what updaters queue.
//!
//! Each updater has a queue of its own. The reclaimer marks the present end of each queue, waits one grace period
//! for everything before the marks, and runs that, in the order in which each updater queued it. Meanwhile the
//! next batch collects. So there are at most two groups of callbacks at any time: one that waits for a grace
//! period, and one that will wait for the next.

use std::{
    sync::{TryLockError, atomic as unordered},
    time::Duration,
};

use crate::{
    callbacks::{Inside, Tally},
    defer::charge_for,
    period::Period,
    queue::Queue,
    shared::{Reclaimer, Shared, nanos},
    sync::{Backoff, MutexGuard, Ordering, protect},
};

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

impl Shared {
    /// Makes everything queued a batch and starts its grace period, unless a batch is waiting already.
    /// Says which grace period the batch waits for, `None` if there is nothing to wait for.
    fn gather(&self, reclaimer: &mut Reclaimer) -> Option<Period> {
        if reclaimer.batch.is_none() && self.mark_all() {
            reclaimer.batch = Some(self.begin());
        }
        reclaimer.batch
    }

    /// Marks all queues' ends. To be called with the reclaimer's lock.
    fn mark_all(&self) -> bool {
        let mut any = false;
        for entry in self.queues.live_entries() {
            // SAFETY: a thread that has a `&mut Reclaimer` holds the lock, and this method's callers have one.
            let waits = unsafe { entry.value().mark() };
            any |= waits;
            if !waits {
                // SAFETY: as above.
                self.queues.take_away(entry, |queue| unsafe { queue.is_empty() });
            }
        }
        any
    }

    /// Runs the batch whose grace period is over; callbacks that may block go to the pool.
    fn run_batch(&self, reclaimer: &mut Reclaimer) {
        if reclaimer.batch.take().is_none() {
            return;
        }
        if cfg!(rcu_mutant = "one_generation_early") {
            self.mark_all();
        }
        let _inside = Inside::callbacks_of(self);
        let mut tally = Tally::default();
        for queue in self.queues.live() {
            self.run_marked(queue, &mut tally);
        }
        self.settle(tally);
    }

    /// Runs what is marked in one queue. To be called with the reclaimer's lock.
    fn run_marked(&self, queue: &Queue, tally: &mut Tally) {
        // SAFETY: as in `mark_all`.
        while let Some(callback) = unsafe { queue.pop() } {
            if callback.may_block() {
                self.budget.callbacks.fetch_add(1, Ordering::Relaxed);
                self.pool.push(callback);
            } else {
                tally.run(callback);
            }
            queue.count_run(1);
            // Updaters write the same counters: often enough for them not to be refused, seldom enough not to slow them.
            if tally.run == TALLY {
                self.settle(std::mem::take(tally));
            }
        }
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
        assert!(!Inside::is_in(self), "a barrier within a callback of the same domain would wait for itself");
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

    /// Waits until an update that frees `bytes` would be accepted, for as long as `timeout` at most; says whether it would.
    pub(crate) fn wait_for_room(&self, bytes: usize, timeout: Duration) -> bool {
        assert!(
            !Inside::is_in(self),
            "a wait for room within a callback of the same domain would wait for itself"
        );
        let (charge, timeout) = (charge_for(bytes), nanos(timeout));
        let since = self.now();
        let mut backoff = Backoff::default();
        while !self.has_room(charge) {
            // Runs what is ready, and has late readers hurry.
            self.reclaim();
            self.look_at_accounts(since);
            self.check_not_waiting_for_myself(Period { since, ..self.latest() });
            if self.now().saturating_sub(since) >= timeout {
                return self.has_room(charge);
            }
            backoff.snooze();
        }
        true
    }

    fn has_room(&self, charge: usize) -> bool {
        let has_room = || self.budget.has_room(charge, self.taken_in_advance());
        has_room() || {
            self.settle_accounts();
            has_room()
        }
    }

    /// Runs everything that is queued. For the last owner of the domain, when there are no readers left.
    fn run_leftovers(&self) {
        let mut reclaimer = self.lock_reclaimer();
        while self.gather(&mut reclaimer).is_some() {
            self.run_batch(&mut reclaimer);
            self.drain_pool();
        }
        self.drain_pool();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Readers and updaters keep the domain alive, so there are none: everything queued is free to run.
        self.run_leftovers();
        self.bell.close();
    }
}

/// The background thread: sleeps until something is queued, and ends with its domain.
pub(crate) mod thread {
    use super::{Backoff, Ordering, Shared};
    use crate::sync::{Arc, thread};

    /// Starts the thread if it does not run yet. Should the system refuse a thread, control threads still
    /// reclaim by `reclaim` and `barrier`, and the next updater tries again.
    #[cfg(not(loom))]
    pub(crate) fn start(shared: &Arc<Shared>) {
        if shared.bell.thread.get().is_some() {
            return;
        }
        let _one_at_a_time = shared.bell.starting.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if shared.bell.thread.get().is_some() {
            return;
        }
        let domain = Arc::downgrade(shared);
        let run = move || {
            while let Some(shared) = domain.upgrade() {
                let idle = run_until_idle(&shared);
                drop(shared);
                if idle {
                    thread::park();
                }
            }
        };
        if let Ok(handle) = thread::Builder::new().name("rcu-reclaimer".into()).spawn(run) {
            // Wakes it for what was queued before the bell knew it.
            shared.bell.thread.get_or_init(|| handle.thread().clone()).unpark();
        }
    }

    /// Runs rounds until nothing is queued. True if the thread is to sleep until the bell wakes it.
    pub(crate) fn run_until_idle(shared: &Arc<Shared>) -> bool {
        shared.bell.awake();
        run_rounds(shared);
        shared.bell.fall_asleep();
        cfg!(rcu_mutant = "look_again") || shared.queues.live().all(|queue| matches!(queue.len(), 0))
    }

    /// Between rounds a control thread's barrier goes first, which a steady stream of updates would otherwise keep waiting.
    fn run_rounds(shared: &Arc<Shared>) {
        let lock = || shared.reclaimer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        while shared.run_round(&mut lock()) {
            crate::blocking::staff(shared);
            let mut backoff = Backoff::default();
            while shared.barriers.load(Ordering::Relaxed) > 0 {
                backoff.snooze();
            }
        }
    }

    /// The thread of a model: runs until so many callbacks have run.
    #[cfg(loom)]
    pub(crate) fn run_in_model(shared: &Arc<Shared>, callbacks: u64) {
        shared.bell.thread.get_or_init(thread::current);
        let missing = || shared.metrics.callbacks_run.load(Ordering::Relaxed) < callbacks;
        while missing() {
            if run_until_idle(shared) && missing() {
                thread::park();
            }
        }
    }
}
