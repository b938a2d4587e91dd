//! What nodes of all kinds of cluster have in common: VLBNode's of a mesh, VLBFly's of a k-ary n-fly.

use super::settings::Settings;
use super::witness::{Sign, Witness};
use cluster::NodeId;
use cluster::choice::{self, Chooser};
use cluster::label::{self, Label, Stamp};
use cluster::membership::{Event, Holder, Member, Phase, Rejected, Roster};
use cluster::resequence::Resequencer;
use cluster::transit::{Next, next};
use elements_shared::flow_hash::{Fields, Flows};
use elements_shared::keyed_hash::HashKey;
use packet::{Batch, DEFAULT_HEADROOM, Packet};
use router::{ConfigError, Cx, Element, Handlers, Verdict};
use std::any::Any;
use std::collections::BTreeMap;
use std::time::Duration;
use wire::MacAddr;
use wire::ethernet::{HEADER_LEN, header};

/// The EtherType of hellos: one of those set aside for experiments.
const HELLO_TYPE: u16 = 0x88b5;
/// The port of the node's own side.
const OWN: usize = 0;
/// Timers.
const HELLO: u32 = 0;
const EXPIRE: u32 = 1;

/// A node of a mesh or of a fly.
pub(super) struct Node {
    settings: Settings,
    /// Who is at the other end of each cable; cable I is at port I + 1.
    cables: Vec<NodeId>,
    /// The port of each link out of this node; none of links that lead nowhere.
    ports: Vec<Option<usize>>,
    roster: Holder,
    running: Option<Running>,
    passed: u64,
    delivered: u64,
    rejected: BTreeMap<&'static str, u64>,
    witness: Witness,
}

/// What a node hands over to its namesake in another configuration.
struct Handed {
    running: Running,
    roster: Holder,
    passed: u64,
    delivered: u64,
    rejected: BTreeMap<&'static str, u64>,
    witness: Witness,
}

/// What needs to know the time at which it starts.
struct Running {
    member: Member,
    /// A terminal's; nodes between terminals choose nothing.
    chooser: Option<Chooser>,
    /// How packets' flows are told apart.
    flows: Flows,
    resequencer: Resequencer<Packet>,
}

/// The worker's time as the cluster counts it.
fn now(cx: &Cx<'_>) -> u64 {
    cx.now_ns().max(0) as u64
}

impl Node {
    pub(super) fn new(settings: Settings, roster: Roster) -> Node {
        let topology = &settings.topology;
        let cables = topology.neighbours(settings.node);
        let port = |link| {
            let next = topology.neighbour(usize::from(settings.node), link);
            cables.iter().position(|&node| usize::from(node) == next).map(|cable| cable + 1)
        };
        Node {
            ports: (0..topology.links(usize::from(settings.node))).map(port).collect(),
            cables,
            roster: Holder::new(roster),
            running: None,
            passed: 0,
            delivered: 0,
            rejected: BTreeMap::new(),
            witness: Witness::new(),
            settings,
        }
    }

    /// The output that a link is at.
    #[inline]
    fn output(&self, link: usize) -> Verdict {
        self.ports.get(link).copied().flatten().map_or(Verdict::Drop("no such node"), Verdict::Output)
    }

