//! Several next hops: flows are spread over them by their weights, and stay where they are while next hops come and go, as the lookup
//! elements promise it.
//!
//! Hosts `a` and `a2` are at one port of the shipped `conf/linux-router.click`, and `b`, `b2` and `b3` at the other. Those three have the service's
//! addresses, and handlers say which of them get what is sent there.

use super::contract::{Family, replace};
use super::sites::{self, EAST, LINK_MTU, WEST, site};
use crate::datagram::protocol;
use crate::host::{Address, Host};
use crate::ledger::{Arrived, Complaint, Ledger, Sent};
use crate::link::{Link, Station};
use crate::machine::Machine;
use crate::model::{Fate, Model, Verdict};
use crate::story::{FlowStep, Knob, Knobs, Step, Story};
use crate::world::{ECHO_PORT, Kind, Network};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The family.
pub(super) struct Paths;

const HOSTS: [(&str, usize, u8); 5] =
    [("a", WEST, 10), ("a2", WEST, 11), ("b", EAST, 10), ("b2", EAST, 11), ("b3", EAST, 12)];
/// The first of the hosts that provide the service.
const FIRST: usize = 2;
/// The service's addresses.
const SERVICES: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(10, 9, 0, 5)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 5))];
const PREFIXES: [&str; 2] = ["10.9.0.0/16", "2001:db8:9::/48"];
const TABLES: [&str; 2] = ["routes", "routes6"];
/// Whether flows are remembered, by the position of the knob.
const MEMORY: [&str; 2] = ["", "FLOWS 65536, "];

const KNOBS: &[Knob] = &[
    Knob { name: "memory", positions: MEMORY.len() as u32, live: false },
    Knob { name: "tap", positions: sites::TAPS.len() as u32, live: true },
    Knob { name: "exit", positions: sites::EXITS.len() as u32, live: true },
];

impl Family for Paths {
    fn name(&self) -> &'static str {
        "paths"
    }

    fn knobs(&self) -> &'static [Knob] {
        KNOBS
    }

    fn network(&self, _: &Knobs) -> Network {
        let host = |(name, side, number): (&str, usize, u8)| {
            let address = |six: bool| Address {
                ip: site(six, side, number),
                prefix: if six { 64 } else { 24 },
                gateway: Some(site(six, side, 1)),
            };
            Host::new(name, [2, 0, 0, 1, side as u8, number], vec![address(false), address(true)])
        };
        let mut hosts: Vec<_> = HOSTS.into_iter().map(host).collect();
        for host in &mut hosts[FIRST..] {
            for service in SERVICES {
                let prefix = if service.is_ipv4() { 32 } else { 128 };
                host.addresses.push(Address { ip: service, prefix, gateway: None });
            }
        }
        let stations = |hosts: std::ops::Range<usize>, port| {
            hosts.map(Station::Host).chain([Station::Port(0, port)]).collect()
        };
        let links = vec![
            Link::new("lan0", stations(0..FIRST, 0)),
            Link::new("lan1", stations(FIRST..HOSTS.len(), 1)),
        ];
        Network { hosts, links, machines: vec![("r".to_owned(), 2)] }
    }

    fn config(&self, _: usize, knobs: &Knobs) -> String {
        let address = |side| [false, true].map(|six| site(six, side, 1));
        let mut text = sites::router(0, knobs, LINK_MTU, [address(WEST), address(EAST)]);
        let memory = MEMORY[knobs.get("memory") as usize];
        replace(&mut text, "routes :: IPLookup(", &format!("routes :: IPLookup({memory}"));
        replace(&mut text, "routes6 :: IP6Lookup(", &format!("routes6 :: IP6Lookup({memory}"));
        text
    }

    fn model(&self, knobs: &Knobs) -> Box<dyn Model> {
        let ways = || Ways { hops: BTreeMap::new(), flows: BTreeMap::new(), begun: BTreeMap::new() };
        Box::new(Spread { remembers: knobs.get("memory") == 1, families: [ways(), ways()], changed_ns: 0 })
    }

    fn step(&self, _: &Story, rng: &mut Rng) -> Step {
        let six = usize::from(rng.bool());
        if rng.u32(..3) == 0 {
            return write(six, rng);
        }
        let (kind, spread) = ([Kind::Udp, Kind::Tcp, Kind::Ping][rng.usize(..3)], rng.u32(..3) > 0);
        Step::Flow(FlowStep {
            from: HOSTS[rng.usize(..FIRST)].0.to_owned(),
            to: SERVICES[six],
            kind,
            count: if spread { rng.u32(1..=150) } else { rng.u32(1..=60) },
            size: [16, 64, 500][rng.usize(..3)],
            gap_ns: [0, 1_000, 50_000, 1_000_000][rng.usize(..4)],
            ttl: if rng.u32(..8) == 0 { rng.u8(1..=2) } else { 64 },
            ecn: 0,
            ports: [rng.u16(10_000..60_000), [ECHO_PORT, 80, 443][rng.usize(..3)]],
            whole: rng.bool(),
            spread: spread && kind != Kind::Ping,
        })
    }
}

