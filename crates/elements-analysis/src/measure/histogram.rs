//! How often each value came, on several workers: what BatchStats, BurstStats and AggregateStats tell of.

use elements_shared::sprintf::general;
use router::{Config, ConfigError, Handlers};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The counts of all workers, and which of them are this one's.
pub(super) struct Histogram {
    /// For each worker, how often each value came there. That worker alone writes it.
    counts: Arc<[Box<[AtomicU64]>]>,
    mine: usize,
}

impl Histogram {
    /// The most values, so that a configuration does not ask for all memory.
    pub(super) const MOST: u32 = 1 << 24;

    /// A histogram of values below `values`; larger ones count as the largest of them.
    pub(super) fn of(config: &mut Config<'_>, values: usize) -> Result<Histogram, ConfigError> {
        let workers = config.workers().len();
        let row = |_| (0..values.max(1)).map(|_| AtomicU64::new(0)).collect();
        let counts = config.shared(|| Ok((0..workers).map(row).collect::<Arc<[Box<[AtomicU64]>]>>()))?;
        let mine = config.workers().iter().position(|&worker| worker == config.worker()).unwrap_or(0);
        Ok(Histogram { counts: (*counts).clone(), mine })
    }

    /// Counts a value.
    #[inline]
    pub(super) fn add(&self, value: usize) {
        self.add_several(value, 1);
    }

    /// Counts a value that came so often.
    #[inline]
    pub(super) fn add_several(&self, value: usize, times: usize) {
        let row = &self.counts[self.mine];
        let count = &row[value.min(row.len() - 1)];
        count.store(count.load(Relaxed) + times as u64, Relaxed);
    }

    /// How often each value came on all workers.
    pub(super) fn sums(&self) -> Vec<u64> {
        let sum = |value: usize| self.counts.iter().map(|row| row[value].load(Relaxed)).sum();
        (0..self.counts[0].len()).map(sum).collect()
    }

    /// The value that came most often, and how often; of several the least.
    fn most_seen(&self) -> (usize, u64) {
        let sums = self.sums();
        sums.iter().copied().enumerate().rev().max_by_key(|&(_, count)| count).unwrap_or((0, 0))
    }

    fn median(&self) -> usize {
        let sums = self.sums();
        let half = sums.iter().sum::<u64>() / 2;
        let mut below = 0;
        let found = sums.iter().position(|count| {
            below += count;
            below > half
        });
        found.unwrap_or(0)
    }

    fn average(&self) -> String {
        let sums = self.sums();
        let count: u64 = sums.iter().sum();
        let total: u64 = sums.iter().enumerate().map(|(value, count)| value as u64 * count).sum();
        if count == 0 { "0".to_owned() } else { general(total as f64 / count as f64) }
    }

    fn dump(&self) -> String {
        let sums = self.sums();
        let seen = sums.iter().enumerate().filter(|(_, count)| **count > 0);
        seen.map(|(value, count)| format!("{value}: {count}\n")).collect()
    }

    /// Declares the handlers of an element that has a histogram.
    pub(super) fn handlers<E: Any>(h: &mut Handlers, of: fn(&E) -> &Histogram) {
        h.read("most_seen", move |e: &mut E, _| of(e).most_seen().0);
        h.read("most_seen_freq", move |e: &mut E, _| of(e).most_seen().1);
        h.read("max", move |e: &mut E, _| match of(e).sums().iter().rposition(|&count| count > 0) {
            Some(value) => value.to_string(),
            None => "-1".to_owned(),
        });
        h.read("count", move |e: &mut E, _| of(e).sums().iter().sum::<u64>());
        h.read("nval", move |e: &mut E, _| of(e).sums().iter().filter(|count| **count > 0).count());
        h.read("median", move |e: &mut E, _| of(e).median());
        for name in ["average", "avg"] {
            h.read(name, move |e: &mut E, _| of(e).average());
        }
        h.read("dump", move |e: &mut E, _| of(e).dump());
    }
}
