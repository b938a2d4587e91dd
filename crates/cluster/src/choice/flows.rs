//! What a node remembers about flows.

use super::path::Path;
use super::settings::Settings;
use crate::NodeId;

/// Mixes a flow's hash with its egress.
#[inline]
pub(super) fn mix(flow: u64, egress: NodeId) -> u64 {
    // The finalizer of SplitMix64.
    let mut z = flow ^ u64::from(egress).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A way, and the link out of this node that it begins with. In a mesh the one tells the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    pub(super) path: Path,
    pub(super) link: u16,
}

/// The way of the flows of a bucket, and when one of them last sent a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    pub(super) last_ns: u64,
    pub(super) route: Option<Route>,
}

/// Four to a cache line, and none in two of them.
const _: () = assert!(size_of::<Bucket>() == 16);

/// A flow of which a packet has just come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// The place of its bucket.
    at: usize,
    /// When the packet before came.
    before_ns: u64,
    /// How long it had rested since.
    pub(super) gap_ns: u64,
}

/// The flows of one ingress node.
///
/// There is a bucket for each value of some bits of the flow's hash, and flows that share a bucket share a way. So nothing
/// is ever looked for or evicted, memory is fixed, and no attacker makes the table overflow; what he can make is a bucket
/// that never rests.
#[derive(Debug)]
pub(super) struct Flows {
    buckets: Vec<Bucket>,
    /// The next number, by egress and bucket.
    numbers: Vec<[u16; BUCKETS]>,
    lane: Lane,
}

/// Buckets of numbers: as many as labels tell apart.
pub const BUCKETS: usize = 256;

/// The buckets of numbers that one of several workers of a node uses: a bucket's numbers are one worker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    first: u8,
    /// From 1 to [`BUCKETS`].
    count: u16,
}

impl Lane {
    /// All, for the only worker.
    pub const ALL: Lane = Lane { first: 0, count: BUCKETS as u16 };

    /// Those of one of several workers, at most [`BUCKETS`].
    pub fn of(worker: usize, workers: usize) -> Lane {
        let workers = workers.clamp(1, BUCKETS);
        let worker = worker % workers;
        let start = |worker: usize| worker * BUCKETS / workers;
        Lane { first: start(worker) as u8, count: (start(worker + 1) - start(worker)) as u16 }
    }

    /// The bucket of a flow.
    #[inline]
    fn bucket(self, hash: u64) -> u8 {
        self.first + (((hash >> 56) as u16 * self.count) >> 8) as u8
    }

    fn range(self) -> std::ops::Range<usize> {
        usize::from(self.first)..usize::from(self.first) + usize::from(self.count)
    }
}

/// The numbers of packets that a node has given, by egress and bucket, while they are handed from one set of workers to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers(Vec<[u16; BUCKETS]>);

impl Numbers {
    /// Takes up those of a worker.
    pub fn merge(&mut self, of: &(Lane, Numbers)) {
        let (lane, numbers) = of;
        self.0.resize(self.0.len().max(numbers.0.len()), [0; BUCKETS]);
        for (mine, theirs) in self.0.iter_mut().zip(&numbers.0) {
            mine[lane.range()].copy_from_slice(&theirs[lane.range()]);
        }
    }
}

impl Flows {
    pub(super) fn new(settings: &Settings, terminals: usize) -> Flows {
        use super::settings::OrderPolicy::{Flowlet, Quiet, Sequence};
        let empty = Bucket { last_ns: 0, route: None };
        let count =
            if matches!(settings.order, Flowlet | Quiet) { 1 << settings.flow_bits.min(28) } else { 1 };
        let numbered = if settings.order == Sequence { terminals } else { 0 };
        Flows { buckets: vec![empty; count], numbers: vec![[0; BUCKETS]; numbered], lane: Lane::ALL }
    }

    /// The place of a flow's bucket.
    #[inline]
    pub(super) fn place(&self, flow: u64, egress: NodeId) -> usize {
        mix(flow, egress) as usize & (self.buckets.len() - 1)
    }

    /// The bucket at a place.
    #[inline]
    pub(super) fn at(&mut self, place: usize) -> Option<&mut Bucket> {
        self.buckets.get_mut(place)
    }

    /// A packet of a flow comes: the flow, and its way if the last packet came within `gap_ns`.
    #[inline]
    pub(super) fn fresh(
        &mut self,
        now_ns: u64,
        flow: u64,
        egress: NodeId,
        gap_ns: u64,
    ) -> (Flow, Option<Route>) {
        let at = self.place(flow, egress);
        let bucket = &mut self.buckets[at];
        let before_ns = std::mem::replace(&mut bucket.last_ns, now_ns);
        let flow = Flow { at, before_ns, gap_ns: now_ns.saturating_sub(before_ns) };
        (flow, bucket.route.filter(|_| flow.gap_ns <= gap_ns))
    }

    /// The packet that just came was not sent.
    pub(super) fn undo(&mut self, flow: Flow) {
        self.buckets[flow.at].last_ns = flow.before_ns;
    }

    /// The flow takes this way from now on.
    #[inline]
    pub(super) fn assign(&mut self, flow: Flow, route: Route) {
        self.buckets[flow.at].route = Some(route);
    }

    /// The flow's bucket of numbers, and the number of its next packet, if packets are numbered.
    #[inline]
    pub(super) fn number(&mut self, flow: u64, egress: NodeId) -> Option<(u8, u16)> {
        let numbers = self.numbers.get_mut(usize::from(egress))?;
        let bucket = self.lane.bucket(mix(flow, egress));
        let next = &mut numbers[usize::from(bucket)];
        let number = *next;
        *next = next.wrapping_add(1);
        Some((bucket, number))
    }

    /// The numbers of this lane from now on.
    pub(super) fn set_lane(&mut self, lane: Lane) {
        self.lane = lane;
    }

    pub(super) fn lane(&self) -> Lane {
        self.lane
    }

    pub(super) fn numbers(&self) -> (Lane, Numbers) {
        (self.lane, Numbers(self.numbers.clone()))
    }

    /// Goes on from these numbers, if as many nodes have them.
    pub(super) fn set_numbers(&mut self, numbers: &Numbers) {
        if self.numbers.len() == numbers.0.len() {
            self.numbers.copy_from_slice(&numbers.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many workers there are, each bucket is one's, and each hash finds a bucket of its worker.
    #[test]
    fn lanes_divide_the_buckets() {
        for workers in [1, 2, 3, 7, 64, 255, 256] {
            let lanes: Vec<Lane> = (0..workers).map(|worker| Lane::of(worker, workers)).collect();
            let mut owners = [0; BUCKETS];
            for lane in &lanes {
                lane.range().for_each(|bucket| owners[bucket] += 1);
                assert!((0..256u64).all(|top| lane.range().contains(&lane.bucket(top << 56).into())));
            }
            assert_eq!(owners, [1; BUCKETS], "{workers}");
        }
        assert_eq!(Lane::of(0, 1), Lane::ALL);
    }
}
