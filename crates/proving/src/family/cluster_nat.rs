//! Four nodes that translate, and go on with each other's connections: the shipped `conf/cluster-nat.click`, with all hosts on one segment.
//!
//! A node that drains hands its flows and its addresses to the next one, and nothing is lost by it, also when others drain meanwhile. One that is
//! restarted is dead to the others at first: what it translated goes on at the next one, but for flows of the last moment and those that had one
//! packet only. The model knows mappings by what it sees, as that of one gateway does. Where a node dies that translated while others do not
//! have its flows yet, flows may break; what begins once another acts for it has to pass. Where less than half of the nodes are left, and where none is
//! left that knew who acted for whom, it expects nothing more of this story.
//!
//! IPv6 crosses the cluster as it is: what hosts send arrives one hop older and otherwise unchanged, and only the gateway's address moves.

use super::contract::{Family, replace};
use super::four_nodes::{self, EXITS, HOSTS, MACHINES, NODES, TAPS, ip};
use crate::datagram::protocol;
use crate::host::Address;
use crate::ledger::{Arrived, Complaint, Ledger, Sent};
use crate::link::{Link, Station};
use crate::machine::Machine;
use crate::model::{Fate, Model, Verdict};
use crate::story::{FlowStep, Knob, Knobs, Step, Story, Weather};
use crate::world::{ECHO_PORT, Kind, Network};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

/// The family.
pub(super) struct ClusterNat;

const SHIPPED: &str = include_str!("../../../../conf/cluster-nat.click");
const MS: i64 = 1_000_000;
/// The longest packets that hosts send in one piece.
const HOST_MTU: usize = 1500;
/// Until all nodes take part, act for themselves, and have successors that know everything.
const WARM_UP_NS: i64 = 1_500 * MS;
/// How long it takes until a node's flows and addresses have moved, also when it does not answer, and all successors know everything again.
const MOVED_NS: i64 = 3_500 * MS;
/// What nodes may forget when one dies: what is younger.
const YOUNG_NS: i64 = 100 * MS;
/// Longer silences may take a node for dead.
const SILENT_NS: i64 = 30 * MS;

const KNOBS: &[Knob] = &[
    Knob { name: "tap", positions: 2, live: true },
    Knob { name: "exit", positions: EXITS.len() as u32, live: true },
    // Whether nodes let in only what answers a connection that they track, or that the node did for which they act.
    Knob { name: "track", positions: 2, live: false },
];

