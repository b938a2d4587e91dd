//! Four nodes that are one router: the shipped `conf/cluster-node.click`, a host at each, a cable between each two.
//!
//! A packet takes the cable to the node where it leaves, or goes through one other node. When a cable breaks, some packets are lost until hellos
//! have been missed for long enough; from then on all take other ways. A node that drains loses none.

use super::contract::{Family, replace};
use super::four_nodes::{self, EXITS, HOSTS, MACHINES, NODES, TAPS, cable_name, ip, pairs};
use crate::datagram::protocol;
use crate::ledger::{Ledger, Sent};
use crate::link::{Link, Station};
use crate::machine::Machine;
use crate::model::{Fate, Model, Verdict};
use crate::story::{FlowStep, Knob, Knobs, Step, Story, Weather};
use crate::world::{ECHO_PORT, Kind, Network};
use fastrand::Rng;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// The family.
pub(super) struct Cluster;

const SHIPPED: &str = include_str!("../../../../conf/cluster-node.click");
/// What is done about the order of packets, by the position of the knob.
const ORDERS: [&str; 4] = ["FLOWLET", "STRICT", "PINNED", "NONE"];
const SCHEMES: [&str; 2] = ["DIRECT", "VALIANT"];

/// From how long a silence on others may take a node for gone: HOLD, less the time since its last hello, and what a story adds.
const SILENT_NS: i64 = 40_000_000;
/// How long it takes all nodes to notice what has become of a cable or a node: HOLD, and some hellos.
const NOTICE_NS: i64 = 80_000_000;
/// How long it takes nodes that begin together to take part: they listen for 150 ms.
const WARM_UP_NS: i64 = 200_000_000;
/// How long it takes a node that begins anew: the others may take it for a second one of its number at first.
const JOIN_NS: i64 = 450_000_000;

const KNOBS: &[Knob] = &[
    Knob { name: "order", positions: ORDERS.len() as u32, live: false },
    Knob { name: "scheme", positions: SCHEMES.len() as u32, live: true },
    Knob { name: "tap", positions: TAPS.len() as u32, live: true },
    Knob { name: "exit", positions: EXITS.len() as u32, live: true },
];

impl Family for Cluster {
    fn name(&self) -> &'static str {
        "cluster"
    }

    fn knobs(&self) -> &'static [Knob] {
        KNOBS
    }

    fn network(&self, _: &Knobs) -> Network {
        let lan =
            |node: usize| Link::new(&format!("lan{node}"), vec![Station::Host(node), Station::Port(node, 0)]);
        four_nodes::network((0..NODES).map(lan).collect())
    }

    fn config(&self, machine: usize, knobs: &Knobs) -> String {
        let mut text = SHIPPED.to_owned();
        let (order, scheme) = (ORDERS[knobs.get("order") as usize], SCHEMES[knobs.get("scheme") as usize]);
        let (tap, exit) = (TAPS[knobs.get("tap") as usize], EXITS[knobs.get("exit") as usize]);
        four_nodes::place(&mut text, machine, "FromDevice($EXT, METHOD $METHOD)", tap, exit);
        replace(&mut text, "$ORDER FLOWLET", &format!("$ORDER {order}"));
        replace(&mut text, "$SCHEME DIRECT", &format!("$SCHEME {scheme}"));
        text
    }

    fn model(&self, knobs: &Knobs) -> Box<dyn Model> {
        Box::new(Mesh {
            order: ORDERS[knobs.get("order") as usize],
            broken: BTreeSet::new(),
            leaving: BTreeSet::new(),
            joined_ns: [i64::MIN; NODES],
            joining: BTreeSet::new(),
            unsettled: false,
            changed_ns: i64::MIN,
            moved: false,
        })
    }

    fn step(&self, _: &Story, rng: &mut Rng) -> Step {
        match rng.u32(..20) {
            0 => {
                let machine = MACHINES[rng.usize(..NODES)].to_owned();
                return Step::Write { machine, path: "vlb.drain".into(), value: String::new() };
            }
            1..4 => {
                let (one, other) = pairs().nth(rng.usize(..6)).unwrap_or((0, 1));
                let weather = if rng.u32(..3) > 0 { Weather::Down } else { Weather::Good };
                return Step::Link { link: cable_name((one, other)), weather };
            }
            4..6 => return Step::Wait(rng.i64(50..200) * 1_000_000),
            _ => {}
        }
        let from = rng.usize(..NODES);
        let to = match rng.u32(..10) {
            0 => ip(from, 1),
            1 => ip(rng.usize(..NODES), 99),
            _ => ip(rng.usize(..NODES), 2),
        };
        let kind = [Kind::Udp, Kind::Tcp, Kind::Ping][rng.usize(..3)];
        Step::Flow(FlowStep {
            from: HOSTS[from].to_owned(),
            to,
            kind,
            count: rng.u32(1..=60),
            size: [16, 64, 500, 1400][rng.usize(..4)],
            gap_ns: [0, 1_000, 50_000, 1_000_000, 5_000_000][rng.usize(..5)],
            ttl: if rng.u32(..5) == 0 { rng.u8(1..=2) } else { 64 },
            ecn: rng.u8(..4),
            ports: [rng.u16(1024..), if rng.bool() { ECHO_PORT } else { rng.u16(1..1024) }],
            whole: rng.bool(),
            spread: kind != Kind::Ping && rng.u32(..3) == 0,
        })
    }

    fn warm_up_ns(&self) -> i64 {
        WARM_UP_NS
    }

    fn held_ns(&self) -> i64 {
        10_000_000
    }
}

