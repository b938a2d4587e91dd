//! A gateway that translates addresses: the shipped `conf/nat.click`.
//!
//! Hosts `a`, `a2` and the server `web` are inside, the provider `p` and `x` outside. The model knows the mappings only by what it sees:
//! they must be one to one, stay as they are as long as nothing ends them, and answers must come back to who asked.

use super::contract::{Family, replace};
use crate::datagram::{Mac, protocol, tcp_flags};
use crate::host::{Address, Host};
use crate::ledger::{Arrived, Complaint, Look, Sent};
use crate::link::{Link, Station};
use crate::model::{Fate, Model, Verdict};
use crate::story::{FlowStep, Knob, Knobs, Step, Story};
use crate::world::{ECHO_PORT, Kind, Network};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

/// The family.
pub(super) struct Nat;

const SHIPPED: &str = include_str!("../../../../conf/nat.click");

/// The gateway's public address.
const PUBLIC: IpAddr = v4(203, 0, 113, 2);
const GATEWAY: IpAddr = v4(10, 0, 0, 1);
const WEB: (IpAddr, u16) = (v4(10, 0, 0, 80), 80);
/// An address that only the provider knows the way to: its own, here.
const FAR: IpAddr = v4(198, 51, 100, 5);
/// The hosts outside begin with this number.
const OUTSIDE: usize = 3;
const HOSTS: [(&str, IpAddr); 5] = [
    ("a", v4(10, 0, 0, 10)),
    ("a2", v4(10, 0, 0, 11)),
    ("web", WEB.0),
    ("p", v4(203, 0, 113, 1)),
    ("x", v4(203, 0, 113, 9)),
];

const TAPS: [&str; 3] = ["", "-> seen :: Counter", "-> seen :: RoundRobinSwitch"];
const EXITS: [&str; 2] = ["out :: ToMemory($device)", "out :: Queue(1000) -> ToMemory($device)"];
/// The ports that flows from inside may get.
const RANGES: [(u16, u16); 3] = [(1024, 65_535), (2_000, 2_100), (30_000, 60_000)];

/// The longest packets that the gateway sends on either side.
const MTUS: [usize; 3] = [1500, 1400, 1000];
/// The longest packets that hosts send in one piece.
const HOST_MTU: usize = 1500;

/// Whether an endpoint inside has a port, or identifier, for each flow, or one for all.
const MAPPINGS: [&str; 2] = ["address-and-port-dependent", "endpoint-independent"];

const KNOBS: &[Knob] = &[
    Knob { name: "tap", positions: TAPS.len() as u32, live: true },
    Knob { name: "exit", positions: EXITS.len() as u32, live: true },
    Knob { name: "range", positions: RANGES.len() as u32, live: true },
    Knob { name: "mtu-in", positions: MTUS.len() as u32, live: true },
    Knob { name: "mtu-out", positions: MTUS.len() as u32, live: true },
    Knob { name: "mapping", positions: MAPPINGS.len() as u32, live: false },
];

const fn v4(a: u8, b: u8, c: u8, d: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(a, b, c, d))
}

