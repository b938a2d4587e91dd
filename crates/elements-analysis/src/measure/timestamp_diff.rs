//! Measures the delay of packets since RecordTimestamp.
//!
//! ```click
//! TimestampDiff(RECORDER [, KEYWORDS])
//! ```
//!
//! Passes packets whose number RECORDER knows, and stores how long ago they passed it, in microseconds. Packets
//! without a known number, or seen before, leave by output 1, or are dropped if there is none. It is FastClick's
//! element.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! - `RECORDER` (element): a RecordTimestamp.
//! - `OFFSET` (integer, default 40): where the number is in the packet.
//! - `N` (integer, default 65536): the maximum number of delays stored; later ones are not.
//! - `MAXDELAY` (integer, default 1000): delays of more milliseconds than this are counted as late, and not stored.
//! - `VERBOSE` (boolean, default true): whether to report the first ten late packets.
//! - `SAMPLE` (integer, default 1): store only delays of packets whose number is a multiple of this; packets whose
//!   number is not a multiple of RECORDER's SAMPLE pass.
//! - `TC_OFFSET` (integer, default -1): the offset in the packet of the byte with its traffic class, which is stored
//!   with the delay; negative: all are of class 0. `TC_MASK` (integer, default 255): a mask for that byte.
//! - `NET_ORDER` (boolean): whether numbers are in network byte order; by default as in RECORDER.
//! - `NANO` (boolean, default false): whether delays are in nanoseconds.
//!
//! # Handlers
//! If a handler takes FROM, delays before that index are left out (default 0); if it takes TC, only delays of packets
//! of that traffic class count. If there are none, all results are 0.
//! - `average` or `avg`, `min`, `max`, `stddev` (read with parameter `[FROM [TC]]`): statistics of the delays.
//! - `perc` (read with parameter `P [FROM [TC]]`): the P-th percentile of the delays. `perc00`, `perc01`, `perc05`,
//!   `perc10`, `perc25`, `median`, `perc75`, `perc90`, `perc95`, `perc99`, `perc100`: those for fixed P.
//! - `count` (read): the number of delays stored. `index`: the index of the last one, from 0 on; -1 for none. `late`:
//!   the number of late packets.
//! - `last` (read): the last delay.
//! - `dump` (read with parameter): the delays, one per line, with their index. `dump_list`: without.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 5) -> NumberPacket -> r :: RecordTimestamp(OFFSET 40) -> Queue -> DelayUnqueue(1ms)
//!   -> TimestampDiff(r) -> Discard
//! ```
//!
//! # See also
//! RecordTimestamp, NumberPacket, TimestampAccum

use super::number_packet::{OFFSET, number};
use super::record_timestamp::Times;
use elements_shared::sprintf::general;
use lang::conf::pop_space;
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, ElementName, Handlers, Level, PerPacket, Residency, Simple,
    TableSize, Verdict,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The class.
pub(crate) const CLASS: Class = Class::new("TimestampDiff", create)
    .ports("1/1-2")
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(router::manual!("timestamp_diff.rs"));

const NS_PER_US: i64 = 1000;
const NS_PER_MS: i64 = 1_000_000;

/// Late packets that lines tell of; further ones would only fill the log.
const TOLD: u64 = 10;

/// Where the traffic class is in what is kept of a packet, above the delay.
const CLASS_SHIFT: u32 = 56;

/// The delays of all workers.
struct Delays {
    kept: Box<[AtomicU64]>,
    next: AtomicUsize,
    late: AtomicU64,
}

impl Delays {
    fn keep(&self, delay: u64, class: u8) {
        if let Some(place) = self.kept.get(self.next.fetch_add(1, Relaxed)) {
            place.store(u64::from(class) << CLASS_SHIFT | delay.min((1 << CLASS_SHIFT) - 1), Relaxed);
        }
    }

    fn len(&self) -> usize {
        self.next.load(Relaxed).min(self.kept.len())
    }

