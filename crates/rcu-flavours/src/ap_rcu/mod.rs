//! AP-RCU: grace periods without help from a scheduler or a clock (Podzimek et al., "A Non-Intrusive
//! Read-Copy-Update for UTS", §IV).
//!
//! A *detector* thread looks whether all readers have been quiescent since the last *boundary*; then it announces the
//! next and wakes those who wait for it. It sleeps while no thread waits. Each *processor* has a queue of callbacks and a
//! *reclaimer* thread that runs them when they have waited for two boundaries; there are two generations of
//! them. Callbacks that may block go to a pool. Readers keep a copy of the count of boundaries; when it is out of date,
//! which it never is while no thread waits, they renew it and execute a fence.
//!
//! Differences that user space asks for: "processors" are groups of threads that register; a reader is a thread, quiescent
//! when it says so, or offline, instead of when it was switched. The paper's detector forces a quiescent state by moving
//! to the processor in question; here being preempted does not end a section, so it sets a flag that readers test between
//! sections ([`Thread::asked`]), and wakes the thread in case it sleeps. Only signatures of some calls are
//! published; they are defined where they are declared.
//!
//! *Invariant:* boundary b + 1 is announced when, after boundary b was, each reader has copied b, or was offline.
//!
//! *Orderings:*
//! 1. A reader copies with *release*, and goes offline with *release*; the detector's looks *acquire*; it
//!    announces with *release*, and who acts on that *acquires*. So sections that ended before a reader copied b, or went
//!    offline, are over when boundary b + 1 is acted on.
//! 2. An updater unlinks X, *fences* (SeqCst), then reads the count g, with which X is queued. A reader loads the count,
//!    copies it, *fences*, then reads. If the reader copied more than g, the updater's fence comes first (else it
//!    would have seen as much), and the reader does not find X any more.
//! 3. A reader that was offline copies, *fences*, then reads. The detector *fences* before it looks. Either it finds the reader
//!    online, or the reader finds what was unlinked before the detector's fence.
//!
//! *Grace period:* X, queued at g, is freed at boundary g + 2 or later. For that, each reader copied g + 1, or was
//! offline, after boundary g + 1. If it copied, then its earlier sections are over (1), and its later ones do not find X
//! (2). If it was offline: as the updater saw g, its fence comes before the detector's for g + 2, and that before the reader's
//! (3), so later sections do not find X; and earlier ones are over (1).
//! One boundary would not do: X may be unlinked after some readers copied g, between which and g + 1 they need not be quiescent again.
//!
//! *Publication:* acquire and release of the structure's own links.

mod detector;
mod reclaimer;

#[cfg(not(loom))]
use std::sync::Mutex as StdMutex;
use std::{
    marker::PhantomData,
    ptr::NonNull,
    sync::atomic::{AtomicBool as UnorderedBool, AtomicU64 as UnorderedU64, AtomicUsize as Unordered},
    time::Duration,
};

use crossbeam_utils::CachePadded;
use rcu::{
    Backpressure,
    parts::{Entry, Registry},
};

use crate::{
    flavour::{Flavour, Thread},
    garbage::Garbage,
    sync::{Arc, AtomicBool, AtomicU64, Backoff, Ordering, ordering, protect, varied_fence as fence},
};
use detector::Detector;
use reclaimer::{Pool, Processor};

/// What a slot says while its reader is offline. Boundaries start at 1.
const OFFLINE: u64 = 0;

/// How an instance of [`ApRcu`] behaves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApRcuConfig {
    /// How many queues and reclaimers there are. Default: one for each core.
    pub processors: usize,
    /// With more bytes waiting than this, quiescent states are forced at once. Default 1 MiB.
    pub high_water_bytes: usize,
    /// With more bytes waiting than this, callbacks are refused. Default 64 MiB.
    pub limit_bytes: usize,
    /// For how long quiescent states are waited for before they are forced. Default 10 ms.
    pub interval: Duration,
    /// How many callbacks that may block run at once. Default 4.
    pub pool_threads: usize,
    /// Whether there are threads. Without them, the waiter does their work. Default true; models have none.
    pub background: bool,
}

impl Default for ApRcuConfig {
    fn default() -> Self {
        Self {
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            high_water_bytes: 1 << 20,
            limit_bytes: 64 << 20,
            interval: Duration::from_millis(10),
            pool_threads: 4,
            background: true,
        }
    }
}

impl ApRcuConfig {
    /// One processor and no threads.
    pub fn manual() -> Self {
        Self { processors: 1, background: false, ..Self::default() }
    }
}

/// Counters of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApRcuStats {
    /// Boundaries announced.
    pub boundaries: u64,
    /// How often a reader was asked for a quiescent state.
    pub forced: u64,
    /// Weight of the callbacks that wait.
    pub bytes_waiting: usize,
    /// Callbacks refused because too much waits.
    pub refused: u64,
}

/// A detector, reclaimers, and the readers that they watch.
#[derive(Clone)]
pub struct ApRcu {
    shared: Arc<Shared>,
    /// Ends the threads when the last clone and the last thread's handle are gone.
    _life: Arc<Life>,
}