impl Family for Nat {
    fn name(&self) -> &'static str {
        "nat"
    }

    fn knobs(&self) -> &'static [Knob] {
        KNOBS
    }

    fn network(&self, _: &Knobs) -> Network {
        let host = |(number, (name, ip)): (usize, (&str, IpAddr))| {
            let mac: Mac = [2, 0, 0, 1, 0, number as u8];
            let gateway = (number < OUTSIDE).then_some(GATEWAY);
            Host::new(name, mac, vec![Address { ip, prefix: 24, gateway }])
        };
        let mut hosts: Vec<_> = HOSTS.into_iter().enumerate().map(host).collect();
        hosts[OUTSIDE].addresses.push(Address { ip: FAR, prefix: 32, gateway: None });
        let inside = [0, 1, 2].map(Station::Host).into_iter().chain([Station::Port(0, 0)]);
        let outside = [3, 4].map(Station::Host).into_iter().chain([Station::Port(0, 1)]);
        let links = vec![Link::new("inside", inside.collect()), Link::new("outside", outside.collect())];
        Network { hosts, links, machines: vec![("nat".to_owned(), 2)] }
    }

    fn config(&self, _: usize, knobs: &Knobs) -> String {
        let mut text = SHIPPED.to_owned();
        let (low, high) = RANGES[knobs.get("range") as usize];
        replace(
            &mut text,
            "FromDevice($device, METHOD $METHOD)",
            &format!("FromMemory($device) {}", TAPS[knobs.get("tap") as usize]),
        );
        replace(&mut text, "out :: ToDevice($device, METHOD $METHOD)", EXITS[knobs.get("exit") as usize]);
        replace(&mut text, "$IN:eth", "02:00:00:00:00:01");
        replace(&mut text, "$OUT:eth", "02:00:00:00:00:02");
        // No model counts errors by the second.
        replace(&mut text, "$ERRORS 1000", "$ERRORS 0");
        let [mtu_in, mtu_out] = mtus(knobs);
        replace(&mut text, "$MTU_IN 1500", &format!("$MTU_IN {mtu_in}"));
        replace(&mut text, "$MTU_OUT 1500", &format!("$MTU_OUT {mtu_out}"));
        let mapping = MAPPINGS[knobs.get("mapping") as usize];
        replace(&mut text, "$MAPPING address-and-port-dependent", &format!("$MAPPING {mapping}"));
        replace(&mut text, "share outside 1024-65535", &format!("share outside {low}-{high}"));
        text
    }

    fn model(&self, knobs: &Knobs) -> Box<dyn Model> {
        let one_port = knobs.get("mapping") == 1;
        Box::new(Gateway { range: range(knobs), mtus: mtus(knobs), one_port, ..Gateway::default() })
    }

    fn step(&self, _: &Story, rng: &mut Rng) -> Step {
        let from = rng.usize(..HOSTS.len());
        let inside = from < OUTSIDE;
        let far = if rng.bool() { HOSTS[rng.usize(OUTSIDE..HOSTS.len())].1 } else { FAR };
        let to = match (inside, rng.u32(..8)) {
            (true, 0) => HOSTS[rng.usize(..OUTSIDE)].1,
            (true, 1) => GATEWAY,
            (true, _) => far,
            (false, _) => PUBLIC,
        };
        let kind = [Kind::Udp, Kind::Tcp, Kind::Ping][rng.usize(..3)];
        // Few ports, so that flows meet.
        let port = [ECHO_PORT, 80, 443, 5000][rng.usize(..4)];
        Step::Flow(FlowStep {
            from: HOSTS[from].0.to_owned(),
            to,
            kind,
            count: rng.u32(1..=30),
            size: [16, 64, 500, 1_372, 1_400, 1_480, 3_000][rng.usize(..7)],
            gap_ns: [0, 1_000, 50_000, 1_000_000][rng.usize(..4)],
            ttl: if rng.u32(..8) == 0 { rng.u8(1..=2) } else { 64 },
            ecn: 0,
            ports: [rng.u16(2_000..2_008), port],
            whole: rng.u32(..4) == 0,
            spread: false,
        })
    }
}

fn range(knobs: &Knobs) -> (u16, u16) {
    RANGES[knobs.get("range") as usize]
}

/// The longest packets, inside and outside.
fn mtus(knobs: &Knobs) -> [usize; 2] {
    ["mtu-in", "mtu-out"].map(|name| MTUS[knobs.get(name) as usize])
}

/// What tells flows apart from outside: the protocol, the port at the gateway, and the other side.
type Outer = (u8, u16, (IpAddr, u16));
/// The same from inside: the protocol, who is inside, and the other side.
type Inner = (u8, (IpAddr, u16), (IpAddr, u16));

