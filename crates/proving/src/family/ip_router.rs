//! Routers for IPv4 and IPv6 in a row: the shipped `conf/linux-router.click`, with interfaces in memory.
//!
//! Hosts `a` and `a2` are at one end, `b` and `b2` at the other, one to three routers between them. Both `b` and `b2` have the service's
//! addresses 10.9.0.5 and 2001:db8:9::5; routes that handlers of the last router add say which of them gets what is sent there, or that
//! both do, each flow one of them.

use super::contract::{Family, replace};
use crate::datagram::{Mac, protocol};
use crate::host::{Address, Host};
use crate::ledger::{Arrived, Complaint, Sent};
use crate::link::{Link, Station};
use crate::model::{Fate, Model, Verdict};
use crate::story::{FlowStep, Knob, Knobs, Step, Story};
use crate::world::{ECHO_PORT, Kind, Network};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The family.
pub(super) struct IpRouter;

const SHIPPED: &str = include_str!("../../../../conf/linux-router.click");
/// The packets that routers may send at most, by the position of the knob.
const MTUS: [usize; 3] = [1500, 1280, 1400];
/// The longest piece that hosts send of a packet that is too long for them.
const HOST_PIECE: usize = 1496;
/// What stands between an interface and the router, by the position of the knob: nothing, an element that every worker has its own of, one
/// that all share a worker for.
const TAPS: [&str; 3] = ["", "-> seen :: Counter", "-> seen :: RoundRobinSwitch"];
/// How frames leave, by the position of the knob.
const EXITS: [&str; 3] = [
    "to :: ToMemory($device);",
    "to :: Queue(1000); to -> ToMemory($device);",
    "to :: ThreadSafeQueue(500); to -> ToMemory($device);",
];

const KNOBS: &[Knob] = &[
    Knob { name: "routers", positions: 3, live: false },
    Knob { name: "tap", positions: TAPS.len() as u32, live: true },
    Knob { name: "exit", positions: EXITS.len() as u32, live: true },
    Knob { name: "mtu", positions: MTUS.len() as u32, live: true },
];

/// Addresses that both `b` and `b2` have.
const SERVICES: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(10, 9, 0, 5)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 5))];
/// The prefix lengths that routes to the services have.
const LENGTHS: [[u8; 3]; 2] = [[16, 24, 32], [48, 64, 128]];