    /// A packet that has come in here: where it goes first.
    #[inline]
    fn ingress(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let (Some(mut label), Some(running)) = (Label::decode(packet.data()), &mut self.running) else {
            return Verdict::Drop("no label");
        };
        let Some(chooser) = &mut running.chooser else { return Verdict::Drop("no terminal") };
        label.ingress = self.settings.node;
        if label.egress == self.settings.node {
            self.delivered += 1;
            return Verdict::Output(OWN);
        }
        if !running.member.is_active() {
            return Verdict::Drop("node not active");
        }
        if !self.settings.topology.is_terminal(label.egress) {
            return Verdict::Drop("no such node");
        }
        let flow = running.flows.of(packet.data().get(HEADER_LEN..).unwrap_or_default());
        match chooser.choose(now(cx), flow, label.egress, packet.len() as u32) {
            Ok(decision) => {
                (label.hops, label.stamp) = (self.settings.topology.max_hops() as u8 - 1, decision.stamp);
                write_label(packet, label);
                self.output(decision.link)
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
        if !self.cables.get(port - 1).is_some_and(|&node| running.member.accepts(node)) {
            return Verdict::Drop("stranger");
        }
        if !self.settings.topology.is_terminal(label.egress) {
            return Verdict::Drop("no such node");
        }
        match next(&self.settings.topology, self.settings.node, label) {
            Next::Deliver => {
                self.delivered += 1;
                Verdict::Output(OWN)
            }
            Next::Forward(link, label) => {
                let at = now(cx);
                running.member.passed(at);
                let link = match &mut running.chooser {
                    None => Ok(link),
                    Some(chooser) => chooser
                        .onward(link, label.egress)
                        .and_then(|link| chooser.pass(at, link, packet.len() as u32).map(|()| link)),
                };
                let link = match link {
                    Ok(link) => link,
                    Err(refusal) => return Verdict::Drop(refusal.reason()),
                };
                write_label(packet, label);
                let verdict = self.output(link);
                self.passed += u64::from(matches!(verdict, Verdict::Output(_)));
                verdict
            }
            Next::Exhausted => Verdict::Drop("no hops left"),
            Next::Astray => Verdict::Drop("astray"),
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
        if let Some(deadline) = deadline.filter(|_| !cx.timers().is_set(EXPIRE)) {
            cx.timers().at(EXPIRE, i64::try_from(deadline).unwrap_or(i64::MAX));
        }
    }

    fn hear(&mut self, cx: &mut Cx<'_>, port: usize, frame: &[u8]) {
        // Links pad short frames: the length says where the hello ends.
        let Some((length, rest)) = frame.split_first_chunk() else { return };
        let bytes = rest.get(..usize::from(u16::from_be_bytes(*length))).unwrap_or_default();
        let (Some(running), Some(&from)) = (&mut self.running, self.cables.get(port - 1)) else { return };
        if let Err(why) = running.member.receive(now(cx), from, bytes) {
            *self.rejected.entry(reason(why)).or_default() += 1;
        }
    }

    /// Takes note of what the member says has happened.
    fn notice(&mut self, cx: &mut Cx<'_>) {
        let Some(running) = &mut self.running else { return };
        let events = running.member.take_events();
        for event in &events {
            match event {
                Event::Restarted(node) => {
                    running.resequencer.forget(*node, |packet| cx.drop(packet, "late"));
                }
                Event::GivenUp { node, hello } => self.witness.gave_up(*node, *hello),
                Event::View | Event::Phase(_) => {}
            }
        }
        if events.is_empty() {
            return;
        }
        if let Some(chooser) = &mut running.chooser {
            chooser.set_view(running.member.view());
        }
        if running.member.has_news() {
            cx.timers().after(HELLO, Duration::ZERO);
        }
    }

    /// Sends a hello into every link.
    fn greet(&mut self, cx: &mut Cx<'_>) {
        let Some(running) = &mut self.running else { return };
        if !cx.info().clock.is_simulated() {
            self.witness.runs(Sign::now(), running.member.hellos(), self.settings.timing.hold_ns / 2);
        }
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
        for port in 1..=self.cables.len() {
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
    fn misfit(&self, old: &Node) -> Option<&'static str> {
        let running = old.running.as_ref()?;
        if (old.settings.node, &old.settings.topology) != (self.settings.node, &self.settings.topology) {
            return Some("another node, or another cluster");
        }
        match self.settings.key() {
            Ok(key) if running.member.has_key(&key) => None,
            _ => Some("another key"),
        }
    }

    fn view(&self) -> String {
        let Some(running) = &self.running else { return String::new() };
        let view = running.member.view();
        let line = |node: NodeId| {
            let up = if view.direct(node) { "up" } else { "down" };
            let transit = if view.transit(node) { " transit" } else { "" };
            format!("{node} {up}{transit}\n")
        };
        let terminals = 0..self.settings.topology.terminals() as NodeId;
        terminals.filter(|&node| node != self.settings.node).map(line).collect()
    }

    /// Where cables lead, and whether they are whole.
    fn links(&self) -> String {
        let (node, topology) = (self.settings.node, &self.settings.topology);
        let line = |(cable, &other): (usize, &NodeId)| {
            let is_up = self.running.as_ref().is_some_and(|running| running.member.is_connected(other));
            let way = match (topology.link_to(node, other), topology.link_to(other, node)) {
                (Some(_), Some(_)) => "both",
                (Some(_), None) => "to",
                _ => "from",
            };
            format!("{} {way} {other} {}\n", cable + 1, if is_up { "up" } else { "down" })
        };
        self.cables.iter().enumerate().map(line).collect()
    }

    /// A count of the chooser's.
    fn count(&self, which: fn(choice::Counts) -> u64) -> u64 {
        let chooser = self.running.as_ref().and_then(|running| running.chooser.as_ref());
        chooser.map_or(0, |chooser| which(chooser.counts()))
    }
}

/// Puts a label in place of the one that a frame has.
#[inline]
fn write_label(packet: &mut Packet, label: Label) {
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

impl Element for Node {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let (at, topology) = (now(cx), &self.settings.topology);
        let mut choice = self.settings.choice.clone();
        choice.seed = cx.unguessable().u64();
        let member = Member::new(
            self.settings.node,
            // Time grows, so a later life has a larger number; where a clock was set back, peers say so.
            at,
            topology,
            self.roster.current(),
            self.settings.key()?,
            self.settings.timing,
            at,
        );
        let is_terminal = topology.is_terminal(self.settings.node);
        let chooser = is_terminal.then(|| Chooser::new(topology.clone(), member.view(), choice));
        let resequencer = Resequencer::new(self.settings.resequence);
        let flows = Flows { key: HashKey::new(cx.unguessable().u64()), fields: Fields::Ports };
        self.running = Some(Running { member, chooser, flows, resequencer });
        // Not all nodes at once.
        let first = cx.rng().u64(..self.settings.timing.hello_ns);
        cx.timers().after(HELLO, Duration::from_nanos(first));
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
            cx.timers().after(HELLO, Duration::from_nanos(self.settings.timing.hello_ns));
            return self.greet(cx);
        }
        let at = now(cx);
        if let Some(running) = &mut self.running {
            running.resequencer.expire(at, |packet| cx.emit_packet(OWN, packet));
        }
        self.set_expiry(cx);
    }

    fn held(&self) -> usize {
        self.running.as_ref().map_or(0, |running| running.resequencer.waiting())
    }

    fn can_take_over(&mut self, _cx: &mut Cx<'_>, old: &dyn Any) -> Result<(), ConfigError> {
        let why = old.downcast_ref::<Node>().and_then(|old| self.misfit(old));
        why.map_or(Ok(()), |why| Err(why.into()))
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let roster = Holder::new(self.roster.current().clone());
        let (passed, delivered, rejected) = (self.passed, self.delivered, self.rejected.clone());
        let running = self.running.take()?;
        let witness = std::mem::replace(&mut self.witness, Witness::new());
        Some(Box::new(Handed { running, roster, passed, delivered, rejected, witness }))
    }

    /// The node goes on as the one that it was to the others: no hello and no number is given twice.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(mut handed) = state.downcast::<Handed>() else { return };
        let running = &mut handed.running;
        if let Some(chooser) = &mut running.chooser {
            chooser.set_settings(self.settings.choice.clone());
        }
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
        (self.running, self.witness) = (Some(handed.running), handed.witness);
        self.notice(cx);
        self.set_expiry(cx);
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = Node;
        let phase =
            |e: &mut E, _: &mut Cx<'_>| e.running.as_ref().map_or("", |r| phase_name(r.member.phase()));
        h.read("node", |e: &mut E, _| e.settings.node);
        h.read("phase", phase);
        h.read("view", |e: &mut E, _| e.view());
        h.read("links", |e: &mut E, _| e.links());
        h.write("drain", |e: &mut E, cx, _| {
            let at = now(cx);
            if let Some(running) = &mut e.running {
                running.member.drain(at);
            }
            e.notice(cx);
            Ok(())
        })
        .as_button();
        h.read("direct", |e: &mut E, _| e.count(|counts| counts.direct));
        h.read("balanced", |e: &mut E, _| e.count(|counts| counts.balanced));
        h.read("spilled", |e: &mut E, _| e.count(|counts| counts.spilled));
        h.read("refused", |e: &mut E, _| e.count(|counts| counts.refused));
        h.read("passed", |e: &mut E, _| e.passed);
        h.read("delivered", |e: &mut E, _| e.delivered);
        h.read("late", |e: &mut E, _| e.running.as_ref().map_or(0, |r| r.resequencer.counts().late));
        h.read("waiting", |e: &mut E, _| e.running.as_ref().map_or(0, |r| r.resequencer.waiting()));
        h.read("given_up", |e: &mut E, _| e.running.as_ref().map_or(0, |r| r.member.counts().given_up));
        h.read("pauses", |e: &mut E, _| e.running.as_ref().map_or(0, |r| r.member.counts().pauses));
        h.read("longest_pause", |e: &mut E, _| {
            e.running.as_ref().map_or(0, |r| r.member.counts().longest_pause_ns / 1_000_000)
        });
        h.read("pause_log", |e: &mut E, _| e.witness.pauses());
        h.read("alarm_log", |e: &mut E, _| e.witness.alarms());
        h.read("rejected", |e: &mut E, _| {
            e.rejected.iter().map(|(reason, count)| format!("{count}\t{reason}\n")).collect::<String>()
        });
        h.read("roster", |e: &mut E, _| e.roster.current().render());
        h.write("roster", |e: &mut E, cx, text| {
            let nodes = e.settings.topology.nodes();
            let known = Roster::parse(text).and_then(|roster| roster.within(nodes));
            known.and_then(|_| e.roster.offer(text)).map_err(|errors| errors.join("\n"))?;
            let at = now(cx);
            if let Some(running) = &mut e.running {
                running.member.set_roster(e.roster.current(), at);
            }
            e.notice(cx);
            Ok(())
        });
    }
}
