//! Assigns packets to flows.
//!
//! ```click
//! FlowIPManager([CAPACITY, KEYWORDS])
//! FlowIPManagerIMP([CAPACITY, KEYWORDS])
//! FlowIPManagerMP([CAPACITY, KEYWORDS])
//! FlowIPManagerBucket([GROUPS, CAPACITY, KEYWORDS])
//! ```
//!
//! A flow consists of all packets with the same addresses, protocol and ports. Elements downstream, such as
//! FlowCounter, keep state for each flow; they need a flow manager in front of them, so that flows are looked up once
//! for all of them. Packets without a marked IP header are dropped. Packets without ports, and all fragments, count
//! as having ports 0: an IPReassembler in front puts fragments together. The two directions of a connection are separate flows.
//!
//! If there is no room for a new flow, its packets are dropped. A flow without packets for TIMEOUT seconds expires:
//! its entry is released, and later packets start a new flow. Packets keep their flow in queues and copies; a second
//! manager gives them another one.
//!
//! When the configuration is replaced while the router runs, an element of the same name and class takes over the
//! flows, and elements downstream of it take over their state. If other workers process the packets from then on,
//! flows wait until a worker sees their next packet, which takes them over with everything that is kept of them.
//! Flows that wait expire like others; at most CAPACITY flows wait. Messages report how many flows are lost because
//! CAPACITY is smaller, or because an output or a server no longer exists. Packets waiting in queues keep their flow
//! if this element's CAPACITY, its workers and those of its sources, and the managers before it in the configuration,
//! stay the same.
//!
//! FlowIPManagerMP, FlowIPManagerIMP, FlowIPManagerSpinlock, FlowIPManagerH, FlowIPManagerHMP, FlowIPManagerHIMP,
//! FlowIPManager_CuckooPP, FlowIPManager_CuckooPPIMP, FlowIPManager_DPDK, FlowIPManagerDPDK, FlowIPManagerIMP_lazy,
//! FlowIPManagerMP_lazy, FlowIPManager_CuckooPPIMP_lazy, FlowIPManagerIMP_TW, FlowIPManagerMP_TW and
//! FlowIPManagerIMP_NoFID are FastClick's names for variants with other tables and locks. Here each worker has its
//! own flows, in a table of its own, without locks; if packets of a flow arrive on several workers, each of them has
//! a separate entry. The same applies to FlowIPManagerBucket, which in FastClick moves groups of flows between cores;
//! here its CAPACITY is that of all groups together.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `CAPACITY` (integer, default 65536): the maximum number of flows, divided equally among the workers and rounded
//!   up to a power of two for each.
//! - `TIMEOUT` (integer, default 0): seconds; 0 means that flows never expire.
//! - `RECYCLE_INTERVAL` (seconds, default 1): how often to look for expired flows.
//! - `RESERVE`, `VERBOSE`, `CACHE`, `LF`: FastClick's; accepted. So are FlowIPManagerBucket's `GROUPS` (integer,
//!   default 512), `DEF_THREAD`, `MARK` and `DO_MIGRATION`, and the keywords `GROUPS` and `NCHECK`, which
//!   FlowIPManager and FlowIPManager_DPDK have in other versions of FastClick.
//!
//! # Handlers
//! - `count` (read): current flows, including those that wait.
//! - `parked` (read): flows that wait for a packet since the configuration was replaced.
//! - `parked_expired` (read): those that expired while waiting.
//! - `capacity` (read): the maximum number of flows per worker.
//! - `total_capacity` (read): the maximum number of flows of all workers.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager(CAPACITY 10000, TIMEOUT 60) -> FlowCounter -> Discard
//! ```
//!
//! # Differences from FastClick
//! Elements downstream need not declare the memory they use per flow. For several of the names the default TIMEOUT is
//! 60 in some versions of FastClick.
//!
//! # See also
//! FlowCounter, FlowSwitch, FlowIPLoadBalancer, FlowIPNAT, StoreFlowID, AggregateIPFlows

use super::table::Table;
use elements_shared::flow_id::Key;
use elements_shared::flow_key::{key, key_of_frame};
use elements_shared::flow_numbers::{Flows, Numbers};
use elements_shared::flow_parking::Leftover;
use elements_shared::ip_header::NO_HEADER;
use packet::{BATCH_MAX, Batch, FlowTag, Packet};
use router::{
    Class, Config, ConfigError, Cx, Element, Handlers, Level, Merge, PerPacket, Residency, Simple, TableSize,
    Verdict, metric,
};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowIPManager", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .keeps("flows", "CAPACITY", 65_536, 96)
    .doc(router::manual!("flow_ip_manager.rs"));