#[derive(Clone, Default)]
struct Gateway {
    range: (u16, u16),
    /// The longest packets, inside and outside.
    mtus: [usize; 2],
    /// Whether all flows of an endpoint have one port.
    one_port: bool,
    /// Flows that were seen, and what they looked like outside.
    flows: BTreeMap<Inner, Outer>,
    /// Whether mappings may be gone, or be there, without having been seen.
    forgotten: bool,
    /// What flows looked like outside whose packets may have left before the last restart or change of the range: the gateway may know them no
    /// more. Each with the time at which its mapping was seen again.
    doubtful: BTreeMap<Outer, i64>,
    /// When that was, or that it is now.
    restarted: Option<i64>,
    restarts: bool,
    /// Whether there are more flows than the gateway has room for: then only those of which both sides take part have to go on.
    few: bool,
    /// Flows of which both sides were seen to take part, and none to end it, with the time from which on.
    assured: BTreeMap<Inner, i64>,
    /// The sides of TCP connections of which data was seen behind the SYN: of who is inside, of the other.
    heard: BTreeMap<Inner, [bool; 2]>,
}

/// A gateway with room for few flows.
pub(super) fn crowded(knobs: &Knobs) -> Box<dyn Model> {
    Box::new(Gateway { range: range(knobs), mtus: mtus(knobs), few: true, ..Gateway::default() })
}

impl Gateway {
    /// Whether a flow has to go on, at a time, however many others there are.
    fn stays(&self, inner: &Inner, at_ns: i64) -> bool {
        !self.few || self.assured.get(inner).is_some_and(|&since_ns| at_ns >= since_ns)
    }

    /// A packet of a flow was seen on the other side, of who is inside or of the other.
    fn hear(&mut self, inner: Inner, arrived: &Arrived, is_inside: bool) {
        let look = &arrived.look;
        let is_assured = match inner.0 {
            protocol::UDP => !is_inside,
            protocol::TCP if look.flags & tcp_flags::FIN != 0 => {
                self.assured.remove(&inner);
                self.heard.insert(inner, [false; 2]);
                false
            }
            protocol::TCP if look.flags & tcp_flags::SYN == 0 => {
                let heard = self.heard.entry(inner).or_default();
                heard[usize::from(!is_inside)] = true;
                *heard == [true; 2]
            }
            _ => false,
        };
        if self.few && is_assured {
            self.assured.entry(inner).or_insert(arrived.at_ns);
        }
    }

    /// Nothing is known of flows any more.
    fn forget(&mut self) {
        self.flows.clear();
        self.assured.clear();
        self.heard.clear();
    }

    /// Where a packet from inside comes from, and where it goes. The identifier of a ping belongs to its sender.
    fn inner(sent: &Sent) -> Inner {
        let (look, [from, to]) = (&sent.look, sent.look.ports);
        let to = if look.protocol == protocol::ICMP { 0 } else { to };
        (look.protocol, (look.src, from), (look.dst, to))
    }

    /// The mapping that a packet from outside meets.
    fn outer(sent: &Sent) -> Outer {
        let (look, [from, to]) = (&sent.look, sent.look.ports);
        let from = if look.protocol == protocol::ICMP { 0 } else { from };
        (look.protocol, to, (look.src, from))
    }

    /// What becomes of a packet that is to go to a host: one that must not be cut may be too long for its side.
    fn goes_to(&self, host: usize, look: &Look) -> Fate {
        let mtu = self.mtus[usize::from(host >= OUTSIDE)];
        // What came in fragments leaves in fragments.
        let is_uncut = look.whole && look.len <= HOST_MTU;
        if is_uncut && look.len > mtu { Fate::Refused(Some((3, 4))) } else { Fate::arrives(host, 1, false) }
    }

    fn inside_host(ip: IpAddr) -> Option<usize> {
        HOSTS[..OUTSIDE].iter().position(|&(_, own)| own == ip)
    }

    fn outside_host(ip: IpAddr) -> Option<usize> {
        let known = HOSTS[OUTSIDE..].iter().position(|&(_, own)| own == ip).map(|at| at + OUTSIDE);
        known.or((ip == FAR).then_some(OUTSIDE))
    }

    /// Who inside a packet from outside is for, if a mapping says so.
    fn mapped(&self, sent: &Sent) -> Option<(IpAddr, u16)> {
        let outer = Gateway::outer(sent);
        self.flows.iter().find(|(_, other)| **other == outer).map(|(&(_, inside, _), _)| inside)
    }

