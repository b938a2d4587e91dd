//! A node of a cluster: many servers that are one router.
//!
//! ```click
//! VLBNode(NODE, NODES, KEY [, keywords ORDER, SCHEME, LINE_RATE, LINK_RATE, KEYFILE, ROSTER, HELLO, HOLD, FLOWLET, WAIT])
//! ```
//!
//! The nodes of the cluster are connected each with each. Input and output 0 are this node's own side: what has come in at
//! its external ports and was labelled by VLBEncap, and what leaves by them (see VLBDecap). Inputs and outputs from 1 on are
//! the links to the other nodes, in the order of their numbers: those of node 1 lead to nodes 0, 2, 3 and so on.
//!
//! A packet that comes in here is sent straight to its egress node, or by way of another node: Valiant load balancing in its
//! direct variant, in which up to LINE_RATE/NODES for each egress goes straight and the rest is spread over all others. Links
//! then need to carry no more than 2 LINE_RATE/NODES, whatever the traffic. A packet that comes over a link is moved on by
//! its label alone. No packet crosses more than two links.
//!
//! Into every link the node sends hellos, authenticated with the key that all nodes share, and from those of the others it
//! knows which links and nodes are up and who reaches whom. Packets that come from where no hello comes from are dropped.
//! A node takes part once most others hear it. A node that is to be stopped should drain: others use other ways, and when
//! nothing has come for a while its phase is `left`. When the configuration is replaced while it runs, the new element of the
//! same name goes on in its place, with other keywords if they differ; the key must be the same.
//!
//! Ports: NODES inputs, NODES outputs. Processing: push. Workers: exclusive. Not in Click.
//!
//! # Arguments
//! - `NODE` (integer): the number of this node, from 0.
//! - `NODES` (integer): how many there are, or may be; at most 128, since hellos name all nodes and fit into a frame.
//! - `KEY` (string): the shared key. `KEYFILE` (file name) reads it from a file, all bytes of it.
//! - `ORDER` (`NONE`, `PINNED`, `FLOWLET`, `STRICT`; default `FLOWLET`): what is done to keep packets of a flow in order.
//!   `NONE`: nothing. `PINNED`: a flow always takes the same way. `FLOWLET`: a flow keeps its way while its packets follow
//!   each other within FLOWLET and the link has room. `STRICT`: packets are numbered, and those that come too early wait at
//!   the egress for at most WAIT; those that come later than that are dropped. All nodes need the same setting.
//! - `SCHEME` (`DIRECT`, `VALIANT`; default `DIRECT`): `VALIANT` sends every packet by way of a random node.
//! - `LINE_RATE` (bandwidth, default 10Gbps): what comes in at this node's external ports.
//! - `LINK_RATE` (bandwidth, default 2 LINE_RATE/NODES): what a link carries.
//! - `ROSTER` (file name): which nodes there are; without it, nodes 0 to NODES - 1.
//! - `HELLO` (time, default 10ms): between two hellos. A link that gets more than it can take loses hellos, too, so where
//!   that happens they should be more frequent: 25 in the time of HOLD have lost no neighbour.
//! - `HOLD` (time, default 50ms): a node that is silent for so long is down.
//! - `FLOWLET` (time, default 100ms), `WAIT` (time, default 2ms): see ORDER.
//!
//! # Handlers
//! - `node` (read): the number of this node.
//! - `phase` (read): `listening`, `active`, `draining`, `leaving` or `left`.
//! - `view` (read): a line for each other node: its number, `up` or `down`, `transit` if packets may go by way of it.
//! - `drain` (write, button): starts draining.
//! - `direct`, `balanced`, `spilled`, `refused` (read): packets that came in here and went straight, by way of others, of
//!   both off the way of their flowlet, or nowhere.
//! - `passed`, `delivered` (read): packets that came over links and went on, or left here.
//! - `late`, `waiting` (read): packets that were dropped because they came too late, and that wait for others.
//! - `rejected` (read): hellos that were not believed, by reason.
//! - `given_up` (read): how often a node or the link to it was given up because nothing was heard of it.
//! - `pauses`, `longest_pause` (read): how often this node itself did not run for longer than two HELLOs are apart, because others
//!   had the processor; and for how many milliseconds at most. Nobody is given up for that: such a time does not count as silence.
//! - `roster` (read, write): the roster. What has a mistake or no higher version is refused, and nothing changes. A node that
//!   drained because a roster said so takes part again when the next one does not.
//!
//! # Example
//! ```click
//! a :: VLBNode(NODE 0, NODES 2, KEY secret);
//! b :: VLBNode(NODE 1, NODES 2, KEY secret);
//! InfiniteSource(DATA "E", LIMIT 0) -> VLBEncap(1) -> a;
//! a[0] -> VLBDecap -> Discard;
//! a[1] -> Queue -> Unqueue -> [1]b;
//! b[1] -> Queue -> Unqueue -> [1]a;
//! Idle -> b;
//! b[0] -> VLBDecap -> Discard;
//! ```
//!
//! # See also
//! VLBEncap, VLBDecap, VLBFly, EtcdRoster