/// FastClick's manager of groups of flows.
pub(crate) const BUCKET: Class = Class { name: "FlowIPManagerBucket", create: create_bucket, ..CLASS };
/// Why packets of new flows are dropped.
const FULL: &str = "flow table full";
/// Flows to look at in a row when their time may be over.
const AT_ONCE: usize = 512;
/// Until the next ones are.
const BREATH: Duration = Duration::from_micros(100);

/// What the arguments say.
pub(super) struct Settings {
    pub(super) capacity: TableSize,
    /// Seconds.
    pub(super) timeout: u32,
    pub(super) interval: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { capacity: TableSize(65536), timeout: 0, interval: Duration::from_secs(1) }
    }
}

/// Finds packets' flows.
pub(super) struct Manager {
    flows: Arc<Flows>,
    table: Table,
    interval: Duration,
    /// Those of all workers' flows.
    numbers: Option<Numbers>,
    /// Where this worker's flows begin among all of the element's.
    start: usize,
    /// The number of this worker's first flow.
    number: u32,
    /// Whether this is the first worker's, which looks after flows that wait.
    is_first: bool,
    /// Whether packets pass that have no flow, and may be Ethernet frames.
    lenient: bool,
}

/// What goes to a new configuration.
struct Handover {
    numbers: Numbers,
    /// The number of the worker's first flow.
    number: u32,
    table: Table,
    parked: Leftover,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut settings = Settings::default();
    let (mut reserve, mut verbose, mut cache, mut lock_free) = (0u32, 0u32, true, false);
    let (mut groups, mut checks) = (512u32, 0u32);
    config
        .args()
        .positional("CAPACITY", &mut settings.capacity)
        .positional("RESERVE", &mut reserve)
        .keyword("TIMEOUT", &mut settings.timeout)
        .keyword("RECYCLE_INTERVAL", &mut settings.interval)
        .keyword("VERBOSE", &mut verbose)
        .keyword("CACHE", &mut cache)
        .keyword("LF", &mut lock_free)
        .keyword("GROUPS", &mut groups)
        .keyword("NCHECK", &mut checks)
        .finish()?;
    Ok(Box::new(PerPacket(Manager::new(config, settings, false)?)))
}

fn create_bucket(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut settings = Settings::default();
    let (mut groups, mut reserve, mut thread, mut verbose) = (512u32, 0u32, 0u32, 0u32);
    let (mut mark, mut migrates) = (false, true);
    config
        .args()
        .positional("GROUPS", &mut groups)
        .positional("CAPACITY", &mut settings.capacity)
        .keyword("RESERVE", &mut reserve)
        .keyword("DEF_THREAD", &mut thread)
        .keyword("VERBOSE", &mut verbose)
        .keyword("MARK", &mut mark)
        .keyword("DO_MIGRATION", &mut migrates)
        .finish()?;
    Ok(Box::new(PerPacket(Manager::new(config, settings, false)?)))
}

impl Manager {
    pub(super) fn new(
        config: &mut Config<'_>,
        settings: Settings,
        lenient: bool,
    ) -> Result<Manager, ConfigError> {
        let workers = config.workers().to_vec();
        let part = settings.capacity.0.div_ceil(workers.len().max(1));
        let per_worker = part.max(1).next_power_of_two();
        let flows = config.shared(|| Flows::new(&workers, per_worker))?;
        Ok(Manager {
            table: Table::new(per_worker, settings.timeout, config.seed()),
            interval: settings.interval.max(Duration::from_millis(1)),
            start: flows.start_of(config.worker()),
            numbers: None,
            number: 0,
            is_first: flows.is_first(config.worker()),
            flows,
            lenient,
        })
    }

    /// What a packet's flow is found by.
    #[inline]
    fn look_at(&self, packet: &Packet) -> Option<(Key, u32)> {
        let key = key(packet).or_else(|| if self.lenient { key_of_frame(packet) } else { None })?;
        Some((key, self.table.hash(key)))
    }

    /// Finds a packet's flow, or begins it.
    #[inline]
    fn follow(&mut self, cx: &mut Cx<'_>, packet: &mut Packet, sight: Option<(Key, u32)>) -> Verdict {
        let Some((key, hash)) = sight else { return self.without(packet, NO_HEADER) };
        let Some((at, generation, new)) = self.table.enter_hashed(key, hash, cx.now_ns()) else {
            return self.without(packet, FULL);
        };
        let tag = FlowTag { number: self.number + at, generation };
        if new {
            self.flows.set_generation(self.start + at as usize, generation);
            if !self.flows.parking().is_empty() {
                self.flows.parking().claim((key.map(), key.id()), tag);
            }
            if self.table.ages() && !cx.timers().is_set(0) {
                cx.timers().after(0, self.interval);
            }
        }
        packet.set_flow(tag);
        Verdict::Pass
    }

