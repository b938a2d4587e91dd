//! The shipped stateful firewall, `conf/firewall.click`, in the cable between two hosts and a router, behind which others are.
//!
//! Who is inside may ask, and who is asked may answer; errors about what was sent come in. From outside only the servers' ports may be asked. The
//! model remembers which connections it has seen begin, and reads the rules one by one. TCP is harder to get through: a segment behind the SYN
//! passes only when the SYN's answer has passed.

use super::contract::{Family, replace};
use super::sites::{self, EXITS, LINK_MTU, TAPS};
use crate::datagram::{protocol, tcp_flags};
use crate::host::{Address, Host};
use crate::ledger::{Arrived, Look, Sent};
use crate::link::{Link, Station};
use crate::model::{Fate, Model, Verdict};
use crate::story::{FlowStep, Knob, Knobs, Step, Story};
use crate::world::{ECHO_PORT, Kind, Network};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The family.
pub(super) struct Firewall;

const SHIPPED: &str = include_str!("../../../../conf/firewall.click");

/// The sides of the router, and of the firewall in one of its cables.
const INSIDE: usize = 0;
const OUTSIDE: usize = 1;
/// The routers' places.
const WALL: usize = 0;
const ROUTER: usize = 1;

/// Hosts 0 and 1 are inside: a web server and a mail server.
const NAMES: [&str; 4] = ["a", "a2", "b", "b2"];
const WEB: u8 = 10;
const MAIL: u8 = 11;
/// The port of mail (RFC 5321).
const SMTP: u16 = 25;
/// What hosts inside have inside: not the router's address, whose errors are let in.
const NETS: &str = "$NET4 10.0.1.8/29, $NET6 2001:db8:1::8/125";

/// How many connections the firewall remembers, by the position of the knob: more than any story has.
const CAPACITIES: [u32; 2] = [1 << 20, 1000];
/// The ports from which hosts inside ask by UDP. Those behind them are never in use.
const ASKING: std::ops::Range<u16> = 2000..2100;

const KNOBS: &[Knob] = &[
    Knob { name: "tap", positions: TAPS.len() as u32, live: true },
    Knob { name: "exit", positions: EXITS.len() as u32, live: true },
    Knob { name: "keep", positions: 2, live: true },
    Knob { name: "capacity", positions: CAPACITIES.len() as u32, live: true },
];

impl Family for Firewall {
    fn name(&self) -> &'static str {
        "firewall"
    }

    fn knobs(&self) -> &'static [Knob] {
        KNOBS
    }

    fn network(&self, _: &Knobs) -> Network {
        let host = |number: usize| {
            let (side, last) = (number / 2, 10 + (number % 2) as u8);
            let address = |six| {
                let prefix = if six { 64 } else { 24 };
                Address { ip: sites::site(six, side, last), prefix, gateway: Some(sites::site(six, side, 1)) }
            };
            Host::new(NAMES[number], [2, 0, 0, 1, side as u8, last], vec![address(false), address(true)])
        };
        let links = vec![
            Link::new("inside", vec![Station::Host(0), Station::Host(1), Station::Port(WALL, 0)]),
            Link::new("between", vec![Station::Port(WALL, 1), Station::Port(ROUTER, 0)]),
            Link::new("outside", vec![Station::Port(ROUTER, 1), Station::Host(2), Station::Host(3)]),
        ];
        let machines = ["wall", "router"].map(|name| (name.to_owned(), 2)).to_vec();
        Network { hosts: (0..4).map(host).collect(), links, machines }
    }

    fn config(&self, machine: usize, knobs: &Knobs) -> String {
        let address = |side| [false, true].map(|six| sites::site(six, side, 1));
        match machine {
            WALL => wall(knobs),
            _ => sites::router(ROUTER, knobs, LINK_MTU, [address(INSIDE), address(OUTSIDE)]),
        }
    }

    fn model(&self, _: &Knobs) -> Box<dyn Model> {
        Box::new(Memory::default())
    }

    fn step(&self, story: &Story, rng: &mut Rng) -> Step {
        let (from, six) = (rng.usize(..4), rng.bool());
        let (side, kind) = (from / 2, [Kind::Udp, Kind::Tcp, Kind::Ping][rng.usize(..3)]);
        let host = rng.u8(WEB..=MAIL);
        let to = match rng.u32(..12) {
            0 => sites::site(six, INSIDE, 1),
            1 => sites::site(six, OUTSIDE, 1),
            2 => nowhere(six),
            3 => sites::site(six, side, host),
            4 => sites::site(six, OUTSIDE, 99),
            _ => sites::site(six, 1 - side, host),
        };
        // Each connection of TCP is another one: it is not said what becomes of one that begins again before it has ended.
        let own = 3000 + 100 * story.steps.len() as u16;
        let inside = ASKING.start + rng.u16(..3);
        let ports = match (kind, side) {
            (Kind::Tcp, _) => [own, [80, 443, SMTP, ECHO_PORT][rng.usize(..4)]],
            (Kind::Udp, OUTSIDE) if rng.bool() => {
                [ECHO_PORT, [inside, ASKING.end + rng.u16(..3)][rng.usize(..2)]]
            }
            _ => [inside, [ECHO_PORT, 53][rng.usize(..2)]],
        };
        // All segments of a connection fit into a window.
        let size = [16, 64, 1400, if kind == Kind::Tcp { 2000 } else { 3000 }][rng.usize(..4)];
        Step::Flow(FlowStep {
            from: NAMES[from].to_owned(),
            to,
            kind,
            count: rng.u32(1..=30),
            size,
            gap_ns: [0, 1_000, 50_000, 1_000_000][rng.usize(..4)],
            ttl: if rng.u32(..4) == 0 { rng.u8(1..=3) } else { 64 },
            ecn: rng.u8(..4),
            ports,
            whole: rng.bool() && size <= 1400,
            spread: kind != Kind::Tcp && side == INSIDE && rng.u32(..4) == 0,
        })
    }
}

