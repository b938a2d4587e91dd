//! The events of a simulation and their effects.

use super::events::{Calendar, Event};
use super::lines::Lines;
use super::map::Map;
use super::measure::{Histogram, OrderCheck, jain};
use super::report::{Drops, Latency, Report};
use super::traffic::Destinations;
use super::{Config, Failure, Part, Traffic};
use crate::NodeId;
use crate::choice::{Chooser, OrderPolicy, Path, Refusal, Scheme};
use crate::label::Stamp;
use crate::load::Backlog;
use crate::membership::settled;
use crate::resequence::Resequencer;
use crate::topology::Topology;
use crate::view::{Nodes, Peer, View};
use fastrand::Rng;

/// No stopover.
const NONE: NodeId = NodeId::MAX;
/// Packets that come to nodes in a day of the calendar, about.
const DAY_EVENTS: f64 = 16.0;
/// A processor that is further behind than this drops.
const PROCESSOR_BEHIND_NS: u64 = 1_000_000;

/// A packet under way. Of these there are so many that their size counts: with its time, an event is half a cache line.
#[derive(Clone, Copy, Debug)]
struct Packet {
    born: Moment,
    flow: u32,
    number: u16,
    place: u16,
    ingress: NodeId,
    egress: NodeId,
    /// The node that it comes to next.
    at: NodeId,
    via: NodeId,
    bytes: u16,
    bucket: u8,
    hops: u8,
}

const _: () = assert!(size_of::<Event<Packet>>() == 32);

/// A time in units of 16 nanoseconds, of which the lowest bits are kept: enough to tell how long ago it was, up to a minute.
#[derive(Clone, Copy, Debug)]
struct Moment(u32);

impl Moment {
    const UNIT_BITS: u32 = 4;

    #[inline]
    fn of(now_ns: u64) -> Moment {
        Moment((now_ns >> Moment::UNIT_BITS) as u32)
    }

    /// Nanoseconds since then.
    #[inline]
    fn age_ns(self, now_ns: u64) -> u64 {
        u64::from(Moment::of(now_ns).0.wrapping_sub(self.0)) << Moment::UNIT_BITS
    }
}

/// What happens besides packets that come to nodes.
#[derive(Clone, Copy, Debug)]
enum What {
    /// A packet has come in at a terminal.
    Source(NodeId),
    /// A packet may have waited for its predecessors long enough.
    Expire(NodeId),
    /// Something breaks, or is whole again.
    Change,
    /// All terminals know what is broken.
    Learn,
}

struct Source {
    line: Backlog,
    rng: Rng,
    /// When the next packet would have come on an infinitely fast line.
    ideal_ns: f64,
    bytes: u16,
}

struct Engine<'c> {
    config: &'c Config,
    map: Map<'c>,
    /// When packets come to nodes.
    arrivals: Calendar<Packet>,
    /// When anything else happens.
    calendar: Calendar<What>,
    destinations: Option<Destinations>,
    sources: Vec<Source>,
    choosers: Vec<Chooser>,
    resequencers: Vec<Resequencer<Packet>>,
    links: Lines,
    /// Where the links of each node start.
    first_link: Vec<usize>,
    ports: Lines,
    free_ns: Vec<u64>,
    broken: Vec<Part>,
    flow_ranks: Vec<u32>,
    next_arrival: usize,
    order: OrderCheck,
    latency: Histogram,
    report: Report,
    offered: Vec<u64>,
    delivered: Vec<u64>,
    /// Delivered at each terminal from each, if there are few; for the busiest port.
    pairs: Vec<u64>,
    handled: Vec<u64>,
    offered_bytes: u64,
    delivered_bytes: u64,
}

/// Simulates.
///
/// # Errors
/// What is wrong with the configuration.
pub fn run(config: &Config) -> Result<Report, String> {
    let mut engine = Engine::new(config)?;
    engine.start();
    while engine.step() {
        engine.report.events += 1;
    }
    Ok(engine.finish())
}