    fn inward(&self, sent: &Sent) -> Fate {
        let look = &sent.look;
        if look.protocol == protocol::ICMP && !sent.message.answer {
            return Fate::Answered;
        }
        let is_doubtful =
            self.doubtful.get(&Gateway::outer(sent)).is_some_and(|&until_ns| sent.at_ns < until_ns);
        let target = match self.mapped(sent).filter(|_| !is_doubtful) {
            Some((ip, _)) => Gateway::inside_host(ip),
            None if look.protocol == protocol::TCP && look.ports[1] == 80 => Gateway::inside_host(WEB.0),
            None if self.forgotten || is_doubtful => return Fate::Open,
            None => None,
        };
        match target {
            Some(host) if !self.stays(&self.flow_inward(sent, host), sent.at_ns) => Fate::Open,
            Some(_) if look.ttl <= 1 => Fate::Refused(Some((11, 0))),
            Some(host) => self.goes_to(host, look),
            // It may be there again.
            None if self.few && self.range.0 <= look.ports[1] && look.ports[1] <= self.range.1 => Fate::Open,
            None => Fate::Refused(None),
        }
    }

    /// The flow of a packet from outside that is for a host.
    fn flow_inward(&self, sent: &Sent, host: usize) -> Inner {
        let outer = Gateway::outer(sent);
        let inside = self.mapped(sent).unwrap_or((HOSTS[host].1, outer.1));
        (outer.0, inside, outer.2)
    }
}

impl Model for Gateway {
    fn fate(&self, sent: &Sent) -> Fate {
        let look = &sent.look;
        if sent.host >= OUTSIDE {
            return if look.dst == PUBLIC { self.inward(sent) } else { Fate::Open };
        }
        if let Some(host) = Gateway::inside_host(look.dst) {
            return if host == sent.host { Fate::Open } else { Fate::arrives(host, 0, true) };
        }
        let answers_ping = look.protocol == protocol::ICMP && sent.message.answer;
        if look.dst == GATEWAY && look.protocol == protocol::ICMP && !answers_ping {
            return Fate::Answered;
        }
        match Gateway::outside_host(look.dst) {
            Some(_) if !self.stays(&Gateway::inner(sent), sent.at_ns) => Fate::Open,
            Some(_) if look.ttl <= 1 => Fate::Refused(Some((11, 0))),
            Some(host) if !answers_ping => self.goes_to(host, look),
            _ => Fate::Refused(None),
        }
    }

    fn write(&mut self, _: usize, _: &str, _: &str) -> Verdict {
        Verdict::Either
    }

    fn swap(&mut self, _: usize, old: &Knobs, new: &Knobs) -> Verdict {
        self.mtus = mtus(new);
        if range(old) != range(new) {
            // The flows that the old range gave their ports end. Those to the server stay.
            self.flows.retain(|&(_, inside, _), outer| inside == WEB && outer.1 == 80);
            self.assured.clear();
            self.heard.clear();
            self.range = range(new);
            // A port of the old range may be one of the new range, too.
            self.restarts = true;
        }
        Verdict::Succeeds
    }

    fn restart(&mut self, _: usize) {
        self.forget();
        self.restarts = true;
    }

    fn settle(&mut self, now_ns: i64) {
        if std::mem::take(&mut self.restarts) {
            self.restarted = Some(now_ns);
            self.doubtful.values_mut().for_each(|until_ns| *until_ns = i64::MAX);
        }
    }

    fn leap(&mut self, _: i64) {
        self.forgotten = true;
        self.forget();
    }

