//! Generates rules for an OpenFlow switch from the traffic.
//!
//! ```click
//! GenerateIPOpenFlowRules(OF_PROTO, OF_BRIDGE [, OF_TABLE, IN_PORT, OUT_PORT, NB_RULES, KEYWORDS])
//! ```
//!
//! Passes packets on, and records their flows. Handlers generate commands for Open vSwitch's `ovs-ofctl` that send
//! these flows to an output. If there would be more than NB_RULES rules, address prefixes are shortened until there
//! are not, as far as possible. There are rules for ICMP, TCP and UDP between addresses that are both known. Packets
//! need a marked IP header; others pass without being recorded. At most a million flows are recorded. It is
//! FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `OF_PROTO` (integer, 0 to 5): the minor version of OpenFlow: the number after `1.`.
//! - `OF_BRIDGE` (string): the switch. `OF_TABLE` (integer, default 0): its table.
//! - `IN_PORT`, `OUT_PORT` (integer, default 1): the ports that the flows come from and go to.
//! - `NB_RULES` (integer, default 1000), `KEEP_SADDR`, `KEEP_DADDR`, `KEEP_SPORT`, `KEEP_DPORT`, `PREFIX`,
//!   `OUT_FILE`: as for GenerateIPFilterRules.
//!
//! # Handlers
//! - `flows_nb` (read): flows so far. `rules_nb` (read): rules generated from them.
//! - `dump`, `dump_ovs` (read): the rules, in order of addresses.
//! - `dump_to_file`, `dump_ovs_to_file` (read): writes the rules to the file, and returns nothing.
//! - `dump_onos`, `dump_onos_to_file` (read): nothing, as in FastClick, which announces them for the future.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> g :: GenerateIPOpenFlowRules(OF_PROTO 4, OF_BRIDGE br0) -> Discard;
//! DriverManager(pause, print $(g.dump), stop);
//! ```
//!
//! # See also
//! GenerateIPFilterRules, GenerateIPDPDKFlowRules

use super::generate_rules::{self, Flow, Flows, Generator, Keep};
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, FileName, Handlers, PerPacket, Residency, Simple, Verdict,
};
use wire::ip_proto;

/// The class.
pub(crate) const CLASS: Class = Class::new("GenerateIPOpenFlowRules", create)
    .residency(Residency::Exclusive)
    .doc(include_str!("generate_ip_open_flow_rules.rs"));

/// The newest version.
const NEWEST: u8 = 5;

struct GenerateIpOpenFlowRules(Generator);

/// The switch, and the flows' way through it.
struct Switch {
    version: u8,
    bridge: String,
    table: u16,
    in_port: u8,
    out_port: u8,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut switch = Switch { version: 0, bridge: String::new(), table: 0, in_port: 1, out_port: 1 };
    let mut keep = Keep { src: true, dst: true, sport: false, dport: true, prefix: 32 };
    let (mut rules, mut file) = (1000u32, FileName("rules".to_owned()));
    config
        .args()
        .required("OF_PROTO", &mut switch.version)
        .required("OF_BRIDGE", &mut switch.bridge)
        .positional("OF_TABLE", &mut switch.table)
        .positional("IN_PORT", &mut switch.in_port)
        .positional("OUT_PORT", &mut switch.out_port)
        .positional("NB_RULES", &mut rules)
        .keyword("KEEP_SADDR", &mut keep.src)
        .keyword("KEEP_DADDR", &mut keep.dst)
        .keyword("KEEP_SPORT", &mut keep.sport)
        .keyword("KEEP_DPORT", &mut keep.dport)
        .keyword("PREFIX", &mut keep.prefix)
        .keyword("OUT_FILE", &mut file)
        .finish()?;
    if switch.version > NEWEST {
        return Err(format!("Unsupported OpenFlow protocol version. Select one in [0, {NEWEST}]").into());
    }
    if switch.bridge.is_empty() {
        return Err("Invalid OpenFlow bridge name".into());
    }
    if !(keep.src || keep.dst || keep.sport || keep.dport) {
        return Err("Cannot continue with empty mask".into());
    }
    let text = move |flows: &Flows| {
        let (reduced, prefix) = flows.reduced();
        let rules = reduced
            .iter()
            .filter_map(|(flow, traffic)| switch.rule(flow, traffic.protocol, prefix, flows.keep()));
        rules.collect()
    };
    let generator = Generator { flows: Flows::new(keep, rules), file: file.0, rules: Box::new(text) };
    Ok(Box::new(PerPacket(GenerateIpOpenFlowRules(generator))))
}

impl Switch {
    /// The command that makes a flow's rule, if there can be one.
    fn rule(&self, flow: &Flow, protocol: u8, prefix: u32, keep: Keep) -> Option<String> {
        let protocol = match protocol {
            ip_proto::ICMP => "icmp",
            ip_proto::TCP => "tcp",
            ip_proto::UDP => "udp",
            _ => return None,
        };
        if flow.src.is_unspecified() || flow.dst.is_unspecified() {
            return None;
        }
        let has_ports = protocol != "icmp";
        let port = |name, kept: bool, port: u16| {
            if kept && has_ports { format!("{name}={port}, ") } else { String::new() }
        };
        let ports = port("tp_src", keep.sport, flow.sport) + &port("tp_dst", keep.dport, flow.dport);
        let out =
            if self.in_port == self.out_port { "in_port".to_owned() } else { self.out_port.to_string() };
        let Switch { version, bridge, table, in_port, .. } = self;
        let Flow { src, dst, .. } = flow;
        Some(format!(
            "ovs-ofctl -O OpenFlow1{version} add-flow {bridge} \"table={table}, priority=0, in_port={in_port}, eth_type=2048, \
             {protocol}, nw_src={src}/{prefix}, nw_dst={dst}/{prefix}, {ports}actions=output:{out}\"\n"
        ))
    }
}

/// Says that there are no rules for ONOS.
fn no_onos(cx: &Cx<'_>) {
    cx.log("Currently unsupported feature, coming soon");
}

impl Simple for GenerateIpOpenFlowRules {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.0.process(cx, packet)
    }

    fn handlers(&self, h: &mut Handlers) {
        type G = GenerateIpOpenFlowRules;
        generate_rules::handlers(h, |e: &mut G| &mut e.0);
        h.read("dump_ovs", |e: &mut G, _| e.0.dump());
        h.read_with("dump_ovs_to_file", |e: &mut G, cx, _| e.0.write_dump(cx));
        h.read("dump_onos", |_: &mut G, cx| {
            no_onos(cx);
            ""
        });
        h.read_with("dump_onos_to_file", |e: &mut G, cx, _| {
            no_onos(cx);
            e.0.write(cx, "")
        });
    }
}