/// Other next hops, or none.
fn write(six: usize, rng: &mut Rng) -> Step {
    let machine = "r".to_owned();
    let hops: Vec<_> = (0..HOSTS.len() - FIRST).filter(|_| rng.u32(..4) > 0).collect();
    let weighted = rng.u32(..3) == 0;
    let hop = |&number: &usize| {
        let gateway = site(six == 1, EAST, HOSTS[number + FIRST].2);
        // Weights belong to the hosts, so that those that stay have the same.
        let weight = if weighted { [3, 1, 2][number] } else { 1 };
        format!("nexthop {gateway} 2 {weight}")
    };
    let hops: Vec<_> = hops.iter().map(hop).collect();
    let (path, value) = match hops.is_empty() {
        true => ("remove", PREFIXES[six].to_owned()),
        false => ("set", format!("{} {}", PREFIXES[six], hops.join(" "))),
    };
    Step::Write { machine, path: format!("{}.{path}", TABLES[six]), value }
}

/// What tells flows apart. Pings have no ports.
type Flow = (u8, IpAddr, [u16; 2]);

fn flow(sent: &Sent) -> Flow {
    let look = &sent.look;
    let ports = if matches!(look.protocol, protocol::ICMP | protocol::ICMP6) { [0; 2] } else { look.ports };
    (look.protocol, look.src, ports)
}

/// The next hops of a service's address.
#[derive(Clone)]
struct Ways {
    /// Hosts, and their weights.
    hops: BTreeMap<usize, u32>,
    /// To which hosts the flows may go that were seen.
    flows: BTreeMap<Flow, BTreeSet<usize>>,
    /// How many flows each host got that began since the next hops changed.
    begun: BTreeMap<usize, u32>,
}

impl Ways {
    /// There are other next hops.
    fn change(&mut self, hops: BTreeMap<usize, u32>, remembers: bool) {
        let old = std::mem::replace(&mut self.hops, hops);
        let new = &self.hops;
        let same_weights = old.iter().all(|(host, weight)| new.get(host).is_none_or(|now| now == weight));
        let added: Vec<_> = new.keys().filter(|host| !old.contains_key(host)).copied().collect();
        for hosts in self.flows.values_mut() {
            let stay = hosts.iter().all(|host| new.contains_key(host));
            match (stay, remembers) {
                // A remembered flow stays where it is, and waits for it while there is no next hop.
                (true, true) => {}
                (false, true) if new.is_empty() => {}
                (true, false) if same_weights => hosts.extend(&added),
                _ => *hosts = new.keys().copied().collect(),
            }
        }
        self.begun.clear();
    }

    /// All flows may go anywhere.
    fn forget(&mut self) {
        self.flows.clear();
    }
}

/// What the router must do.
#[derive(Clone)]
struct Spread {
    /// Whether flows are remembered.
    remembers: bool,
    /// By family of addresses.
    families: [Ways; 2],
    changed_ns: i64,
}

