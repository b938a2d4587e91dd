//! Measures the age of packets: the time since their timestamps were set.
//!
//! ```click
//! TimestampAccum([KEYWORDS])
//! ```
//!
//! Passes packets on unchanged. FastClick's TimestampAccumMP is another name for it; STEADY and some of the handlers
//! come from FastClick.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: shared; counts and times of all workers together.
//!
//! # Arguments
//! - `STEADY` (boolean): accepted; time never jumps here.
//!
//! # Handlers
//! - `count` (read): packets so far.
//! - `time` (read): the sum of their ages, in seconds.
//! - `average_time` (read): their average age, in seconds.
//! - `min`, `max` (read): the smallest and the largest age, in seconds; 0 before the first packet.
//! - `mp_count`, `mp_time`, `mp_average_time`, `mp_min`, `mp_max` (read): the same for each worker that packets can
//!   reach, separated by spaces.
//! - `reset_counts` (write, button): sets everything to zero.
//!
//! # Example
//! ```click
//! RatedSource -> SetTimestamp -> Queue -> DelayUnqueue(0.1) -> TimestampAccum -> Discard
//! ```
//!
//! # See also
//! SetTimestamp, SetTimestampDelta, AverageCounter

use elements_shared::sprintf::general;
use packet::{Batch, Packet};
use router::{
    Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict, metric,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// The class.
pub(crate) const CLASS: Class = Class::new("TimestampAccum", create)
    .residency(Residency::Shared)
    .doc(router::manual!("timestamp_accum.rs"));

const NS_PER_S: f64 = 1e9;

/// What one worker has measured; it alone adds to this, in cache lines of its own.
#[repr(align(128))]
struct Ages {
    count: AtomicU64,
    /// The bits of a floating-point number: old timestamps add up to more than an integer holds.
    sum_ns: AtomicU64,
    min_ns: AtomicI64,
    max_ns: AtomicI64,
}

impl Ages {
    fn new() -> Ages {
        let (count, sum_ns) = (AtomicU64::new(0), AtomicU64::new(0f64.to_bits()));
        Ages { count, sum_ns, min_ns: AtomicI64::new(i64::MAX), max_ns: AtomicI64::new(i64::MIN) }
    }

    /// Replaces what is known.
    #[inline]
    fn set(&self, summary: &Summary) {
        self.count.store(summary.count, Relaxed);
        self.sum_ns.store(summary.sum_ns.to_bits(), Relaxed);
        self.min_ns.store(summary.min_ns, Relaxed);
        self.max_ns.store(summary.max_ns, Relaxed);
    }

    #[inline]
    fn summary(&self) -> Summary {
        Summary {
            count: self.count.load(Relaxed),
            sum_ns: f64::from_bits(self.sum_ns.load(Relaxed)),
            min_ns: self.min_ns.load(Relaxed),
            max_ns: self.max_ns.load(Relaxed),
        }
    }

    fn reset(&self) {
        self.set(&Ages::new().summary());
    }
}

/// What one worker, or all, have measured.
struct Summary {
    count: u64,
    sum_ns: f64,
    min_ns: i64,
    max_ns: i64,
}

impl Summary {
    #[inline]
    fn add(&mut self, age_ns: i64) {
        self.count += 1;
        self.sum_ns += age_ns as f64;
        self.min_ns = self.min_ns.min(age_ns);
        self.max_ns = self.max_ns.max(age_ns);
    }

    fn of_all(ages: &[Ages]) -> Summary {
        let none = Ages::new().summary();
        ages.iter().map(Ages::summary).fold(none, |a, b| Summary {
            count: a.count + b.count,
            sum_ns: a.sum_ns + b.sum_ns,
            min_ns: a.min_ns.min(b.min_ns),
            max_ns: a.max_ns.max(b.max_ns),
        })
    }

    /// The value with this name.
    fn value(&self, what: Value) -> String {
        let ns = match what {
            Value::Count => return self.count.to_string(),
            Value::Time => self.sum_ns,
            Value::Average => self.sum_ns / self.count.max(1) as f64,
            Value::Min | Value::Max if self.count == 0 => 0.0,
            Value::Min => self.min_ns as f64,
            Value::Max => self.max_ns as f64,
        };
        general(ns / NS_PER_S)
    }
}

#[derive(Clone, Copy)]
enum Value {
    Count,
    Time,
    Average,
    Min,
    Max,
}

struct TimestampAccum {
    /// Those of all workers, and which are this one's.
    ages: Arc<[Ages]>,
    mine: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut steady = true;
    config.args().keyword("STEADY", &mut steady).finish()?;
    let workers = config.workers().len();
    let ages = config.shared(|| Ok((0..workers).map(|_| Ages::new()).collect::<Arc<[Ages]>>()))?;
    let mine = config.workers().iter().position(|&worker| worker == config.worker()).unwrap_or(0);
    Ok(Box::new(PerPacket(TimestampAccum { ages: (*ages).clone(), mine })))
}

impl Simple for TimestampAccum {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let ages = &self.ages[self.mine];
        let mut summary = ages.summary();
        summary.add(cx.now_ns().saturating_sub(packet.timestamp_ns()));
        ages.set(&summary);
        Verdict::Pass
    }

    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        let (ages, now_ns) = (&self.ages[self.mine], cx.now_ns());
        let mut summary = ages.summary();
        cx.scatter(batch, |_, packet| {
            summary.add(now_ns.saturating_sub(packet.timestamp_ns()));
            Verdict::Pass
        });
        ages.set(&summary);
    }

    fn handlers(&self, h: &mut Handlers) {
        type T = TimestampAccum;
        let names = [
            ("count", "mp_count", Value::Count),
            ("time", "mp_time", Value::Time),
            ("average_time", "mp_average_time", Value::Average),
            ("min", "mp_min", Value::Min),
            ("max", "mp_max", Value::Max),
        ];
        for (name, of_each, what) in names {
            let handler = h.read(name, move |e: &mut T, _| Summary::of_all(&e.ages).value(what));
            if matches!(what, Value::Count) {
                handler.measures(&metric::PACKETS);
            }
            h.read(of_each, move |e: &mut T, _| {
                e.ages.iter().map(|ages| ages.summary().value(what)).collect::<Vec<_>>().join(" ")
            });
        }
        h.write("reset_counts", |e: &mut T, _, _| {
            e.ages.iter().for_each(Ages::reset);
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Simulated time starts at a billion seconds.
    #[test]
    fn adds_up_the_ages_of_packets() {
        let config = "InfiniteSource(LIMIT 2) -> SetTimestamp(999999999) -> t :: TimestampAccum -> Discard;
            InfiniteSource(LIMIT 2) -> SetTimestamp(999999998.5) -> t; InfiniteSource(LIMIT 1) -> u :: TimestampAccum -> Discard;
            Script(wait 1, write u.reset_counts, stop)";
        let read =
            run_and_read(config, &["t.count", "t.time", "t.average_time", "u.count", "u.average_time"]);
        assert_eq!(read, ["4", "5", "1.25", "0", "0"]);
        let config = "InfiniteSource(LIMIT 3) -> r :: RoundRobinSwitch; t :: TimestampAccum -> Discard; r[0] -> SetTimestamp(999999999) -> t;
            r[1] -> SetTimestamp(999999999) -> t; r[2] -> SetTimestamp -> t; Script(wait 1, stop)";
        let read = run_and_read(config, &["t.average_time", "t.min", "t.max", "t.mp_time", "t.mp_count"]);
        assert_eq!(read, ["0.666666666667", "0", "1", "2", "3"]);
    }
}
