//! Grace periods: how they begin, how their end is noticed, who is late.

use std::{
    panic::Location,
    sync::{Mutex as StdMutex, PoisonError, atomic as unordered},
    time::Duration,
};

use crossbeam_utils::CachePadded;

use crate::{
    defer::{Backpressure, Budget, Queue, Reclaimer, Updater},
    reader::{Guard, Name, OFFLINE, Reader, Slot},
    registry::Registry,
    stats::{Metrics, Stall, Starts, Stats, thread_id},
    sync::{Arc, AtomicU64, Backoff, Mutex, Ordering, fence, ordering, protect},
};

/// How a domain behaves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// How many bytes may wait to be reclaimed. Default 64 MiB.
    pub limit_bytes: usize,
    /// After how long a grace period that is not over counts as stalled. Default one second.
    pub stall_limit: Duration,
    /// Whether the first [`Updater`] starts a thread that reclaims. Without it, somebody calls
    /// [`Domain::reclaim`] or [`Domain::barrier`]. Default true; models have no such thread.
    pub background: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { limit_bytes: 64 << 20, stall_limit: Duration::from_secs(1), background: true }
    }
}

impl Config {
    /// The defaults without a background thread, for tests that decide themselves when to reclaim.
    pub fn manual() -> Self {
        Self { background: false, ..Self::default() }
    }
}

/// Late readers are asked to hurry when a grace period is this old.
const ASK_AFTER: Duration = Duration::from_millis(1);

/// The readers, the epochs and the queues of a process.
///
/// A process has one domain, [`Domain::global`], so that a turn is a turn everywhere.
pub struct Domain {
    shared: Arc<Shared>,
    /// For [`Domain::call`] and [`Domain::retire`].
    common: Updater,
}

/// A grace period that was started: see [`Domain::start`]. Later tokens compare greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(u64);

/// A grace period and when it began, for whoever waits for it.
#[derive(Clone, Copy)]
pub(crate) struct Period {
    pub(crate) token: Token,
    since: u64,
}

type Hook = dyn Fn(&Stall) + Send + Sync;

/// What all handles of a domain share.
pub(crate) struct Shared {
    /// The newest grace period that began. Starts at 1.
    pub(crate) epoch: CachePadded<AtomicU64>,
    /// The newest grace period known to be over.
    over: CachePadded<AtomicU64>,
    pub(crate) readers: Registry<Slot>,
    pub(crate) queues: Registry<Queue>,
    pub(crate) budget: CachePadded<Budget>,
    pub(crate) reclaimer: Mutex<Reclaimer>,
    /// How many threads wait for the reclaimer's lock to run a barrier.
    pub(crate) barriers: unordered::AtomicUsize,
    #[cfg(not(loom))]
    pub(crate) bell: CachePadded<crate::defer::thread::Bell>,
    #[cfg(not(loom))]
    background: bool,
    stall_limit: unordered::AtomicU64,
    hook: StdMutex<Option<std::sync::Arc<Hook>>>,
    pub(crate) metrics: Metrics,
    starts: Starts,
    #[cfg(not(loom))]
    birth: std::time::Instant,
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
        let shared = Arc::new(Shared {
            epoch: CachePadded::new(AtomicU64::new(OFFLINE + 1)),
            over: CachePadded::new(AtomicU64::new(OFFLINE + 1)),
            readers: Registry::new(),
            queues: Registry::new(),
            budget: CachePadded::new(Budget::new(config.limit_bytes)),
            reclaimer: Mutex::new(Reclaimer::default()),
            barriers: 0.into(),
            #[cfg(not(loom))]
            bell: CachePadded::default(),
            #[cfg(not(loom))]
            background: config.background,
            stall_limit: nanos(config.stall_limit).into(),
            hook: StdMutex::new(None),
            metrics: Metrics::default(),
            starts: Starts::default(),
            #[cfg(not(loom))]
            birth: std::time::Instant::now(),
        });
        Self { common: Updater::new(shared.clone()), shared }
    }

    pub(crate) fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    /// Starts the background thread if there is to be one. Costs a load when it runs already.
    fn start_reclaimer(&self) {
        #[cfg(not(loom))]
        if self.shared.background {
            crate::defer::thread::start(&self.shared);
        }
    }

    /// A new reader, offline until its first turn. `name` appears in stall reports.
    pub fn register(&self, name: &str) -> Reader {
        Reader::new(self.shared(), Name::Given(name.into()))
    }

    /// A reader for the time of one scope, for control threads. Reports name it by the caller's place in the source.
    #[track_caller]
    pub fn guard(&self) -> Guard {
        Guard::new(self, Location::caller())
    }

    /// A new queue for updates; starts the reclaimer if it does not run yet.
    pub fn updater(&self) -> Updater {
        self.start_reclaimer();
        Updater::new(self.shared())
    }

    /// [`Updater::call`] through a queue that all callers share.
    ///
    /// # Errors
    /// As there.
    pub fn call<F: FnOnce() + Send + 'static>(
        &self,
        bytes: usize,
        callback: F,
    ) -> Result<(), Backpressure<F>> {
        self.start_reclaimer();
        self.common.call(bytes, callback)
    }

    /// [`Updater::retire`] through a queue that all callers share.
    ///
    /// # Errors
    /// As there.
    pub fn retire<T: Send + 'static>(&self, value: Box<T>) -> Result<(), Backpressure<Box<T>>> {
        self.start_reclaimer();
        self.common.retire(value)
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
    /// If the wait passes the stall limit because of a reader or guard of the calling thread.
    pub fn synchronize(&self) {
        let token = self.shared.start();
        self.shared.wait(token);
    }

    /// Waits for a grace period that was started.
    ///
    /// # Panics
    /// As [`synchronize`](Self::synchronize).
    pub fn wait(&self, token: Token) {
        self.shared.wait(token);
    }

    /// Waits until every callback queued before the call has run; runs them on this thread if need be.
    ///
    /// For control threads without a reader online, and not from within a callback.
    ///
    /// # Panics
    /// As [`synchronize`](Self::synchronize).
    pub fn barrier(&self) {
        self.shared.barrier();
    }

    /// Runs the callbacks whose grace period is over and starts a grace period for the others, without
    /// waiting. True if anything still waits. For control threads that drive a domain by hand.
    pub fn reclaim(&self) -> bool {
        self.shared.reclaim()
    }

    /// Limits the bytes that may wait to be reclaimed. What waits already stays.
    pub fn set_limit_bytes(&self, bytes: usize) {
        self.shared.budget.limit.store(bytes, Ordering::Relaxed);
    }

    /// Sets after how long a grace period that is not over counts as stalled.
    pub fn set_stall_limit(&self, limit: Duration) {
        self.shared.stall_limit.store(nanos(limit), Ordering::Relaxed);
    }

    /// Has `hook` called once for each stall, by the thread that waits; it must not panic. Replaces
    /// the former hook.
    pub fn on_stall(&self, hook: impl Fn(&Stall) + Send + Sync + 'static) {
        *self.shared.hook.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::sync::Arc::new(hook));
    }

    /// Counters and present state.
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }
}

