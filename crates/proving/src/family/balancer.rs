//! A service that several servers provide: the shipped `conf/load-balancer.click`, and the same with balancers of flows.
//!
//! A flow stays with its server while other servers come and go, and new flows are spread over the servers as the mode says.

use super::contract::{Family, replace};
use crate::datagram::{Mac, protocol};
use crate::host::{Address, Host};
use crate::ledger::{Arrived, Complaint, Ledger, Sent};
use crate::link::{Link, Station};
use crate::machine::{Machine, QUEUES};
use crate::model::{Fate, Model, Verdict};
use crate::story::{FlowStep, Knob, Knobs, Step, Story};
use crate::world::{ECHO_PORT, Kind, Network};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

/// The family.
pub(super) struct Balancer;

const SHIPPED: &str = include_str!("../../../../conf/load-balancer.click");
/// The address of the service.
const SERVICE: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 10));
const CLIENTS: [&str; 4] = ["c", "c2", "c3", "c4"];
const SERVERS: [&str; 4] = ["s", "s2", "s3", "s4"];

/// The longest packets that the balancer sends, on both sides.
const MTUS: [usize; 2] = [1500, 1400];
/// The longest packets that hosts send in one piece.
const HOST_MTU: usize = 1500;

/// What chooses servers, by the position of the knob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// What is shipped: web connections by client, others in turn.
    Mappers,
    /// A balancer of flows: in turn, by a hash, or the server with the least load that a handler was told.
    Flows(&'static str),
}

const WAYS: [Way; 4] =
    [Way::Mappers, Way::Flows("rr"), Way::Flows("hash"), Way::Flows("least, LST_MODE cpu")];
/// The servers in use, by the position of the knob: who is here twice gets twice as much.
const SETS: [&[usize]; 5] = [&[0, 1, 2], &[0, 2], &[0, 1, 2, 3], &[1, 1, 2], &[3, 1, 0]];

const TAPS: [&str; 3] = ["", "-> seen :: Counter", "-> seen :: RoundRobinSwitch"];
const EXITS: [&str; 2] = ["out :: ToMemory($device)", "out :: Queue(1000) -> ToMemory($device)"];

const KNOBS: &[Knob] = &[
    Knob { name: "way", positions: WAYS.len() as u32, live: false },
    Knob { name: "set", positions: SETS.len() as u32, live: true },
    Knob { name: "tap", positions: TAPS.len() as u32, live: true },
    Knob { name: "exit", positions: EXITS.len() as u32, live: true },
    Knob { name: "mtu", positions: MTUS.len() as u32, live: true },
];

