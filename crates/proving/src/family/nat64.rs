//! A gateway by which IPv6 hosts reach IPv4 hosts: the shipped `conf/nat64.click`.
//!
//! Hosts `a` and `a2` are inside and have IPv6 only, the provider `p` and `x` outside have IPv4 only. The model knows what endpoints inside are
//! outside by what it sees: that is one to one for each protocol, wherever they send, and stays as long as nothing ends it. Who has been seen
//! to send where says what must come in, who has sent at all what may.

use super::contract::{Family, replace};
use crate::datagram::{Mac, protocol};
use crate::host::{Address, Host};
use crate::ledger::{Arrived, Complaint, Look, Sent};
use crate::link::{Link, Station};
use crate::model::{Fate, Model, Verdict};
use crate::story::{FlowStep, Knob, Knobs, Step, Story};
use crate::world::{ECHO_PORT, Kind, Network};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The family.
pub(super) struct Nat64;

const SHIPPED: &str = include_str!("../../../../conf/nat64.click");

/// The gateway's addresses.
const PUBLIC: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 2);
const GATEWAY: IpAddr = v6(1, 1);
/// An address that only the provider knows the way to: its own, here.
const FAR: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 5);
/// An address that no host has.
const ABSENT: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 77);
/// One that stands for no IPv4 address.
const ELSEWHERE: IpAddr = v6(9, 9);
/// The hosts outside begin with this number.
const OUTSIDE: usize = 2;
const HOSTS: [(&str, IpAddr); 4] = [
    ("a", v6(1, 0x10)),
    ("a2", v6(1, 0x11)),
    ("p", IpAddr::V4(Ipv4Addr::new(203, 0, 113, 1))),
    ("x", IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9))),
];

/// What packets come by and leave by, on both sides.
const TAPS: [&str; 3] = ["", "-> Counter", "-> RoundRobinSwitch"];
/// The ports that endpoints inside may get. Among few, hosts outside find them by chance.
const RANGES: [(u16, u16); 3] = [(1024, 65_535), (5_000, 5_015), (5_008, 5_023)];
/// Who reaches an endpoint that is known outside.
const FILTERS: [&str; 3] = ["address-dependent", "endpoint-independent", "address-and-port-dependent"];
/// What stands in front of IPv4 addresses, and its length (RFC 6052).
const PREFIXES: [(&str, u32); 4] =
    [("64:ff9b::", 96), ("2001:db8:64::", 96), ("2001:db8:64::", 48), ("2001:db8:64::", 64)];
/// The longest packets that the gateway sends on either side.
const MTUS6: [usize; 3] = [1500, 1280, 1400];
const MTUS4: [usize; 3] = [1500, 1000, 1400];
/// The longest packets that hosts send in one piece.
const HOST_MTU: usize = 1500;
/// IPv6 headers are longer than those of IPv4 by so much.
const LONGER: usize = 20;
/// IPv4 packets of this length at most may be cut though they come from IPv6 (RFC 7915, section 5.1).
const MAY_BE_CUT: usize = 1260;

const KNOBS: &[Knob] = &[
    Knob { name: "tap", positions: TAPS.len() as u32, live: true },
    Knob { name: "exit", positions: 2, live: true },
    Knob { name: "range", positions: RANGES.len() as u32, live: true },
    Knob { name: "filter", positions: FILTERS.len() as u32, live: false },
    Knob { name: "prefix", positions: PREFIXES.len() as u32, live: false },
    Knob { name: "mtu6", positions: MTUS6.len() as u32, live: true },
    Knob { name: "mtu4", positions: MTUS4.len() as u32, live: true },
];

const fn v6(network: u16, number: u16) -> IpAddr {
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, network, 0, 0, 0, 0, number))
}