use super::flow::flow_hash;
use super::settings::{Settings, create_settings};
use cluster::NodeId;
use cluster::choice::{Chooser, Path};
use cluster::label::{self, Label, Stamp};
use cluster::membership::{Event, Holder, Member, Phase, Rejected};
use cluster::resequence::Resequencer;
use cluster::topology::Topology;
use cluster::transit::{Next, next};
use cluster::view::View;
use packet::{Batch, DEFAULT_HEADROOM, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Refused, Residency, Verdict};
use std::any::Any;
use std::collections::BTreeMap;
use std::time::Duration;
use wire::MacAddr;
use wire::ethernet::{HEADER_LEN, header};

/// The class.
pub(crate) const CLASS: Class = Class::new("VLBNode", create)
    .ports("1-/=")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(include_str!("vlb_node.rs"));

/// The EtherType of hellos: one of those set aside for experiments.
const HELLO_TYPE: u16 = 0x88b5;
/// The port of the node's own side.
const OWN: usize = 0;
/// Timers.
const HELLO: u32 = 0;
const EXPIRE: u32 = 1;

struct VlbNode {
    settings: Settings,
    topology: Topology,
    roster: Holder,
    running: Option<Running>,
    passed: u64,
    delivered: u64,
    rejected: BTreeMap<&'static str, u64>,
}

/// What a node hands over to its namesake in another configuration.
struct Handed {
    running: Running,
    roster: Holder,
    passed: u64,
    delivered: u64,
    rejected: BTreeMap<&'static str, u64>,
}

/// What needs to know the time at which it starts.
struct Running {
    member: Member,
    chooser: Chooser,
    resequencer: Resequencer<Packet>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (settings, roster) = create_settings(config)?;
    let topology = Topology::Mesh { nodes: usize::from(settings.nodes) };
    let roster = Holder::new(roster);
    let (passed, delivered) = (0, 0);
    Ok(Box::new(VlbNode {
        settings,
        topology,
        roster,
        running: None,
        passed,
        delivered,
        rejected: BTreeMap::new(),
    }))
}

/// The worker's time as the cluster counts it.
fn now(cx: &Cx<'_>) -> u64 {
    cx.now_ns().max(0) as u64
}

impl VlbNode {
    /// The port of the link to a node.
    #[inline]
    fn port(&self, node: NodeId) -> usize {
        usize::from(node) + usize::from(node < self.settings.node)
    }

    /// A packet that has come in here: where it goes first.
    #[inline]
    fn ingress(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let (Some(mut label), Some(running)) = (Label::decode(packet.data()), &mut self.running) else {
            return Verdict::Drop("no label");
        };
        label.ingress = self.settings.node;
        if label.egress == self.settings.node {
            self.delivered += 1;
            return Verdict::Output(OWN);
        }
        if !running.member.is_active() {
            return Verdict::Drop("node not active");
        }
        if label.egress >= self.settings.nodes {
            return Verdict::Drop("no such node");
        }
        let flow = flow_hash(packet.data().get(HEADER_LEN..).unwrap_or_default());
        match running.chooser.choose(now(cx), flow, label.egress, packet.len() as u32) {
            Ok(decision) => {
                (label.hops, label.stamp) = (self.topology.max_hops() as u8 - 1, decision.stamp);
                write_label(packet, label);
                let Path::Via(first) = decision.path else { return Verdict::Output(self.port(label.egress)) };
                Verdict::Output(self.port(first))
            }
            Err(refusal) => Verdict::Drop(refusal.reason()),
        }
    }