impl Family for Balancer {
    fn name(&self) -> &'static str {
        "balancer"
    }

    fn knobs(&self) -> &'static [Knob] {
        KNOBS
    }

    fn network(&self, _: &Knobs) -> Network {
        let host = |number: usize| {
            let mac: Mac = [2, 0, 0, 1, 0, number as u8];
            let gateway = (number >= CLIENTS.len()).then_some(Ipv4Addr::new(10, 0, 0, 1).into());
            let name = CLIENTS.iter().chain(&SERVERS).nth(number).unwrap_or(&"");
            Host::new(name, mac, vec![Address { ip: ip(number), prefix: 24, gateway }])
        };
        let stations = |hosts: std::ops::Range<usize>, port| {
            hosts.map(Station::Host).chain([Station::Port(0, port)]).collect()
        };
        let links = vec![Link::new("outside", stations(0..4, 0)), Link::new("inside", stations(4..8, 1))];
        Network { hosts: (0..8).map(host).collect(), links, machines: vec![("lb".to_owned(), 2)] }
    }

    fn config(&self, _: usize, knobs: &Knobs) -> String {
        let mut text = SHIPPED.to_owned();
        let tap = format!("FromMemory($device) {}", TAPS[knobs.get("tap") as usize]);
        replace(&mut text, "FromDevice($device, METHOD $METHOD)", &tap);
        replace(&mut text, "$IF0:eth", "02:00:00:00:00:01");
        replace(&mut text, "$IF1:eth", "02:00:00:00:00:02");
        replace(&mut text, "out :: ToDevice($device, METHOD $METHOD)", EXITS[knobs.get("exit") as usize]);
        // No model counts errors by the second.
        replace(&mut text, "$ERRORS 1000", "$ERRORS 0");
        let mtu = mtu(knobs);
        replace(&mut text, "$MTU0 1500, $MTU1 1500", &format!("$MTU0 {mtu}, $MTU1 {mtu}"));
        match way(knobs) {
            Way::Mappers => use_mappers(&mut text, set(knobs)),
            Way::Flows(mode) => use_flows(&mut text, set(knobs), mode),
        }
        text
    }

    fn model(&self, knobs: &Knobs) -> Box<dyn Model> {
        Box::new(Service {
            way: way(knobs),
            set: set(knobs),
            mtu: mtu(knobs),
            flows: BTreeMap::new(),
            unsure: BTreeSet::new(),
            clients: BTreeMap::new(),
            loads: [0; 4],
            begun: [0; 4],
            uneven: 0,
            changed_ns: 0,
            forgot: false,
            ending: Vec::new(),
        })
    }

    fn step(&self, story: &Story, rng: &mut Rng) -> Step {
        if way(&story.knobs) == WAYS[3] && rng.u32(..4) == 0 {
            let servers = set(&story.knobs).len();
            let value: Vec<_> = (0..servers).map(|server| format!("{server}:{}", rng.u32(..100))).collect();
            return Step::Write { machine: "lb".into(), path: "lb.load".into(), value: value.join(",") };
        }
        let spread = rng.bool();
        let kind = [Kind::Udp, Kind::Tcp, Kind::Ping][rng.usize(..if spread { 2 } else { 3 })];
        let port = [80, 443, ECHO_PORT, 5000][rng.usize(..4)];
        let web = kind == Kind::Tcp && [80, 443].contains(&port);
        let mappers = way(&story.knobs) == Way::Mappers;
        // Workers that look at flows have each their own, and all fragments come to one.
        let size = [16, 64, 500, 1_400, 3_000][rng.usize(..if mappers { 5 } else { 4 })];
        Step::Flow(FlowStep {
            from: CLIENTS[rng.usize(..4)].to_owned(),
            to: SERVICE,
            kind,
            count: if spread { rng.u32(1..=100) } else { rng.u32(1..=30) },
            size,
            gap_ns: [0, 1_000, 50_000, 1_000_000][rng.usize(..4)],
            // A packet that goes no further has had its turn.
            ttl: if web && rng.u32(..4) == 0 { rng.u8(1..=2) } else { 64 },
            ecn: 0,
            ports: [if spread { rng.u16(10_000..60_000) } else { rng.u16(2_000..2_008) }, port],
            whole: rng.bool() && (web && mappers || size != 1_400),
            spread,
        })
    }
}

fn way(knobs: &Knobs) -> Way {
    WAYS[knobs.get("way") as usize]
}

fn mtu(knobs: &Knobs) -> usize {
    MTUS[knobs.get("mtu") as usize]
}

fn set(knobs: &Knobs) -> &'static [usize] {
    SETS[knobs.get("set") as usize]
}

/// The address of a host: clients first, then servers.
fn ip(host: usize) -> IpAddr {
    match host.checked_sub(CLIENTS.len()) {
        None => Ipv4Addr::new(203, 0, 113, 21 + host as u8).into(),
        Some(server) => Ipv4Addr::new(10, 0, 0, 11 + server as u8).into(),
    }
}

fn server_ip(server: usize) -> IpAddr {
    ip(server + CLIENTS.len())
}

/// A part of the shipped configuration, from one piece of text up to another.
fn part<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let found = text.find(from).and_then(|at| text[at..].find(to).map(|end| &text[at..at + end]));
    found.unwrap_or_else(|| panic!("the shipped configuration has no '{from}' up to '{to}' any more"))
}

