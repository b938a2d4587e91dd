//! Measures the average size of batches.
//!
//! ```click
//! AverageBatchCounter([INTERVAL, KEYWORDS])
//! ```
//!
//! Passes packets on, and counts them and the batches in which they arrive. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: shared; counts of all workers together.
//!
//! # Arguments
//! - `INTERVAL` (integer, default 1000): the length of a measuring interval, in milliseconds.
//! - `LENGTH_STATS` (boolean, default false): whether to average the packets' lengths.
//!
//! # Handlers
//! - `average`, `count_packets`, `count_batches` (read): packets per batch, packets and batches of the last complete
//!   interval.
//! - `average_total`, `count_packets_total`, `count_batches_total` (read): the same for all intervals before that.
//! - `average_frame_len`, `average_frame_len_total` (read): bytes per packet, with LENGTH_STATS.
//!
//! # Example
//! ```click
//! InfiniteSource(BURST 8) -> c :: AverageBatchCounter -> Discard; Script(wait 2.5, read c.average, stop)
//! ```
//!
//! # Differences from FastClick
//! Lengths are taken from the packets; no AggregateLength is needed.
//!
//! # See also
//! BatchStats, AverageCounter

use elements_shared::sprintf::general;
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};
use std::ops::{AddAssign, Sub};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("AverageBatchCounter", create)
    .residency(Residency::Shared)
    .doc(router::manual!("average_batch_counter.rs"));

/// One worker's counts, which it alone writes.
#[derive(Default)]
#[repr(align(128))]
struct Slot {
    batches: AtomicU64,
    packets: AtomicU64,
    bytes: AtomicU64,
}

/// Counts at a time, or between two.
#[derive(Clone, Copy, Default)]
struct Counts {
    batches: u64,
    packets: u64,
    bytes: u64,
}

impl Sub for Counts {
    type Output = Counts;

    fn sub(self, other: Counts) -> Counts {
        Counts {
            batches: self.batches - other.batches,
            packets: self.packets - other.packets,
            bytes: self.bytes - other.bytes,
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.batches += other.batches;
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// A quotient, as handlers say it.
fn ratio(a: u64, b: u64) -> String {
    if b == 0 { "0".to_owned() } else { general(a as f64 / b as f64) }
}

struct AverageBatchCounter {
    slots: Arc<[Slot]>,
    /// This worker's.
    mine: usize,
    interval: Duration,
    lengths: bool,
    /// What had been counted when the last interval ended.
    seen: Counts,
    /// In the last interval.
    last: Counts,
    /// In those before.
    total: Counts,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut interval, mut lengths) = (1000u32, false);
    config.args().positional("INTERVAL", &mut interval).keyword("LENGTH_STATS", &mut lengths).finish()?;
    let workers = config.workers().len();
    let slots = config.shared(|| Ok((0..workers).map(|_| Slot::default()).collect::<Arc<[Slot]>>()))?;
    let mine = config.workers().iter().position(|&worker| worker == config.worker()).unwrap_or(0);
    Ok(Box::new(AverageBatchCounter {
        slots: (*slots).clone(),
        mine,
        interval: Duration::from_millis(u64::from(interval.max(1))),
        lengths,
        seen: Counts::default(),
        last: Counts::default(),
        total: Counts::default(),
    }))
}

impl AverageBatchCounter {
    #[inline]
    fn count(&self, batch: &Batch) {
        let slot = &self.slots[self.mine];
        // Only this worker writes: a load and a store do.
        let add = |count: &AtomicU64, by: u64| count.store(count.load(Relaxed) + by, Relaxed);
        add(&slot.batches, 1);
        add(&slot.packets, batch.len() as u64);
        if self.lengths {
            add(&slot.bytes, batch.iter().map(|packet| packet.len() as u64).sum());
        }
    }

    fn sum(&self) -> Counts {
        let mut sum = Counts::default();
        for slot in &*self.slots {
            sum += Counts {
                batches: slot.batches.load(Relaxed),
                packets: slot.packets.load(Relaxed),
                bytes: slot.bytes.load(Relaxed),
            };
        }
        sum
    }
}

impl Element for AverageBatchCounter {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.mine == 0 {
            cx.timers().after(0, self.interval); // the instance that handlers ask
        }
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        self.total += self.last;
        let sum = self.sum();
        self.last = sum - self.seen;
        self.seen = sum;
        cx.timers().after(key, self.interval);
    }

    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.count(&batch);
        cx.emit(0, batch);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, _cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        if !batch.is_empty() {
            self.count(&batch);
        }
        Pull::Give(batch)
    }

    fn handlers(&self, h: &mut Handlers) {
        type C = AverageBatchCounter;
        let mut values = |suffix: &str, counts: fn(&C) -> Counts| {
            h.read(&format!("average{suffix}"), move |e: &mut C, _| {
                ratio(counts(e).packets, counts(e).batches)
            });
            h.read(&format!("count_packets{suffix}"), move |e: &mut C, _| counts(e).packets);
            h.read(&format!("count_batches{suffix}"), move |e: &mut C, _| counts(e).batches);
            h.read(&format!("average_frame_len{suffix}"), move |e: &mut C, _| {
                ratio(counts(e).bytes, counts(e).packets)
            });
        };
        values("", |e| e.last);
        values("_total", |e| e.total);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::build;
    use router::Call;

    /// A batch a tick, of five packets or of one; two intervals.
    #[test]
    fn the_last_interval_and_the_total_are_counted_apart() {
        for (vector, batches, average) in [(1, "5", "1"), (32, "1", "5")] {
            let config = "TimedSource(0.4, abcd) -> Discard; InfiniteSource(DATA abcd, LIMIT 5, BURST 5) -> c :: AverageBatchCounter(1000, LENGTH_STATS true)
                          -> Discard; Script(wait 1.5, print c.average, print c.average_total, wait 1, stop)";
            let mut router = build(config, 1, vector).unwrap_or_else(|errors| panic!("{errors}"));
            router.run();
            let mut read = |path: &str| router.call(Call::read(path, "")).unwrap_or_default();
            assert_eq!(read("c.count_packets"), "0");
            assert_eq!(read("c.average"), "0");
            assert_eq!(read("c.count_packets_total"), "5");
            assert_eq!(read("c.count_batches_total"), batches);
            assert_eq!(read("c.average_total"), average);
            assert_eq!(read("c.average_frame_len_total"), "4");
        }
    }
}