impl Family for ClusterNat {
    fn name(&self) -> &'static str {
        "cluster-nat"
    }

    fn knobs(&self) -> &'static [Knob] {
        KNOBS
    }

    fn network(&self, _: &Knobs) -> Network {
        let stations = (0..NODES).flat_map(|node| [Station::Host(node), Station::Port(node, 0)]);
        let mut network = four_nodes::network(vec![Link::new("lan", stations.collect())]);
        for (node, host) in network.hosts.iter_mut().enumerate() {
            let address = Address { ip: ip6(node, 2), prefix: 64, gateway: Some(ip6(node, 1)) };
            host.addresses.push(address);
        }
        network
    }

    fn config(&self, machine: usize, knobs: &Knobs) -> String {
        let mut text = SHIPPED.to_owned();
        let external = "FromDevice($EXT, METHOD $METHOD, PROMISC true, SNIFFER false)";
        let (tap, exit) = (TAPS[knobs.get("tap") as usize], EXITS[knobs.get("exit") as usize]);
        four_nodes::place(&mut text, machine, external, tap, exit);
        replace(&mut text, "$PUBLIC 192.0.2.1", &format!("$PUBLIC {}", public(machine)));
        if knobs.get("track") == 1 {
            replace(&mut text, "state :: VLBState", "ct :: ConnTrack; state :: VLBState");
            let tracked = "VLBState(vlb, rw, pings, ct)";
            replace(&mut text, "VLBState(vlb, rw, pings)", tracked);
            replace(&mut text, "CheckIPHeader -> ttl ::", "CheckIPHeader -> [0]ct[0] -> ttl ::");
            let known = "rw[1], pings[1] -> [1]ct[1] -> known :: IPFilter(allow tcp, allow state established, deny all);";
            replace(
                &mut text,
                "back[0], rw[1], pings[1], errors_in ->",
                &format!("{known} back[0], known, errors_in ->"),
            );
        }
        text
    }

    fn model(&self, _: &Knobs) -> Box<dyn Model> {
        Box::new(Heirs {
            flows: BTreeMap::new(),
            doubtful: BTreeSet::new(),
            acts: [0, 1, 2, 3],
            away: BTreeSet::new(),
            draining_ns: i64::MIN..i64::MIN,
            dead_ns: i64::MIN,
            mourned_until_ns: i64::MIN,
            busy_until_ns: i64::MIN,
            last_ns: i64::MIN,
            mishap: None,
            fresh: BTreeSet::new(),
            is_unsure: false,
            is_lost: false,
        })
    }

    fn step(&self, _: &Story, rng: &mut Rng) -> Step {
        match rng.u32(..20) {
            0..2 => {
                let machine = MACHINES[rng.usize(..NODES)].to_owned();
                return Step::Write { machine, path: "vlb.drain".into(), value: String::new() };
            }
            2 => {
                return Step::Restart {
                    machine: MACHINES[rng.usize(..NODES)].to_owned(),
                    workers: rng.usize(1..=3),
                };
            }
            3..6 => return Step::Wait([200, 400, 3_600][rng.usize(..3)] * MS),
            _ => {}
        }
        let from = rng.usize(..NODES);
        let to = (from + rng.usize(1..NODES)) % NODES;
        let kind = [Kind::Udp, Kind::Tcp, Kind::Ping][rng.usize(..3)];
        Step::Flow(FlowStep {
            from: HOSTS[from].to_owned(),
            to: if rng.u32(..3) == 0 { ip6(to, 2) } else { ip(to, 2) },
            kind,
            count: rng.u32(1..=60),
            size: [16, 64, 500, 1400, 3_000][rng.usize(..5)],
            gap_ns: [0, MS, 10 * MS, 90 * MS][rng.usize(..4)],
            ttl: if rng.u32(..8) == 0 { rng.u8(1..=2) } else { 64 },
            ecn: 0,
            ports: [rng.u16(2_000..2_008), [ECHO_PORT, 80][rng.usize(..2)]],
            whole: false,
            spread: false,
        })
    }

    fn warm_up_ns(&self) -> i64 {
        WARM_UP_NS
    }

    fn held_ns(&self) -> i64 {
        10 * MS
    }
}

/// The address that a node translates to.
fn public(node: usize) -> IpAddr {
    Ipv4Addr::new(192, 0, 2, node as u8 + 1).into()
}

/// The address of a node's gateway (1) or its host (2) for IPv6.
fn ip6(node: usize, number: u16) -> IpAddr {
    Ipv6Addr::new(0x2001, 0xdb8, node as u16, 0, 0, 0, 0, number).into()
}

/// The protocol, who asks, and who is asked.
type Inner = (u8, (IpAddr, u16), (IpAddr, u16));
/// What that looks like to who is asked: the protocol, the public end, and its own.
type Outer = (u8, (IpAddr, u16), (IpAddr, u16));

/// What happens to a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mishap {
    Drains,
    Dies,
}

/// A flow.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Known {
    /// What it looks like outside.
    outer: Outer,
    /// When it was seen first, and when for the second time: an answer counts, too.
    first_ns: i64,
    second_ns: Option<i64>,
}

/// What the nodes must do.
#[derive(Clone)]
struct Heirs {
    flows: BTreeMap<Inner, Known>,
    /// Flows that may look otherwise from now on: another packet says how.
    doubtful: BTreeSet<Inner>,
    /// Which node acts for which.
    acts: [usize; NODES],
    /// Nodes that have drained.
    away: BTreeSet<usize>,
    /// Since when nodes drain, or last did, and until when; and when one died last.
    draining_ns: Range<i64>,
    dead_ns: i64,
    /// Until when the flows of one that is dead move.
    mourned_until_ns: i64,
    /// Until when flows move, and successors do not know everything.
    busy_until_ns: i64,
    /// When a message was last sent.
    last_ns: i64,
    /// What has just happened.
    mishap: Option<(Mishap, usize)>,
    /// Nodes that have begun anew.
    fresh: BTreeSet<usize>,
    /// Whether it is not known any more who acts for whom.
    is_unsure: bool,
    /// Whether more has gone wrong than nodes bear.
    is_lost: bool,
}