/// Puts other servers in the place of those that are shipped. Each entry has a number on the ring; a second one of a server, another.
fn use_mappers(text: &mut String, set: &[usize]) {
    let shipped = part(text, "  - - $SERVER0 - 0 1,\n", "\n);").to_owned();
    let lines = |f: &dyn Fn(usize) -> String| (0..set.len()).map(f).collect::<Vec<_>>().join(",\n");
    let pattern = |at: usize| format!("  - - {} - 0 1", server_ip(set[at]));
    replace(text, &shipped, &lines(&pattern));
    let shipped = part(text, "  - - $SERVER0 - 0 1 0,\n", "\n);").to_owned();
    let mut entries: Vec<_> = ring(set).into_iter().enumerate().map(|(at, id)| (id, pattern(at))).collect();
    entries.sort(); // by their numbers, as the manual has it
    let entries: Vec<_> = entries.into_iter().map(|(id, pattern)| format!("{pattern} {id}")).collect();
    replace(text, &shipped, &entries.join(",\n"));
}

/// The numbers on the ring of a set's entries.
fn ring(set: &[usize]) -> Vec<usize> {
    (0..set.len())
        .map(|at| set[at] + 10 * set[..at].iter().filter(|&&other| other == set[at]).count())
        .collect()
}

/// Puts a balancer of flows in the place of mappers and rewriters.
fn use_flows(text: &mut String, set: &[usize], mode: &str) {
    let shipped = part(text, "// Any connection, in turn.", "elementclass Port").to_owned();
    replace(text, &shipped, "");
    let servers: Vec<_> = set.iter().map(|&server| format!("DST {}", server_ip(server))).collect();
    let shipped = part(text, "from_clients[0] -> [0]rw;", "from_clients[3]").to_owned();
    let balancer = format!(
        "flows :: FlowIPManager -> lb :: FlowIPLoadBalancer({}, VIP {SERVICE}, LB_MODE {mode});
         from_clients[0] -> flows; from_clients[1] -> flows; from_clients[2] -> Discard;
         outside[1] -> Discard; inside[1] -> Discard;\n",
        servers.join(", ")
    );
    replace(text, &shipped, &balancer);
    let shipped = part(text, "from_servers[0] -> [2]rw;", "from_servers[2]").to_owned();
    let back = "from_servers[0] -> back :: FlowIPLoadBalancerReverse(lb); from_servers[1] -> Discard;\n";
    replace(text, &shipped, back);
    let shipped = part(text, "rw[0] -> to_servers;", "to_servers[1]").to_owned();
    replace(text, &shipped, "lb -> to_servers; back -> to_clients;\n");
}

/// A flow as clients see it: the protocol, the client, both ports.
type Flow = (u8, IpAddr, [u16; 2]);

/// What the balancer must do.
#[derive(Clone)]
struct Service {
    way: Way,
    set: &'static [usize],
    mtu: usize,
    /// The servers of flows that were seen.
    flows: BTreeMap<Flow, usize>,
    /// Flows whose first packets were under way at a change: their servers are not known.
    unsure: BTreeSet<Flow>,
    /// The servers that a client's web connections may have, where they are chosen by client.
    clients: BTreeMap<IpAddr, BTreeSet<usize>>,
    /// What the balancer was told of the servers' loads, by their places.
    loads: [u32; 4],
    /// Flows that each server was chosen for, since the servers changed.
    begun: [u32; 4],
    /// By how many flows servers may differ more than the mode says.
    uneven: u32,
    changed_ns: i64,
    /// Whether the balancer may have forgotten flows that had passed: answers find only those that have been seen since.
    forgot: bool,
    /// Servers whose flows just end, so that an answer under way finds its flow no more.
    ending: Vec<usize>,
}

impl Service {
    /// Whether the flows of a server have ended, or just end, because it is not in use.
    fn has_ended(&self, server: usize) -> bool {
        self.ending.contains(&server) || !self.set.contains(&server)
    }

    fn is_by_client(&self, sent: &Sent) -> bool {
        self.way == Way::Mappers
            && sent.look.protocol == protocol::TCP
            && [80, 443].contains(&sent.look.ports[1])
    }