impl Family for Nat64 {
    fn name(&self) -> &'static str {
        "nat64"
    }

    fn knobs(&self) -> &'static [Knob] {
        KNOBS
    }

    fn network(&self, _: &Knobs) -> Network {
        let host = |(number, (name, ip)): (usize, (&str, IpAddr))| {
            let mac: Mac = [2, 0, 0, 1, 0, number as u8];
            let (prefix, gateway) = if number < OUTSIDE { (64, Some(GATEWAY)) } else { (24, None) };
            Host::new(name, mac, vec![Address { ip, prefix, gateway }])
        };
        let mut hosts: Vec<_> = HOSTS.into_iter().enumerate().map(host).collect();
        hosts[OUTSIDE].addresses.push(Address { ip: FAR.into(), prefix: 32, gateway: None });
        let inside = [0, 1].map(Station::Host).into_iter().chain([Station::Port(0, 0)]);
        let outside = [2, 3].map(Station::Host).into_iter().chain([Station::Port(0, 1)]);
        let links = vec![Link::new("inside", inside.collect()), Link::new("outside", outside.collect())];
        Network { hosts, links, machines: vec![("nat64".to_owned(), 2)] }
    }

    fn config(&self, _: usize, knobs: &Knobs) -> String {
        let mut text = SHIPPED.to_owned();
        let tap = TAPS[knobs.get("tap") as usize];
        for (side, exit, name) in [("$IN", "to_in", "seen6"), ("$OUT", "to_out", "seen4")] {
            let tap = tap.replace("-> ", &format!("-> {name} :: "));
            replace(
                &mut text,
                &format!("FromDevice({side}, METHOD $METHOD)"),
                &format!("FromMemory({side}) {tap}"),
            );
            let to = match knobs.get("exit") {
                0 => format!("{exit} :: ToMemory({side})"),
                _ => format!("{exit} :: Queue(1000); {exit} -> ToMemory({side})"),
            };
            replace(&mut text, &format!("{exit} :: ToDevice({side}, METHOD $METHOD)"), &to);
        }
        replace(&mut text, "$IN:eth", "02:00:00:00:00:01");
        replace(&mut text, "$OUT:eth", "02:00:00:00:00:02");
        let ((low, high), (prefix, len)) = (range(knobs), PREFIXES[knobs.get("prefix") as usize]);
        replace(&mut text, "NAT64(outside 1024-65535", &format!("NAT64(outside {low}-{high}"));
        replace(&mut text, "$PREFIX 64:ff9b::/96", &format!("$PREFIX {prefix}/{len}"));
        let filter = FILTERS[knobs.get("filter") as usize];
        replace(&mut text, "$FILTERING address-dependent", &format!("$FILTERING {filter}"));
        replace(&mut text, "$MTU6 1500", &format!("$MTU6 {}", mtu6(knobs)));
        replace(&mut text, "$MTU4 1500", &format!("$MTU4 {}", mtu4(knobs)));
        text
    }

    fn model(&self, knobs: &Knobs) -> Box<dyn Model> {
        Box::new(Gateway { knobs: knobs.clone(), ..Gateway::default() })
    }

    fn step(&self, story: &Story, rng: &mut Rng) -> Step {
        if rng.u32(..30) == 0 {
            let [machine, path, value] = ["nat64", "nat64.clear", ""].map(str::to_owned);
            return Step::Write { machine, path, value };
        }
        let from = rng.usize(..HOSTS.len());
        let kind = [Kind::Udp, Kind::Tcp, Kind::Ping][rng.usize(..3)];
        let service = [ECHO_PORT, 80, 443][rng.usize(..3)];
        // What some endpoint may be outside.
        let guess = RANGES[rng.usize(1..RANGES.len())].0 + rng.u16(..16);
        let outside = match rng.u32(..3) {
            0 => FAR.into(),
            _ => HOSTS[rng.usize(OUTSIDE..HOSTS.len())].1,
        };
        let stands_for = |ip| embed(&story.knobs, ip);
        let (to, ports) = if from >= OUTSIDE {
            let own = if kind == Kind::Ping { guess } else { service };
            (PUBLIC.into(), [own, guess])
        } else {
            // Few ports, so that flows meet; who is asked at the echo port answers.
            let own = [ECHO_PORT, 2_000, 2_001, 2_002][rng.usize(..4)];
            match (rng.u32(..12), outside) {
                (0, _) => (HOSTS[rng.usize(..OUTSIDE)].1, [own, service]),
                (1, _) => (GATEWAY, [own, service]),
                (2, _) => (stands_for(ABSENT), [own, service]),
                (3, _) => (ELSEWHERE, [own, service]),
                (4..7, _) => (stands_for(PUBLIC), [own, guess]),
                (_, IpAddr::V4(ip)) => (stands_for(ip), [own, service]),
                (_, other) => (other, [own, service]),
            }
        };
        let size = [16, 64, 500, 1_230, 1_240, 1_420, 1_452, 3_000][rng.usize(..8)];
        Step::Flow(FlowStep {
            from: HOSTS[from].0.to_owned(),
            to,
            kind,
            count: rng.u32(1..=30),
            size,
            gap_ns: [0, 1_000, 50_000, 1_000_000][rng.usize(..4)],
            ttl: if rng.u32(..8) == 0 { rng.u8(1..=2) } else { 64 },
            ecn: rng.u8(..4),
            ports,
            whole: rng.bool(),
            spread: from >= OUTSIDE && rng.bool(),
        })
    }
}

