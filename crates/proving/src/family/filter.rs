//! A filter in a cable, between a network with VLAN tags and one without.
//!
//! Rules are drawn, and read a second time by the simplest interpreter there is: it goes from rule to rule. Where the tag goes, before
//! the filter or behind it, must change nothing.

use super::contract::Family;
use crate::datagram::protocol;
use crate::host::{Address, Host};
use crate::ledger::{Look, Sent};
use crate::link::{Link, Station};
use crate::model::{Fate, Model, Verdict};
use crate::story::{FlowStep, Knob, Knobs, Step, Story};
use crate::world::{ECHO_PORT, Kind, Network};
use fastrand::Rng;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The family.
pub(super) struct Filter;

const VLAN: u16 = 10;
/// What is longer leaves a host in parts.
const HOST_MTU: usize = 1500;
const TAPS: [&str; 3] = ["", "seen :: Counter ->", "seen :: RoundRobinSwitch ->"];
/// How packets from the tagged side reach the filter, by the position of the knob: without the tag; with it; marked with it and filtered
/// without.
const INWARD: [(&str, &str, &str); 3] = [
    ("VLANDecap", "CheckIPHeader(14)", "Null"),
    ("Null", "CheckIPHeader(18)", "VLANDecap"),
    ("Null", "CheckIPHeader(18) -> VLANDecap", "Null"),
];
/// The other way.
const OUTWARD: [(&str, &str); 3] = [
    ("CheckIPHeader(14)", "VLANEncap(VLAN_ID 10)"),
    ("VLANEncap(VLAN_ID 10) -> CheckIPHeader(18)", "Null"),
    ("CheckIPHeader(14) -> VLANEncap(VLAN_ID 10)", "Null"),
];
/// What the filter is, by the position of the knob: with one output, or with one for each verdict.
const STYLES: u32 = 2;

const KNOBS: &[Knob] = &[
    Knob { name: "tap", positions: TAPS.len() as u32, live: true },
    Knob { name: "place", positions: INWARD.len() as u32, live: true },
    Knob { name: "style", positions: STYLES, live: true },
    Knob { name: "rules", positions: 64, live: true },
];

/// Hosts 0 and 1 are on the tagged side.
const NAMES: [&str; 4] = ["a", "a2", "b", "b2"];
const PORTS: [u16; 5] = [ECHO_PORT, 53, 80, 1024, 5000];

impl Family for Filter {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn knobs(&self) -> &'static [Knob] {
        KNOBS
    }

    fn network(&self, _: &Knobs) -> Network {
        let host = |number: usize| {
            let address =
                |six| Address { ip: ip(six, number), prefix: if six { 64 } else { 24 }, gateway: None };
            let mut host =
                Host::new(NAMES[number], [2, 0, 0, 1, 0, number as u8], [false, true].map(address).to_vec());
            host.vlan = (number < 2).then_some(VLAN);
            host
        };
        let link = |name, hosts: [usize; 2], port| {
            let [one, other] = hosts.map(Station::Host);
            Link::new(name, vec![one, other, Station::Port(0, port)])
        };
        Network {
            hosts: (0..4).map(host).collect(),
            links: vec![link("trunk", [0, 1], 0), link("lan", [2, 3], 1)],
            machines: vec![("wall".to_owned(), 2)],
        }
    }

    fn config(&self, _: usize, knobs: &Knobs) -> String {
        let tap = TAPS[knobs.get("tap") as usize];
        let (untag, check, untag_late) = INWARD[knobs.get("place") as usize];
        let (check_out, tag) = OUTWARD[knobs.get("place") as usize];
        let at = if untag == "Null" { 16 } else { 12 };
        let [inward, outward] = rules(knobs);
        let filter = |name: &str, rules: &[Rule]| {
            let texts: Vec<_> = rules.iter().map(Rule::to_string).collect();
            match knobs.get("style") {
                0 => format!("{name} :: IPFilter({})", texts.join(", ")),
                _ => format!(
                    "{name} :: IPFilter({}); {name}[1] -> refused_{name} :: Counter -> Discard; {name}",
                    texts.join(", ").replace("deny", "1")
                ),
            }
        };
        // IPv6 passes, so that it can be seen that nothing else happens to it.
        format!(
            "out0 :: ToMemory(eth0); out1 :: ToMemory(eth1);
             FromMemory(eth0) -> {tap} {untag} -> from0 :: Classifier({at}/0800, -);
             from0[0] -> {check} -> {} -> {untag_late} -> out1;
             from0[1] -> {} -> out1;
             FromMemory(eth1) -> from1 :: Classifier(12/0800, -);
             from1[0] -> {check_out} -> {} -> {tag} -> out0;
             from1[1] -> VLANEncap(VLAN_ID {VLAN}) -> out0;",
            filter("inward", &inward),
            if untag == "Null" { "VLANDecap" } else { "Null" },
            filter("outward", &outward),
        )
    }

    fn model(&self, knobs: &Knobs) -> Box<dyn Model> {
        Box::new(Wall { rules: rules(knobs) })
    }

    fn step(&self, _: &Story, rng: &mut Rng) -> Step {
        let from = rng.usize(..4);
        let to = (from + rng.usize(1..4)) % 4;
        Step::Flow(FlowStep {
            from: NAMES[from].to_owned(),
            to: ip(rng.u32(..6) == 0, to),
            kind: [Kind::Udp, Kind::Tcp, Kind::Ping][rng.usize(..3)],
            count: rng.u32(1..=20),
            size: [16, 64, 1400, 3000][rng.usize(..4)],
            gap_ns: [0, 1_000, 50_000, 1_000_000][rng.usize(..4)],
            ttl: rng.u8(1..=64),
            ecn: 0,
            ports: [PORTS[rng.usize(..5)], PORTS[rng.usize(..5)]],
            whole: rng.bool(),
            spread: false,
        })
    }
}

