//! Nanoseconds a packet in IPRewriter, in FlowIPManager, and in a chain of all that remembers flows, with many flows whose packets come in random order.
//!
//! Each figure is a difference: a configuration runs for some packets and for twice as many, with the element and without
//! it, so that neither the first packets of flows nor the source that makes packets is part of it. How long new flows take is
//! measured by packets each of which is the first of a flow, and by the clock: processors wait for each other there.

mod memory;

use crate::assembly;
use crate::machine::Machine;
use crate::rcu::{Spread, processor_time_of_all};
use packet::Packet;
use router::{Activity, Class, Classes, Config, ConfigError, Cx, Element, Options};
use serde::Serialize;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Instant;
use wire::checksum::update_u32;
use wire::ipv4::{HEADER_LEN, Header};
use wire::{ip_proto, ipv6, udp};

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Runs of each configuration.
    #[arg(long, default_value_t = 5)]
    pub(crate) runs: usize,
    /// Packets a run, and twice as many.
    #[arg(long, default_value_t = 5_000_000)]
    pub(crate) packets: u64,
    /// Only the cases whose names begin with this.
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Option<String>,
    /// One short run of each, to see that it works.
    #[arg(long)]
    pub(crate) tiny: bool,
    /// Machine-readable output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The same, and what only this benchmark has.
#[derive(clap::Args)]
pub(crate) struct Rewriters {
    #[command(flatten)]
    times: Arguments,
    /// Instead: the resident memory of so many flows, each number and each table in a process of its own.
    #[arg(long, value_name = "FLOWS", value_delimiter = ',')]
    memory: Vec<u32>,
    /// The first core of workers, for a process beside another.
    #[arg(long, default_value_t = 0)]
    core: usize,
    /// What such a process measures: a table by its place, behind all, or nothing.
    #[arg(long, hide = true)]
    memory_of: Option<usize>,
}

/// Makes UDP packets of `FLOWS` flows at random, each as likely as any other, or one flow after the other if `IN_TURN`. The flows
/// are those from `FIRST` on; of IPv6 if `V6`.
pub(crate) const FLOW_SOURCE: Class =
    Class::new("FlowSource", flow_source).ports("0/1").processing("/h").activity(Activity::Always);

struct FlowSource {
    sample: Vec<u8>,
    is_v6: bool,
    first: u32,
    flows: u32,
    left: u64,
    random: u32,
    /// The next flow, if they come in turn.
    next: Option<u32>,
}

fn flow_source(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut first, mut flows, mut left, mut in_turn, mut is_v6) = (0, 1, 0, false, false);
    config
        .args()
        .required("FIRST", &mut first)
        .required("FLOWS", &mut flows)
        .required("LIMIT", &mut left)
        .keyword("IN_TURN", &mut in_turn)
        .keyword("V6", &mut is_v6)
        .finish()?;
    let sample = if is_v6 { sample_v6() } else { sample() };
    let next = in_turn.then_some(0);
    Ok(Box::new(FlowSource { sample, is_v6, first, flows, left, random: 1, next }))
}

/// The packet of flow 0: 64 bytes with the Ethernet header and checksum that it would have.
fn sample() -> Vec<u8> {
    let (src, dst) = (Ipv4Addr::new(10, 0, 0, 0), Ipv4Addr::new(198, 51, 100, 0));
    let mut data = vec![0; 46];
    if let Ok(mut header) = Header::new_checked_mut(&mut data) {
        header.set_version_and_header_len(HEADER_LEN);
        header.set_total_len(46);
        header.set_ttl(64);
        header.set_protocol(ip_proto::UDP);
        header.set_src(src);
        header.set_dst(dst);
        header.fill_checksum();
    }
    data[HEADER_LEN..][..8].copy_from_slice(&[0, 0, 0, 53, 0, 26, 0, 0]);
    // The datagram is as long as its header says.
    let _ = udp::fill_checksum_v4(src, dst, &mut data[HEADER_LEN..]);
    data
}