impl Family for IpRouter {
    fn name(&self) -> &'static str {
        "ip-router"
    }

    fn knobs(&self) -> &'static [Knob] {
        KNOBS
    }

    fn network(&self, knobs: &Knobs) -> Network {
        let routers = routers(knobs);
        let host = |name: &str, lan: usize, number: u8| {
            let address = |six: bool| {
                let prefix = if six { 64 } else { 24 };
                Address { ip: ip(six, lan, number), prefix, gateway: Some(ip(six, lan, 1)) }
            };
            Host::new(name, [2, 0, 0, 1, lan as u8, number], vec![address(false), address(true)])
        };
        let mut hosts =
            vec![host("a", 0, 10), host("a2", 0, 11), host("b", routers, 10), host("b2", routers, 11)];
        for host in &mut hosts[2..] {
            for service in SERVICES {
                let prefix = if service.is_ipv4() { 32 } else { 128 };
                host.addresses.push(Address { ip: service, prefix, gateway: None });
            }
        }
        let link = |lan: usize| {
            let mut stations = Vec::new();
            if lan > 0 {
                stations.push(Station::Port(lan - 1, 1));
            }
            if lan < routers {
                stations.push(Station::Port(lan, 0));
            }
            match lan {
                0 => stations.extend([0, 1].map(Station::Host)),
                _ if lan == routers => stations.extend([2, 3].map(Station::Host)),
                _ => {}
            }
            Link::new(&format!("lan{lan}"), stations)
        };
        let links = (0..=routers).map(link).collect();
        Network { hosts, links, machines: (0..routers).map(|number| (format!("r{number}"), 2)).collect() }
    }

    fn config(&self, machine: usize, knobs: &Knobs) -> String {
        let (tap, exit) = (TAPS[knobs.get("tap") as usize], EXITS[knobs.get("exit") as usize]);
        let mut text = SHIPPED.to_owned();
        replace(&mut text, "FromDevice($device, METHOD $METHOD)", &format!("FromMemory($device) {tap}"));
        replace(&mut text, "to :: ToDevice($device, METHOD $METHOD);", exit);
        replace(&mut text, "$MTU 1500", &format!("$MTU {}", mtu(knobs)));
        for port in 0..2 {
            let (four, six) = (own(machine, port, false), own(machine, port, true));
            let [a, b, c, d, e, f] = mac(machine, port);
            replace(&mut text, &format!("$IF{port}:eth"), &format!("{a:x}:{b:x}:{c:x}:{d:x}:{e:x}:{f:x}"));
            replace(
                &mut text,
                &format!("$NET{port} 10.0.{}.1/24", port + 1),
                &format!("$NET{port} {four}/24"),
            );
            replace(
                &mut text,
                &format!("$SIX{port} 2001:db8:{}::1/64", port + 1),
                &format!("$SIX{port} {six}/64"),
            );
        }
        let routes = routes(machine, routers(knobs));
        for (six, connected) in [(false, "port1:ipnet 2,"), (true, "port1:ip6net 2,")] {
            let ours = routes.iter().filter(|route| route.prefix.0.is_ipv6() == six);
            let texts = ours.map(|route| {
                let ((ip, length), gateway, port) = (route.prefix, route.gateway, route.port);
                format!(" {ip}/{length} {gateway} {},", port + 1)
            });
            replace(&mut text, connected, &format!("{connected}{}", texts.collect::<String>()));
        }
        text
    }

    fn model(&self, knobs: &Knobs) -> Box<dyn Model> {
        let routers = routers(knobs);
        Box::new(Row {
            routers,
            mtus: vec![mtu(knobs); routers],
            services: BTreeMap::new(),
            chosen: BTreeMap::new(),
            changed_ns: 0,
        })
    }

    fn step(&self, story: &Story, rng: &mut Rng) -> Step {
        let routers = routers(&story.knobs);
        if rng.u32(..4) == 0 {
            return write(routers, rng);
        }
        let from = ["a", "a2", "b", "b2"][rng.usize(..4)];
        let six = rng.bool();
        let lan = if rng.bool() { 0 } else { routers };
        let to = match rng.u32(..13) {
            0..6 => ip(six, lan, rng.u8(10..12)),
            6..8 => ip(six, lan, 99), // no host has it
            8..11 => own(rng.usize(..routers), rng.usize(..2), six),
            // Who has the service's address does not ask for it.
            _ if from.starts_with('a') => SERVICES[usize::from(six)],
            _ => ip(six, 0, 10),
        };
        let kind = [Kind::Udp, Kind::Tcp, Kind::Ping][rng.usize(..3)];
        let size = [16, 500, 1300, 1390, 3000][rng.usize(..5)];
        Step::Flow(FlowStep {
            from: from.to_owned(),
            to,
            kind,
            count: rng.u32(1..=40),
            size,
            gap_ns: [0, 1_000, 50_000, 1_000_000][rng.usize(..4)],
            ttl: if rng.u32(..3) == 0 { rng.u8(1..=4) } else { 64 },
            ecn: 0,
            ports: [rng.u16(1024..), if rng.bool() { ECHO_PORT } else { rng.u16(1..1024) }],
            whole: rng.bool() && size < HOST_PIECE - 60,
            spread: false,
        })
    }
}

fn routers(knobs: &Knobs) -> usize {
    knobs.get("routers") as usize + 1
}

fn mtu(knobs: &Knobs) -> usize {
    MTUS[knobs.get("mtu") as usize]
}

/// The address of a host or router in a network.
fn ip(six: bool, lan: usize, number: u8) -> IpAddr {
    match six {
        false => Ipv4Addr::new(10, 0, lan as u8, number).into(),
        true => Ipv6Addr::new(0x2001, 0xdb8, lan as u16, 0, 0, 0, 0, u16::from(number)).into(),
    }
}

/// The address of a router's port. The router on the left of a network is its number 1.
fn own(machine: usize, port: usize, six: bool) -> IpAddr {
    let right_of = port == 0 && machine > 0;
    ip(six, machine + port, 1 + u8::from(right_of))
}

fn mac(machine: usize, port: usize) -> Mac {
    [2, 0, 0, 2, machine as u8, port as u8]
}

fn write(routers: usize, rng: &mut Rng) -> Step {
    let six = rng.usize(..2);
    let (service, length) = (SERVICES[six], LENGTHS[six][rng.usize(..3)]);
    let prefix = format!("{}/{length}", masked(service, length));
    let [one, other] = [10, 11].map(|number| ip(six == 1, routers, number));
    let to = match rng.u32(..3) {
        0 => format!("{one} 2"),
        1 => format!("{other} 2"),
        _ => format!("nexthop {one} 2 nexthop {other} 2"),
    };
    let table = ["routes", "routes6"][six];
    let (path, value) = match rng.u32(..4) {
        0 => ("remove", prefix),
        1 => ("set", format!("{prefix} {to}")),
        _ => ("add", format!("{prefix} {to}")),
    };
    Step::Write { machine: format!("r{}", routers - 1), path: format!("{table}.{path}"), value }
}

