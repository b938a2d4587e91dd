//! What a simulation found.

use super::measure::{Histogram, Reordering};
use serde::Serialize;

/// Packets that did not arrive, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Drops {
    /// No way was known.
    pub unreachable: u64,
    /// The ingress node found all links full.
    pub refused: u64,
    /// A link on the way was full.
    pub link_full: u64,
    /// The external port was full.
    pub port_full: u64,
    /// A processor was behind.
    pub processor: u64,
    /// A link or node was broken and its peers did not know yet.
    pub broken: u64,
    /// No hops were left.
    pub hops: u64,
    /// Too late to be delivered in order.
    pub late: u64,
}

impl Drops {
    /// All.
    pub fn total(&self) -> u64 {
        let Drops { unreachable, refused, link_full, port_full, processor, broken, hops, late } = *self;
        unreachable + refused + link_full + port_full + processor + broken + hops + late
    }
}

/// Times in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// Half of the packets are faster.
    pub p50_us: f64,
    /// Nine of ten are.
    pub p90_us: f64,
    /// All but one in a hundred.
    pub p99_us: f64,
    /// All but one in a thousand.
    pub p999_us: f64,
}

impl Latency {
    /// From nanoseconds.
    pub fn of(histogram: &Histogram) -> Latency {
        let us = |percent| histogram.percentile(percent) as f64 / 1e3;
        Latency { p50_us: us(50.0), p90_us: us(90.0), p99_us: us(99.0), p999_us: us(99.9) }
    }
}

/// The findings. Rates are over the time after the warm-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Packets that came in, from the start to the end.
    pub packets: u64,
    /// Packets that left.
    pub delivered: u64,
    /// Packets that did neither.
    pub drops: Drops,
    /// What came in, in bits a second.
    pub offered: f64,
    /// What left.
    pub throughput: f64,
    /// What could have left of what came in, by theory, in bits a second.
    pub theory: f64,
    /// Throughput by theory.
    pub of_theory: f64,
    /// How evenly inputs got what they wanted (Jain's index).
    pub fairness: f64,
    /// How evenly the inputs shared the busiest external port.
    pub fairness_at_busiest: f64,
    /// Bits processed by all servers for each bit that came in: 2 when all goes straight through a mesh, 3 when nothing does.
    pub c: f64,
    /// What the busiest terminal processed, in line rates.
    pub c_busiest: f64,
    /// Packets by what was chosen for them.
    pub direct: u64,
    /// The same.
    pub balanced: u64,
    /// Of them, packets that left the way of their flowlet.
    pub spilled: u64,
    /// From coming in to leaving.
    pub latency: Latency,
    /// Within flows, of which the first four million are looked at.
    pub reordering: Reordering,
    /// Reordered sequences for each hundred packets.
    pub reordered_percent: f64,
    /// Packets that waited for others at once, with order by number, at the worst egress.
    pub most_waiting: usize,
    /// Events.
    pub events: u64,
}