/// The same of IPv6: from a host to an address that stands for one of IPv4.
fn sample_v6() -> Vec<u8> {
    let (src, dst) =
        (Ipv6Addr::from_bits(0x2001_0db8 << 96), Ipv6Addr::from_bits(0x0064_ff9b << 96 | 0xc633_6400));
    let mut data = vec![0; ipv6::HEADER_LEN + 26];
    if let Ok(mut header) = ipv6::Header::new_checked_mut(&mut data) {
        header.set_version_class_flow(0, 0);
        header.set_payload_len(26);
        header.set_next_header(ip_proto::UDP);
        header.set_hop_limit(64);
        header.set_src(src);
        header.set_dst(dst);
    }
    data[ipv6::HEADER_LEN..][..8].copy_from_slice(&[0, 0, 0, 53, 0, 26, 0, 0]);
    let _ = udp::fill_checksum_v6(src, dst, &mut data[ipv6::HEADER_LEN..]);
    data
}

impl FlowSource {
    /// Which of the flows the next packet belongs to.
    fn flow(&mut self) -> u32 {
        if let Some(next) = &mut self.next {
            *next += 1;
            return *next - 1;
        }
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((u64::from(self.random) * u64::from(self.flows)) >> 32) as u32
    }

    /// Makes the sample the packet of a flow: of 1,024 ports of a host, to one of 64 servers.
    fn turn_into(packet: &mut Packet, flow: u32) {
        let (host, server) = (flow >> 10, flow & 63);
        let Some((header, rest)) = packet.data_mut().split_first_chunk_mut::<HEADER_LEN>() else { return };
        let mut header = Header::new(header);
        header.update_src(Ipv4Addr::from_bits(0x0a00_0000 + host));
        header.update_dst(Ipv4Addr::from_bits(0xc633_6400 + server));
        FlowSource::turn_ports(rest, flow);
    }

    /// The same of IPv6.
    fn turn_into_v6(packet: &mut Packet, flow: u32) {
        let (host, server) = (flow >> 10, 0xc633_6400 + (flow & 63));
        let Some((header, rest)) = packet.data_mut().split_at_mut_checked(ipv6::HEADER_LEN) else { return };
        header[20..24].copy_from_slice(&host.to_be_bytes());
        header[36..40].copy_from_slice(&server.to_be_bytes());
        FlowSource::turn_ports(rest, flow);
    }

    /// The port of a flow, and the checksum.
    fn turn_ports(rest: &mut [u8], flow: u32) {
        let (host, port, server) = (flow >> 10, 1024 + (flow & 1023), flow & 63);
        let sum = u16::from_be_bytes([rest[6], rest[7]]);
        let sum = update_u32(sum, 0, port << 16);
        let sum = update_u32(sum, 0, host);
        let sum = update_u32(sum, 0, server);
        rest[..2].copy_from_slice(&(port as u16).to_be_bytes());
        rest[6..8].copy_from_slice(&sum.to_be_bytes());
    }
}

impl Element for FlowSource {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.left == 0 {
            return cx.info().please_stop();
        }
        let mut batch = cx.batch();
        for _ in 0..self.left.min(cx.vector() as u64) {
            let Some(mut packet) = cx.pool().packet(&self.sample) else { break };
            let flow = self.first + self.flow();
            if self.is_v6 {
                FlowSource::turn_into_v6(&mut packet, flow);
                packet.set_network(0, ipv6::HEADER_LEN);
            } else {
                FlowSource::turn_into(&mut packet, flow);
                packet.set_network(0, HEADER_LEN);
            }
            batch.push(packet);
        }
        self.left -= batch.len() as u64;
        cx.tasks().schedule();
        cx.emit(0, batch);
    }
}

/// Rewrites addresses and ports.
const REWRITER: &str = "IPRewriter(pattern 203.0.113.1-203.0.113.16 1024-65535 - - 0 0, REAP_INTERVAL 0)";
/// Says which flow a packet belongs to.
const MANAGER: &str = "FlowIPManager(2000000)";

/// From IPv6 to IPv4: each flow has an endpoint of its own.
const NAT64: &str = "{
    n :: NAT64(203.0.113.1 1024-65535, REAP_INTERVAL 0); Idle -> [1]n[1] -> Discard; input -> n -> output }";