    fn observe(&mut self, sent: &Sent, arrived: &Arrived) -> Result<(), String> {
        let (look, seen) = (&sent.look, &arrived.look);
        let was_under_way = self.restarted.is_some_and(|at_ns| sent.at_ns <= at_ns);
        match (sent.host < OUTSIDE, arrived.host < OUTSIDE) {
            (true, false) => {
                let (inner, ping) = (Gateway::inner(sent), look.protocol == protocol::ICMP);
                let other = (seen.dst, if ping { 0 } else { seen.ports[1] });
                if (seen.src, other) != (PUBLIC, inner.2) {
                    return Err(format!("{look:?} leaves as {seen:?}"));
                }
                let outer = (look.protocol, seen.ports[0], other);
                if was_under_way {
                    if self.flows.get(&inner) != Some(&outer) {
                        self.doubtful.insert(outer, i64::MAX);
                    }
                    return Ok(());
                }
                self.learn(inner, outer, arrived.at_ns)?;
                self.hear(inner, arrived, true);
                Ok(())
            }
            (false, true) => {
                let (inside, other) = ((seen.dst, seen.ports[1]), Gateway::outer(sent).2);
                let server = (look.protocol == protocol::TCP && look.ports[1] == 80).then_some(WEB);
                // By a mapping that has ended meanwhile it may have come to whom that led.
                let Some(expected) = self.mapped(sent).or(server) else { return Ok(()) };
                let flow = (look.protocol, expected, other);
                if !self.forgotten && self.stays(&flow, sent.at_ns) && inside != expected
                    || seen.src != look.src
                {
                    return Err(format!("{look:?} comes in as {seen:?}, and not to {expected:?}"));
                }
                if was_under_way {
                    return Ok(());
                }
                self.learn((look.protocol, inside, other), Gateway::outer(sent), arrived.at_ns)?;
                self.hear((look.protocol, inside, other), arrived, false);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn allows(&self, sent: &Sent, complaint: &Complaint) -> bool {
        // Its other parts did not come in time.
        sent.look.len > HOST_MTU && complaint.kind == (11, 1)
    }

    fn kept(&self, _: usize, old: &Knobs, new: &Knobs) -> Vec<String> {
        let same = range(old) == range(new);
        let paths: &[&str] = if same {
            &["rw.table_size", "ping.table_size", "in/arp.count", "out/arp.count"]
        } else {
            &["in/arp.count"]
        };
        paths.iter().map(|&path| path.to_owned()).collect()
    }

    fn copy(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}

impl Gateway {
    /// A flow looks like this outside: as before, and as no other.
    fn learn(&mut self, inner: Inner, outer: Outer, now_ns: i64) -> Result<(), String> {
        self.doubtful.entry(outer).and_modify(|until_ns| *until_ns = now_ns.min(*until_ns));
        let to_server = (inner.0, inner.1, outer.1) == (protocol::TCP, WEB, 80);
        if !to_server && !(self.range.0..=self.range.1).contains(&outer.1) {
            return Err(format!("{inner:?} gets the port {}, which is not among {:?}", outer.1, self.range));
        }
        if !self.stays(&inner, now_ns) {
            self.flows.remove(&inner);
        }
        if self.few {
            let assured = &self.assured;
            self.flows
                .retain(|other, theirs| *theirs != outer || *other == inner || assured.contains_key(other));
        }
        let before = self.flows.insert(inner, outer).filter(|&before| before != outer);
        // The server's answer to a question whose flow is gone, by a restart or in a flood, begins a flow of its own, and the next question
        // the right one.
        let two_ways = (self.few || self.restarted.is_some()) && (inner.0, inner.1) == (protocol::TCP, WEB);
        if let Some(before) = before.filter(|before| !two_ways || ![before.1, outer.1].contains(&80)) {
            return Err(format!("{inner:?} was {before:?} outside, and is {outer:?} now"));
        }
        let same_end = |other: &Inner| other.0 == inner.0 && other.1 == inner.1;
        let differs = |(other, theirs): &(&Inner, &Outer)| {
            // The server's port for connections from outside is another matter.
            let in_range = (self.range.0..=self.range.1).contains(&theirs.1);
            same_end(other) && theirs.1 != outer.1 && !to_server && in_range
        };
        if let Some(two) = self.flows.iter().find(differs).filter(|_| self.one_port && !self.forgotten) {
            return Err(format!("{inner:?} is {outer:?} outside, though its endpoint is {two:?}"));
        }
        let other = self.flows.iter().find(|(other, theirs)| **theirs == outer && **other != inner);
        match other {
            Some((other, _)) => Err(format!("{inner:?} and {other:?} are both {outer:?} outside")),
            None => Ok(()),
        }
    }
}