    /// A packet that came over a link: on, out, or away. Nothing but its label is looked at.
    #[inline]
    fn transit(&mut self, cx: &mut Cx<'_>, port: usize, packet: &mut Packet) -> Verdict {
        let (Some(label), Some(running)) = (Label::decode(packet.data()), &mut self.running) else {
            return Verdict::Drop("no label");
        };
        if !running.member.accepts(node_at(self.settings.node, port)) {
            return Verdict::Drop("stranger");
        }
        match next(&self.topology, self.settings.node, label) {
            Next::Deliver => {
                self.delivered += 1;
                Verdict::Output(OWN)
            }
            Next::Forward(link, _) if link >= usize::from(self.settings.nodes) => {
                Verdict::Drop("no such node")
            }
            Next::Forward(link, label) => {
                let at = now(cx);
                running.member.passed(at);
                if let Err(refusal) = running.chooser.pass(at, link, packet.len() as u32) {
                    return Verdict::Drop(refusal.reason());
                }
                write_label(packet, label);
                self.passed += 1;
                Verdict::Output(self.port(link as NodeId))
            }
            Next::Exhausted => Verdict::Drop("no hops left"),
        }
    }

    /// Packets one by one: hellos among them, or numbers to be heeded.
    fn with_care(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        batch.drain(|mut packet| {
            if port != OWN && is_hello(packet.data()) {
                self.hear(cx, port, packet.data().get(HEADER_LEN..).unwrap_or_default());
                cx.pool().free(packet);
                return;
            }
            let verdict =
                if port == OWN { self.ingress(cx, &mut packet) } else { self.transit(cx, port, &mut packet) };
            match verdict {
                Verdict::Output(output) if output == OWN && port != OWN => self.put_in_order(cx, packet),
                Verdict::Output(output) => cx.emit_packet(output, packet),
                Verdict::Pass => cx.emit_packet(0, packet),
                Verdict::Drop(reason) => cx.drop(packet, reason),
            }
        });
        cx.consume(batch);
        self.notice(cx);
    }

    fn put_in_order(&mut self, cx: &mut Cx<'_>, packet: Packet) {
        let at = now(cx);
        let label = Label::decode(packet.data());
        let (Some(Label { stamp: Stamp::Sequence { bucket, number }, ingress, .. }), Some(running)) =
            (label, &mut self.running)
        else {
            return cx.emit_packet(OWN, packet);
        };
        let out = |packet| cx.emit_packet(OWN, packet);
        if let Some(late) = running.resequencer.push(at, (ingress, bucket), number, packet, out) {
            cx.drop(late, "late");
        }
        self.set_expiry(cx);
    }

    fn set_expiry(&self, cx: &mut Cx<'_>) {
        let deadline = self.running.as_ref().and_then(|running| running.resequencer.next_deadline_ns());
        if let Some(deadline) = deadline.filter(|_| !cx.timer_is_set(EXPIRE)) {
            cx.timer_at(EXPIRE, i64::try_from(deadline).unwrap_or(i64::MAX));
        }
    }

    fn hear(&mut self, cx: &mut Cx<'_>, port: usize, frame: &[u8]) {
        // Links pad short frames: the length says where the hello ends.
        let Some((length, rest)) = frame.split_first_chunk() else { return };
        let bytes = rest.get(..usize::from(u16::from_be_bytes(*length))).unwrap_or_default();
        let from = node_at(self.settings.node, port);
        let Some(running) = &mut self.running else { return };
        if let Err(why) = running.member.receive(now(cx), from, bytes) {
            *self.rejected.entry(reason(why)).or_default() += 1;
        }
    }

    /// Takes note of what the member says has happened.
    fn notice(&mut self, cx: &mut Cx<'_>) {
        let nodes = usize::from(self.settings.nodes);
        let Some(running) = &mut self.running else { return };
        let events = running.member.take_events();
        for event in &events {
            if let Event::Restarted(node) = event {
                running.resequencer.forget(*node, |packet| cx.drop(packet, "late"));
            }
        }
        if !events.is_empty() {
            running.chooser.set_view(running.member.view(nodes));
        }
    }

