//! Checks that a number in packets is the same for all packets of a flow.
//!
//! ```click
//! ConsistencyCheck([OFFSET, KEYWORDS])
//! ```
//!
//! Reads an eight-byte number from each packet, as written by StoreFlowID or by a load balancer in the network, and
//! passes the packet on. A packet is broken if its number differs from that of the previous packet with the same
//! addresses, protocol and ports. Packets without a marked IP header, and those of flows for which there is no room,
//! are not checked. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: shared; each checks flows separately, and results add up.
//!
//! # Arguments
//! - `OFFSET` (integer, default 40): where the number is in the packet.
//! - `CAPACITY` (integer, default 65536): the maximum number of flows, divided equally among the workers.
//! - `VERBOSE` (integer, default 0): if not 0, broken packets are reported on standard error.
//!
//! # Handlers
//! - `total_connections` (read): flows. `broken_connections` (read): those with broken packets.
//!   `broken_connections_ratio` (read): their share.
//! - `broken_packets` (read): broken packets. `broken_packets_ratio` (read): their share of all packets checked.
//! - `avg_broken_per_connection` (read): the average number of broken packets in flows that have any.
//! - `too_short` (read): packets that end before the number does.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager -> StoreFlowID(42) -> ConsistencyCheck(42) -> Discard
//! ```
//!
//! # Differences from FastClick
//! `broken_packets_ratio` counts broken packets, as FastClick's documentation says, not flows.
//!
//! # See also
//! StoreFlowID, FlowIPManager, CheckNumberPacket

use elements_shared::feeds::Feeds;
use elements_shared::flow_id::FlowId;
use elements_shared::flow_key::key;
use elements_shared::parked::Parked;
use elements_shared::sprintf::general;
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, Handlers, Level, PerPacket, Residency, Simple, TableSize,
    Verdict,
};
use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::hash::RandomState;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The class.
pub(crate) const CLASS: Class = Class::new("ConsistencyCheck", create)
    .residency(Residency::Shared)
    .keeps("flows", "CAPACITY", 65_536, 80)
    .doc(router::manual!("consistency_check.rs"));

/// Bytes of a number.
const SIZE: usize = 8;

/// What is counted, as an index.
#[derive(Clone, Copy)]
enum Count {
    Packets,
    Flows,
    BrokenPackets,
    BrokenFlows,
    TooShort,
}

/// What a worker has counted. It alone writes here.
type Counts = [AtomicU64; 5];

/// What all workers have counted.
struct WorkerCounts {
    by_worker: Box<[Counts]>,
}

impl WorkerCounts {
    fn sum(&self, count: Count) -> u64 {
        self.by_worker.iter().map(|counts| counts[count as usize].load(Relaxed)).sum()
    }

    fn ratio(&self, part: Count, whole: Count) -> String {
        let (part, whole) = (self.sum(part), self.sum(whole));
        general(if whole == 0 { 0.0 } else { part as f64 / whole as f64 })
    }
}

/// What goes to a new configuration.
struct Handover {
    flows: HashMap<(u32, FlowId), Flow>,
    parked: BTreeMap<(u32, FlowId), Flow>,
    counts: [u64; 5],
    worker: usize,
    feeds: Feeds,
}

/// What is known of a flow.
struct Flow {
    number: u64,
    broken: bool,
}

struct ConsistencyCheck {
    /// By protocol, addresses and ports. The hasher has a secret, so that no sender can choose flows that collide.
    flows: HashMap<(u32, FlowId), Flow>,
    /// Flows that wait for the worker that sees their next packet, since a hot swap.
    parked: Arc<Parked<(u32, FlowId), Flow>>,
    feeds: Feeds,
    worker: usize,
    capacity: usize,
    offset: usize,
    verbose: bool,
    total: Arc<WorkerCounts>,
    /// The worker's place among those that count.
    place: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut offset, mut capacity, mut verbose) = (40u32, TableSize(65536), 0u8);
    config
        .args()
        .positional("OFFSET", &mut offset)
        .keyword("CAPACITY", &mut capacity)
        .keyword("VERBOSE", &mut verbose)
        .finish()?;
    let workers = config.workers().to_vec();
    let total = config
        .shared(|| Ok(WorkerCounts { by_worker: workers.iter().map(|_| Counts::default()).collect() }))?;
    let capacity = capacity.0.div_ceil(workers.len().max(1)).max(1);
    Ok(Box::new(PerPacket(ConsistencyCheck {
        // With its room from the beginning, the table never grows while packets come.
        flows: HashMap::with_capacity_and_hasher(capacity, RandomState::new()),
        parked: config.shared(|| Ok(Parked::default()))?,
        feeds: Feeds::default(),
        worker: config.worker(),
        capacity,
        offset: offset as usize,
        verbose: verbose != 0,
        total,
        place: workers.iter().position(|&worker| worker == config.worker()).unwrap_or(0),
    })))
}