impl std::fmt::Debug for Domain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Domain").field("stats", &self.stats()).finish()
    }
}

impl Shared {
    /// Starts a grace period for everything unlinked so far by this thread, or before it in happens-before.
    pub(crate) fn start(&self) -> Token {
        self.begin().token
    }

    /// [`start`](Self::start), noting the time.
    pub(crate) fn begin(&self) -> Period {
        // What was unlinked comes before the scans for this epoch, in the eyes of a reader that is coming
        // online (rule 3). Every scan that counts acquires the epoch, so the fence is before it.
        protect!("start_fence", fence(Ordering::SeqCst));
        // The fence also makes this a release: a reader that acquires this epoch, or a later one, sees what was
        // unlinked (rule 2). Being a read-modify-write it prolongs the release sequences of earlier epochs.
        let epoch = self.epoch.fetch_add(1, Ordering::Relaxed) + 1;
        let since = self.now();
        self.starts.note(epoch, since);
        Period { token: Token(epoch), since }
    }

    /// The newest grace period that began, as one to wait for from now on.
    pub(crate) fn latest(&self) -> Period {
        Period { token: Token(self.epoch.load(Ordering::Relaxed)), since: self.now() }
    }

    pub(crate) fn poll(&self, Token(epoch): Token) -> bool {
        // Acquire: whoever acts on the end of a grace period comes after the turns that it waited for.
        self.over.load(Ordering::Acquire) >= epoch || self.scan() >= epoch
    }

    /// Looks at every reader. Returns the newest epoch that is now known to be over.
    fn scan(&self) -> u64 {
        // The start of every epoch up to this one comes before the looks below.
        let begun = self.epoch.load(Ordering::Acquire);
        let slots = self.readers.iter();
        // Acquire: the turns that these announcements ended are over (rule 1).
        let seen = slots.map(|slot| slot.seen.load(ordering!("scan_acquire", Acquire)));
        let online = seen.filter(|seen| *seen != OFFLINE && !cfg!(rcu_mutant = "ignore_readers"));
        let oldest = online.fold(begun, u64::min);
        // Release passes on what was acquired to those who only read `over`.
        let before = self.over.fetch_max(oldest, ordering!("over_release", AcqRel));
        self.count_periods(before, oldest);
        before.max(oldest)
    }

