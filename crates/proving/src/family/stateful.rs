//! A firewall that remembers flows: who is inside may ask, and who is asked may answer.
//!
//! It stands in a cable, with rewriters that keep what they see as it is. The model remembers what it saw go out.

use super::contract::Family;
use crate::datagram::protocol;
use crate::host::{Address, Host};
use crate::ledger::{Arrived, Sent};
use crate::link::{Link, Station};
use crate::model::{Fate, Model, Verdict};
use crate::story::{FlowStep, Knob, Knobs, Step, Story};
use crate::world::{ECHO_PORT, Kind, Network};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

/// The family.
pub(super) struct Stateful;

const TAPS: [&str; 3] = ["", "seen :: Counter ->", "seen :: RoundRobinSwitch ->"];
const EXITS: [&str; 2] = ["", "Queue(1000) ->"];
/// What is in front of the rewriters, by the position of the knob.
const CHECKS: [&str; 2] = ["CheckIPHeader(14)", "CheckIPHeader(14) -> IPFilter(allow all)"];

const KNOBS: &[Knob] = &[
    Knob { name: "tap", positions: TAPS.len() as u32, live: true },
    Knob { name: "exit", positions: EXITS.len() as u32, live: true },
    Knob { name: "check", positions: CHECKS.len() as u32, live: true },
];

/// Hosts 0 and 1 are inside.
const NAMES: [&str; 4] = ["a", "a2", "b", "b2"];

impl Family for Stateful {
    fn name(&self) -> &'static str {
        "stateful"
    }

    fn knobs(&self) -> &'static [Knob] {
        KNOBS
    }

    fn network(&self, _: &Knobs) -> Network {
        let host = |number: usize| {
            let address = Address { ip: ip(number), prefix: 24, gateway: None };
            Host::new(NAMES[number], [2, 0, 0, 1, 0, number as u8], vec![address])
        };
        let link = |name, hosts: [usize; 2], port| {
            let [one, other] = hosts.map(Station::Host);
            Link::new(name, vec![one, other, Station::Port(0, port)])
        };
        Network {
            hosts: (0..4).map(host).collect(),
            links: vec![link("inside", [0, 1], 0), link("outside", [2, 3], 1)],
            machines: vec![("wall".to_owned(), 2)],
        }
    }

    fn config(&self, _: usize, knobs: &Knobs) -> String {
        let (tap, exit) = (TAPS[knobs.get("tap") as usize], EXITS[knobs.get("exit") as usize]);
        let check = CHECKS[knobs.get("check") as usize];
        format!(
            "in :: Null; in -> {exit} ToMemory(eth0); out :: Null; out -> {exit} ToMemory(eth1);
             rw :: IPRewriter(keep 0 1, drop); rw[0] -> out; rw[1] -> in;
             ping :: ICMPPingRewriter(keep 0 1, drop); ping[0] -> out; ping[1] -> in;
             FromMemory(eth0) -> {tap} kind0 :: Classifier(12/0800, -); kind0[1] -> out;
             kind0[0] -> {check} -> what0 :: IPClassifier(tcp or udp, -); what0[0] -> [0]rw; what0[1] -> [0]ping;
             FromMemory(eth1) -> kind1 :: Classifier(12/0800, -); kind1[1] -> in;
             kind1[0] -> {check} -> what1 :: IPClassifier(tcp or udp, -); what1[0] -> [1]rw; what1[1] -> [1]ping;"
        )
    }

    fn model(&self, _: &Knobs) -> Box<dyn Model> {
        Box::new(Memory::default())
    }

    fn step(&self, _: &Story, rng: &mut Rng) -> Step {
        let from = rng.usize(..4);
        Step::Flow(FlowStep {
            from: NAMES[from].to_owned(),
            to: ip((from + rng.usize(1..4)) % 4),
            kind: [Kind::Udp, Kind::Tcp, Kind::Ping][rng.usize(..3)],
            count: rng.u32(1..=30),
            size: [16, 64, 1400][rng.usize(..3)],
            gap_ns: [0, 1_000, 50_000, 1_000_000][rng.usize(..4)],
            ttl: 64,
            ecn: 0,
            // Who is asked has other ports than who asks, so that an answer is never a question.
            ports: [rng.u16(2_000..2_008), [ECHO_PORT, 53, 80][rng.usize(..3)]],
            whole: rng.bool(),
            spread: false,
        })
    }
}

fn ip(host: usize) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, host as u8 + 10).into()
}

/// A flow as who is inside sees it: the protocol, itself, the other.
type Flow = (u8, (IpAddr, u16), (IpAddr, u16));

#[derive(Clone, Default)]
struct Memory {
    /// Each with the time from which on it was known.
    flows: BTreeMap<Flow, i64>,
    /// Whether flows may have ended that were seen.
    forgotten: bool,
    /// Flows whose packets may have gone out before the last restart: the firewall may know them no more.
    doubtful: BTreeSet<Flow>,
    /// When that was, or that it is now.
    restarted: Option<i64>,
    restarts: bool,
}

fn flow(sent: &Sent, outward: bool) -> Flow {
    let (look, [from, to]) = (&sent.look, sent.look.ports);
    let (own, other) = ((look.src, from), (look.dst, to));
    if outward { (look.protocol, own, other) } else { (look.protocol, other, own) }
}

impl Model for Memory {
    fn fate(&self, sent: &Sent) -> Fate {
        let Some(host) = (0..4).find(|&host| ip(host) == sent.look.dst) else { return Fate::Open };
        let (inside, to_inside) = (sent.host < 2, host < 2);
        let ping = sent.look.protocol == protocol::ICMP;
        match (inside, to_inside) {
            _ if inside == to_inside => Fate::arrives(host, 0, true),
            // Pings have a direction: requests go out, answers come in.
            _ if ping && inside == sent.message.answer => Fate::Refused(None),
            (true, _) => Fate::arrives(host, 0, true),
            _ if self.flows.get(&flow(sent, false)).is_some_and(|&since_ns| sent.at_ns >= since_ns) => {
                Fate::arrives(host, 0, true)
            }
            _ if self.forgotten || self.doubtful.contains(&flow(sent, false)) => Fate::Open,
            _ => Fate::Refused(None),
        }
    }

    fn write(&mut self, _: usize, _: &str, _: &str) -> Verdict {
        Verdict::Either
    }

    fn restart(&mut self, _: usize) {
        self.flows.clear();
        self.restarts = true;
    }

    fn settle(&mut self, now_ns: i64) {
        if std::mem::take(&mut self.restarts) {
            self.restarted = Some(now_ns);
        }
    }

    fn leap(&mut self, _: i64) {
        self.flows.clear();
        self.forgotten = true;
    }

    fn observe(&mut self, sent: &Sent, arrived: &Arrived) -> Result<(), String> {
        if sent.host < 2 && arrived.host >= 2 {
            if self.restarted.is_none_or(|at_ns| sent.at_ns > at_ns) {
                self.flows.entry(flow(sent, true)).or_insert(arrived.at_ns);
            } else {
                self.doubtful.insert(flow(sent, true));
            }
        }
        Ok(())
    }

    fn kept(&self, _: usize, _: &Knobs, _: &Knobs) -> Vec<String> {
        ["rw.table_size", "ping.table_size"].map(str::to_owned).to_vec()
    }

    fn copy(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
