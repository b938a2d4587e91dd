//! What the parts of a domain share. What happens to it is elsewhere: grace periods in `grace`, what they let go in
//! `reclaimer`.

use std::{
    sync::{Mutex as StdMutex, atomic as unordered},
    time::Duration,
};

use crossbeam_utils::CachePadded;

use crate::{
    account::Held,
    bell::Bell,
    budget::Budget,
    clock::Clock,
    config::Config,
    period::Period,
    pool::Pool,
    queue::Queue,
    registry::Registry,
    slot::{OFFLINE, Slot},
    stats::{Metrics, Stall, Starts},
    sync::{AtomicU64, Mutex, Ordering},
};

/// What all handles of a domain share.
pub(crate) struct Shared {
    /// The newest grace period that began. Starts at 1.
    pub(crate) epoch: CachePadded<AtomicU64>,
    /// The newest grace period known to be over.
    pub(crate) over: CachePadded<AtomicU64>,
    pub(crate) readers: Registry<Slot>,
    pub(crate) queues: Registry<Queue>,
    pub(crate) accounts: Registry<Held>,
    pub(crate) budget: CachePadded<Budget>,
    pub(crate) reclaimer: Mutex<Reclaimer>,
    /// How many threads wait for the reclaimer's lock to run a barrier.
    pub(crate) barriers: unordered::AtomicUsize,
    pub(crate) bell: CachePadded<Bell>,
    pub(crate) background: bool,
    pub(crate) pool: Pool,
    pub(crate) stall_limit: unordered::AtomicU64,
    pub(crate) hook: StdMutex<std::sync::Arc<Hook>>,
    pub(crate) metrics: Metrics,
    pub(crate) starts: Starts,
    clock: Clock,
    /// What the clock said when the domain was made.
    birth: Duration,
}

impl Shared {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            epoch: CachePadded::new(AtomicU64::new(OFFLINE + 1)),
            over: CachePadded::new(AtomicU64::new(OFFLINE + 1)),
            readers: Registry::new(),
            queues: Registry::new(),
            accounts: Registry::new(),
            budget: CachePadded::new(Budget::new(config.limit_bytes)),
            reclaimer: Mutex::new(Reclaimer::default()),
            barriers: 0.into(),
            bell: CachePadded::default(),
            background: config.background,
            pool: Pool::new(config.blocking_threads),
            stall_limit: nanos(config.stall_limit).into(),
            hook: StdMutex::new(std::sync::Arc::new(print)),
            metrics: Metrics::default(),
            starts: Starts::default(),
            birth: config.clock.now(),
            clock: config.clock,
        }
    }

    /// Nanoseconds since the domain was made.
    pub(crate) fn now(&self) -> u64 {
        nanos(self.clock.now().saturating_sub(self.birth))
    }

    /// Bytes that updaters have taken from the limit and not used.
    pub(crate) fn taken_in_advance(&self) -> usize {
        self.queues.live().map(|queue| queue.credit.load(Ordering::Relaxed)).sum()
    }

    /// Tells the reclaimer that something is queued, right after the read-modify-write that queued it.
    #[inline]
    pub(crate) fn wake_reclaimer_after_rmw(&self) {
        // Most models have no such thread, and are larger with its bell.
        if cfg!(not(loom)) || self.background {
            self.bell.ring_after_rmw();
        }
    }
}

/// The grace period that all callbacks which are marked in their queues wait for. Consistent at every point where a
/// holder of its lock can panic. The lock is also what gives access to the queues' heads.
#[derive(Default)]
pub(crate) struct Reclaimer {
    pub(crate) batch: Option<Period>,
}

/// What is told of a stalled reader.
pub(crate) type Hook = dyn Fn(&Stall) + Send + Sync;

/// The hook that a domain begins with.
fn print(stall: &Stall) {
    eprintln!("rcu: {stall}");
}

/// A duration as the domain's metrics keep it.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
