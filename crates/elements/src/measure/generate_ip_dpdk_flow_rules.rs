//! Generates rules for network cards from the traffic.
//!
//! ```click
//! GenerateIPDPDKFlowRules(PORT [, NB_QUEUES, NB_RULES, KEYWORDS])
//! ```
//!
//! Passes packets on, and records their flows. Handlers generate rules from them, in the format of DPDK's `testpmd`,
//! that send each flow to a queue of the card. If there would be more than NB_RULES rules, address prefixes are
//! shortened until there are not, as far as possible. Packets need a marked IP header; others pass without being
//! recorded. At most a million flows are recorded. It is FastClick's element; GenerateIPFlowDispatcher and
//! GenerateIPFlowDirector are older names for it.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `PORT` (integer): the card; rules do not name it.
//! - `NB_QUEUES` (integer, default 16): the number of queues, at least 1.
//! - `NB_RULES` (integer, default 1000), `KEEP_SADDR`, `KEEP_DADDR`, `KEEP_SPORT`, `PREFIX`, `OUT_FILE`: as for
//!   GenerateIPFilterRules. `KEEP_DPORT` is false by default.
//! - `POLICY` (`LOAD_AWARE` or `ROUND_ROBIN`, default `LOAD_AWARE`): whether a flow is assigned to the queue with the
//!   fewest bytes so far, or to the next one.
//!
//! # Handlers
//! - `flows_nb` (read): flows so far. `rules_nb` (read): rules generated from them.
//! - `dump` (read): the rules, in order of addresses. `dump_to_file` (read): writes the rules to the file, and
//!   returns nothing.
//! - `load` (read): bytes of the flows assigned to each queue.
//! - `stats` (read): the deviation of each from an equal share, absolute and relative.
//! - `avg_imbalance_ratio` (read): the mean relative deviation, in per cent. `queue_imbalance_ratio` (read, with a
//!   queue's number): that of one queue; -1 if it does not exist.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> g :: GenerateIPDPDKFlowRules(0, NB_QUEUES 4) -> Discard;
//! DriverManager(pause, print $(g.dump), print $(g.stats), stop);
//! ```
//!
//! # See also
//! GenerateIPFilterRules, GenerateIPOpenFlowRules

use super::generate_rules::{self, Flow, Flows, Generator, Keep, Traffic, mask};
use crate::script::sprintf::general;
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, FileName, Handlers, PerPacket, Residency, Simple, Verdict,
};
use std::fmt::Write;
use wire::ip_proto;

/// The class.
pub(crate) const CLASS: Class = Class::new("GenerateIPDPDKFlowRules", create)
    .residency(Residency::Exclusive)
    .doc(include_str!("generate_ip_dpdk_flow_rules.rs"));
/// Older names.
pub(crate) const DISPATCHER: Class = Class { name: "GenerateIPFlowDispatcher", ..CLASS };
pub(crate) const DIRECTOR: Class = Class { name: "GenerateIPFlowDirector", ..CLASS };

struct GenerateIpDpdkFlowRules {
    generator: Generator,
    queues: Queues,
}

/// How flows get queues.
#[derive(Clone, Copy)]
struct Queues {
    count: u16,
    /// Whether flows get them in turn.
    in_turn: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut keep = Keep { src: true, dst: true, sport: false, dport: false, prefix: 32 };
    let (mut port, mut count, mut rules) = (0u16, 16u16, 1000u32);
    let (mut policy, mut file) = ("LOAD_AWARE".to_owned(), FileName("rules".to_owned()));
    config
        .args()
        .required("PORT", &mut port)
        .positional("NB_QUEUES", &mut count)
        .positional("NB_RULES", &mut rules)
        .keyword("POLICY", &mut policy)
        .keyword("KEEP_SADDR", &mut keep.src)
        .keyword("KEEP_DADDR", &mut keep.dst)
        .keyword("KEEP_SPORT", &mut keep.sport)
        .keyword("KEEP_DPORT", &mut keep.dport)
        .keyword("PREFIX", &mut keep.prefix)
        .keyword("OUT_FILE", &mut file)
        .finish()?;
    if !(keep.src || keep.dst || keep.sport || keep.dport) {
        return Err("Cannot continue with empty mask".into());
    }
    if count == 0 {
        return Err("NB_QUEUES must be a positive integer".into());
    }
    let in_turn = match policy.to_ascii_uppercase().replace('-', "_").as_str() {
        "ROUND_ROBIN" => true,
        "LOAD_AWARE" => false,
        _ => return Err("Invalid POLICY. Select in [ROUND_ROBIN, LOAD_AWARE]".into()),
    };
    let queues = Queues { count, in_turn };
    let text = move |flows: &Flows| queues.assign(flows).0;
    let generator = Generator { flows: Flows::new(keep, rules), file: file.0, rules: Box::new(text) };
    Ok(Box::new(PerPacket(GenerateIpDpdkFlowRules { generator, queues })))
}

