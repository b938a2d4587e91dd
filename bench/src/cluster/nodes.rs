//! What a packet costs a node with all elements around the path choice: where it comes in, passes through and leaves, against a
//! router that is alone; and how a cluster of nodes with these costs scales, which four processes on two cores cannot show.
//!
//! Each figure is a difference: a configuration runs for some packets and for twice as many, and of that what the source alone
//! takes is subtracted.

use super::arguments::Arguments;
use crate::assembly;
use crate::rcu::processor_time_of_all;
use cluster::choice::{OrderPolicy, Scheme};
use cluster::label::{Label, Stamp};
use cluster::sim::traffic::{Matrix, Sizes};
use cluster::sim::{Config, Service, Traffic, run as simulate};
use cluster::topology::Topology;
use router::{Call, Class, Classes, Config as ElementConfig, ConfigError, Cx, Element, Options};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Where no link is to be busy whatever a single worker sends, and nodes are seldom kept from their processor.
const ALONE: Rig = Rig { workers: 1, line_gbps: 4_000, hold_ms: 40, may_lose_ppm: 0 };

/// What nodes run on.
#[derive(Clone, Copy)]
pub(super) struct Rig {
    pub(super) workers: usize,
    /// Gigabits a second of a line.
    pub(super) line_gbps: u64,
    /// Who is silent for longer is taken for dead. Packets begin to come after as much as six times that, when all take part.
    pub(super) hold_ms: u64,
    /// Of a million packets so many may be lost at full links.
    pub(super) may_lose_ppm: u64,
}

/// Frame sizes, and how many of each a mix of Internet traffic has.
const SIZES: [(usize, f64); 3] = [(64, 7.0), (594, 4.0), (1_518, 1.0)];
const ETHERNET: usize = 14;

/// Emits a vector of equal packets each turn: a worker reads the clock once a turn, and links that get thousands of packets in
/// no time are full. Begins after a while, when all nodes take part, and stops the driver when it has made all.
const TURN_SOURCE: Class = Class::new("TurnSource", turn_source).ports("0/1").processing("/h");

struct TurnSource {
    sample: Vec<u8>,
    left: u64,
    begin_ms: u64,
}

fn turn_source(config: &mut ElementConfig<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut sample, mut left, mut begin_ms) = (router::Bytes::default(), 0, 0);
    let args = config.args().required("DATA", &mut sample).required("LIMIT", &mut left);
    args.required("BEGIN", &mut begin_ms).finish()?;
    Ok(Box::new(TurnSource { sample: sample.0, left, begin_ms }))
}

impl Element for TurnSource {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.timers().after(0, Duration::from_millis(self.begin_ms));
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        if self.left == 0 {
            return cx.info().please_stop();
        }
        let mut batch = cx.batch();
        for _ in 0..self.left.min(cx.vector() as u64) {
            let Some(packet) = cx.pool().packet(&self.sample) else { break };
            batch.push(packet);
        }
        self.left -= batch.len() as u64;
        cx.timers().after(0, Duration::from_nanos(1));
        cx.emit(0, batch);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing but the source and the sink.
    Source,
    /// A router that is no part of a cluster.
    Alone,
    Ingress,
    Intermediate,
    Egress,
}

const ROLES: [Role; 4] = [Role::Alone, Role::Ingress, Role::Intermediate, Role::Egress];

impl Role {
    /// What the source makes: an IP packet, or where it is in the cluster already, a frame.
    fn data(self, size: usize) -> String {
        let length = size - ETHERNET;
        let mut packet = vec![0u8; length];
        (packet[0], packet[8], packet[9]) = (0x45, 64, 17);
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet[12..20].copy_from_slice(&[10, 0, 0, 2, 10, 0, 1, 2]);
        let sum: u32 =
            packet[..20].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
        let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        let egress = match self {
            Role::Intermediate => 2,
            Role::Egress => 1,
            _ => return hex(&packet),
        };
        let label = Label { egress, port: 0, ingress: 0, hops: 1, stamp: Stamp::None }.encode();
        hex(&[&label[..], &[8, 0], &packet].concat())
    }