/// All that remembers flows: a filter by the states of connections, NAT, two next hops that flows keep, and IPFIX.
const CHAIN: &str = "{
    ct :: ConnTrack(CAPACITY 1000000); Idle -> [1]ct[1] -> Discard;
    input -> ct -> IPFilter(deny state invalid, allow dst net 198.51.100.0/24 and udp, deny all) -> ConnTrackConfirm(ct)
      -> IPRewriter(pattern 203.0.113.1-203.0.113.16 1024-65535 - - 0 0, REAP_INTERVAL 0)
      -> routes :: IPLookup(0.0.0.0/0 192.0.2.1 0, FLOWS 400000) -> exporter :: FlowExporter(CAPACITY 400000) -> output;
    exporter[1] -> Discard;
    Script(write routes.set 0.0.0.0/0 nexthop 192.0.2.1 0 nexthop 192.0.2.2 0) }";

/// Its parts, each of which remembers flows for itself.
const STATES: &str = "{
    ct :: ConnTrack(CAPACITY 1000000); Idle -> [1]ct[1] -> Discard;
    input -> ct -> IPFilter(deny state invalid, allow dst net 198.51.100.0/24 and udp, deny all) -> ConnTrackConfirm(ct) -> output }";
const HOPS: &str = "{
    input -> routes :: IPLookup(0.0.0.0/0 192.0.2.1 0, FLOWS 400000) -> output;
    Script(write routes.set 0.0.0.0/0 nexthop 192.0.2.1 0 nexthop 192.0.2.2 0) }";
const EXPORTER: &str =
    "{ input -> exporter :: FlowExporter(CAPACITY 400000) -> output; exporter[1] -> Discard }";

struct Case {
    name: &'static str,
    /// The element.
    element: &'static str,
    /// 0 to make each packet a flow of its own.
    flows: u32,
    workers: u32,
    vector: usize,
}

const CASES: &[Case] = &[
    Case { name: "1,000 flows", element: REWRITER, flows: 1000, workers: 1, vector: 32 },
    Case { name: "100,000 flows", element: REWRITER, flows: 100_000, workers: 1, vector: 32 },
    Case { name: "100,000 flows, 2 workers", element: REWRITER, flows: 100_000, workers: 2, vector: 32 },
    Case { name: "100,000 flows, one by one", element: REWRITER, flows: 100_000, workers: 1, vector: 1 },
    Case { name: "1,000,000 flows", element: REWRITER, flows: 1_000_000, workers: 1, vector: 32 },
    Case { name: "new flows", element: REWRITER, flows: 0, workers: 1, vector: 32 },
    Case { name: "new flows, 2 workers", element: REWRITER, flows: 0, workers: 2, vector: 32 },
    Case { name: "NAT64, 50,000 flows", element: NAT64, flows: 50_000, workers: 1, vector: 32 },
    Case { name: "filter, NAT, next hops, IPFIX", element: CHAIN, flows: 100_000, workers: 1, vector: 32 },
    Case { name: "the same, 1,000 flows", element: CHAIN, flows: 1000, workers: 1, vector: 32 },
    Case { name: "filter alone", element: STATES, flows: 100_000, workers: 1, vector: 32 },
    Case { name: "next hops alone", element: HOPS, flows: 100_000, workers: 1, vector: 32 },
    Case { name: "IPFIX alone", element: EXPORTER, flows: 100_000, workers: 1, vector: 32 },
    Case { name: "FlowIPManager, 1,000 flows", element: MANAGER, flows: 1000, workers: 1, vector: 32 },
    Case { name: "FlowIPManager, 100,000 flows", element: MANAGER, flows: 100_000, workers: 1, vector: 32 },
    Case {
        name: "FlowIPManager, 1,000,000 flows",
        element: MANAGER,
        flows: 1_000_000,
        workers: 1,
        vector: 32,
    },
];

/// New flows that are made, at most.
const NEW_FLOWS: u64 = 1_000_000;

impl Case {
    /// A source for each worker, with its share of the flows and of the packets, through `through`.
    fn config(&self, packets: u64, through: &str) -> String {
        let (in_turn, is_v6) = (self.flows == 0, self.element == NAT64);
        let share = if in_turn { packets as u32 } else { self.flows } / self.workers;
        let paths = (0..self.workers).map(|worker| {
            let limit = packets / u64::from(self.workers);
            format!(
                "s{worker} :: FlowSource({}, {share}, {limit}, IN_TURN {in_turn}, V6 {is_v6}) -> middle; StaticThreadSched(s{worker} {worker});",
                worker * share
            )
        });
        let pauses = vec!["pause"; self.workers as usize].join(", ");
        format!(
            "middle :: {through}; {} middle -> d :: Discard; DriverManager({pauses}, stop);",
            paths.collect::<String>()
        )
    }