impl<'c> Engine<'c> {
    fn new(config: &'c Config) -> Result<Engine<'c>, String> {
        let topology = &config.topology;
        let (terminals, nodes) = (topology.terminals(), topology.nodes());
        if terminals < 2 || nodes >= usize::from(NONE) {
            return Err(format!("{terminals} ports and {nodes} nodes cannot be simulated"));
        }
        config.failures.iter().try_for_each(|failure| check(failure, topology))?;
        let line_rate = config.choice.line_rate;
        let (destinations, per_ns) = match &config.traffic {
            Traffic::Matrix { matrix, load, sizes, .. } => (
                Some(Destinations::new(matrix, topology, config.seed)?),
                terminals as f64 * load * line_rate as f64 / 8e9 / sizes.mean(),
            ),
            Traffic::Trace(arrivals) => (None, arrivals.len() as f64 / config.duration_ns.max(1) as f64),
        };
        let mut first_link = Vec::with_capacity(nodes);
        let mut links = 0;
        for node in 0..nodes {
            first_link.push(links);
            links += topology.links(node);
        }
        let chooser = |me: usize| {
            let mut settings = config.choice.clone();
            settings.seed = config.seed;
            Chooser::new(topology.clone(), View::whole(me as NodeId, terminals), settings)
        };
        let resequencers = if config.choice.order == OrderPolicy::Sequence { terminals } else { 0 };
        // A day has a few events, several for each packet.
        let shift = ((DAY_EVENTS / (3.0 * per_ns)).log2().round() as i32).clamp(0, 20) as u32;
        let mut seeds = Rng::with_seed(config.seed);
        Ok(Engine {
            map: Map::new(topology),
            arrivals: Calendar::new(10, 8, shift),
            calendar: Calendar::new(10, 8, shift),
            destinations,
            sources: (0..terminals)
                .map(|_| Source { line: Backlog::new(line_rate), rng: seeds.fork(), ideal_ns: 0.0, bytes: 0 })
                .collect(),
            choosers: (0..terminals).map(chooser).collect(),
            resequencers: (0..resequencers).map(|_| Resequencer::new(config.resequence)).collect(),
            links: Lines::new(links, config.choice.link_rate),
            first_link,
            ports: Lines::new(terminals, line_rate),
            free_ns: vec![0; nodes],
            broken: Vec::new(),
            flow_ranks: ranks(config),
            next_arrival: 0,
            order: OrderCheck::new(config.choice.flowlet_gap_ns),
            latency: Histogram::default(),
            report: Report::default(),
            offered: vec![0; terminals],
            delivered: vec![0; terminals],
            pairs: vec![0; if terminals <= 512 { terminals * terminals } else { 0 }],
            handled: vec![0; nodes],
            offered_bytes: 0,
            delivered_bytes: 0,
            config,
        })
    }

    /// Lets happen what happens next; whether there is anything.
    #[inline]
    fn step(&mut self) -> bool {
        let at = |next: Option<u64>| next.unwrap_or(u64::MAX);
        if at(self.arrivals.next_at_ns()) <= at(self.calendar.next_at_ns()) {
            let Some(event) = self.arrivals.next() else { return false };
            self.arrive(event.at_ns(), event.what);
        } else if let Some(event) = self.calendar.next() {
            let now = event.at_ns();
            match event.what {
                What::Source(terminal) => self.source(now, usize::from(terminal)),
                What::Expire(node) => self.expire(now, usize::from(node)),
                What::Change => self.broken = self.failed(now),
                What::Learn => self.learn(now),
            }
        }
        true
    }

    fn start(&mut self) {
        match &self.config.traffic {
            Traffic::Trace(_) => self.next_of_trace(),
            Traffic::Matrix { .. } => (0..self.sources.len()).for_each(|terminal| self.next_packet(terminal)),
        }
        for failure in &self.config.failures {
            for at in [failure.from_ns, failure.until_ns] {
                self.calendar.add(at, What::Change);
                self.calendar.add(at + self.config.detect_ns, What::Learn);
            }
        }
    }

    /// When the next packet has come in at a terminal.
    fn next_packet(&mut self, terminal: usize) {
        let Traffic::Matrix { load, sizes, .. } = &self.config.traffic else { return };
        let intensity = self.destinations.as_ref().map_or(1.0, |d| d.intensity(terminal));
        if intensity == 0.0 {
            return;
        }
        let source = &mut self.sources[terminal];
        source.bytes = sizes.draw(&mut source.rng);
        let mean = sizes.mean() * 8e9 / (load * intensity * self.config.choice.line_rate as f64);
        source.ideal_ns -= (1.0 - source.rng.f64()).ln() * mean;
        let at = source.line.add(source.ideal_ns as u64, u32::from(source.bytes));
        if at < self.config.duration_ns {
            self.calendar.add(at, What::Source(terminal as NodeId));
        }
    }

    fn next_of_trace(&mut self) {
        let Traffic::Trace(arrivals) = &self.config.traffic else { return };
        let Some(arrival) = arrivals.get(self.next_arrival) else { return };
        let source = &mut self.sources[0];
        source.bytes = arrival.bytes;
        let at = source.line.add(arrival.at_ns, u32::from(arrival.bytes));
        self.calendar.add(at, What::Source(0));
    }

    fn source(&mut self, now: u64, terminal: usize) {
        let bytes = self.sources[terminal].bytes;
        let (egress, flow) = match &self.config.traffic {
            Traffic::Trace(arrivals) => {
                self.next_arrival += 1;
                (1, arrivals[self.next_arrival - 1].flow)
            }
            Traffic::Matrix { .. } => self.draw(terminal),
        };
        if self.is_whole(Part::Node(terminal as NodeId)) {
            let packet = Packet {
                born: Moment::of(now),
                flow,
                number: self.order.comes(flow),
                place: 0,
                ingress: terminal as NodeId,
                egress,
                at: terminal as NodeId,
                via: NONE,
                bytes,
                bucket: 0,
                hops: self.config.topology.max_hops().min(255) as u8,
            };
            self.ingress(now, packet);
        }
        match &self.config.traffic {
            Traffic::Trace(_) => self.next_of_trace(),
            Traffic::Matrix { .. } => self.next_packet(terminal),
        }
    }

    /// Where a packet goes, and in which flow.
    fn draw(&mut self, terminal: usize) -> (NodeId, u32) {
        let rng = &mut self.sources[terminal].rng;
        let egress = self.destinations.as_ref().map_or(0, |d| d.draw(terminal, rng));
        let rank = self.flow_ranks[rng.usize(..self.flow_ranks.len())];
        let pair = terminal * self.choosers.len() + usize::from(egress);
        let Traffic::Matrix { flows, .. } = &self.config.traffic else { return (egress, 0) };
        (egress, (pair as u64 * u64::from(*flows) + u64::from(rank)) as u32)
    }

    fn is_measured(&self, at: u64) -> bool {
        (self.config.warmup_ns..self.config.duration_ns).contains(&at)
    }

    /// The processor of a node takes its time for a packet; when it is done.
    fn process(&mut self, now: u64, node: usize, packet: &Packet, service_ns: u32) -> Option<u64> {
        if self.is_measured(now - packet.born.age_ns(now)) {
            self.handled[node] += u64::from(packet.bytes);
        }
        let free = self.free_ns[node].max(now);
        if free - now > PROCESSOR_BEHIND_NS {
            self.report.drops.processor += 1;
            return None;
        }
        self.free_ns[node] = free + u64::from(service_ns);
        Some(self.free_ns[node])
    }

    fn ingress(&mut self, now: u64, mut packet: Packet) {
        let node = usize::from(packet.ingress);
        self.report.packets += 1;
        if self.is_measured(now) {
            self.offered_bytes += u64::from(packet.bytes);
            self.offered[node] += u64::from(packet.bytes);
        }
        let Some(now) = self.process(now, node, &packet, self.config.service.ingress_ns) else { return };
        if packet.egress == packet.ingress {
            return self.deliver(now, packet);
        }
        let (flow, bytes) = (u64::from(packet.flow), u32::from(packet.bytes));
        match self.choosers[node].choose(now, flow, packet.egress, bytes) {
            Ok(decision) => {
                if let Path::Via(via) = decision.path {
                    packet.via = via;
                }
                if let Stamp::Sequence { bucket, number } | Stamp::Numbered { bucket, number, .. } =
                    decision.stamp
                {
                    (packet.bucket, packet.place) = (bucket, number);
                }
                self.send(now, node, decision.link, packet);
            }
            Err(Refusal::Full) => self.report.drops.refused += 1,
            Err(Refusal::Unreachable) => self.report.drops.unreachable += 1,
        }
    }

    #[inline]
    fn send(&mut self, now: u64, node: usize, link: usize, packet: Packet) {
        let Some(hops) = packet.hops.checked_sub(1) else {
            self.report.drops.hops += 1;
            return;
        };
        // The ingress node keeps to the bound by itself; others drop what exceeds it.
        let (line, bound) = (self.first_link[node] + link, self.config.choice.bound_bytes + 2_000);
        let Some(through) = self.links.send(line, now, u32::from(packet.bytes), bound) else {
            self.report.drops.link_full += 1;
            return;
        };
        let at = through + self.config.latency_ns;
        let next = self.map.neighbour(node, link);
        if !self.broken.is_empty() && !self.is_whole(Part::Link(node as NodeId, next as NodeId)) {
            self.report.drops.broken += 1;
            return;
        }
        self.arrivals.add(at, Packet { at: next as NodeId, hops, ..packet });
    }

    #[inline]
    fn arrive(&mut self, now: u64, packet: Packet) {
        let node = usize::from(packet.at);
        if !self.broken.is_empty() && !self.is_whole(Part::Node(node as NodeId)) {
            self.report.drops.broken += 1;
            return;
        }
        let via = if packet.at == packet.via { NONE } else { packet.via };
        let target = if via == NONE { packet.egress } else { via };
        let Some(link) = self.map.toward(node, usize::from(target)) else {
            return self.egress(now, packet);
        };
        let service = self.config.service.intermediate_ns;
        let Some(now) = self.process(now, node, &packet, service) else { return };
        let mut link = link;
        if let Some(chooser) = self.choosers.get_mut(node) {
            let Ok(onward) = chooser.onward(link, target) else {
                self.report.drops.unreachable += 1;
                return;
            };
            link = onward;
            if chooser.pass(now, link, u32::from(packet.bytes)).is_err() {
                self.report.drops.link_full += 1;
                return;
            }
        }
        self.send(now, node, link, Packet { via, ..packet });
    }

    fn egress(&mut self, now: u64, packet: Packet) {
        let node = usize::from(packet.egress);
        let Some(now) = self.process(now, node, &packet, self.config.service.egress_ns) else { return };
        if self.resequencers.is_empty() {
            return self.deliver(now, packet);
        }
        let mut out = Vec::new();
        let resequencer = &mut self.resequencers[node];
        let (lane, waited) = ((packet.ingress, packet.bucket), resequencer.waiting());
        if resequencer.push(now, lane, packet.place, packet, |packet| out.push(packet)).is_some() {
            self.report.drops.late += 1;
        }
        if resequencer.waiting() > waited {
            self.calendar.add(now + self.config.resequence.wait_ns, What::Expire(node as NodeId));
        }
        out.into_iter().for_each(|packet| self.deliver(now, packet));
    }

    fn expire(&mut self, now: u64, node: usize) {
        let mut out = Vec::new();
        self.resequencers[node].expire(now, |packet| out.push(packet));
        out.into_iter().for_each(|packet| self.deliver(now, packet));
    }

    fn deliver(&mut self, now: u64, packet: Packet) {
        let (port, bytes) = (usize::from(packet.egress), u32::from(packet.bytes));
        let Some(left) = self.ports.send(port, now, bytes, self.config.port_queue_bytes) else {
            self.report.drops.port_full += 1;
            return;
        };
        self.report.delivered += 1;
        self.order.leaves(left, packet.flow, packet.number);
        if self.is_measured(left) {
            self.delivered_bytes += u64::from(bytes);
            self.delivered[usize::from(packet.ingress)] += u64::from(bytes);
            let pair = port * self.ports.len() + usize::from(packet.ingress);
            if let Some(pair) = self.pairs.get_mut(pair) {
                *pair += u64::from(bytes);
            }
        }
        let age = packet.born.age_ns(left);
        if self.is_measured(left - age) {
            // The first server keeps a packet as long as all others do.
            self.latency.add(age + self.config.latency_ns);
        }
    }

    fn is_whole(&self, part: Part) -> bool {
        !self.broken.iter().any(|&broken| match (broken, part) {
            (Part::Link(a, b), Part::Link(c, d)) => (a, b) == (c, d) || (a, b) == (d, c),
            _ => broken == part,
        })
    }

    /// What is broken at a time.
    fn failed(&self, now: u64) -> Vec<Part> {
        let at = |failure: &&Failure| (failure.from_ns..failure.until_ns).contains(&now);
        self.config.failures.iter().filter(at).map(|failure| failure.part).collect()
    }

    /// Every terminal learns how things stood a while ago.
    fn learn(&mut self, now: u64) {
        let broken = self.failed(now - self.config.detect_ns);
        let terminals = self.choosers.len() as NodeId;
        let up = |a: NodeId, b: NodeId| {
            !broken.iter().any(|&part| match part {
                Part::Node(node) => node == a || node == b,
                Part::Link(c, d) => (a, b) == (c, d) || (a, b) == (d, c),
            })
        };
        if let Topology::Fly { .. } = self.config.topology {
            let views = settled(&self.config.topology, up);
            self.choosers.iter_mut().zip(views).for_each(|(chooser, view)| chooser.set_view(view));
            return;
        }
        for (me, chooser) in self.choosers.iter_mut().enumerate() {
            let me = me as NodeId;
            let mut view = View::empty(me, usize::from(terminals));
            for node in (0..terminals).filter(|&node| node != me) {
                let reach = Nodes::of((0..terminals).filter(|&to| to != node && up(node, to)));
                view.set(node, Peer { up: up(me, node), transit: true, reach });
            }
            chooser.set_view(view);
        }
    }

    fn finish(mut self) -> Report {
        let window = (self.config.duration_ns - self.config.warmup_ns).max(1) as f64 / 1e9;
        let report = &mut self.report;
        for counts in self.choosers.iter().map(Chooser::counts) {
            report.direct += counts.direct;
            report.balanced += counts.balanced;
            report.spilled += counts.spilled;
        }
        report.offered = self.offered_bytes as f64 * 8.0 / window;
        report.throughput = self.delivered_bytes as f64 * 8.0 / window;
        let choice = &self.config.choice;
        // Along a single path no pair gets more than a link; by theory load balancing loses nothing that ports can take.
        let straight_mesh =
            choice.scheme == Scheme::Straight && matches!(self.config.topology, Topology::Mesh { .. });
        let pair_rate = if straight_mesh { choice.link_rate as f64 } else { f64::INFINITY };
        let share = match (&self.destinations, &self.config.traffic) {
            (Some(destinations), Traffic::Matrix { load, .. }) => {
                destinations.admissible(choice.line_rate as f64, *load, pair_rate)
            }
            _ => (pair_rate / report.offered.max(1.0)).min(1.0),
        };
        report.theory = report.offered * share;
        report.of_theory = report.throughput / report.theory.max(1.0);
        let got = self.offered.iter().zip(&self.delivered).filter(|(offered, _)| **offered > 0);
        report.fairness = jain(got.map(|(&offered, &got)| got as f64 / offered as f64));
        report.fairness_at_busiest = busiest(&self.pairs, self.ports.len());
        report.c = self.handled.iter().sum::<u64>() as f64 / self.offered_bytes.max(1) as f64;
        let most = self.handled[..self.ports.len()].iter().max().copied().unwrap_or_default();
        report.c_busiest = most as f64 * 8.0 / window / choice.line_rate as f64;
        report.latency = Latency::of(&self.latency);
        report.reordering = self.order.found;
        report.reordered_percent = report.reordering.percent();
        report.most_waiting =
            self.resequencers.iter().map(|r| r.counts().most_waiting).max().unwrap_or_default();
        self.report
    }
}

/// Whether what breaks is there.
fn check(failure: &Failure, topology: &Topology) -> Result<(), String> {
    if let Topology::Torus { .. } = topology {
        return Err("failures can be simulated in a mesh or a fly only".to_owned());
    }
    let is_there = |node: NodeId| usize::from(node) < topology.nodes();
    match failure.part {
        Part::Node(node) if !is_there(node) => {
            Err(format!("there is no node {node}: the last is {}", topology.nodes() - 1))
        }
        Part::Link(a, b) if !is_there(a) || !is_there(b) || !topology.neighbours(a).contains(&b) => {
            Err(format!("there is no cable between nodes {a} and {b}"))
        }
        _ => Ok(()),
    }
}

/// How evenly the terminals that send there share the external port that sends most.
fn busiest(pairs: &[u64], ports: usize) -> f64 {
    let most = pairs.chunks(ports.max(1)).max_by_key(|row| row.iter().sum::<u64>());
    let shares = most.unwrap_or_default().iter().filter(|&&bytes| bytes > 0);
    jain(shares.map(|&bytes| bytes as f64))
}

/// Flows by how often they send: the one of rank r about 1/r as often as the first. One entry for each draw.
fn ranks(config: &Config) -> Vec<u32> {
    let Traffic::Matrix { flows, .. } = &config.traffic else { return vec![0] };
    let rank = |at: i32| {
        (f64::from(*flows + 1).powf(f64::from(at) / 4_096.0) as u32 - 1).min(flows.saturating_sub(1))
    };
    (0..4_096).map(rank).collect()
}

impl Report {
    /// All that came in either left or was dropped for a reason.
    pub fn is_complete(&self) -> bool {
        self.packets == self.delivered + self.drops.total()
    }

    /// What was dropped.
    pub fn drops(&self) -> Drops {
        self.drops
    }
}