    /// The way of the packets of these sources.
    fn way(self, sources: &str) -> String {
        let route = format!("{sources} -> CheckIPHeader -> IPLookup(10.0.1.0/24 0) -> DecIPTTL");
        match self {
            Role::Source => format!("{sources} -> out"),
            Role::Alone => format!("{route} -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> out"),
            Role::Ingress => format!("{route} -> VLBEncap(1) -> n0"),
            Role::Intermediate | Role::Egress => format!("{sources} -> [1]n1"),
        }
    }

    /// A cluster of four whose links carry hellos; other packets that leave by them have come to their end. What leaves node 1
    /// has, too. Each worker has a source, which makes so many packets.
    fn config(self, size: usize, packets: u64, rig: Rig) -> String {
        let Rig { workers, line_gbps, hold_ms, .. } = rig;
        let data = self.data(size);
        let mut text = format!("out :: Discard; DriverManager(pause {workers}, stop);\n");
        for worker in 0..workers {
            text += &format!(
                "src{worker} :: TurnSource(DATA \\<{data}>, LIMIT {packets}, BEGIN {}); StaticThreadSched(src{worker} {worker});\n",
                6 * hold_ms + 10
            );
        }
        for node in 0..4 {
            text += &format!(
                "n{node} :: VLBNode({node}, 4, KEY k, LINE_RATE {line_gbps}Gbps, HELLO 5ms, HOLD {hold_ms}ms); Idle -> n{node};\n"
            );
            // As in `conf/cluster-node.click`, but for the neighbour's address.
            let end = if node == 1 { "out" } else { "Discard" };
            text += &format!(
                "n{node} -> l{node} :: VLBDecap(FAMILIES true); l{node}[0] -> {end}; l{node}[1] -> Discard;\n"
            );
        }
        let port = |me: usize, node: usize| node + usize::from(node < me);
        for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            text += &format!(
                "n{a}[{}] -> c{a}{b} :: Classifier(12/88b5, -) -> Queue -> Unqueue -> [{}]n{b}; c{a}{b}[1] -> out;\n",
                port(a, b),
                port(b, a)
            );
        }
        let sources: Vec<_> = (0..workers).map(|worker| format!("src{worker}")).collect();
        text + &format!("{};\n", self.way(&sources.join(", ")))
    }

    /// Runs until each worker's source has made so many packets.
    ///
    /// # Errors
    /// More packets were lost than may be.
    pub(super) fn run(self, size: usize, packets: u64, rig: Rig) -> Result<Took, String> {
        let (config, workers) = (self.config(size, packets, rig), rig.workers);
        let library = elements::classes();
        let known = Classes::new(library.iter().chain([&TURN_SOURCE]));
        let options = Options { workers, pin: Some(0), ..Options::default() };
        let mut router = assembly::build(("cluster", &config), &[], &known, options)?;
        let (start, elapsed) = (processor_time_of_all(), Instant::now());
        router.run();
        let elapsed_ns = elapsed.elapsed().as_nanos() as f64;
        let processor_ns = (processor_time_of_all() - start).as_nanos() as f64;
        let sent = packets * workers as u64;
        let arrived = router.call(Call::read("out.count", ""))?;
        router.finish();
        let lost = sent - arrived.trim().parse::<u64>().map_err(|error| error.to_string())?.min(sent);
        if lost * 1_000_000 > sent * rig.may_lose_ppm {
            let dropped = router.drops().first().map_or("", |(_, reason, _)| *reason);
            return Err(format!("{self:?}: {} of {sent} packets arrived: {dropped}", arrived.trim()));
        }
        Ok(Took { packets: sent as f64, lost: lost as f64, processor_ns, elapsed_ns })
    }

    /// Nanoseconds of processor time that a run takes.
    fn time(self, size: usize, packets: u64) -> Result<f64, String> {
        self.run(size, packets, ALONE).map(|took| took.processor_ns)
    }
}

