//! What an operator sees: counters, grace-period latency, stalled readers.
//!
//! Nothing here orders memory accesses, so all of it uses relaxed `std` atomics.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// A domain's state at a moment; the fields are read one after the other.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Grace periods that are over.
    pub grace_periods: u64,
    /// Callbacks queued and not yet run.
    pub callbacks_waiting: usize,
    /// Bytes that wait for grace periods: what those callbacks will free, as charged, and what accounts hold. What updaters have
    /// taken from the limit in advance is not in it.
    pub bytes_waiting: usize,
    /// Of `bytes_waiting`, what accounts hold ([`Domain::account`](crate::Domain::account)), by their names.
    pub accounts: Vec<(&'static str, usize)>,
    /// The limit of `bytes_waiting`.
    pub bytes_limit: usize,
    /// Callbacks that have run.
    pub callbacks_run: u64,
    /// Callbacks that panicked, of those that have run, and stall hooks that did.
    pub callbacks_panicked: u64,
    /// Callbacks refused because of the limit.
    pub callbacks_refused: u64,
    /// Callbacks that may block whose grace period is over and that have not finished.
    pub blocking_waiting: usize,
    /// How often a reader was asked to end its turn early, because it was late or memory ran short.
    pub quiescences_forced: u64,
    /// Readers online: those that grace periods wait for.
    pub readers: usize,
    /// Stalls reported so far: a reader that kept a grace period waiting beyond the stall limit counts once.
    pub stalls: u64,
    /// Readers that keep a grace period waiting beyond the stall limit at this moment.
    pub stalled: Vec<Stall>,
    /// From the start of a grace period until a thread noticed its end.
    pub latency: Latency,
}

/// A line for each figure: its name, a space, its value; and one for each reader that is stalled.
impl std::fmt::Display for Stats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ns = |duration: Duration| duration.as_nanos();
        let figures = [
            ("readers", self.readers as u128),
            ("grace_periods", self.grace_periods.into()),
            ("callbacks_waiting", self.callbacks_waiting as u128),
            ("callbacks_run", self.callbacks_run.into()),
            ("callbacks_panicked", self.callbacks_panicked.into()),
            ("callbacks_refused", self.callbacks_refused.into()),
            ("blocking_waiting", self.blocking_waiting as u128),
            ("bytes_waiting", self.bytes_waiting as u128),
            ("bytes_limit", self.bytes_limit as u128),
            ("quiescences_forced", self.quiescences_forced.into()),
            ("stalls", self.stalls.into()),
            ("latency_ns_p50", ns(self.latency.quantile(0.5))),
            ("latency_ns_p99", ns(self.latency.quantile(0.99))),
            ("latency_ns_p999", ns(self.latency.quantile(0.999))),
            ("latency_ns_max", ns(self.latency.max)),
        ];
        figures.iter().try_for_each(|(name, value)| writeln!(f, "{name} {value}"))?;
        self.accounts.iter().try_for_each(|(name, bytes)| writeln!(f, "waiting {name} {bytes}"))?;
        self.stalled.iter().try_for_each(|stall| writeln!(f, "stalled {stall}"))
    }
}

/// A reader that keeps a grace period waiting for too long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stall {
    /// The reader's name, or the place in the source where its guard was made.
    pub reader: String,
    /// For how long the grace period has waited.
    pub waited: Duration,
}

impl std::fmt::Display for Stall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { reader, waited } = self;
        write!(f, "reader \"{reader}\" has kept a grace period waiting for {waited:.3?}")
    }
}

/// A distribution of durations, in powers of two of a nanosecond.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Latency {
    /// How many durations.
    pub count: u64,
    /// Their sum.
    pub sum: Duration,
    /// The longest.
    pub max: Duration,
    /// `buckets[i]` counts durations below `2^i` ns and not below `2^(i-1)` ns.
    pub buckets: [u64; BUCKETS],
}

/// Durations are kept in 48 bits of nanoseconds (78 hours).
const BUCKETS: usize = TIME_BITS as usize + 1;
const TIME_BITS: u32 = 48;
const TIME_MASK: u64 = (1 << TIME_BITS) - 1;