struct Shared {
    config: ApRcuConfig,
    /// The last boundary that was announced.
    boundary: CachePadded<AtomicU64>,
    readers: Registry<Slot>,
    detector: Detector,
    processors: Box<[CachePadded<Processor>]>,
    pool: Pool,
    bytes_waiting: Unordered,
    forced: UnorderedU64,
    refused: UnorderedU64,
    next_processor: Unordered,
}

/// What others see of a reader.
#[derive(Default)]
struct Slot {
    /// Its copy of the count of boundaries, or [`OFFLINE`].
    seen: AtomicU64,
    /// It should be quiescent soon. Advice: it orders nothing.
    asked: UnorderedBool,
    /// Who to wake.
    #[cfg(not(loom))]
    thread: StdMutex<Option<std::thread::Thread>>,
}

/// Tells the threads of an instance to end.
struct Life {
    shared: Arc<Shared>,
}

impl Drop for Life {
    fn drop(&mut self) {
        self.shared.stop();
    }
}

impl ApRcu {
    /// A new instance with the default configuration.
    pub fn new() -> Self {
        Self::with_config(ApRcuConfig::default())
    }

    /// A new instance.
    ///
    /// # Panics
    /// If the system refuses to start the threads.
    pub fn with_config(config: ApRcuConfig) -> Self {
        let processors = (0..config.processors.max(1)).map(|_| CachePadded::default()).collect();
        let shared = Arc::new(Shared {
            boundary: CachePadded::new(AtomicU64::new(OFFLINE + 1)),
            readers: Registry::new(),
            detector: Detector::default(),
            processors,
            pool: Pool::default(),
            bytes_waiting: 0.into(),
            forced: 0.into(),
            refused: 0.into(),
            next_processor: 0.into(),
            config,
        });
        #[cfg(not(loom))]
        shared.start_threads();
        Self { _life: Arc::new(Life { shared: shared.clone() }), shared }
    }

    /// What the threads of an instance do, once: for instances without them.
    pub fn work(&self) {
        self.shared.work();
    }

    /// Counters.
    pub fn stats(&self) -> ApRcuStats {
        let shared = &*self.shared;
        ApRcuStats {
            boundaries: shared.boundary.load(Ordering::Relaxed) - 1,
            forced: shared.forced.load(Ordering::Relaxed),
            bytes_waiting: shared.bytes_waiting.load(Ordering::Relaxed),
            refused: shared.refused.load(Ordering::Relaxed),
        }
    }
}

impl Default for ApRcu {
    fn default() -> Self {
        Self::new()
    }
}

impl Shared {
    /// The count that something unlinked just now is to be queued with.
    fn boundary_after_unlinking(&self) -> u64 {
        // Rule 2.
        protect!("ap_updater_fence", fence(Ordering::SeqCst));
        self.boundary.load(Ordering::Relaxed)
    }

    /// True if so many bytes more may wait; they are counted then.
    fn charge(&self, bytes: usize) -> bool {
        let fits = |now: usize| match now.checked_add(bytes) {
            Some(sum) if now == 0 || sum <= self.config.limit_bytes => Some(sum),
            _ => None,
        };
        let accepted = self.bytes_waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok();
        if !accepted {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        accepted
    }
}

// SAFETY: see the top of the file.
unsafe impl Flavour for ApRcu {
    const NAME: &'static str = "ap-rcu";
    type Thread = ApRcuThread;

    fn register(&self) -> ApRcuThread {
        let next = self.shared.next_processor.fetch_add(1, Ordering::Relaxed);
        let processor = next % self.shared.processors.len();
        ApRcuThread { instance: self.clone(), slot: self.shared.readers.claim(), seen: OFFLINE, processor }
    }
}

/// A thread's handle of [`ApRcu`].
pub struct ApRcuThread {
    instance: ApRcu,
    slot: NonNull<Entry<Slot>>,
    /// What the slot says.
    seen: u64,
    /// Whose queue takes its callbacks.
    processor: usize,
}

// SAFETY: an instance, and a slot that only this handle's owner writes, with atomics.
unsafe impl Send for ApRcuThread {}

/// A section of [`ApRcu`]: part of what lies between two quiescent states.
#[derive(Debug)]
pub struct ApRcuSection<'a> {
    _thread: PhantomData<&'a ApRcuThread>,
}

impl ApRcuThread {
    fn slot(&self) -> &Slot {
        // SAFETY: entries live as long as their registry, which the instance keeps alive.
        unsafe { self.slot.as_ref() }.value()
    }

    fn shared(&self) -> &Shared {
        &self.instance.shared
    }

    /// Copies the count of boundaries.
    #[cold]
    fn copy(&mut self, boundary: u64) {
        // Release: rule 1.
        self.slot().seen.store(boundary, ordering!("ap_copy", Release));
        // Rules 2 and 3: the fence on demand.
        protect!("ap_reader_fence", fence(Ordering::SeqCst));
        if self.seen == OFFLINE {
            #[cfg(not(loom))]
            self.remember_thread();
        }
        self.seen = boundary;
        self.slot().asked.store(false, Ordering::Relaxed);
    }