/// What the cluster must do.
#[derive(Clone)]
struct Mesh {
    order: &'static str,
    /// Cables that are broken.
    broken: BTreeSet<(usize, usize)>,
    /// Nodes that drain, or have left.
    leaving: BTreeSet<usize>,
    /// When each node took part, or cables of it came back.
    joined_ns: [i64; NODES],
    /// Nodes that just begin anew, or hear most others again.
    joining: BTreeSet<usize>,
    /// Whether a cable has just broken or come back.
    unsettled: bool,
    /// When the last one did, or a node began anew.
    changed_ns: i64,
    /// Whether flows may have changed their ways at any time.
    moved: bool,
}

impl Mesh {
    fn is_whole(&self, one: usize, other: usize) -> bool {
        !self.broken.contains(&(one.min(other), one.max(other)))
    }

    /// Nodes that hear most others, and are heard by them.
    fn takes_part(&self, node: usize) -> bool {
        let cables = (0..NODES).filter(|&other| other != node && self.is_whole(node, other)).count();
        cables > NODES / 2 - 1 && !self.leaving.contains(&node)
    }

    /// What becomes of a packet from one node to another.
    fn across(&self, sent: &Sent, from: usize, to: usize, fate: Fate) -> Fate {
        let is_new = |node: usize| sent.at_ns < self.joined_ns[node].saturating_add(JOIN_NS);
        let uncertain = self.unsettled || sent.at_ns < self.changed_ns.saturating_add(NOTICE_NS);
        let ends = [from, to];
        if uncertain || ends.iter().any(|&node| is_new(node) || !self.takes_part(node)) {
            return Fate::Open;
        }
        let by = |node: usize| {
            !ends.contains(&node)
                && self.takes_part(node)
                && !is_new(node)
                && ends.iter().all(|&end| self.is_whole(node, end))
        };
        if self.is_whole(from, to) || (0..NODES).any(by) { fate } else { Fate::Open }
    }
}

fn place(ip: IpAddr) -> Option<(usize, u8)> {
    let IpAddr::V4(ip) = ip else { return None };
    let [10, 0, node, number] = ip.octets() else { return None };
    Some((usize::from(node), number)).filter(|(node, _)| *node < NODES)
}