/// What flows are matched by; nothing for a flow between unknown addresses.
fn pattern(flow: &Flow, protocol: u8, prefix: u32, keep: Keep) -> Option<String> {
    let mask = mask(prefix);
    let address = |side, address: std::net::Ipv4Addr| {
        (!address.is_unspecified()).then(|| format!(" {side} spec {address} {side} mask {mask}"))
    };
    let addresses: Vec<String> =
        [address("src", flow.src), address("dst", flow.dst)].into_iter().flatten().collect();
    if addresses.is_empty() {
        return None;
    }
    let protocol = if protocol == ip_proto::TCP { "tcp" } else { "udp" };
    let port = |side, kept: bool, port: u16| {
        if kept { format!(" {protocol} {side} is {port}") } else { String::new() }
    };
    let mut ports = port("src", keep.sport, flow.sport) + &port("dst", keep.dport, flow.dport);
    if !ports.is_empty() {
        ports.push_str(" / ");
    }
    Some(format!("ingress pattern eth / ipv4{} /{ports}", addresses.concat()))
}

impl Queues {
    /// The rules, and the bytes that each queue gets by them.
    fn assign(self, flows: &Flows) -> (String, Vec<u64>) {
        let (reduced, prefix) = flows.reduced();
        let (mut rules, mut loads) = (String::new(), vec![0u64; self.count.into()]);
        for (at, (flow, Traffic { protocol, bytes })) in reduced.iter().enumerate() {
            let Some(pattern) = pattern(flow, *protocol, prefix, flows.keep()) else { continue };
            // The last of several, as in FastClick.
            let least = (0..loads.len()).rev().min_by_key(|&queue| loads[queue]).unwrap_or(0);
            let queue = if self.in_turn { at % loads.len() } else { least };
            loads[queue] += bytes;
            let _ = writeln!(rules, "{pattern} end actions queue index {queue} / count / end");
        }
        (rules, loads)
    }
}

/// How many bytes more than its share a queue has, and how many per cent of the share.
fn distances(loads: &[u64]) -> Vec<(f64, f64)> {
    let share = loads.iter().sum::<u64>() as f64 / loads.len() as f64;
    let distance = |&load: &u64| {
        let bytes = load as f64 - share;
        (bytes, if share == 0.0 { 0.0 } else { bytes / share * 100.0 })
    };
    loads.iter().map(distance).collect()
}

/// The mean of how far queues are from their share, in per cent.
fn imbalance(distances: &[(f64, f64)]) -> f64 {
    distances.iter().map(|(_, percent)| percent.abs()).sum::<f64>() / distances.len() as f64
}

fn load_lines(loads: &[u64]) -> String {
    let line = |(queue, load)| format!("NIC queue {queue:02} load: {load:15} bytes\n");
    loads.iter().enumerate().map(line).collect()
}

fn statistics(cx: &Cx<'_>, loads: &[u64]) -> String {
    let total: u64 = loads.iter().sum();
    if total == 0 {
        cx.log("No load in the system!");
        return "Average load imbalance ratio: 0\n".to_owned();
    }
    let distances = distances(loads);
    let mut text = format!("Ideal load per queue: {:.0} bytes \n", total as f64 / loads.len() as f64);
    for (queue, (bytes, percent)) in distances.iter().enumerate() {
        let _ = writeln!(
            text,
            "NIC queue {queue:2} distance from ideal load: {bytes:15.0} bytes (load imbalance ratio {percent:8.4}%)"
        );
    }
    let _ = writeln!(text, "Average load imbalance ratio: {:.4}%", imbalance(&distances));
    text
}

impl GenerateIpDpdkFlowRules {
    fn loads(&self) -> Vec<u64> {
        self.queues.assign(&self.generator.flows).1
    }
}

impl Simple for GenerateIpDpdkFlowRules {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.generator.process(cx, packet)
    }

    fn handlers(&self, h: &mut Handlers) {
        type G = GenerateIpDpdkFlowRules;
        generate_rules::handlers(h, |e: &mut G| &mut e.generator);
        h.read("load", |e: &mut G, _| load_lines(&e.loads()));
        h.read("stats", |e: &mut G, cx| statistics(cx, &e.loads()));
        h.read("avg_imbalance_ratio", |e: &mut G, _| general(imbalance(&distances(&e.loads()))));
        h.read_with("queue_imbalance_ratio", |e: &mut G, cx, text| {
            if text.trim().is_empty() {
                return Err("Parameter handler 'queue_imbalance_ratio' requires a queue index".to_owned());
            }
            let queue: usize = router::value(cx, text)?;
            Ok(distances(&e.loads()).get(queue).map_or("-1".to_owned(), |(_, percent)| general(*percent)))
        });
    }
}