    #[cfg(not(loom))]
    fn remember_thread(&self) {
        let current = std::thread::current();
        let mut known = self.slot().thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if known.as_ref().map(std::thread::Thread::id) != Some(current.id()) {
            *known = Some(current);
        }
    }

    /// Has `callback`, which does not block, run after a grace period by the reclaimer of this thread's processor.
    /// `weight` is how many bytes it frees (`rcu_call`). The thread is quiescent meanwhile.
    ///
    /// # Errors
    /// Gives it back if more than the limit would then wait.
    pub fn call<F: FnOnce() + Send + 'static>(
        &mut self,
        weight: usize,
        callback: F,
    ) -> Result<(), Backpressure<F>> {
        self.enqueue(weight, callback, false)
    }

    /// Has `callback`, which may block, run after a grace period on a thread of the pool (`rcu_call_excl`).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn call_blocking<F: FnOnce() + Send + 'static>(
        &mut self,
        weight: usize,
        callback: F,
    ) -> Result<(), Backpressure<F>> {
        self.enqueue(weight, callback, true)
    }

    fn enqueue<F: FnOnce() + Send + 'static>(
        &mut self,
        weight: usize,
        callback: F,
        blocking: bool,
    ) -> Result<(), Backpressure<F>> {
        self.quiescent();
        if !self.shared().charge(weight) {
            return Err(Backpressure::new(callback));
        }
        self.queue(Garbage::from_fn(weight, callback), blocking);
        Ok(())
    }

    /// Queues what was charged.
    fn queue(&self, garbage: Garbage, blocking: bool) {
        let boundary = self.shared().boundary_after_unlinking();
        self.shared().processors[self.processor].push(boundary, garbage, blocking);
    }

    /// Waits for a grace period, first for at most `patience` without asking for one: others' may do.
    /// (`rcu_synchronize_shared`: a writer that is not in a hurry does not wake the detector.)
    #[cfg(not(loom))]
    pub fn synchronize_shared(&mut self, patience: Duration) {
        self.offline();
        let end = self.shared().boundary_after_unlinking() + 2;
        self.shared().wait_for_others(end, patience);
        self.shared().wait_for_boundary(end);
    }
}

// SAFETY: see the top of the file.
unsafe impl Thread for ApRcuThread {
    type Read<'a> = ApRcuSection<'a>;
    type Update<'a> = ApRcuSection<'a>;

    #[inline]
    fn read(&mut self) -> ApRcuSection<'_> {
        if self.seen == OFFLINE {
            self.copy(self.shared().boundary.load(Ordering::Relaxed));
        }
        ApRcuSection { _thread: PhantomData }
    }

    #[inline]
    fn update(&mut self) -> ApRcuSection<'_> {
        self.read()
    }

    #[inline]
    fn quiescent(&mut self) {
        let boundary = self.shared().boundary.load(Ordering::Relaxed);
        if boundary != self.seen && self.seen != OFFLINE {
            self.copy(boundary);
        }
    }

    fn offline(&mut self) {
        if self.seen != OFFLINE {
            // Release: rule 1.
            self.slot().seen.store(OFFLINE, ordering!("ap_offline", Release));
            self.seen = OFFLINE;
        }
    }

    #[inline]
    fn asked(&self) -> bool {
        self.slot().asked.load(Ordering::Relaxed)
    }

    /// Two boundaries, announced to this thread as to a reclaimer (`rcu_synchronize`).
    fn synchronize(&mut self) {
        self.offline();
        let end = self.shared().boundary_after_unlinking() + 2;
        self.shared().wait_for_boundary(end);
    }

    /// Waits only if too much waits already.
    fn retire(&mut self, garbage: Garbage) {
        self.quiescent();
        if self.shared().charge(garbage.bytes()) {
            self.queue(garbage, false);
        } else {
            self.synchronize();
        }
    }

    /// Until all callbacks of this thread's processor, and of the pool, have run (`rcu_call_synchronize`).
    fn barrier(&mut self) {
        self.offline();
        let done = Arc::new(AtomicBool::new(false));
        let ours = done.clone();
        self.queue(Garbage::from_fn(0, move || ours.store(true, Ordering::Release)), false);
        let mut backoff = Backoff::default();
        while !done.load(Ordering::Acquire) {
            if !self.shared().config.background {
                self.shared().work();
            }
            backoff.snooze();
        }
        self.shared().pool.wait_until_idle();
    }
}

impl Drop for ApRcuThread {
    fn drop(&mut self) {
        self.offline();
        // SAFETY: claimed in `register`, released here only. The slot says OFFLINE, as a free one must.
        unsafe { self.instance.shared.readers.release(self.slot) };
    }
}

impl std::fmt::Debug for ApRcu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApRcu").field("stats", &self.stats()).finish()
    }
}

impl std::fmt::Debug for ApRcuThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApRcuThread").field("seen", &self.seen).field("processor", &self.processor).finish()
    }
}