    /// Nanoseconds of processor time for some packets, divided among the workers: how long they take if each has a
    /// processor of its own. For new flows, nanoseconds by the clock.
    fn time(&self, packets: u64, through: &str, core: usize) -> Result<f64, String> {
        let config = self.config(packets, through);
        let library = elements::classes();
        let known = Classes::new(library.iter().chain([&FLOW_SOURCE]));
        let workers = self.workers as usize;
        let options = Options { workers, vector: self.vector, pin: Some(core), ..Options::default() };
        let mut router = assembly::build((self.name, &config), &[], &known, options)?;
        let (start, clock) = (processor_time_of_all(), Instant::now());
        router.run();
        let elapsed = match self.flows {
            0 => clock.elapsed().as_nanos() as f64,
            _ => (processor_time_of_all() - start).as_nanos() as f64 / workers as f64,
        };
        router.finish();
        match router.drops().first() {
            Some((_, reason, packets)) => Err(format!("{packets} packets dropped: {reason}")),
            None => Ok(elapsed),
        }
    }

    /// Nanoseconds that a packet spends in the element.
    fn measure(&self, packets: u64, core: usize) -> Result<f64, String> {
        if self.flows == 0 {
            let packets = packets.min(NEW_FLOWS);
            return Ok((self.time(packets, self.element, core)? - self.time(packets, "Null", core)?)
                / packets as f64);
        }
        let more = |through: &str| -> Result<f64, String> {
            let once = self.time(packets, through, core)?;
            Ok(self.time(2 * packets, through, core)? - once)
        };
        Ok((more(self.element)? - more("Null")?) / packets as f64)
    }
}

/// A result.
#[derive(Serialize)]
pub(crate) struct Figure {
    name: &'static str,
    ns_median: f64,
    ns_min: f64,
    ns_max: f64,
    runs: usize,
    packets: u64,
    workers: u32,
}

impl Figure {
    /// The median and the spread of some runs' nanoseconds a packet.
    pub(crate) fn new(name: &'static str, ns: &[f64], packets: u64, workers: u32) -> Figure {
        let Spread { median, min, max } = Spread::of(ns);
        Figure { name, ns_median: median, ns_min: min, ns_max: max, runs: ns.len(), packets, workers }
    }
}

#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) figures: Vec<Figure>,
}

/// Measures all cases, interleaved, and prints them.
pub(crate) fn run(all: &Rewriters) -> Result<(), String> {
    let arguments = &all.times;
    if !all.memory.is_empty() {
        return memory::run(&all.memory, all.memory_of, arguments.json);
    }
    let (runs, packets) =
        if arguments.tiny { (1, 10_000) } else { (arguments.runs.max(1), arguments.packets) };
    let machine = Machine::here(); // before workers are bound to processors
    let only = arguments.only.as_deref().unwrap_or_default();
    let mut cases: Vec<(&Case, Vec<f64>)> =
        CASES.iter().filter(|case| case.name.starts_with(only)).map(|case| (case, Vec::new())).collect();
    for _ in 0..runs {
        for (case, times) in &mut cases {
            times.push(case.measure(packets, all.core)?);
        }
    }
    let figures = cases.into_iter().map(|(case, ns)| Figure::new(case.name, &ns, packets, case.workers));
    Report { machine, figures: figures.collect() }.print("IPRewriter", arguments.json);
    Ok(())
}

impl Report {
    /// Prints what an element costs.
    pub(crate) fn print(&self, element: &str, json: bool) {
        if json {
            return println!("{}", serde_json::to_string_pretty(self).unwrap_or_default());
        }
        println!("{}", self.machine.line());
        println!("{:36} {:>7} {:>7} {:>7}", format!("ns a packet in {element}"), "median", "min", "max");
        for f in &self.figures {
            println!("{:36} {:7.1} {:7.1} {:7.1}", f.name, f.ns_median, f.ns_min, f.ns_max);
        }
    }
}