fn ip(six: bool, host: usize) -> IpAddr {
    // Two networks in one, as far as rules can tell.
    let number = [10, 11, 130, 131][host];
    match six {
        false => Ipv4Addr::new(10, 0, 0, number).into(),
        true => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, u16::from(number)).into(),
    }
}

/// The rules of both directions: inward and outward.
fn rules(knobs: &Knobs) -> [Vec<Rule>; 2] {
    let position = knobs.get("rules");
    [0, 1].map(|direction| {
        if position == 0 {
            return vec![Rule { allows: true, tests: Vec::new() }];
        }
        let mut rng = Rng::with_seed(u64::from(position) << 1 | direction);
        let mut rules: Vec<_> = (0..rng.usize(..8)).map(|_| Rule::draw(&mut rng)).collect();
        rules.push(Rule { allows: rng.bool(), tests: Vec::new() });
        rules
    })
}

/// A rule: it decides about packets that pass all its tests.
#[derive(Clone, Debug)]
struct Rule {
    allows: bool,
    tests: Vec<(bool, Test)>,
}

#[derive(Clone, Copy, Debug)]
enum Test {
    /// The address of one side is in a network: destination or source, and the prefix.
    Net(bool, IpAddr, u8),
    /// The protocol.
    Protocol(u8),
    /// A port of UDP or TCP: destination or source, the protocol, whether a larger one will do, and the port.
    Port(bool, u8, bool, u16),
}

impl Rule {
    fn draw(rng: &mut Rng) -> Rule {
        let protocols = [protocol::UDP, protocol::TCP];
        let test = |rng: &mut Rng| match rng.u32(..4) {
            0 | 1 => Test::Net(rng.bool(), ip(false, rng.usize(..4)), [25, 31, 32][rng.usize(..3)]),
            2 => Test::Protocol([protocol::ICMP, protocol::UDP, protocol::TCP][rng.usize(..3)]),
            _ => Test::Port(rng.bool(), protocols[rng.usize(..2)], rng.bool(), PORTS[rng.usize(..5)]),
        };
        let tests = (0..rng.usize(1..=3)).map(|_| (rng.u32(..4) > 0, test(rng))).collect();
        Rule { allows: rng.bool(), tests }
    }

    /// Whether it decides about a packet, or about a later fragment of it, which has no ports.
    fn decides(&self, look: &Look, later: bool) -> bool {
        self.tests.iter().all(|&(wanted, test)| test.passes(look, later) == wanted)
    }
}

impl Test {
    fn passes(self, look: &Look, later: bool) -> bool {
        match self {
            Test::Net(dst, net, length) => {
                let (IpAddr::V4(ip), IpAddr::V4(net)) = (if dst { look.dst } else { look.src }, net) else {
                    return false;
                };
                (ip.to_bits() ^ net.to_bits()) >> (32 - length) == 0
            }
            Test::Protocol(protocol) => look.protocol == protocol,
            Test::Port(dst, protocol, larger, port) => {
                let own = look.ports[usize::from(dst)];
                !later && look.protocol == protocol && if larger { own > port } else { own == port }
            }
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.allows { "allow" } else { "deny" })?;
        if self.tests.is_empty() {
            return f.write_str(" all");
        }
        for (number, (wanted, test)) in self.tests.iter().enumerate() {
            f.write_str(if number > 0 { " and" } else { "" })?;
            write!(f, " {}{test}", if *wanted { "" } else { "not " })?;
        }
        Ok(())
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |dst| if dst { "dst" } else { "src" };
        let name = |protocol| match protocol {
            protocol::UDP => "udp",
            protocol::TCP => "tcp",
            _ => "icmp",
        };
        match *self {
            Test::Net(dst, ip, 32) => write!(f, "{} host {ip}", side(dst)),
            Test::Net(dst, ip, length) => write!(f, "{} net {ip}/{length}", side(dst)),
            Test::Protocol(protocol) => write!(f, "ip proto {}", name(protocol)),
            Test::Port(dst, protocol, larger, port) => {
                write!(f, "{} {} port {}{port}", side(dst), name(protocol), if larger { "> " } else { "" })
            }
        }
    }
}

#[derive(Clone)]
struct Wall {
    rules: [Vec<Rule>; 2],
}

impl Model for Wall {
    fn fate(&self, sent: &Sent) -> Fate {
        let look = &sent.look;
        let Some(host) = (0..4).find(|&host| ip(look.dst.is_ipv6(), host) == look.dst) else {
            return Fate::Open;
        };
        let (from, to) = (sent.host < 2, host < 2);
        if from == to || look.dst.is_ipv6() {
            return Fate::arrives(host, 0, true);
        }
        let rules = &self.rules[usize::from(to)];
        // A packet arrives if all its parts do.
        let parts = if look.len > HOST_MTU { &[false, true][..] } else { &[false] };
        let passes = |&later: &bool| {
            rules.iter().find(|rule| rule.decides(look, later)).is_some_and(|rule| rule.allows)
        };
        if parts.iter().all(passes) { Fate::arrives(host, 0, true) } else { Fate::Refused(None) }
    }

    fn write(&mut self, _: usize, _: &str, _: &str) -> Verdict {
        Verdict::Either
    }

    fn swap(&mut self, _: usize, _: &Knobs, new: &Knobs) -> Verdict {
        self.rules = rules(new);
        Verdict::Succeeds
    }

    fn copy(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