/// An address with nothing behind its prefix.
fn masked(ip: IpAddr, length: u8) -> IpAddr {
    match ip {
        IpAddr::V4(ip) => Ipv4Addr::from_bits(ip.to_bits() & u32::MAX << (32 - length)).into(),
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() & u128::MAX << (128 - length)).into(),
    }
}

/// A route to a network that is not at one of a router's ports.
struct Route {
    prefix: (IpAddr, u8),
    gateway: IpAddr,
    port: usize,
}

/// The routes that a router's configuration has: to all networks, and to the services as far as the last router.
fn routes(machine: usize, routers: usize) -> Vec<Route> {
    let mut routes = Vec::new();
    for six in [false, true] {
        let length = if six { 64 } else { 24 };
        for lan in (0..machine).chain(machine + 2..=routers) {
            let port = usize::from(lan > machine);
            routes.push(Route {
                prefix: (ip(six, lan, 0), length),
                gateway: neighbour(machine, port, six),
                port,
            });
        }
        if machine + 1 < routers {
            let prefix = (
                masked(SERVICES[usize::from(six)], LENGTHS[usize::from(six)][0]),
                LENGTHS[usize::from(six)][0],
            );
            routes.push(Route { prefix, gateway: neighbour(machine, 1, six), port: 1 });
        }
    }
    routes
}

/// The router's neighbour at a port.
fn neighbour(machine: usize, port: usize, six: bool) -> IpAddr {
    match port {
        0 => own(machine - 1, 1, six),
        _ => own(machine + 1, 0, six),
    }
}

/// What a row of routers must do: a packet goes from router to router, each step as the RFCs say.
#[derive(Clone)]
struct Row {
    routers: usize,
    mtus: Vec<usize>,
    /// The routes to the services in the last router: prefix and next hops.
    services: BTreeMap<(IpAddr, u8), Vec<IpAddr>>,
    /// Which host a flow to a service goes to.
    chosen: BTreeMap<u32, usize>,
    /// Since when nothing has changed.
    changed_ns: i64,
}

/// Where a router sends a packet.
enum Hop {
    /// To itself.
    Own,
    /// To an address in the network at a port.
    Out(usize, IpAddr),
    /// To one of several addresses in the network of the last router's second port.
    OneOf(Vec<IpAddr>),
    /// Nowhere.
    None,
}

impl Row {
    fn hop(&self, machine: usize, dst: IpAddr) -> Hop {
        let six = dst.is_ipv6();
        if (0..2).any(|port| own(machine, port, six) == dst) {
            return Hop::Own;
        }
        if let Some(lan) = lan_of(dst) {
            return match lan {
                _ if lan == machine => Hop::Out(0, dst),
                _ if lan == machine + 1 => Hop::Out(1, dst),
                _ if lan > self.routers => Hop::None,
                _ => {
                    Hop::Out(usize::from(lan > machine), neighbour(machine, usize::from(lan > machine), six))
                }
            };
        }
        if machine + 1 < self.routers {
            return if SERVICES.contains(&dst) { Hop::Out(1, neighbour(machine, 1, six)) } else { Hop::None };
        }
        let routes = self
            .services
            .iter()
            .filter(|((prefix, length), _)| prefix.is_ipv6() == six && masked(dst, *length) == *prefix);
        routes
            .max_by_key(|((_, length), _)| *length)
            .map_or(Hop::None, |(_, gateways)| Hop::OneOf(gateways.clone()))
    }

    /// Which host has an address in a network.
    fn host(&self, lan: usize, ip: IpAddr) -> Option<usize> {
        let number = (10..12).position(|number| self::ip(ip.is_ipv6(), lan, number) == ip)?;
        match lan {
            0 => Some(number),
            _ if lan == self.routers => Some(number + 2),
            _ => None,
        }
    }

    /// What becomes of a packet that a router gets.
    fn follow(&self, mut machine: usize, sent: &Sent) -> Fate {
        let (look, six) = (&sent.look, sent.look.dst.is_ipv6());
        let refused = |four, other| Fate::Refused(Some(if six { other } else { four }));
        for hops in 0..u8::MAX {
            let (port, next_hops) = match self.hop(machine, look.dst) {
                Hop::Own if matches!(look.protocol, protocol::ICMP | protocol::ICMP6) => {
                    return Fate::Answered;
                }
                Hop::Own => return refused((3, 3), (1, 4)),
                Hop::None => return refused((3, 0), (1, 0)),
                Hop::Out(port, next_hop) => (port, vec![next_hop]),
                Hop::OneOf(next_hops) => (1, next_hops),
            };
            if look.ttl <= hops + 1 {
                return refused((11, 0), (3, 0));
            }
            if look.whole && look.len.min(HOST_PIECE) > self.mtus[machine] {
                return refused((3, 4), (2, 0));
            }
            let lan = machine + port;
            let hosts: Vec<_> = next_hops.iter().filter_map(|&next_hop| self.host(lan, next_hop)).collect();
            if hosts.len() == next_hops.len() {
                return Fate::Arrives { hosts, hops: hops + 1, as_sent: true, ecn: None };
            }
            let next =
                (0..self.routers).find(|&other| (0..2).any(|port| own(other, port, six) == next_hops[0]));
            match next {
                Some(next) => machine = next,
                // No host answers there. The news takes seconds.
                None => return Fate::Open,
            }
        }
        Fate::Open
    }
}

