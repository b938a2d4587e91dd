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

/// What is remembered of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// The number of its last packet that came in; numbers wrap round.
    given: u16,
    /// The latest number that has left.
    left: u16,
    /// Whether one has.
    seen: bool,
    /// Whether the last packet that left was late.
    late: bool,
    /// When it left, in units of 2^[`UNIT_BITS`] nanoseconds.
    at: u32,
}

/// Bits of nanoseconds that do not matter for whether packets follow each other closely.
const UNIT_BITS: u32 = 10;

/// Finds reordering.
#[derive(Debug)]
pub struct OrderCheck {
    /// By flow.
    flows: Vec<Flow>,
    gap_ns: u64,
    /// What was found.
    pub found: Reordering,
}

impl OrderCheck {
    /// Flows that are looked at: those with smaller numbers than this. There may be far more in a large cluster, and memory that
    /// no cache holds would take most of the time.
    pub const FLOWS: u32 = 1 << 22;

    /// A check for which packets of a flow that leave within `gap_ns` follow each other closely.
    pub fn new(gap_ns: u64) -> OrderCheck {
        OrderCheck { flows: Vec::new(), gap_ns, found: Reordering::default() }
    }

    /// A packet comes in: its place in its flow, for [`OrderCheck::leaves`]. Memory is taken for all flows up to this one.
    #[inline]
    pub fn comes(&mut self, flow: u32) -> u16 {
        if flow >= OrderCheck::FLOWS {
            return 0;
        }
        let at = flow as usize;
        if at >= self.flows.len() {
            self.flows.resize((at + 1).next_power_of_two(), Flow::default());
        }
        self.flows[at].given = self.flows[at].given.wrapping_add(1);
        self.flows[at].given
    }

    /// A packet that came in leaves. It is told from those before it as long as fewer than 32,768 of its flow are under way.
    #[inline]
    pub fn leaves(&mut self, now_ns: u64, flow: u32, number: u16) {
        let Some(of) = self.flows.get_mut(flow as usize) else { return };
        let (found, now) = (&mut self.found, (now_ns >> UNIT_BITS) as u32);
        found.packets += 1;
        if !of.seen || u64::from(now.saturating_sub(of.at)) > self.gap_ns >> UNIT_BITS {
            found.flowlets += 1;
        }
        let late = of.seen && number.wrapping_sub(of.left) >= 0x8000;
        found.late += u64::from(late);
        found.sequences += u64::from(late && !of.late);
        if !late {
            of.left = number;
        }
        (of.seen, of.late, of.at) = (true, late, now);
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

    fn reordered(numbers: &[u16]) -> (u64, u64) {
        let mut check = OrderCheck::new(1_000);
        let most = numbers.iter().max().copied().unwrap_or_default();
        (0..most).for_each(|_| _ = check.comes(9));
        numbers.iter().enumerate().for_each(|(at, &number)| check.leaves(at as u64, 9, number));
        assert_eq!(check.found.flowlets, 1);
        (check.found.sequences, check.found.late)
    }

    /// The paper's example is one reordered sequence.
    #[test]
    fn counted_as_the_paper() {
        assert_eq!(reordered(&[1, 4, 2, 3, 5]), (1, 2));
        assert_eq!(reordered(&[1, 2, 3]), (0, 0));
        assert_eq!(reordered(&[3, 1, 4, 2, 5]), (2, 2));
    }

    /// Numbers of a long flow wrap round; a flow with a high number is not looked at.
    #[test]
    fn long_and_many_flows() {
        let mut check = OrderCheck::new(1_000);
        for at in 0..200_000 {
            let number = check.comes(3);
            check.leaves(at, 3, number);
        }
        assert_eq!((check.found.packets, check.found.late), (200_000, 0));
        check.leaves(200_000, 3, 199_999u32 as u16);
        assert_eq!((check.found.late, check.comes(OrderCheck::FLOWS)), (1, 0));
        check.leaves(0, OrderCheck::FLOWS, 0);
        assert_eq!(check.found.packets, 200_001);
    }

    /// Percentiles are right to an eighth, and never above the largest value.
    #[test]
    fn percentiles_are_right_to_an_eighth() {
        let mut histogram = Histogram::default();
        (1..=10_000).for_each(|value| histogram.add(value));
        for percent in [1.0, 50.0, 99.0, 99.9] {
            let value = histogram.percentile(percent) as f64;
            assert!((value / (percent * 100.0) - 1.0).abs() < 0.13, "{percent}: {value}");
        }
        assert_eq!(histogram.percentile(100.0), 10_000);
    }

    #[test]
    fn fairness_is_one_for_equal_shares() {
        assert_eq!(jain([2.0, 2.0].into_iter()), 1.0);
        assert_eq!(jain([2.0, 0.0].into_iter()), 0.5);
    }
}