    /// Counts the grace periods in `before + 1 ..= after`, as far as their start is remembered.
    fn count_periods(&self, before: u64, after: u64) {
        if after <= before {
            return;
        }
        let now = self.now();
        let remembered = after.saturating_sub(63).max(before + 1);
        (remembered..=after)
            .filter_map(|epoch| self.starts.age(epoch, now))
            .for_each(|ns| self.metrics.count_period(ns));
    }

    pub(crate) fn wait(&self, token: Token) {
        self.wait_for(Period { token, since: self.now() });
    }

    pub(crate) fn wait_for(&self, period: Period) {
        let mut backoff = Backoff::default();
        while !self.poll(period.token) {
            self.urge(period);
            self.check_not_waiting_for_myself(period);
            backoff.snooze();
        }
    }

    /// Asks late readers to hurry, and reports those that are later than the stall limit.
    pub(crate) fn urge(&self, period: Period) {
        let age = self.now().saturating_sub(period.since);
        if age > nanos(ASK_AFTER) || self.budget.is_tight() {
            self.late(period.token)
                .filter(|slot| !slot.asked.load(Ordering::Relaxed))
                .for_each(|slot| slot.asked.store(true, Ordering::Relaxed));
        }
        if age > self.stall_limit() {
            self.late(period.token).for_each(|slot| self.report_stall(slot, age));
        }
    }

    fn report_stall(&self, slot: &Slot, age: u64) {
        let seen = slot.seen.load(Ordering::Relaxed);
        if seen == OFFLINE || slot.reported.swap(seen, Ordering::Relaxed) == seen {
            return;
        }
        self.metrics.stalls.fetch_add(1, Ordering::Relaxed);
        let hook = self.hook.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(hook) = hook {
            hook(&Stall { reader: slot.name(), waited: Duration::from_nanos(age) });
        }
    }

    /// A wait that cannot end is a bug of the caller; say so instead of hanging.
    pub(crate) fn check_not_waiting_for_myself(&self, period: Period) {
        if self.now().saturating_sub(period.since) <= self.stall_limit() {
            return;
        }
        let me = thread_id();
        let mine = self.late(period.token).find(|slot| slot.owner.load(Ordering::Relaxed) == me);
        if let Some(slot) = mine {
            panic!("this thread waits for a grace period while its own reader \"{}\" is online", slot.name());
        }
    }

    /// The readers that `token`'s grace period still waits for.
    fn late(&self, Token(epoch): Token) -> impl Iterator<Item = &Slot> {
        self.readers.iter().filter(move |slot| (1..epoch).contains(&slot.seen.load(Ordering::Relaxed)))
    }

    fn stats(&self) -> Stats {
        let over = self.scan();
        let readers = self.readers.iter().filter(|slot| slot.seen.load(Ordering::Relaxed) != OFFLINE).count();
        Stats {
            grace_periods: over - 1,
            callbacks_waiting: self.budget.callbacks.load(Ordering::Relaxed),
            bytes_waiting: self.budget.bytes.load(Ordering::Relaxed),
            bytes_limit: self.budget.limit.load(Ordering::Relaxed),
            callbacks_run: self.metrics.callbacks_run.load(Ordering::Relaxed),
            callbacks_panicked: self.metrics.callbacks_panicked.load(Ordering::Relaxed),
            callbacks_refused: self.budget.refused.load(Ordering::Relaxed),
            readers,
            stalls: self.metrics.stalls.load(Ordering::Relaxed),
            stalled: self.stalled(over),
            latency: self.metrics.latency(),
        }
    }

    /// Readers that the oldest unfinished grace period has awaited beyond the stall limit.
    fn stalled(&self, over: u64) -> Vec<Stall> {
        let epoch = over + 1;
        let age = self.starts.age(epoch, self.now()).unwrap_or(0);
        if epoch > self.epoch.load(Ordering::Relaxed) || age <= self.stall_limit() {
            return Vec::new();
        }
        let waited = Duration::from_nanos(age);
        self.late(Token(epoch)).map(|slot| Stall { reader: slot.name(), waited }).collect()
    }

    fn stall_limit(&self) -> u64 {
        self.stall_limit.load(Ordering::Relaxed)
    }

    /// Nanoseconds since the domain was made. A model has no time.
    fn now(&self) -> u64 {
        #[cfg(not(loom))]
        return nanos(self.birth.elapsed());
        #[cfg(loom)]
        0
    }

    /// Tells the reclaimer that something is queued.
    pub(crate) fn wake_reclaimer(&self) {
        #[cfg(not(loom))]
        self.bell.ring();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Readers and updaters keep the domain alive, so there are none: everything queued is free to run.
        self.run_leftovers();
        #[cfg(not(loom))]
        self.bell.close();
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
