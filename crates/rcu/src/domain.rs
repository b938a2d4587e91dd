//! The handle that everything starts from.

use std::{panic::Location, sync::PoisonError, time::Duration};

use crate::{
    account::Account,
    config::Config,
    defer::{Backpressure, Updater},
    local::LocalUpdater,
    period::Token,
    reader::{Guard, Reader},
    recycle::Recycler,
    shared::{Shared, nanos},
    slot::Name,
    stats::{Stall, Stats},
    sync::{Arc, Mutex, MutexGuard, Ordering},
    weigh::Weigh,
};

/// The readers, the epochs and the queues of a process.
///
/// A process has one domain, [`Domain::global`], so that a turn is a turn everywhere.
pub struct Domain {
    shared: Arc<Shared>,
    /// For [`Domain::call`] and [`Domain::retire`].
    common: Mutex<Updater>,
}

impl Domain {
    /// The process's domain. It is never dropped: call [`barrier`](Self::barrier) before exit if callbacks matter.
    #[cfg(not(loom))]
    pub fn global() -> &'static Self {
        static GLOBAL: std::sync::OnceLock<Domain> = std::sync::OnceLock::new();
        GLOBAL.get_or_init(|| Self::new(Config::default()))
    }

    /// A domain of its own, for tests and models.
    ///
    /// # Safety
    /// Turns of this domain's readers are used only with cells that are updated through this domain's
    /// updaters, and with nothing else.
    pub unsafe fn isolated(config: Config) -> Self {
        Self::new(config)
    }

    fn new(config: Config) -> Self {
        let shared = Arc::new(Shared::new(config));
        Self { common: Mutex::new(Updater::new(shared.clone())), shared }
    }

    fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    /// Starts the background thread if there is to be one. Costs a load when it runs already.
    fn start_reclaimer(&self) {
        #[cfg(not(loom))]
        if self.shared.background {
            crate::reclaimer::thread::start(&self.shared);
        }
    }

    /// Sees to it that the pool has threads, but in models that have none.
    fn staff_pool(&self) {
        if cfg!(not(loom)) || self.shared.background {
            crate::blocking::staff(&self.shared);
        }
    }

    /// Is the reclaimer's thread, for models, until so many callbacks have run.
    #[cfg(loom)]
    #[doc(hidden)]
    pub fn be_the_reclaimer(&self, callbacks: u64) {
        crate::reclaimer::thread::run_in_model(&self.shared, callbacks);
    }

    fn common(&self) -> MutexGuard<'_, Updater> {
        // No caller's code runs under this lock.
        self.common.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new reader, offline until its first turn. `name` appears in stall reports.
    pub fn register(&self, name: &str) -> Reader {
        Reader::new(self.shared(), Name::Given(name.into()))
    }

    /// A reader for the time of one scope, for control threads. Reports name it by the caller's place in the source.
    #[track_caller]
    pub fn guard(&self) -> Guard {
        Guard::new(self.shared(), Location::caller())
    }

    /// A new queue for updates; starts the reclaimer if it does not run yet.
    pub fn updater(&self) -> Updater {
        self.start_reclaimer();
        Updater::new(self.shared())
    }

    /// An updater that runs its callbacks itself: for control threads that update much.
    pub fn local_updater(&self) -> LocalUpdater {
        self.start_reclaimer(); // it may hand over to it
        LocalUpdater::new(self.shared())
    }

    /// An updater that uses the boxes of old values for new ones: for control threads that update much.
    pub fn recycler<T: Weigh + Send + Sync + 'static>(&self) -> Recycler<T> {
        self.start_reclaimer(); // it may hand over to it
        Recycler::new(self.shared())
    }

    /// A new account of what the caller lets wait by [`start`](Self::start) and [`poll`](Self::poll). Accounts of one name are
    /// one figure in [`Stats::accounts`](crate::Stats::accounts).
    pub fn account(&self, name: &'static str) -> Account {
        Account::new(self.shared(), name)
    }

    /// [`Updater::call`] through a queue that all callers share, and whose lock they wait for: for control threads.
    ///
    /// # Errors
    /// As there.
    pub fn call<F: FnOnce() + Send + 'static>(
        &self,
        bytes: usize,
        callback: F,
    ) -> Result<(), Backpressure<F>> {
        self.start_reclaimer();
        self.common().call(bytes, callback)
    }

    /// [`Updater::call_blocking`] through a queue that all callers share, as for [`call`](Self::call).
    ///
    /// # Errors
    /// As there.
    pub fn call_blocking<F: FnOnce() + Send + 'static>(
        &self,
        bytes: usize,
        callback: F,
    ) -> Result<(), Backpressure<F>> {
        self.start_reclaimer();
        self.common().call_blocking(bytes, callback)
    }

    /// [`Updater::retire`] through a queue that all callers share, as for [`call`](Self::call).
    ///
    /// # Errors
    /// As there.
    pub fn retire<T: Weigh + Send + 'static>(&self, value: Box<T>) -> Result<(), Backpressure<Box<T>>> {
        self.start_reclaimer();
        self.common().retire(value)
    }

    /// Starts a grace period: when it is over, no reader holds what was unlinked before this call.
    ///
    /// Each call makes every online reader write its slot once. To start one for many updates, use an [`Updater`].
    pub fn start(&self) -> Token {
        self.shared.start()
    }

    /// Whether a grace period is over. Looks at the readers if that is not known; never waits.
    pub fn poll(&self, token: Token) -> bool {
        self.shared.poll(token)
    }

    /// Waits until everything unlinked before the call is held by no reader.
    ///
    /// Not for packet workers, and not for a thread that has a reader online, which would wait for itself:
    /// such a thread uses [`Reader::synchronize`] or lets go of its guard first.
    ///
    /// # Panics
    /// If the wait passes the stall limit because of a guard of the calling thread. (A [`Reader`] may have gone to another thread;
    /// one that holds up its own thread is named as stalled.)
    pub fn synchronize(&self) {
        let token = self.shared.start();
        self.shared.wait(token);
    }

    /// [`synchronize`](Self::synchronize) in company: waits up to `max_wait` for another thread to start a grace
    /// period that will do, and only then starts one.
    ///
    /// For updates of other programs that can wait (Clique's go on, and free later): any number of threads that call this within `max_wait` of each other, or of
    /// any other update, cost the readers one grace period. `max_wait` is counted by the domain's clock and comes
    /// before the grace period itself; with zero, callers share only what others start at the same moment.
    ///
    /// # Panics
    /// As [`synchronize`](Self::synchronize).
    pub fn synchronize_shared(&self, max_wait: Duration) {
        self.shared.synchronize_shared(max_wait);
    }

    /// Waits for a grace period that was started.
    ///
    /// # Panics
    /// As [`synchronize`](Self::synchronize).
    pub fn wait(&self, token: Token) {
        self.shared.wait(token);
    }

    /// Waits for a grace period that was started, for at most `timeout` by the domain's clock. Says whether it is over.
    ///
    /// # Panics
    /// As [`synchronize`](Self::synchronize).
    pub fn wait_for(&self, token: Token, timeout: Duration) -> bool {
        self.shared.wait_up_to(token, timeout)
    }

    /// Waits until every callback queued before the call has run, those that may block included; runs them on
    /// this thread if need be.
    ///
    /// For control threads without a reader online.
    ///
    /// # Panics
    /// As [`synchronize`](Self::synchronize); and within a callback of this domain, which would wait for itself.
    pub fn barrier(&self) {
        self.shared.barrier();
    }

    /// Waits until an update that frees `bytes` would be accepted, for at most `timeout` by the domain's clock. Says
    /// whether it would; another updater may be quicker then, so the caller tries, and waits again if it is refused.
    ///
    /// For control threads without a reader online. Meanwhile callbacks that are ready run on this thread, too.
    ///
    /// ```
    /// # let domain = rcu::Domain::global();
    /// # let (cell, updater) = (rcu::Cell::new(0), domain.updater());
    /// let mut new = Box::new(1);
    /// while let Err(refused) = cell.replace(new, &updater) {
    ///     new = refused.into_inner();
    ///     assert!(domain.wait_for_room(size_of::<i32>(), std::time::Duration::from_secs(5)), "a reader is stuck");
    /// }
    /// ```
    ///
    /// # Panics
    /// As [`synchronize`](Self::synchronize); and within a callback of this domain.
    pub fn wait_for_room(&self, bytes: usize, timeout: Duration) -> bool {
        let room = self.shared.wait_for_room(bytes, timeout);
        self.staff_pool();
        room
    }

    /// Runs the callbacks whose grace period is over and starts a grace period for the others, without waiting.
    /// Callbacks that may block go to the pool. True if anything still waits for a grace period. For control threads
    /// that drive a domain by hand.
    pub fn reclaim(&self) -> bool {
        let waits = self.shared.reclaim();
        self.staff_pool();
        waits
    }

    /// Limits the bytes that may wait to be reclaimed. What waits already stays.
    pub fn set_limit_bytes(&self, bytes: usize) {
        self.shared.budget.limit.store(bytes, Ordering::Relaxed);
    }

    /// Sets after how long a grace period that is not over counts as stalled.
    pub fn set_stall_limit(&self, limit: Duration) {
        self.shared.stall_limit.store(nanos(limit), Ordering::Relaxed);
    }

    /// Has `hook` called once for each stall, by the thread that waits or asks for [`stats`](Self::stats); its
    /// panic is caught, and counted with those of callbacks. Replaces the former hook; the first one writes a line to standard error.
    pub fn on_stall(&self, hook: impl Fn(&Stall) + Send + Sync + 'static) {
        *self.shared.hook.lock().unwrap_or_else(PoisonError::into_inner) = std::sync::Arc::new(hook);
    }

    /// Counters and present state. Reports stalls that no thread waits for, too.
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }
}

impl std::fmt::Debug for Domain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Domain").field("stats", &self.stats()).finish()
    }
}