impl Model for Spread {
    fn fate(&self, sent: &Sent) -> Fate {
        let (look, six) = (&sent.look, sent.look.dst.is_ipv6());
        let refused = |four, other| Fate::Refused(Some(if six { other } else { four }));
        if sent.host >= FIRST {
            // An answer.
            let found = (0..FIRST).find(|&host| site(six, WEST, HOSTS[host].2) == look.dst);
            return found.map_or(Fate::Open, |host| Fate::arrives(host, 1, true));
        }
        let ways = &self.families[usize::from(six)];
        if ways.hops.is_empty() {
            return refused((3, 0), (1, 0));
        }
        if look.ttl <= 1 {
            return refused((11, 0), (3, 0));
        }
        let known = ways.flows.get(&flow(sent)).filter(|hosts| !hosts.is_empty());
        let hosts = known
            .map_or_else(|| ways.hops.keys().copied().collect(), |known| known.iter().copied().collect());
        Fate::Arrives { hosts, hops: 1, as_sent: true, ecn: None }
    }

    fn write(&mut self, _: usize, path: &str, value: &str) -> Verdict {
        let Some(six) = TABLES.iter().position(|table| path.starts_with(&format!("{table}."))) else {
            return Verdict::Either;
        };
        let words: Vec<_> = value.split_whitespace().collect();
        let hop = |words: &[&str]| {
            let gateway: IpAddr = words.get(1)?.parse().ok()?;
            let host = (FIRST..HOSTS.len()).find(|&host| site(six == 1, EAST, HOSTS[host].2) == gateway)?;
            Some((host, words.get(3).and_then(|word| word.parse().ok()).unwrap_or(1)))
        };
        let hops: BTreeMap<_, _> = words.get(1..).unwrap_or_default().chunks(4).filter_map(hop).collect();
        let had_none = self.families[six].hops.is_empty();
        let verdict = if hops.is_empty() && had_none { Verdict::Fails } else { Verdict::Succeeds };
        self.families[six].change(hops, self.remembers);
        verdict
    }

    fn restart(&mut self, _: usize) {
        for ways in &mut self.families {
            ways.forget();
            ways.change(BTreeMap::new(), false);
        }
    }

    fn leap(&mut self, _: i64) {
        if self.remembers {
            self.families.iter_mut().for_each(Ways::forget);
        }
    }

    fn settle(&mut self, now_ns: i64) {
        self.changed_ns = now_ns;
    }

    fn observe(&mut self, sent: &Sent, arrived: &Arrived) -> Result<(), String> {
        if sent.host >= FIRST || sent.at_ns <= self.changed_ns {
            return Ok(());
        }
        let ways = &mut self.families[usize::from(sent.look.dst.is_ipv6())];
        // That the host is one of those is the fate's matter.
        if ways.flows.insert(flow(sent), [arrived.host].into()).is_none() {
            *ways.begun.entry(arrived.host).or_default() += 1;
        }
        Ok(())
    }

    fn allows(&self, _: &Sent, complaint: &Complaint) -> bool {
        complaint.kind == (5, 1)
    }

    /// New flows are spread by the weights: within five standard deviations of a binomial distribution.
    fn at_end(&self, _: &mut [Machine], _: &Ledger, calm: bool) -> Vec<String> {
        let mut wrong = Vec::new();
        for ways in self.families.iter().filter(|_| calm) {
            let (all, weights): (u32, u32) = (ways.begun.values().sum(), ways.hops.values().sum());
            for (host, &weight) in &ways.hops {
                let begun = ways.begun.get(host).copied().unwrap_or(0);
                let share = f64::from(weight) / f64::from(weights);
                let expected = share * f64::from(all);
                let slack = 5.0 * (expected * (1.0 - share)).sqrt() + 1.0;
                if (f64::from(begun) - expected).abs() > slack {
                    wrong.push(format!(
                        "host {host} got {begun} of {all} flows, and not {expected:.1} ± {slack:.1}"
                    ));
                }
            }
        }
        wrong
    }

    fn kept(&self, _: usize, _: &Knobs, _: &Knobs) -> Vec<String> {
        let paths =
            TABLES.iter().flat_map(|table| ["table", "flow_list"].map(|name| format!("{table}.{name}")));
        paths.collect()
    }

    /// Of two workers that have a flow both, as of the errors that each of them sends, one goes on: it is then remembered once, and as that one
    /// knew it.
    fn essence(&self, path: &str, text: &str) -> String {
        if !path.ends_with(".flow_list") {
            return text.to_owned();
        }
        let name = |line: &str| line.split(' ').take(5).collect::<Vec<_>>().join(" ") + "\n";
        text.lines().map(name).collect()
    }

    fn copy(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