fn range(knobs: &Knobs) -> (u16, u16) {
    RANGES[knobs.get("range") as usize]
}

fn mtu6(knobs: &Knobs) -> usize {
    MTUS6[knobs.get("mtu6") as usize]
}

fn mtu4(knobs: &Knobs) -> usize {
    MTUS4[knobs.get("mtu4") as usize]
}

/// Where the four octets of an IPv4 address are (RFC 6052, section 2.2): behind the prefix, and not in the ninth octet.
fn places(knobs: &Knobs) -> impl Iterator<Item = usize> {
    let (_, len) = PREFIXES[knobs.get("prefix") as usize];
    (len as usize / 8..16).filter(|&at| at != 8).take(4)
}

/// The IPv6 address that stands for an IPv4 address.
fn embed(knobs: &Knobs, ip: Ipv4Addr) -> IpAddr {
    let (prefix, _) = PREFIXES[knobs.get("prefix") as usize];
    let mut octets = prefix.parse::<Ipv6Addr>().map_or([0; 16], |prefix| prefix.octets());
    for (at, octet) in places(knobs).zip(ip.octets()) {
        octets[at] = octet;
    }
    Ipv6Addr::from(octets).into()
}

/// The IPv4 address that an IPv6 address stands for.
fn extract(knobs: &Knobs, ip: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(six) = ip else { return None };
    let mut octets = places(knobs).map(|at| six.octets()[at]);
    let mut next = || octets.next().unwrap_or(0);
    let four = Ipv4Addr::new(next(), next(), next(), next());
    (embed(knobs, four) == ip).then_some(four)
}

/// An endpoint inside: the protocol in IPv4's numbers, the host, and its port, or the identifier of its pings.
type End = (u8, IpAddr, u16);
/// Who is outside: the host and its port; of pings no port.
type Peer = (Ipv4Addr, u16);

/// What the gateway must do.
#[derive(Clone, Default)]
struct Gateway {
    knobs: Knobs,
    /// What endpoints are outside, and since when that is known.
    ports: BTreeMap<End, (u16, i64)>,
    /// Where endpoints have been seen to send, or have been reached from, and since when.
    seen: BTreeMap<(End, Peer), i64>,
    /// Where they have sent, whether or not it arrived.
    tried: BTreeSet<(End, Peer)>,
    /// When the gateway last may have forgotten what it knew, or that it does now.
    forgot: Option<i64>,
    forgets: bool,
}

/// The protocol in IPv4's numbers.
fn four(protocol: u8) -> u8 {
    if protocol == protocol::ICMP6 { protocol::ICMP } else { protocol }
}

fn is_ping(look: &Look) -> bool {
    four(look.protocol) == protocol::ICMP
}

/// A port, of what has ports.
fn port(look: &Look, side: usize) -> u16 {
    if is_ping(look) { 0 } else { look.ports[side] }
}

fn inside_host(ip: IpAddr) -> Option<usize> {
    HOSTS[..OUTSIDE].iter().position(|&(_, own)| own == ip)
}

fn outside_host(ip: Ipv4Addr) -> Option<usize> {
    let known = HOSTS[OUTSIDE..].iter().position(|&(_, own)| own == IpAddr::V4(ip)).map(|at| at + OUTSIDE);
    known.or((ip == FAR).then_some(OUTSIDE))
}

/// What sent a packet inside.
fn sender(look: &Look) -> End {
    (four(look.protocol), look.src, look.ports[0])
}

impl Gateway {
    /// Whether the filter lets a peer reach an endpoint that has sent to others. Of the peer the port may be unknown.
    fn lets(
        &self,
        end: End,
        others: impl Iterator<Item = (End, Peer)>,
        ip: Ipv4Addr,
        port: Option<u16>,
    ) -> bool {
        let filter = self.knobs.get("filter");
        let fits = |(other, peer): (End, Peer)| {
            other == end
                && (filter == 1 || peer.0 == ip)
                && (filter != 2 || port.is_none_or(|port| peer.1 == port))
        };
        others.into_iter().any(fits)
    }

    /// Who inside a packet for the public address reaches, if that is known: `Err` says whether it may reach one at all.
    fn target(&self, sent: &Sent, ip: Ipv4Addr, port: Option<u16>) -> Result<usize, bool> {
        let (look, at_ns) = (&sent.look, sent.at_ns);
        let protocol = four(look.protocol);
        let known = self.ports.iter().find(|((of, ..), (own, _))| (*of, *own) == (protocol, look.ports[1]));
        let tried = |end: End| self.lets(end, self.tried.iter().copied(), ip, port);
        let Some((&end, &(_, since_ns))) = known else {
            let mut unknown = self.tried.iter().map(|&(end, _)| end);
            return Err(unknown.any(|end| end.0 == protocol && !self.ports.contains_key(&end) && tried(end)));
        };
        let seen = self.seen.iter().filter(|(_, since_ns)| **since_ns <= at_ns).map(|(&who, _)| who);
        let is_open = self.knobs.get("filter") == 1 || port.is_some() && self.lets(end, seen, ip, port);
        match inside_host(end.1) {
            Some(host) if is_open && since_ns <= at_ns => Ok(host),
            _ => Err(tried(end) || is_open),
        }
    }