impl Heirs {
    /// The next node that takes part takes over what one does.
    fn move_on(&mut self, node: usize) {
        let heir = (1..NODES).map(|step| (node + step) % NODES).find(|other| !self.away.contains(other));
        let does = self.acts.contains(&node);
        match heir {
            Some(heir) => self.acts.iter_mut().filter(|acts| **acts == node).for_each(|acts| *acts = heir),
            None => self.is_lost |= does,
        }
    }

    /// Whether everything that is sent at a moment may get lost: a node has died, and others do not know it yet.
    fn is_deaf(&self, at_ns: i64) -> bool {
        self.is_lost || self.dead_ns != i64::MIN && at_ns < self.dead_ns + MOVED_NS
    }

    /// Whether a flow may not have moved along, by when it was first seen.
    fn is_young(&self, flow: &Known) -> bool {
        let dead_ns = self.dead_ns.saturating_sub(YOUNG_NS)..self.dead_ns.saturating_add(MOVED_NS);
        self.draining_ns.contains(&flow.first_ns) || dead_ns.contains(&flow.first_ns)
    }

    /// Whether the node that translated a flow may have told no other of it when it died, or not in time.
    fn is_untold(&self, flow: &Known, dead: usize) -> bool {
        let is_its = (0..NODES).any(|node| public(node) == flow.outer.1.0 && self.acts[node] == dead);
        let is_late = |second_ns: i64| second_ns >= self.dead_ns.saturating_sub(YOUNG_NS);
        is_its && flow.second_ns.is_none_or(is_late)
    }

    fn inner(sent: &Sent) -> Inner {
        let (look, [from, to]) = (&sent.look, sent.look.ports);
        let to = if look.protocol == protocol::ICMP { 0 } else { to };
        (look.protocol, (look.src, from), (look.dst, to))
    }

    /// What an answer is addressed to.
    fn outer(sent: &Sent) -> Outer {
        let (look, [from, to]) = (&sent.look, sent.look.ports);
        let from = if look.protocol == protocol::ICMP { 0 } else { from };
        (look.protocol, (look.dst, to), (look.src, from))
    }

    fn asker(&self, outer: Outer) -> Option<(Inner, Known)> {
        self.flows.iter().find(|(_, flow)| flow.outer == outer).map(|(inner, flow)| (*inner, *flow))
    }

    /// Whether a flow must look as before, and answers to it must arrive.
    fn is_sure(&self, inner: &Inner, flow: &Known) -> bool {
        !self.doubtful.contains(inner) && !self.is_young(flow)
    }

    /// A packet of a flow was seen that was not its first one.
    fn confirm(&mut self, inner: Inner, now_ns: i64) {
        if let Some(flow) = self.flows.get_mut(&inner) {
            flow.second_ns.get_or_insert(now_ns);
        }
    }

    /// A flow looks like this outside: as before, and as no other.
    fn learn(&mut self, inner: Inner, outer: Outer, now_ns: i64) -> Result<(), String> {
        let was_doubtful = self.doubtful.remove(&inner);
        if let Some(before) = self.flows.get(&inner).copied() {
            if before.outer == outer {
                self.confirm(inner, now_ns);
                return Ok(());
            }
            if !was_doubtful && !self.is_young(&before) {
                return Err(format!("{inner:?} was {:?} outside, and is {outer:?} now", before.outer));
            }
        }
        let is_other = |(other, theirs): &(&Inner, &Known)| {
            theirs.outer == outer && **other != inner && self.is_sure(other, theirs)
        };
        if let Some((other, _)) = self.flows.iter().find(is_other) {
            return Err(format!("{inner:?} and {other:?} are both {outer:?} outside"));
        }
        self.flows.retain(|_, theirs| theirs.outer != outer);
        self.flows.insert(inner, Known { outer, first_ns: now_ns, second_ns: None });
        Ok(())
    }
}