    /// Sends a hello into every link.
    fn greet(&mut self, cx: &mut Cx<'_>) {
        let Some(running) = &mut self.running else { return };
        running.member.tick(now(cx));
        let hello = running.member.hello();
        let source = MacAddr([
            2,
            0xc1,
            0,
            0,
            self.settings.node.to_be_bytes()[0],
            self.settings.node.to_be_bytes()[1],
        ]);
        let head = header(MacAddr::BROADCAST, source, HELLO_TYPE);
        for port in 1..usize::from(self.settings.nodes) {
            let Some(mut packet) = cx.pool().alloc(DEFAULT_HEADROOM, HEADER_LEN + 2 + hello.len()) else {
                cx.count_drops("no buffer", 1);
                continue;
            };
            let (start, rest) = packet.data_mut().split_at_mut(HEADER_LEN);
            start.copy_from_slice(&head);
            rest[..2].copy_from_slice(&(hello.len() as u16).to_be_bytes());
            rest[2..].copy_from_slice(&hello);
            packet.set_mac_offset(0);
            cx.emit_packet(port, packet);
        }
        self.notice(cx);
    }

    /// Why the state of another configuration's node does not fit.
    fn misfit(&self, handed: &Handed) -> Option<&'static str> {
        let view = handed.running.chooser.view();
        if (view.me(), view.nodes()) != (self.settings.node, usize::from(self.settings.nodes)) {
            return Some("another node, or another number of nodes");
        }
        match self.settings.key() {
            Ok(key) if handed.running.member.has_key(&key) => None,
            _ => Some("another key"),
        }
    }

    fn view(&self) -> String {
        let Some(running) = &self.running else { return String::new() };
        let view = running.member.view(usize::from(self.settings.nodes));
        let line = |node: NodeId| {
            let up = if view.direct(node) { "up" } else { "down" };
            let transit = if view.transit(node) { " transit" } else { "" };
            format!("{node} {up}{transit}\n")
        };
        (0..self.settings.nodes).filter(|&node| node != self.settings.node).map(line).collect()
    }
}

/// The node at the other end of a link's port.
#[inline]
fn node_at(me: NodeId, port: usize) -> NodeId {
    if port <= usize::from(me) { port as NodeId - 1 } else { port as NodeId }
}

/// Puts a label in place of the one that a frame has.
#[inline]
pub(super) fn write_label(packet: &mut Packet, label: Label) {
    if let Some(place) = packet.data_mut().first_chunk_mut::<{ label::LEN }>() {
        *place = label.encode();
    }
}

#[inline]
fn is_hello(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&HELLO_TYPE.to_be_bytes())
}

fn reason(why: Rejected) -> &'static str {
    match why {
        Rejected::Stranger(_) => "not authentic",
        Rejected::Unknown(_) => "not in the roster",
        Rejected::WrongLink(_) => "over a wrong link",
        Rejected::Replayed(_) => "replayed",
        Rejected::Duplicate(_) => "second node of a number",
    }
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Listening => "listening",
        Phase::Active => "active",
        Phase::Draining => "draining",
        Phase::Leaving => "leaving",
        Phase::Left => "left",
    }
}