    /// What becomes of a packet of so many bytes that is to go to a host inside, if it must not be cut.
    fn inward(&self, target: Result<usize, bool>, uncut: Option<usize>, told: (u8, u8)) -> Fate {
        let is_long = uncut.is_some_and(|len| len > mtu6(&self.knobs));
        match target {
            Ok(_) if is_long => Fate::Refused(Some(told)),
            Ok(host) => Fate::arrives(host, 1, false),
            Err(true) => Fate::Open,
            Err(false) => Fate::Refused(None),
        }
    }

    fn coming_in(&self, sent: &Sent) -> Fate {
        let look = &sent.look;
        let (IpAddr::V4(src), true) = (look.src, look.dst == IpAddr::V4(PUBLIC)) else { return Fate::Open };
        if look.ttl <= 1 {
            return Fate::Refused(Some((11, 0)));
        }
        let target = self.target(sent, src, Some(port(look, 0)));
        // What comes in fragments may leave in fragments.
        let is_uncut = look.whole && look.len <= HOST_MTU;
        self.inward(target, is_uncut.then_some(look.len + LONGER), (3, 4))
    }

    fn going_out(&self, sent: &Sent) -> Fate {
        let look = &sent.look;
        if let Some(host) = inside_host(look.dst) {
            return if host == sent.host { Fate::Open } else { Fate::arrives(host, 0, true) };
        }
        if look.dst == GATEWAY {
            return if is_ping(look) { Fate::Answered } else { Fate::Refused(None) };
        }
        if look.ttl <= 1 {
            return Fate::Refused(Some((3, 0)));
        }
        let uncut = (look.len <= HOST_MTU).then_some(look.len);
        let Some(remote) = extract(&self.knobs, look.dst) else { return Fate::Refused(None) };
        if remote == PUBLIC {
            let target = match is_ping(look) {
                // What its sender is outside is also what it is for.
                true => Ok(sent.host),
                false => {
                    let own = self.ports.get(&sender(look)).filter(|(_, since_ns)| *since_ns <= sent.at_ns);
                    self.target(sent, PUBLIC, own.map(|&(own, _)| own))
                }
            };
            return self.inward(target, uncut, (2, 0));
        }
        let is_long = |len: usize| len - LONGER > mtu4(&self.knobs).max(MAY_BE_CUT);
        match outside_host(remote) {
            _ if uncut.is_some_and(is_long) => Fate::Refused(Some((2, 0))),
            Some(host) => Fate::arrives(host, 1, false),
            None => Fate::Refused(None),
        }
    }

    fn forget(&mut self) {
        self.ports.clear();
        self.seen.clear();
        self.forgets = true;
    }

    /// An endpoint is this outside: as before, and as no other.
    fn learn(&mut self, end: End, port: u16, now_ns: i64) -> Result<(), String> {
        let (low, high) = range(&self.knobs);
        if !(low..=high).contains(&port) {
            return Err(format!("{end:?} gets the port {port}, which is not among {low}-{high}"));
        }
        let (before, _) = *self.ports.entry(end).or_insert((port, now_ns));
        if before != port {
            return Err(format!("{end:?} was {before} outside, and is {port} now"));
        }
        let same = |(other, (theirs, _)): &(&End, &(u16, i64))| {
            **other != end && (other.0, *theirs) == (end.0, port)
        };
        match self.ports.iter().find(same) {
            Some((other, _)) => Err(format!("{end:?} and {other:?} are both {port} outside")),
            None => Ok(()),
        }
    }

    /// An endpoint has sent to a peer, or was reached by it.
    fn note(&mut self, end: End, peer: Peer, now_ns: i64) {
        self.seen.entry((end, peer)).or_insert(now_ns);
    }