fn host_of(ip: IpAddr) -> Option<usize> {
    (0..NODES).find(|&node| [self::ip(node, 2), ip6(node, 2)].contains(&ip))
}

/// What becomes of a packet of IPv6, which no node translates.
fn forwarded(sent: &Sent) -> Fate {
    match host_of(sent.look.dst) {
        Some(host) if host == sent.host => Fate::Open, // no node has a say in it
        Some(_) if sent.look.ttl <= 1 => Fate::Refused(Some((3, 0))),
        Some(host) => Fate::arrives(host, 1, true),
        None => Fate::Open,
    }
}

impl Model for Heirs {
    fn fate(&self, sent: &Sent) -> Fate {
        let look = &sent.look;
        // Nodes may have parts of a datagram each while one takes the place of another.
        let is_parted = look.len > HOST_MTU && self.draining_ns.contains(&sent.at_ns);
        if self.is_deaf(sent.at_ns) || is_parted {
            return Fate::Open;
        }
        if look.dst.is_ipv6() {
            return forwarded(sent);
        }
        if let Some(host) = host_of(look.dst).filter(|&host| host != sent.host) {
            let is_answer = look.protocol == protocol::ICMP && sent.message.answer;
            return match look.ttl {
                _ if is_answer => Fate::Refused(None),
                ..=1 => Fate::Refused(Some((11, 0))),
                _ => Fate::arrives(host, 1, false),
            };
        }
        match self.asker(Heirs::outer(sent)) {
            Some((inner, flow)) if self.is_sure(&inner, &flow) => {
                host_of(inner.1.0).map_or(Fate::Open, |host| Fate::arrives(host, 1, false))
            }
            _ => Fate::Open,
        }
    }

    fn write(&mut self, machine: usize, path: &str, _: &str) -> Verdict {
        if path == "vlb.drain" && !self.away.contains(&machine) {
            self.mishap = Some((Mishap::Drains, machine));
        }
        Verdict::Either
    }

    /// Its successor is told everything anew.
    fn swap(&mut self, _: usize, _: &Knobs, _: &Knobs) -> Verdict {
        Verdict::Succeeds
    }

    /// It joins anew.
    fn upgrade(&mut self, machine: usize, _: &Knobs) -> bool {
        self.restart(machine);
        false
    }

    fn restart(&mut self, machine: usize) {
        self.mishap = Some((Mishap::Dies, machine));
    }

    fn leap(&mut self, _: i64) {
        self.is_lost = true;
    }

    fn stall(&mut self, _: usize, from_ns: i64, until_ns: i64) {
        self.is_lost |= until_ns - from_ns >= SILENT_NS;
    }

    fn weather(&mut self, link: &str, _: Weather) -> bool {
        self.is_lost |= link != "lan";
        false
    }

    fn settle(&mut self, now_ns: i64) {
        let Some((mishap, node)) = self.mishap.take() else { return };
        let did = self.is_unsure || self.acts.contains(&node);
        // Nodes drain together, but copies of what a dead one did have to be whole, and what it did to have moved before another goes.
        let is_hard = mishap == Mishap::Dies && did;
        let is_early = now_ns < if is_hard { self.busy_until_ns } else { self.mourned_until_ns };
        match mishap {
            Mishap::Drains => self.is_lost |= is_early,
            Mishap::Dies => self.is_unsure |= is_early,
        }
        self.busy_until_ns = now_ns + MOVED_NS;
        match mishap {
            Mishap::Drains => {
                self.away.insert(node);
                let is_alone = now_ns >= self.draining_ns.end;
                self.draining_ns = if is_alone { now_ns } else { self.draining_ns.start }..now_ns + MOVED_NS;
                // A node that is alone has no successor.
                self.is_lost |= self.away.len() > NODES / 2;
            }
            Mishap::Dies => {
                self.dead_ns = now_ns;
                self.fresh.insert(node);
                let is_ignorant = |node| self.fresh.contains(&node) || self.away.contains(&node);
                self.is_lost |= self.is_unsure && (0..NODES).all(is_ignorant);
                if did {
                    self.mourned_until_ns = now_ns + MOVED_NS;
                }
                self.is_lost |= self.away.iter().filter(|away| **away != node).count() + 1 > NODES / 2;
                let young: Vec<_> = self
                    .flows
                    .iter()
                    .filter(|(_, flow)| self.is_unsure || self.is_young(flow) || self.is_untold(flow, node))
                    .map(|(inner, _)| *inner)
                    .collect();
                self.doubtful.extend(young.into_iter().filter(|_| did));
            }
        }
        self.move_on(node);
        if mishap == Mishap::Dies {
            self.away.remove(&node);
        }
    }