impl Element for VlbNode {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let (at, nodes) = (now(cx), usize::from(self.settings.nodes));
        let mut choice = self.settings.choice.clone();
        choice.seed = cx.rng().u64(..);
        let view = View::empty(self.settings.node, nodes);
        // Time only grows, so a later life has a larger number.
        self.running = Some(Running {
            member: Member::new(
                self.settings.node,
                at,
                self.roster.current(),
                self.settings.key()?,
                self.settings.timing,
                at,
            ),
            chooser: Chooser::new(self.topology.clone(), view, choice),
            resequencer: Resequencer::new(self.settings.resequence),
        });
        // Not all nodes at once.
        let first = cx.rng().u64(..self.settings.timing.hello_ns);
        cx.timer_after(HELLO, Duration::from_nanos(first));
        Ok(())
    }

    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        if port == OWN {
            return cx.scatter(batch, |cx, packet| self.ingress(cx, packet));
        }
        if self.settings.is_strict() || batch.iter().any(|packet| is_hello(packet.data())) {
            return self.with_care(cx, port, batch);
        }
        cx.scatter(batch, |cx, packet| self.transit(cx, port, packet));
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        if key == HELLO {
            cx.timer_after(HELLO, Duration::from_nanos(self.settings.timing.hello_ns));
            return self.greet(cx);
        }
        let at = now(cx);
        if let Some(running) = &mut self.running {
            running.resequencer.expire(at, |packet| cx.emit_packet(OWN, packet));
        }
        self.set_expiry(cx);
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let roster = Holder::new(self.roster.current().clone());
        let (passed, delivered, rejected) = (self.passed, self.delivered, self.rejected.clone());
        let running = self.running.take()?;
        Some(Box::new(Handed { running, roster, passed, delivered, rejected }))
    }

    /// The node goes on as the one that it was to the others: no hello and no number is given twice.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) -> Result<(), Refused> {
        let mut handed = state.downcast::<Handed>().map_err(|state| ("not a VLBNode".into(), state))?;
        if let Some(why) = self.misfit(&handed) {
            return Err((why.into(), handed));
        }
        let running = &mut handed.running;
        running.chooser.set_settings(self.settings.choice.clone());
        running.member.set_timing(self.settings.timing);
        running.resequencer.set_settings(self.settings.resequence);
        // What came by a handler or from a server may be newer than the file.
        if self.roster.current().version > handed.roster.current().version {
            running.member.set_roster(self.roster.current(), now(cx));
        } else {
            self.roster = Holder::new(handed.roster.current().clone());
        }
        (self.passed, self.delivered) = (handed.passed, handed.delivered);
        self.rejected = std::mem::take(&mut handed.rejected);
        self.running = Some(handed.running);
        self.notice(cx);
        self.set_expiry(cx);
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = VlbNode;
        let phase =
            |e: &mut E, _: &mut Cx<'_>| e.running.as_ref().map_or("", |r| phase_name(r.member.phase()));
        h.read("node", |e: &mut E, _| e.settings.node);
        h.read("phase", phase);
        h.read("view", |e: &mut E, _| e.view());
        h.write("drain", |e: &mut E, cx, _| {
            let at = now(cx);
            if let Some(running) = &mut e.running {
                running.member.drain(at);
            }
            e.notice(cx);
            Ok(())
        })
        .as_button();
        h.read("direct", |e: &mut E, _| e.running.as_ref().map_or(0, |r| r.chooser.counts().direct));
        h.read("balanced", |e: &mut E, _| e.running.as_ref().map_or(0, |r| r.chooser.counts().balanced));
        h.read("spilled", |e: &mut E, _| e.running.as_ref().map_or(0, |r| r.chooser.counts().spilled));
        h.read("refused", |e: &mut E, _| e.running.as_ref().map_or(0, |r| r.chooser.counts().refused));
        h.read("passed", |e: &mut E, _| e.passed);
        h.read("delivered", |e: &mut E, _| e.delivered);
        h.read("late", |e: &mut E, _| e.running.as_ref().map_or(0, |r| r.resequencer.counts().late));
        h.read("waiting", |e: &mut E, _| e.running.as_ref().map_or(0, |r| r.resequencer.waiting()));
        h.read("given_up", |e: &mut E, _| e.running.as_ref().map_or(0, |r| r.member.counts().given_up));
        h.read("pauses", |e: &mut E, _| e.running.as_ref().map_or(0, |r| r.member.counts().pauses));
        h.read("longest_pause", |e: &mut E, _| {
            e.running.as_ref().map_or(0, |r| r.member.counts().longest_pause_ns / 1_000_000)
        });
        h.read("rejected", |e: &mut E, _| {
            e.rejected.iter().map(|(reason, count)| format!("{count}\t{reason}\n")).collect::<String>()
        });
        h.read("roster", |e: &mut E, _| e.roster.current().render());
        h.write("roster", |e: &mut E, cx, text| {
            e.roster.offer(text).map_err(|errors| errors.join("\n"))?;
            let at = now(cx);
            if let Some(running) = &mut e.running {
                running.member.set_roster(e.roster.current(), at);
            }
            e.notice(cx);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests;