    /// Those from one on, of a class if one is said.
    fn from(&self, first: usize, class: Option<u8>) -> Vec<u64> {
        let kept = self.kept.get(first..self.len()).unwrap_or_default().iter().map(|kept| kept.load(Relaxed));
        let chosen = kept.filter(|kept| class.is_none_or(|class| kept >> CLASS_SHIFT == u64::from(class)));
        chosen.map(|kept| kept & ((1 << CLASS_SHIFT) - 1)).collect()
    }
}

struct TimestampDiff {
    recorder: ElementName,
    times: Option<Arc<Times>>,
    delays: Arc<Delays>,
    offset: usize,
    max_delay_ns: i64,
    sample: u64,
    net_order: Option<bool>,
    ns_per_unit: i64,
    /// Where the traffic class is.
    class_at: Option<usize>,
    class_mask: u8,
    outputs: usize,
    verbose: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    const DEFAULT: usize = 65536;
    let (mut recorder, mut offset) = (ElementName::default(), OFFSET);
    let (mut n, mut max_delay) = (TableSize(0), 1000u32);
    let (mut sample, mut net_order, mut nano, mut verbose) = (1u32, None::<bool>, false, true);
    let (mut class_at, mut class_mask) = (-1i32, u8::MAX);
    config
        .args()
        .required("RECORDER", &mut recorder)
        .keyword("OFFSET", &mut offset)
        .keyword("N", &mut n)
        .keyword("MAXDELAY", &mut max_delay)
        .keyword("SAMPLE", &mut sample)
        .keyword("NET_ORDER", &mut net_order)
        .keyword("NANO", &mut nano)
        .keyword("VERBOSE", &mut verbose)
        .keyword("TC_OFFSET", &mut class_at)
        .keyword("TC_MASK", &mut class_mask)
        .finish()?;
    if config.class_of(recorder.index) != "RecordTimestamp" {
        return Err("RECORDER must be a valid RecordTimestamp element".into());
    }
    let n = if n.0 == 0 { DEFAULT } else { n.0 };
    let delays = config.shared(|| {
        Ok(Delays {
            kept: (0..n).map(|_| AtomicU64::new(0)).collect(),
            next: AtomicUsize::new(0),
            late: AtomicU64::new(0),
        })
    })?;
    Ok(Box::new(PerPacket(TimestampDiff {
        recorder,
        times: None,
        delays,
        offset: offset as usize,
        max_delay_ns: i64::from(max_delay) * NS_PER_MS,
        sample: u64::from(sample.max(1)),
        net_order,
        ns_per_unit: if nano { 1 } else { NS_PER_US },
        class_at: usize::try_from(class_at).ok(),
        class_mask,
        outputs: config.outputs(),
        verbose,
    })))
}

impl TimestampDiff {
    /// Keeps the delay of a packet, unless it cannot be known.
    #[inline]
    fn measure(&self, cx: &Cx<'_>, packet: &Packet) -> Option<()> {
        let times = self.times.as_ref()?;
        let net_order = self.net_order.unwrap_or_else(|| times.net_order.load(Relaxed));
        let number = number(packet, self.offset, net_order)?;
        if !number.is_multiple_of(times.sample) {
            return Some(());
        }
        let delay = cx.now_ns() - times.take(number)?;
        if delay > self.max_delay_ns {
            self.note_late(cx, number, delay);
        } else if number.is_multiple_of(self.sample) {
            self.delays.keep(u64::try_from(delay / self.ns_per_unit).unwrap_or(0), self.class(packet));
        }
        Some(())
    }

    /// Counts a packet that was under way for too long.
    #[cold]
    fn note_late(&self, cx: &Cx<'_>, number: u64, delay: i64) {
        if self.delays.late.fetch_add(1, Relaxed) < TOLD && self.verbose {
            let (ms, most) = (delay / NS_PER_MS, self.max_delay_ns / NS_PER_MS);
            cx.say(Level::Warning, format_args!("Packet {number} experienced delay {ms} ms > {most} ms"));
        }
    }

    /// A packet's traffic class; 0 if it has none.
    fn class(&self, packet: &Packet) -> u8 {
        let byte = self.class_at.and_then(|at| packet.data().get(at));
        byte.map_or(0, |byte| byte & self.class_mask)
    }