impl Model for Mesh {
    fn fate(&self, sent: &Sent) -> Fate {
        let (look, from) = (&sent.look, sent.host);
        let Some((to, number)) = place(look.dst) else { return Fate::Open };
        match number {
            1 if to == from && look.protocol == protocol::ICMP => Fate::Answered,
            1 if to == from => Fate::Refused(None),
            _ if to == from => Fate::Open, // no router has a say in it
            _ if look.ttl <= 1 => Fate::Refused(Some((11, 0))),
            2 => self.across(sent, from, to, Fate::arrives(to, 1, true)),
            _ => Fate::Open, // no host has the address
        }
    }

    fn write(&mut self, machine: usize, path: &str, _: &str) -> Verdict {
        if path == "vlb.drain" {
            self.leaving.insert(machine);
            self.moved = true;
        }
        Verdict::Either
    }

    fn swap(&mut self, _: usize, old: &Knobs, new: &Knobs) -> Verdict {
        self.moved |= old.get("scheme") != new.get("scheme");
        Verdict::Succeeds
    }

    /// Nothing of it goes on.
    fn upgrade(&mut self, machine: usize, _: &Knobs) -> bool {
        self.restart(machine);
        false
    }

    fn restart(&mut self, machine: usize) {
        self.leaving.remove(&machine);
        self.joining.insert(machine);
        self.unsettled = true;
    }

    /// Nodes that take part soon hear nothing while the clock leaps.
    fn leap(&mut self, by_ns: i64) {
        self.joined_ns.iter_mut().for_each(|at_ns| *at_ns = at_ns.saturating_add(by_ns));
        self.unsettled = true;
    }

    fn stall(&mut self, machine: usize, from_ns: i64, until_ns: i64) {
        if until_ns - from_ns >= SILENT_NS {
            (self.joined_ns[machine], self.changed_ns) = (until_ns, until_ns);
            self.moved = true;
        }
    }

    fn weather(&mut self, link: &str, weather: Weather) -> bool {
        let cable = pairs().find(|&(one, other)| cable_name((one, other)) == link);
        let Some(cable) = cable else { return false };
        self.unsettled = true;
        self.moved = true;
        match weather {
            Weather::Good => {
                let apart = [cable.0, cable.1].into_iter().filter(|&node| !self.takes_part(node));
                self.joining = apart.collect();
                self.broken.remove(&cable);
                true
            }
            Weather::Down => {
                self.broken.insert(cable);
                true
            }
            _ => false,
        }
    }

    fn settle(&mut self, now_ns: i64) {
        if std::mem::take(&mut self.unsettled) {
            self.changed_ns = now_ns;
        }
        for node in std::mem::take(&mut self.joining) {
            self.joined_ns[node] = now_ns;
            self.moved = true;
        }
    }

    fn keeps_order(&self, _: &Sent) -> bool {
        match self.order {
            "NONE" => false,
            "STRICT" => true,
            _ => !self.moved,
        }
    }

    fn lets_overtake(&self, machines: &mut [Machine]) -> bool {
        self.order == "FLOWLET" && four_nodes::flowlets_have_moved(machines)
    }

    /// No node is left out, unless something was done to it.
    fn at_end(&self, machines: &mut [Machine], _: &Ledger, calm: bool) -> Vec<String> {
        let mut wrong = Vec::new();
        for (node, machine) in machines.iter_mut().enumerate() {
            let (phase, given_up) = (machine.read("vlb.phase"), machine.read("vlb.given_up"));
            let is_active = phase.as_deref().map(str::trim) == Ok("active");
            if calm && !self.moved && self.changed_ns == i64::MIN {
                if !is_active {
                    wrong.push(format!("node {node} is {phase:?}"));
                }
                if given_up.as_deref().map(str::trim) != Ok("0") {
                    wrong.push(format!("node {node} gave others up: {given_up:?}"));
                }
            }
        }
        wrong
    }

    fn kept(&self, _: usize, _: &Knobs, _: &Knobs) -> Vec<String> {
        ["vlb.phase", "vlb.view", "routes.table"].map(str::to_owned).to_vec()
    }

    fn copy(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