    /// The servers that a new flow may have.
    fn choices(&self, sent: &Sent) -> Vec<usize> {
        let known = self.clients.get(&sent.look.src).filter(|_| self.is_by_client(sent));
        match (known, self.way == WAYS[3]) {
            (Some(known), _) => known.iter().copied().collect(),
            (None, false) => self.set.to_vec(),
            (None, true) => {
                let place = (0..self.set.len()).min_by_key(|&place| self.loads[place]);
                place.map(|place| self.set[place]).into_iter().collect()
            }
        }
    }

    fn to_service(&self, sent: &Sent) -> Fate {
        let look = &sent.look;
        if look.protocol == protocol::ICMP || look.ttl <= 1 {
            return Fate::Refused(None);
        }
        if look.whole && (self.mtu + 1..=HOST_MTU).contains(&look.len) {
            return Fate::Refused(Some((3, 4)));
        }
        let mut servers = match self.flows.get(&flow(sent)) {
            Some(&server) => vec![server],
            None if self.unsure.contains(&flow(sent)) => (0..SERVERS.len()).collect(),
            None => self.choices(sent),
        };
        servers.sort_unstable();
        servers.dedup();
        let hosts = servers.into_iter().map(|server| server + CLIENTS.len()).collect();
        Fate::Arrives { hosts, hops: 1, as_sent: false, ecn: None }
    }

    /// Other servers are in use.
    fn change(&mut self, new: &'static [usize]) {
        let (old_ring, new_ring) = (ring(self.set), ring(new));
        let added: BTreeSet<usize> =
            new_ring.iter().filter(|id| !old_ring.contains(id)).map(|id| id % 10).collect();
        let goes = |server: usize| old_ring.iter().any(|id| id % 10 == server && !new_ring.contains(id));
        // A client's connections move only if its server goes, or to one that comes.
        for servers in self.clients.values_mut() {
            match servers.iter().any(|&server| goes(server)) {
                true => *servers = new.iter().copied().collect(),
                false => servers.extend(&added),
            }
        }
        self.flows.retain(|_, server| new.contains(server));
        self.ending = (0..SERVERS.len()).filter(|server| !new.contains(server)).collect();
        let old_loads = std::mem::take(&mut self.loads);
        for (place, server) in self.set.iter().enumerate() {
            let same = new.get(place) == Some(server);
            let now = if same { Some(place) } else { new.iter().position(|other| other == server) };
            if let Some(now) = now {
                self.loads[now] = old_loads[place];
            }
        }
        self.set = new;
        self.begun = [0; 4];
    }
}

fn flow(sent: &Sent) -> Flow {
    (sent.look.protocol, sent.look.src, sent.look.ports)
}

/// The flow that an answer belongs to.
fn asked(sent: &Sent) -> Flow {
    let [from, to] = sent.look.ports;
    (sent.look.protocol, sent.look.dst, [to, from])
}

impl Model for Service {
    fn fate(&self, sent: &Sent) -> Fate {
        let look = &sent.look;
        if sent.host < CLIENTS.len() {
            return if look.dst == SERVICE { self.to_service(sent) } else { Fate::Open };
        }
        match (0..CLIENTS.len()).find(|&client| ip(client) == look.dst) {
            Some(_) if self.way == Way::Mappers && self.has_ended(sent.host - CLIENTS.len()) => Fate::Open,
            Some(_) if self.way == Way::Mappers && self.forgot && !self.flows.contains_key(&asked(sent)) => {
                Fate::Open
            }
            Some(client) => Fate::Arrives { hosts: vec![client], hops: 1, as_sent: false, ecn: None },
            None => Fate::Open,
        }
    }

    fn write(&mut self, _: usize, path: &str, value: &str) -> Verdict {
        if path != "lb.load" || self.way == Way::Mappers {
            return Verdict::Either;
        }
        for (server, load) in value.split(',').filter_map(|word| word.split_once(':')) {
            if let (Ok(server), Ok(load)) = (server.parse::<usize>(), load.parse())
                && let Some(entry) = self.loads.get_mut(server)
            {
                *entry = load;
            }
        }
        Verdict::Either
    }