/// The shipped firewall; by the knob `keep`, connections are remembered behind the rules or, without ConnTrackConfirm, in front of them.
fn wall(knobs: &Knobs) -> String {
    let (tap, exit) = (TAPS[knobs.get("tap") as usize], EXITS[knobs.get("exit") as usize]);
    let mut text = SHIPPED.to_owned();
    let from = "FromDevice($device, PROMISC true, METHOD $METHOD)";
    replace(&mut text, from, &format!("FromMemory($device) {tap}"));
    replace(&mut text, "input -> ToDevice($device, METHOD $METHOD);", &format!("{exit} input -> to;"));
    replace(&mut text, "$NET4 192.0.2.0/24, $NET6 2001:db8:2::/48", NETS);
    for (shipped, host) in [("2.80, $WEB6 2001:db8:2::80", WEB), ("2.25, $MAIL6 2001:db8:2::25", MAIL)] {
        let name = if host == WEB { "WEB6" } else { "MAIL6" };
        let [four, six] = [false, true].map(|six| sites::site(six, INSIDE, host));
        replace(&mut text, &format!("192.0.{shipped}"), &format!("{four}, ${name} {six}"));
    }
    replace(&mut text, "$FLOWS 1048576", &format!("$FLOWS {}", CAPACITIES[knobs.get("capacity") as usize]));
    if knobs.get("keep") == 1 {
        replace(&mut text, "ConnTrackConfirm(ct)", "Null");
    }
    text
}

/// An address that no router has a route to.
fn nowhere(six: bool) -> IpAddr {
    match six {
        false => Ipv4Addr::new(192, 168, 7, 7).into(),
        true => Ipv6Addr::new(0x2001, 0xdb8, 0x99, 0, 0, 0, 0, 7).into(),
    }
}

/// A connection: its protocol, its end inside and the other, and whether it is a question of ICMP from outside.
type Flow = (u8, (IpAddr, u16), (IpAddr, u16), bool);

fn flow(sent: &Sent) -> Flow {
    let (look, [from, to], outward) = (&sent.look, sent.look.ports, sent.host / 2 == INSIDE);
    let (src, dst) = ((look.src, from), (look.dst, to));
    let (inside, outside) = if outward { (src, dst) } else { (dst, src) };
    (look.protocol, inside, outside, is_ping(look) && outward == sent.message.answer)
}

fn is_ping(look: &Look) -> bool {
    matches!(look.protocol, protocol::ICMP | protocol::ICMP6)
}

/// Whether a segment begins a connection.
fn is_first(look: &Look) -> bool {
    look.flags & (tcp_flags::SYN | tcp_flags::ACK) == tcp_flags::SYN
}

/// Whether the rules let a packet begin a connection. They stand in `conf/firewall.click`.
fn may_begin(look: &Look, outward: bool) -> bool {
    let is = |ip: IpAddr, host: u8| ip == sites::site(ip.is_ipv6(), INSIDE, host);
    let tcp = look.protocol == protocol::TCP;
    match look.ports[1] {
        SMTP if tcp => is(if outward { look.src } else { look.dst }, MAIL),
        _ if outward => true,
        port if tcp => is(look.dst, WEB) && [80, 443].contains(&port),
        _ => look.protocol == protocol::ICMP6,
    }
}

/// A connection that has begun.
#[derive(Clone, Copy)]
struct Known {
    /// When its first packet that is known of was behind the firewall. What was sent before may have met it there, or not.
    since_ns: i64,
    /// Of TCP, when who asked had the answer.
    answered_ns: Option<i64>,
}

