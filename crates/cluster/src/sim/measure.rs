//! What is measured.

use serde::Serialize;

/// Percentiles of times, each to within an eighth of itself.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    most: u64,
}

const SUB_BITS: u32 = 3;

impl Default for Histogram {
    fn default() -> Self {
        Histogram { counts: vec![0; 64 << SUB_BITS], total: 0, most: 0 }
    }
}

impl Histogram {
    /// A value comes.
    #[inline]
    pub fn add(&mut self, value: u64) {
        let v = value.max(1 << SUB_BITS);
        let shift = v.ilog2() - SUB_BITS;
        let at = (shift << SUB_BITS) as usize + (v >> shift) as usize - (1 << SUB_BITS);
        self.counts[at] += 1;
        self.total += 1;
        self.most = self.most.max(value);
    }

    /// The value that so many of a hundred do not exceed.
    pub fn percentile(&self, percent: f64) -> u64 {
        let rank = (self.total as f64 * percent / 100.0).ceil() as u64;
        let mut seen = 0;
        for (at, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank.max(1) {
                let (shift, sub) = (at as u32 >> SUB_BITS, at as u64 & ((1 << SUB_BITS) - 1));
                return ((((1 << SUB_BITS) + sub + 1) << shift) - 1).min(self.most);
            }
        }
        self.most
    }

    /// Values so far.
    pub fn total(&self) -> u64 {
        self.total
    }
}

/// Reordering within flows, as the paper counts it: a run of packets of a flow that come after a later one is one reordered
/// sequence, so p1 p4 p2 p3 p5 is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reordering {
    /// Packets looked at.
    pub packets: u64,
    /// Trains of packets of a flow that follow each other closely.
    pub flowlets: u64,
    /// Reordered sequences.
    pub sequences: u64,
    /// Packets that came after a later one.
    pub late: u64,
}

impl Reordering {
    /// Reordered sequences for each hundred packets.
    pub fn percent(&self) -> f64 {
        if self.packets == 0 { 0.0 } else { 100.0 * self.sequences as f64 / self.packets as f64 }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Last {
    number: u32,
    at_ns: u64,
    late: bool,
}

/// Finds reordering.
#[derive(Debug)]
pub struct OrderCheck {
    /// By flow.
    flows: Vec<Last>,
    gap_ns: u64,
    /// What was found.
    pub found: Reordering,
}

impl OrderCheck {
    /// A check for which packets of a flow that leave within `gap_ns` follow each other closely.
    pub fn new(gap_ns: u64) -> OrderCheck {
        OrderCheck { flows: Vec::new(), gap_ns, found: Reordering::default() }
    }

    /// A packet leaves: the `number`-th of its flow, from 1. Memory is taken for all flows up to this one.
    pub fn add(&mut self, now_ns: u64, flow: u32, number: u32) {
        let (found, at) = (&mut self.found, flow as usize);
        found.packets += 1;
        if at >= self.flows.len() {
            self.flows.resize((at + 1).next_power_of_two(), Last::default());
        }
        let last = &mut self.flows[at];
        if last.number == 0 || now_ns.saturating_sub(last.at_ns) > self.gap_ns {
            found.flowlets += 1;
        }
        let late = number < last.number;
        found.late += u64::from(late);
        found.sequences += u64::from(late && !last.late);
        *last = Last { number: last.number.max(number), at_ns: now_ns, late };
    }
}

/// How evenly something is shared: 1 when all get the same, 1/n when one gets everything.
pub fn jain(shares: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = shares.clone().count() as f64;
    let (sum, squares) =
        shares.fold((0.0, 0.0), |(sum, squares), share| (sum + share, squares + share * share));
    if squares == 0.0 { 1.0 } else { sum * sum / (count * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reordered(numbers: &[u32]) -> (u64, u64) {
        let mut check = OrderCheck::new(1_000);
        numbers.iter().enumerate().for_each(|(at, &number)| check.add(at as u64, 9, number));
        (check.found.sequences, check.found.late)
    }

    /// The paper's example is one reordered sequence.
    #[test]
    fn counted_as_the_paper() {
        assert_eq!(reordered(&[1, 4, 2, 3, 5]), (1, 2));
        assert_eq!(reordered(&[1, 2, 3]), (0, 0));
        assert_eq!(reordered(&[3, 1, 4, 2, 5]), (2, 2));
    }

    /// Percentiles are right to an eighth, and never above the largest value.
    #[test]
    fn percentiles() {
        let mut histogram = Histogram::default();
        (1..=10_000).for_each(|value| histogram.add(value));
        for percent in [1.0, 50.0, 99.0, 99.9] {
            let value = histogram.percentile(percent) as f64;
            assert!((value / (percent * 100.0) - 1.0).abs() < 0.13, "{percent}: {value}");
        }
        assert_eq!(histogram.percentile(100.0), 10_000);
    }

    /// Shares.
    #[test]
    fn fairness() {
        assert_eq!(jain([2.0, 2.0].into_iter()), 1.0);
        assert_eq!(jain([2.0, 0.0].into_iter()), 0.5);
    }
}