    /// Has the flows of a former instance wait for the workers that see their next packets.
    fn park(&mut self, old: &Handover, numbers: &Numbers) {
        let parking = self.flows.parking();
        for (at, key, generation, seen_ns) in old.table.flows() {
            let tag = FlowTag { number: old.number + at, generation };
            parking.park((key.map(), key.id()), old.numbers.parking(), tag, seen_ns);
        }
        self.table.begin_behind(&old.table, numbers.shift(&old.numbers), numbers.base());
    }

    /// What becomes of a packet without a flow.
    #[cold]
    fn without(&self, packet: &mut Packet, reason: &'static str) -> Verdict {
        packet.set_flow(FlowTag::NONE);
        if self.lenient { Verdict::Pass } else { Verdict::Drop(reason) }
    }
}

impl Simple for Manager {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.numbers = Numbers::of(cx.info(), cx.index())?;
        if let Some(numbers) = &self.numbers {
            self.number = numbers.first() + self.start as u32;
            self.table.set_base(numbers.base());
        }
        Ok(())
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let sight = self.look_at(packet);
        self.follow(cx, packet, sight)
    }

    /// First asks for what all packets' flows are found by, then for the flows, then finds them: so a batch waits for about one of
    /// them.
    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        let mut sights = [None; BATCH_MAX];
        for (sight, packet) in sights.iter_mut().zip(batch.iter()) {
            *sight = self.look_at(packet);
            if let Some((_, hash)) = *sight {
                self.table.prefetch(hash);
            }
        }
        for &(_, hash) in sights.iter().flatten() {
            self.table.guess(hash);
        }
        let mut sights = sights.into_iter();
        cx.scatter(batch, |cx, packet| self.follow(cx, packet, sights.next().flatten()));
    }

    /// Ends flows.
    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let (flows, start, number) = (&self.flows, self.start, self.number);
        let ended = |at: u32, generation: u32| {
            flows.set_generation(start + at as usize, generation);
            flows.parking().end(FlowTag { number: number + at, generation: generation.wrapping_sub(1) });
        };
        let mut is_behind = self.table.expire(cx.now_ns(), AT_ONCE, ended);
        if self.is_first && self.table.ages() {
            is_behind |= flows.parking().expire(cx.now_ns() - self.table.timeout_ns(), AT_ONCE);
        }
        if is_behind {
            cx.timers().after(0, BREATH);
        } else if self.table.len() > 0 || self.is_first && !flows.parking().is_empty() {
            cx.timers().after(0, self.interval);
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let numbers = self.numbers.clone()?;
        let parked = numbers.parking().give();
        Some(Box::new(Handover { numbers, number: self.number, table: self.table.give(), parked }))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let (Ok(mut state), Some(numbers)) = (state.downcast::<Handover>(), self.numbers.clone()) else {
            return;
        };
        self.flows.parking().adopt(std::mem::take(&mut state.parked));
        if !numbers.keeps(&state.numbers) {
            return self.park(&state, &numbers);
        }
        let Handover { numbers: old, table, .. } = *state;
        let lost = self.table.adopt(table, numbers.shift(&old), cx.now_ns());
        if lost > 0 {
            let room = self.flows.per_worker();
            cx.say(
                Level::Warning,
                format_args!("{}: {lost} flows lost (a worker has room for {room} now)", cx.name()),
            );
        }
        for (at, generation) in self.table.generations().enumerate() {
            self.flows.set_generation(self.start + at, generation);
        }
        if self.table.ages() && self.table.len() > 0 {
            cx.timers().after(0, self.interval);
        }
    }

    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        let Some(numbers) = self.numbers.as_ref().filter(|_| self.is_first) else { return };
        let room = self.flows.total();
        let lost = self.flows.parking().settle(room, |flow| numbers.is_live(flow));
        if lost > 0 {
            cx.say(
                Level::Warning,
                format_args!("{}: {lost} flows lost (there is room for {room} now)", cx.name()),
            );
        }
        if self.table.ages() && !self.flows.parking().is_empty() {
            cx.timers().after(0, self.interval);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type M = Manager;
        h.read("count", |e: &mut M, _| e.table.len() + if e.is_first { e.flows.parking().len() } else { 0 })
            .merged(Merge::Sum)
            .measures(&metric::FLOWS);
        h.read("parked", |e: &mut M, _| e.flows.parking().len());
        h.read("parked_expired", |e: &mut M, _| e.flows.parking().expired());
        h.read("capacity", |e: &mut M, _| e.flows.per_worker());
        h.read("total_capacity", |e: &mut M, _| e.flows.total()).measures(&metric::FLOW_CAPACITY);
    }
}
