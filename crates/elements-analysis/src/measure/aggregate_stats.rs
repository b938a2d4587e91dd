//! Counts how often each aggregate occurs.
//!
//! ```click
//! AggregateStats(MAX)
//! ```
//!
//! Passes packets on, and counts them by their aggregate annotations. It is FastClick's element, which does not
//! handle aggregates of MAX and above.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: shared; counts of all workers together.
//!
//! # Arguments
//! - `MAX` (integer): aggregates of MAX and above count as MAX - 1.
//!
//! # Handlers
//! - `count` (read): packets so far.
//! - `average`, `avg`, `median` (read): the average and the median of the aggregates.
//! - `max` (read): the largest aggregate. `most_seen`, `most_seen_freq`: the most frequent one, and how often it
//!   occurred.
//! - `nval` (read): the number of different aggregates.
//! - `dump` (read): how often each aggregate occurred, one per line.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> AggregateLength -> a :: AggregateStats(2048) -> Discard; DriverManager(wait, read a.median)
//! ```
//!
//! # See also
//! AggregateCounter, BurstStats, BatchStats

use super::histogram::Histogram;
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("AggregateStats", create)
    .residency(Residency::Shared)
    .doc(router::manual!("aggregate_stats.rs"));

struct AggregateStats(Histogram);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut max = 0u32;
    config.args().required("MAX", &mut max).finish()?;
    if !(1..=Histogram::MOST).contains(&max) {
        return Err(format!("MAX must be between 1 and {}", Histogram::MOST).into());
    }
    Ok(Box::new(PerPacket(AggregateStats(Histogram::of(config, max as usize)?))))
}

impl Simple for AggregateStats {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.0.add(packet.anno(Anno::AGGREGATE) as usize);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        Histogram::handlers(h, |e: &AggregateStats| &e.0);
    }
}