    fn swap(&mut self, _: usize, old: &Knobs, new: &Knobs) -> Verdict {
        self.mtu = mtu(new);
        if set(old) != set(new) {
            self.change(set(new));
        }
        self.uneven += QUEUES as u32;
        Verdict::Succeeds
    }

    /// What rewriters remember goes on, and what FlowIPManager remembers does not.
    fn upgrade(&mut self, machine: usize, knobs: &Knobs) -> bool {
        let goes_on = matches!(way(knobs), Way::Mappers);
        if goes_on {
            let _ = self.swap(machine, knobs, knobs);
        } else {
            self.restart(machine);
        }
        goes_on
    }

    fn restart(&mut self, _: usize) {
        self.flows.clear();
        self.forgot = true;
        self.loads = [0; 4];
    }

    fn leap(&mut self, _: i64) {
        self.flows.clear();
    }

    fn settle(&mut self, now_ns: i64) {
        self.changed_ns = now_ns;
        self.ending.clear();
    }

    fn observe(&mut self, sent: &Sent, arrived: &Arrived) -> Result<(), String> {
        let (look, seen) = (&sent.look, &arrived.look);
        if sent.host >= CLIENTS.len() {
            return match seen.src == SERVICE && (seen.dst, seen.ports) == (look.dst, look.ports) {
                true => Ok(()),
                false => Err(format!("{look:?} comes back as {seen:?}")),
            };
        }
        if (seen.src, seen.ports) != (look.src, look.ports) || seen.dst != ip(arrived.host) {
            return Err(format!("{look:?} goes to a server as {seen:?}"));
        }
        if sent.at_ns <= self.changed_ns {
            // What was under way at a change may have gone as before it.
            if !self.flows.contains_key(&flow(sent)) {
                self.unsure.insert(flow(sent));
            }
            return Ok(());
        }
        self.unsure.remove(&flow(sent));
        let server = arrived.host - CLIENTS.len();
        if self.is_by_client(sent) {
            self.clients.insert(look.src, [server].into());
        }
        match self.flows.insert(flow(sent), server) {
            Some(before) if before != server => {
                return Err(format!("the flow goes to server {server}, and went to server {before}"));
            }
            Some(_) => {}
            None if self.is_by_client(sent) => {}
            None => self.begun[server] += 1,
        }
        Ok(())
    }

    fn allows(&self, sent: &Sent, complaint: &Complaint) -> bool {
        // Its other parts did not come in time.
        sent.look.len > HOST_MTU && complaint.kind == (11, 1)
    }

    /// The servers have got as many flows as they should.
    fn at_end(&self, _: &mut [Machine], _: &Ledger, calm: bool) -> Vec<String> {
        let all: u32 = self.begun.iter().sum();
        if !calm || self.way == WAYS[3] || all == 0 {
            return Vec::new();
        }
        let mut wrong = Vec::new();
        for (server, &begun) in self.begun.iter().enumerate() {
            let entries = self.set.iter().filter(|&&other| other == server).count();
            let share = entries as f64 / self.set.len() as f64;
            let expected = share * f64::from(all);
            let slack = match self.way {
                // Five standard deviations of a binomial distribution.
                Way::Flows("hash") => 5.0 * (expected * (1.0 - share)).sqrt() + 1.0,
                // Each worker goes round by itself.
                _ => f64::from(QUEUES as u32 * entries.max(1) as u32 + self.uneven),
            };
            if (f64::from(begun) - expected).abs() > slack {
                wrong.push(format!(
                    "server {server} got {begun} of {all} flows, and not {expected:.1} ± {slack:.1}"
                ));
            }
        }
        wrong
    }

    fn kept(&self, _: usize, old: &Knobs, new: &Knobs) -> Vec<String> {
        let path: &[&str] = match way(old) {
            Way::Mappers if set(old) == set(new) => &["rw.table_size"],
            Way::Mappers => &[],
            Way::Flows(_) => &["flows.count"],
        };
        path.iter().map(|&path| path.to_owned()).collect()
    }

    fn copy(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