    fn leaves(&mut self, sent: &Sent, arrived: &Arrived, remote: Ipv4Addr) -> Result<(), String> {
        let (look, seen, end) = (&sent.look, &arrived.look, sender(&sent.look));
        let as_expected = (IpAddr::V4(PUBLIC), IpAddr::V4(remote), end.0, port(look, 1));
        if (seen.src, seen.dst, seen.protocol, port(seen, 1)) != as_expected {
            return Err(format!("{look:?} leaves as {seen:?}"));
        }
        if self.was_under_way(sent) {
            return Ok(());
        }
        self.note(end, (remote, port(look, 1)), arrived.at_ns);
        self.learn(end, seen.ports[0], arrived.at_ns)
    }

    fn comes(&mut self, sent: &Sent, arrived: &Arrived, src: Ipv4Addr) -> Result<(), String> {
        let (look, seen) = (&sent.look, &arrived.look);
        let as_expected = (embed(&self.knobs, src), four(look.protocol), port(look, 0));
        if (seen.src, four(seen.protocol), port(seen, 0)) != as_expected {
            return Err(format!("{look:?} comes in as {seen:?}"));
        }
        if self.was_under_way(sent) {
            return Ok(());
        }
        let end = (four(look.protocol), seen.dst, seen.ports[1]);
        self.note(end, (src, port(look, 0)), arrived.at_ns);
        self.learn(end, look.ports[1], arrived.at_ns)
    }

    /// A packet went from one host inside to another by what both are outside.
    fn turns(&mut self, sent: &Sent, arrived: &Arrived) -> Result<(), String> {
        let (look, seen) = (&sent.look, &arrived.look);
        if (seen.src, seen.protocol) != (look.dst, look.protocol) {
            return Err(format!("{look:?} comes back as {seen:?}"));
        }
        if is_ping(look) {
            let same = seen.ports == look.ports;
            return if same { Ok(()) } else { Err(format!("{look:?} comes back as {seen:?}")) };
        }
        if self.was_under_way(sent) {
            return Ok(());
        }
        let (from, to) = (sender(look), (look.protocol, seen.dst, seen.ports[1]));
        self.note(from, (PUBLIC, look.ports[1]), arrived.at_ns);
        self.note(to, (PUBLIC, seen.ports[0]), arrived.at_ns);
        self.learn(from, seen.ports[0], arrived.at_ns)?;
        self.learn(to, look.ports[1], arrived.at_ns)
    }

    /// Whether a packet may have been translated before the gateway forgot what it knew, or after.
    fn was_under_way(&self, sent: &Sent) -> bool {
        self.forgot.is_some_and(|at_ns| sent.at_ns <= at_ns)
    }
}

impl Model for Gateway {
    fn fate(&self, sent: &Sent) -> Fate {
        if sent.host < OUTSIDE { self.going_out(sent) } else { self.coming_in(sent) }
    }

    fn sends(&mut self, sent: &Sent) {
        let look = &sent.look;
        if let Some(remote) = extract(&self.knobs, look.dst).filter(|_| sent.host < OUTSIDE && look.ttl > 1) {
            self.tried.insert((sender(look), (remote, port(look, 1))));
        }
    }

    fn write(&mut self, _: usize, _: &str, _: &str) -> Verdict {
        self.forget();
        Verdict::Succeeds
    }

    fn swap(&mut self, _: usize, old: &Knobs, new: &Knobs) -> Verdict {
        if range(old) != range(new) {
            self.forget();
        }
        self.knobs = new.clone();
        Verdict::Succeeds
    }

    fn restart(&mut self, _: usize) {
        self.forget();
    }

    fn leap(&mut self, _: i64) {
        self.forget();
    }

    fn settle(&mut self, now_ns: i64) {
        if std::mem::take(&mut self.forgets) {
            self.forgot = Some(now_ns);
        }
    }

    fn observe(&mut self, sent: &Sent, arrived: &Arrived) -> Result<(), String> {
        let look = &sent.look;
        match (look.src, extract(&self.knobs, look.dst)) {
            (IpAddr::V4(src), _) if arrived.host < OUTSIDE => self.comes(sent, arrived, src),
            (_, Some(PUBLIC)) => self.turns(sent, arrived),
            (_, Some(remote)) => self.leaves(sent, arrived, remote),
            _ => Ok(()),
        }
    }

    fn allows(&self, sent: &Sent, complaint: &Complaint) -> bool {
        // Its other parts did not come in time.
        sent.look.len > HOST_MTU && [(3, 1), (11, 1)].contains(&complaint.kind)
    }

    fn kept(&self, _: usize, old: &Knobs, new: &Knobs) -> Vec<String> {
        let same = range(old) == range(new);
        let paths: &[&str] =
            if same { &["nat64.table_size", "nat64.size", "nat64.hosts", "nat64.endpoints"] } else { &[] };
        paths.iter().chain(&["arp.count", "nd.count"]).map(|&path| path.to_owned()).collect()
    }

    fn copy(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