/// What a run took.
pub(super) struct Took {
    /// That all sources have made.
    pub(super) packets: f64,
    /// That found links full.
    pub(super) lost: f64,
    processor_ns: f64,
    pub(super) elapsed_ns: f64,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Median nanoseconds of a packet of a size, over several runs.
fn cost(role: Role, size: usize, runs: usize, packets: u64) -> Result<f64, String> {
    let more = |role: Role| -> Result<f64, String> {
        Ok((role.time(size, 2 * packets)? - role.time(size, packets)?) / packets as f64)
    };
    let one = |_| Ok(more(role)? - more(Role::Source)?);
    let mut times = (0..runs).map(one).collect::<Result<Vec<f64>, String>>()?;
    times.sort_unstable_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Costs by role and size, then clusters in simulation that have them.
pub(super) fn figures(arguments: &Arguments) -> Result<Vec<Value>, String> {
    let (runs, packets) = if arguments.tiny { (1, 1_000) } else { (arguments.runs.max(1), 2_000_000) };
    let mut figures = Vec::new();
    let mut costs = Vec::new();
    for role in ROLES {
        let by_size = SIZES.map(|(size, _)| cost(role, size, runs, packets));
        let by_size = by_size.into_iter().collect::<Result<Vec<f64>, String>>()?;
        let (sum, weights) = SIZES
            .iter()
            .zip(&by_size)
            .fold((0.0, 0.0), |(sum, weights), ((_, weight), ns)| (sum + ns * weight, weights + weight));
        for (mix, ns) in [("64 bytes", by_size[0]), ("a mix", sum / weights)] {
            figures.push(json!({ "name": format!("node: {role:?}, {mix}"), "node_ns": ns }));
        }
        costs.push(by_size[0]);
    }
    if let [alone, ingress, intermediate, egress] = costs[..] {
        // A tiny run's differences may be nothing but noise, which no simulation could go by.
        let ns = |cost: f64| if arguments.tiny { 20 } else { cost.max(1.0).round() as u32 };
        let service =
            Service { ingress_ns: ns(ingress), intermediate_ns: ns(intermediate), egress_ns: ns(egress) };
        for nodes in if arguments.tiny { &[4][..] } else { &[4, 8, 16, 32][..] } {
            for matrix in [Matrix::Uniform, Matrix::Permutation] {
                figures.push(scaled(*nodes, matrix, service, ns(alone))?);
            }
        }
    }
    Ok(figures)
}

/// A cluster whose ports bring nearly as much as its processors can do.
pub(super) fn scaled(nodes: usize, matrix: Matrix, service: Service, alone_ns: u32) -> Result<Value, String> {
    let balanced = if matrix == Matrix::Uniform { 0 } else { service.intermediate_ns };
    let each_ns = f64::from(service.ingress_ns + service.egress_ns + balanced);
    let line_rate = (64.0 * 8.0 * 1e9 / each_ns) as u64;
    let mut config =
        Config::new(Topology::Mesh { nodes }, line_rate).with(Scheme::Direct, OrderPolicy::Flowlet);
    let name = format!("{nodes} nodes with these costs, 64 bytes, {matrix:?}");
    config.traffic = Traffic::Matrix { matrix, load: 0.95, sizes: Sizes::Fixed(64), flows: 64 };
    (config.service, config.duration_ns, config.warmup_ns) = (service, 6_000_000, 2_000_000);
    let report = simulate(&config)?;
    let rate = report.throughput / (64.0 * 8.0);
    Ok(json!({
        "name": name,
        "million_packets_a_second": rate / 1e6,
        "of_one_alone": rate * f64::from(alone_ns) / 1e9,
        "of_theory": report.of_theory,
        "c": report.c,
    }))
}