impl Default for Latency {
    fn default() -> Self {
        Self { count: 0, sum: Duration::ZERO, max: Duration::ZERO, buckets: [0; BUCKETS] }
    }
}

impl Latency {
    /// An upper bound of the `q`-quantile (`0.5` is the median), at most twice too large; zero if nothing was counted.
    pub fn quantile(&self, q: f64) -> Duration {
        let total: u64 = self.buckets.iter().sum();
        let rank = ((total as f64 * q.clamp(0.0, 1.0)).ceil() as u64).max(1);
        let mut below = 0;
        for (log2, count) in self.buckets.iter().enumerate() {
            below += count;
            if below >= rank {
                return Duration::from_nanos(1 << log2).min(self.max);
            }
        }
        Duration::ZERO
    }
}

/// The counters behind [`Stats`].
#[derive(Default)]
pub(crate) struct Metrics {
    pub(crate) callbacks_run: AtomicU64,
    pub(crate) callbacks_panicked: AtomicU64,
    pub(crate) forced: AtomicU64,
    pub(crate) stalls: AtomicU64,
    sum: AtomicU64,
    max: AtomicU64,
    buckets: Buckets,
}

struct Buckets([AtomicU64; BUCKETS]);

impl Default for Buckets {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; BUCKETS])
    }
}

impl Metrics {
    /// Counts callbacks that have run, and those of them that panicked.
    pub(crate) fn count_callbacks(&self, run: u64, panicked: u64) {
        self.callbacks_run.fetch_add(run, Relaxed);
        self.callbacks_panicked.fetch_add(panicked, Relaxed);
    }

    /// Counts a grace period that took `ns`.
    pub(crate) fn count_period(&self, ns: u64) {
        let log2 = (u64::BITS - ns.leading_zeros()) as usize;
        self.buckets.0[log2.min(BUCKETS - 1)].fetch_add(1, Relaxed);
        self.sum.fetch_add(ns, Relaxed);
        self.max.fetch_max(ns, Relaxed);
    }

    pub(crate) fn latency(&self) -> Latency {
        let buckets = std::array::from_fn(|i| self.buckets.0[i].load(Relaxed));
        Latency {
            count: buckets.iter().sum(),
            sum: Duration::from_nanos(self.sum.load(Relaxed)),
            max: Duration::from_nanos(self.max.load(Relaxed)),
            buckets,
        }
    }
}

/// When the last few grace periods started.
///
/// Each entry carries the low bits of its epoch, so that one that is late or was overwritten is recognised.
pub(crate) struct Starts([AtomicU64; 64]);

impl Default for Starts {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; 64])
    }
}

impl Starts {
    /// Notes that `epoch` started at `now` nanoseconds.
    pub(crate) fn note(&self, epoch: u64, now: u64) {
        self.entry(epoch).store(epoch << TIME_BITS | now & TIME_MASK, Relaxed);
    }

    /// Nanoseconds from the start of `epoch` until `now`, if it is known.
    pub(crate) fn age(&self, epoch: u64, now: u64) -> Option<u64> {
        let entry = self.entry(epoch).load(Relaxed);
        let age = now.wrapping_sub(entry) & TIME_MASK;
        // The caller may have read the clock before the start did: an age of nothing, not of years.
        let age = if age > TIME_MASK / 2 { 0 } else { age };
        (entry >> TIME_BITS == epoch << TIME_BITS >> TIME_BITS).then_some(age)
    }

    fn entry(&self, epoch: u64) -> &AtomicU64 {
        &self.0[epoch as usize % 64]
    }
}

/// A small number for this thread, to recognise a thread that waits for itself. Never 0.
pub(crate) fn thread_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local!(static ID: u64 = NEXT.fetch_add(1, Relaxed));
    // A thread that is ending has no number any more; it shares one with all others that end.
    ID.try_with(|id| *id).unwrap_or(u64::MAX)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Starts;

    #[test]
    fn a_start_after_the_look_at_the_clock_is_not_ages_ago() {
        let starts = Starts::default();
        starts.note(7, 1_000);
        assert_eq!(starts.age(7, 1_500), Some(500));
        assert_eq!(starts.age(7, 999), Some(0));
        assert_eq!(starts.age(71, 1_500), None);
    }
}