impl ConsistencyCheck {
    fn count(&self, count: Count) {
        let counts = &self.total.by_worker[self.place][count as usize];
        counts.store(counts.load(Relaxed) + 1, Relaxed);
    }

    #[inline]
    fn check(&mut self, cx: &Cx<'_>, packet: &Packet) {
        let Some(key) = key(packet) else { return };
        let number = packet.data().get(self.offset..).and_then(|data| data.first_chunk::<SIZE>());
        let Some(number) = number.map(|bytes| u64::from_ne_bytes(*bytes)) else {
            return self.count(Count::TooShort);
        };
        let known = (key.map(), key.id());
        let Some(flow) = self.known(known) else {
            if self.flows.len() < self.capacity {
                self.flows.insert(known, Flow { number, broken: false });
                self.count(Count::Flows);
                self.count(Count::Packets);
            }
            return;
        };
        let old = std::mem::replace(&mut flow.number, number);
        let first = old != number && !std::mem::replace(&mut flow.broken, true);
        self.count(Count::Packets);
        if old != number {
            self.tell_broken(cx, old, number, first);
        }
    }

    /// A flow that is known, if only to a worker of the configuration before.
    #[inline]
    fn known(&mut self, known: (u32, FlowId)) -> Option<&mut Flow> {
        if !self.parked.is_empty()
            && self.flows.len() < self.capacity
            && let Some(flow) = self.parked.take(&known)
        {
            self.flows.insert(known, flow);
        }
        self.flows.get_mut(&known)
    }

    #[cold]
    fn tell_broken(&self, cx: &Cx<'_>, old: u64, number: u64, first: bool) {
        self.count(Count::BrokenPackets);
        if first {
            self.count(Count::BrokenFlows);
        }
        if self.verbose {
            cx.say(
                Level::Warning,
                format_args!("{}: number {number} after {old} in the same flow", cx.name()),
            );
        }
    }
}

impl Simple for ConsistencyCheck {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.feeds = Feeds::of(cx.info(), cx.index());
        Ok(())
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let counts = &self.total.by_worker[self.place];
        Some(Box::new(Handover {
            flows: std::mem::take(&mut self.flows),
            parked: self.parked.take_all(),
            counts: std::array::from_fn(|at| counts[at].load(Relaxed)),
            worker: self.worker,
            feeds: std::mem::take(&mut self.feeds),
        }))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(state) = state.downcast::<Handover>() else { return };
        for (count, old) in self.total.by_worker[self.place].iter().zip(state.counts) {
            count.store(count.load(Relaxed) + old, Relaxed);
        }
        let stays = state.worker == self.worker && state.feeds == self.feeds;
        let mut flows = state.flows.into_iter();
        if stays {
            self.flows.extend(flows.by_ref().take(self.capacity));
        }
        flows.chain(state.parked).for_each(|(name, flow)| self.parked.park(name, flow));
    }

    /// Forgets flows beyond what there is room for.
    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        let most = self.capacity.saturating_mul(self.total.by_worker.len());
        let beyond = |parked: &mut BTreeMap<_, _>| {
            let lost = parked.len().saturating_sub(most);
            for _ in 0..lost {
                parked.pop_last();
            }
            lost
        };
        let lost = if self.parked.is_empty() { 0 } else { self.parked.with(beyond) };
        if lost > 0 {
            cx.say(
                Level::Warning,
                format_args!("{}: {lost} flows lost (there is room for {most} now)", cx.name()),
            );
        }
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.check(cx, packet);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type C = ConsistencyCheck;
        for (name, count) in [
            ("total_connections", Count::Flows),
            ("broken_connections", Count::BrokenFlows),
            ("broken_packets", Count::BrokenPackets),
            ("too_short", Count::TooShort),
        ] {
            h.read(name, move |e: &mut C, _| e.total.sum(count));
        }
        for (name, part, whole) in [
            ("broken_connections_ratio", Count::BrokenFlows, Count::Flows),
            ("broken_packets_ratio", Count::BrokenPackets, Count::Packets),
            ("avg_broken_per_connection", Count::BrokenPackets, Count::BrokenFlows),
        ] {
            h.read(name, move |e: &mut C, _| e.total.ratio(part, whole));
        }
    }
}