/// What the firewall must remember.
#[derive(Clone, Default)]
struct Memory {
    /// Connections that have begun.
    flows: BTreeMap<Flow, Known>,
    /// Those that it may have forgotten.
    doubtful: BTreeSet<Flow>,
    /// When it forgot the last time, or that it does now.
    forgot_ns: Option<i64>,
    forgets: bool,
}

impl Memory {
    /// Whether a packet passes the firewall; `None` if that is not said.
    fn passes(&self, sent: &Sent, outward: bool) -> Option<bool> {
        let (look, flow, answer) = (&sent.look, flow(sent), sent.message.answer);
        if self.forgets {
            return None;
        }
        let known = self.flows.get(&flow);
        let is_known = known.is_some_and(|known| sent.at_ns >= known.since_ns);
        if look.protocol == protocol::TCP {
            return match known {
                _ if is_first(look) => Some(may_begin(look, outward)),
                None if self.doubtful.contains(&flow) => None,
                None => Some(false),
                Some(_) if answer => is_known.then_some(true),
                Some(known) => known.answered_ns.filter(|&at_ns| sent.at_ns > at_ns).map(|_| true),
            };
        }
        let begins = !(is_ping(look) && answer) && may_begin(look, outward);
        // A question may have passed, and be lost behind the firewall.
        let may_be_known = if is_ping(look) { answer } else { ASKING.contains(&look.ports[1]) };
        match is_known || begins {
            true => Some(true),
            false if known.is_some() || may_be_known || self.doubtful.contains(&flow) => None,
            false => Some(false),
        }
    }
}

impl Model for Memory {
    fn fate(&self, sent: &Sent) -> Fate {
        let (look, side, six) = (&sent.look, sent.host / 2, sent.look.dst.is_ipv6());
        let refused = |four, other| Fate::Refused(Some(if six { other } else { four }));
        let place = sites::place(look.dst);
        let host = place.and_then(|(other, number)| {
            (WEB..=MAIL).contains(&number).then(|| 2 * other + usize::from(number - WEB))
        });
        if place.is_some_and(|(other, number)| other == side && number != 1) {
            // Who talks to itself needs no network, and a neighbour that is not there does not answer.
            return host
                .filter(|&host| host != sent.host)
                .map_or(Fate::Open, |host| Fate::arrives(host, 0, true));
        }
        let told = match (place, host) {
            (None, _) => refused((3, 0), (1, 0)),
            (Some((_, 1)), _) => sites::at_gateway(sent),
            _ if look.ttl <= 1 => refused((11, 0), (3, 0)),
            (_, Some(host)) => Fate::arrives(host, 1, true),
            _ => Fate::Open, // no host answers there
        };
        let arrives = matches!(told, Fate::Arrives { .. });
        if side == OUTSIDE && !arrives {
            return told; // the router is in front of the firewall
        }
        match self.passes(sent, side == INSIDE) {
            None => Fate::Open,
            Some(false) => Fate::Refused(None),
            Some(true) => told,
        }
    }

    fn write(&mut self, _: usize, _: &str, _: &str) -> Verdict {
        Verdict::Either
    }

    fn restart(&mut self, machine: usize) {
        if machine == WALL {
            self.flows.clear();
            self.doubtful.clear();
            self.forgets = true;
        }
    }

    fn leap(&mut self, _: i64) {
        self.doubtful.extend(std::mem::take(&mut self.flows).into_keys());
        self.forgets = true;
    }

    fn settle(&mut self, now_ns: i64) {
        if std::mem::take(&mut self.forgets) {
            self.forgot_ns = Some(now_ns);
        }
    }

    fn observe(&mut self, sent: &Sent, arrived: &Arrived) -> Result<(), String> {
        let (look, flow, outward) = (&sent.look, flow(sent), sent.host / 2 == INSIDE);
        if outward == (arrived.host / 2 == INSIDE) {
            return Ok(());
        }
        if look.protocol == protocol::TCP && sent.message.answer {
            if look.flags & tcp_flags::SYN != 0
                && let Some(known) = self.flows.get_mut(&flow)
            {
                known.answered_ns = Some(arrived.at_ns);
            }
            return Ok(());
        }
        let begins = match look.protocol {
            protocol::TCP => is_first(look),
            protocol::UDP => outward,
            _ => !sent.message.answer,
        };
        match self.forgot_ns.is_none_or(|at_ns| sent.at_ns > at_ns) {
            _ if !begins => {}
            true => {
                let begun = Known { since_ns: arrived.at_ns, answered_ns: None };
                self.flows.entry(flow).or_insert(begun);
            }
            false => drop(self.doubtful.insert(flow)),
        }
        Ok(())
    }

    fn kept(&self, machine: usize, _: &Knobs, _: &Knobs) -> Vec<String> {
        let paths =
            if machine == WALL { ["ct.flows", "ct.count"] } else { ["routes.table", "routes6.table"] };
        paths.map(str::to_owned).to_vec()
    }

    fn copy(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