    /// The delays that a handler's parameter means.
    fn chosen(&self, cx: &Cx<'_>, mut text: &str) -> Result<Vec<u64>, String> {
        let (first, class) = (pop_space(&mut text), text.trim());
        let first = if first.is_empty() { 0 } else { router::value(cx, first)? };
        let class = if class.is_empty() { None } else { Some(router::value(cx, class)?) };
        Ok(self.delays.from(first, class))
    }
}

/// The average of numbers; 0 of none.
fn mean(numbers: impl ExactSizeIterator<Item = f64>) -> f64 {
    let len = numbers.len().max(1) as f64;
    numbers.fold(0.0, |sum, number| sum + number) / len
}

fn average(delays: &[u64]) -> f64 {
    mean(delays.iter().map(|&delay| delay as f64))
}

fn deviation(delays: &[u64]) -> f64 {
    let average = average(delays);
    mean(delays.iter().map(|&delay| (delay as f64 - average).powi(2))).sqrt()
}

/// The delay at a place among all when they are sorted; 0 if there are none.
fn percentile(mut delays: Vec<u64>, per_cent: f64) -> f64 {
    let Some(last) = delays.len().checked_sub(1) else { return 0.0 };
    let at = ((per_cent * delays.len() as f64 / 100.0) as usize).min(last);
    *delays.select_nth_unstable(at).1 as f64
}

/// Handlers for certain percentiles.
const PERCENTILES: &[(&str, f64)] = &[
    ("perc00", 0.0),
    ("perc01", 1.0),
    ("perc05", 5.0),
    ("perc10", 10.0),
    ("perc25", 25.0),
    ("median", 50.0),
    ("perc75", 75.0),
    ("perc90", 90.0),
    ("perc95", 95.0),
    ("perc99", 99.0),
    ("perc100", 100.0),
];

/// Says delays one a line.
fn lines(delays: &[u64], line: impl Fn((usize, &u64)) -> String) -> Result<String, String> {
    Ok(delays.iter().enumerate().map(line).collect())
}

impl Simple for TimestampDiff {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.times = Some(cx.shared_of(&self.recorder.name, "RecordTimestamp")?);
        Ok(())
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.measure(cx, packet) {
            Some(()) => Verdict::Pass,
            None => elements_shared::verdict::fail(self.outputs, "no recorded timestamp"),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type T = TimestampDiff;
        for name in ["average", "avg"] {
            h.read_with(name, |e: &mut T, cx, text| Ok(general(average(&e.chosen(cx, text)?))));
        }
        h.read_with("stddev", |e: &mut T, cx, text| Ok(general(deviation(&e.chosen(cx, text)?))));
        h.read_with("min", |e: &mut T, cx, text| {
            Ok(e.chosen(cx, text)?.iter().min().copied().unwrap_or(0).to_string())
        });
        h.read_with("max", |e: &mut T, cx, text| {
            Ok(e.chosen(cx, text)?.iter().max().copied().unwrap_or(0).to_string())
        });
        for &(name, per_cent) in PERCENTILES {
            h.read_with(name, move |e: &mut T, cx, text| {
                Ok(general(percentile(e.chosen(cx, text)?, per_cent)))
            });
        }
        h.read_with("perc", |e: &mut T, cx, mut text| {
            let per_cent: f64 = router::value(cx, pop_space(&mut text))?;
            Ok(general(percentile(e.chosen(cx, text)?, per_cent)))
        });
        h.read("count", |e: &mut T, _| e.delays.len());
        h.read("index", |e: &mut T, _| e.delays.len() as i64 - 1);
        h.read("late", |e: &mut T, _| e.delays.late.load(Relaxed));
        h.read("last", |e: &mut T, _| {
            e.delays.from(e.delays.len().saturating_sub(1), None).pop().unwrap_or(0)
        });
        h.read_with("dump", |e: &mut T, cx, text| {
            lines(&e.chosen(cx, text)?, |(at, delay)| format!("{at}: {delay}\n"))
        });
        h.read_with("dump_list", |e: &mut T, cx, text| {
            lines(&e.chosen(cx, text)?, |(_, delay)| format!("{delay}\n"))
        });
    }
}