/// The network that an address is in.
fn lan_of(ip: IpAddr) -> Option<usize> {
    match ip {
        IpAddr::V4(ip) => (ip.octets()[..2] == [10, 0]).then_some(usize::from(ip.octets()[2])),
        IpAddr::V6(ip) => (ip.segments()[2] < 9).then_some(usize::from(ip.segments()[2])),
    }
}

impl Model for Row {
    fn fate(&self, sent: &Sent) -> Fate {
        let lan = if sent.host < 2 { 0 } else { self.routers };
        if lan_of(sent.look.dst) == Some(lan) {
            if let Some(host) = self.host(lan, sent.look.dst) {
                // Who talks to itself needs no network.
                return if host == sent.host { Fate::Open } else { Fate::arrives(host, 0, true) };
            }
            let ours = (0..self.routers).flat_map(|machine| [(machine, 0), (machine, 1)]);
            let mut near = ours.filter(|(machine, port)| machine + port == lan);
            return match near
                .find(|&(machine, port)| own(machine, port, sent.look.dst.is_ipv6()) == sent.look.dst)
            {
                Some((machine, _)) => self.follow(machine, sent),
                None => Fate::Open, // the neighbour does not answer
            };
        }
        self.follow(if lan == 0 { 0 } else { self.routers - 1 }, sent)
    }

    fn write(&mut self, machine: usize, path: &str, value: &str) -> Verdict {
        let mut words = value.split_whitespace();
        let prefix = words.next().and_then(|word| word.split_once('/'));
        let prefix = prefix.and_then(|(ip, length)| Some((ip.parse().ok()?, length.parse().ok()?)));
        let (Some(prefix), true) = (prefix, machine + 1 == self.routers) else { return Verdict::Either };
        let gateways: Vec<IpAddr> = words.filter_map(|word| word.parse().ok()).collect();
        let known = self.services.contains_key(&prefix);
        match path.split_once('.').map(|(_, handler)| handler) {
            Some("add") if known => Verdict::Fails,
            Some("add" | "set") => {
                self.chosen.clear();
                self.services.insert(prefix, gateways);
                Verdict::Succeeds
            }
            Some("remove") if !known => Verdict::Fails,
            Some("remove") => {
                self.chosen.clear();
                self.services.remove(&prefix);
                Verdict::Succeeds
            }
            _ => Verdict::Either,
        }
    }

    fn swap(&mut self, machine: usize, _: &Knobs, new: &Knobs) -> Verdict {
        self.mtus[machine] = mtu(new);
        Verdict::Succeeds
    }

    fn restart(&mut self, machine: usize) {
        if machine + 1 == self.routers {
            self.services.clear();
            self.chosen.clear();
        }
    }

    fn settle(&mut self, now_ns: i64) {
        self.changed_ns = now_ns;
    }

    /// Of several next hops a flow keeps to one, also when the configuration is replaced.
    fn observe(&mut self, sent: &Sent, arrived: &Arrived) -> Result<(), String> {
        let flow = sent.message.flow;
        if sent.message.answer || !SERVICES.contains(&sent.look.dst) || sent.at_ns <= self.changed_ns {
            return Ok(());
        }
        match self.chosen.insert(flow, arrived.host) {
            Some(before) if before != arrived.host => {
                Err(format!("the flow goes to host {}, and went to host {before}", arrived.host))
            }
            _ => Ok(()),
        }
    }

    /// A packet that leaves by the port at which it came brings a redirect to a sender on that network.
    fn allows(&self, _: &Sent, complaint: &Complaint) -> bool {
        complaint.kind == (5, 1)
    }

    fn kept(&self, _: usize, _: &Knobs, _: &Knobs) -> Vec<String> {
        let paths =
            ["routes.table", "routes6.table", "p0/arp.count", "p1/arp.count", "p0/nd.count", "p1/nd.count"];
        paths.map(str::to_owned).to_vec()
    }

    fn copy(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
