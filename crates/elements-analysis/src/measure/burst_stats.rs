//! Shows the distribution of burst sizes: consecutive packets of one flow.
//!
//! ```click
//! BurstStats([KEYWORDS])
//! ```
//!
//! Passes packets on, and counts bursts by size. A burst consists of consecutive packets with the same aggregate
//! annotation. It is counted when the next one begins. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: shared; counts of all workers together, bursts of each.
//!
//! # Arguments
//! - `BYTES` (boolean, default false): whether a burst's size is measured in bytes instead of packets.
//! - `MAX` (integer, default 1024): sizes of MAX and above count as MAX - 1.
//!
//! # Handlers
//! - `count` (read): bursts so far.
//! - `average`, `avg`, `median` (read): the average and the median of their sizes.
//! - `max` (read): the largest. `most_seen`, `most_seen_freq`: the most frequent size, and how often it occurred.
//! - `nval` (read): the number of different sizes.
//! - `dump` (read): how often each size occurred, one per line.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> AggregateIPFlows -> b :: BurstStats -> Discard; DriverManager(wait, read b.average)
//! ```
//!
//! # See also
//! BatchStats, AggregateIPFlows

use super::histogram::Histogram;
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("BurstStats", create).residency(Residency::Shared).doc(router::manual!("burst_stats.rs"));

struct BurstStats {
    sizes: Histogram,
    bytes: bool,
    /// The aggregate of the burst that has not ended, if any has begun, and its size so far.
    burst: Option<u64>,
    size: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut bytes, mut max) = (false, 1024u32);
    config.args().keyword("BYTES", &mut bytes).keyword("MAX", &mut max).finish()?;
    if max > Histogram::MOST {
        return Err(format!("MAX must be at most {}", Histogram::MOST).into());
    }
    let sizes = Histogram::of(config, max as usize)?;
    Ok(Box::new(PerPacket(BurstStats { sizes, bytes, burst: None, size: 0 })))
}

impl Simple for BurstStats {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let aggregate = Some(packet.anno(Anno::AGGREGATE));
        if aggregate != self.burst {
            if self.burst.is_some() {
                self.sizes.add(self.size);
            }
            (self.burst, self.size) = (aggregate, 0);
        }
        self.size += if self.bytes { packet.len() } else { 1 };
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        Histogram::handlers(h, |e: &BurstStats| &e.sizes);
    }
}

#[cfg(test)]
mod tests {
    /// A configuration cannot ask for all memory, which would end the router that it is to replace.
    #[test]
    fn bounded_sizes() {
        let said = crate::testing::errors("Idle -> BurstStats(MAX 4294967295) -> Discard");
        assert!(said.contains("MAX must be at most 16777216"), "{said}");
    }
}