    fn observe(&mut self, sent: &Sent, arrived: &Arrived) -> Result<(), String> {
        let (look, seen) = (&sent.look, &arrived.look);
        if self.is_lost {
            return Ok(());
        }
        if look.dst.is_ipv6() {
            let is_same = (seen.src, seen.dst, seen.ports) == (look.src, look.dst, look.ports);
            return if is_same { Ok(()) } else { Err(format!("{look:?} arrives as {seen:?}")) };
        }
        if host_of(look.dst).is_none() {
            // By a mapping that was another one's a moment ago it may have come to whom that led.
            let Some((inner, flow)) = self.asker(Heirs::outer(sent)) else { return Ok(()) };
            let right = (seen.dst, seen.ports[1]) == inner.1 && seen.src == look.src;
            if !right && self.is_sure(&inner, &flow) {
                return Err(format!("{look:?} comes in as {seen:?}, and not to {inner:?}"));
            }
            if right {
                self.confirm(inner, arrived.at_ns);
            }
            return Ok(());
        }
        let inner = Heirs::inner(sent);
        let other = (seen.dst, inner.2.1);
        if other != inner.2 || !(0..NODES).any(|node| public(node) == seen.src) {
            return Err(format!("{look:?} leaves as {seen:?}"));
        }
        self.learn(inner, (look.protocol, (seen.src, seen.ports[0]), other), arrived.at_ns)
    }

    fn allows(&self, sent: &Sent, complaint: &Complaint) -> bool {
        // Its other parts went to another node.
        sent.look.len > HOST_MTU && complaint.kind == (11, 1)
    }

    fn keeps_order(&self, _: &Sent) -> bool {
        self.draining_ns.is_empty() && self.dead_ns == i64::MIN && !self.is_lost
    }

    fn lets_overtake(&self, machines: &mut [Machine]) -> bool {
        four_nodes::flowlets_have_moved(machines)
    }

    fn sends(&mut self, sent: &Sent) {
        self.last_ns = sent.at_ns;
    }

    /// Nodes act for each other as they should, and have lost nothing on the way.
    fn at_end(&self, machines: &mut [Machine], _: &Ledger, calm: bool) -> Vec<String> {
        let mut wrong = Vec::new();
        let is_over = self.busy_until_ns == i64::MIN || self.last_ns >= self.busy_until_ns;
        if self.is_lost || self.is_unsure || !(is_over || calm && self.dead_ns == i64::MIN) {
            return wrong;
        }
        for (node, machine) in machines.iter_mut().enumerate() {
            let mut says =
                |path: &str| machine.read(path).map(|text| text.trim().to_owned()).unwrap_or_default();
            let expected: Vec<_> =
                (0..NODES).filter(|&of| self.acts[of] == node).map(|of| of.to_string()).collect();
            if is_over && says("state.duties") != expected.join(" ") {
                wrong.push(format!(
                    "node {node} acts for '{}', and should for {expected:?}",
                    says("state.duties")
                ));
            }
            for path in ["state.lost", "state.contended"] {
                if says(path) != "0" {
                    wrong.push(format!("node {node}: {path} is {}", says(path)));
                }
            }
        }
        wrong
    }

    fn kept(&self, _: usize, _: &Knobs, _: &Knobs) -> Vec<String> {
        ["vlb.phase", "state.duties", "rw.table_size", "pings.table_size"].map(str::to_owned).to_vec()
    }

    fn copy(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
