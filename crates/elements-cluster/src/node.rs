//! What nodes of all kinds of cluster have in common: VLBNode's of a mesh, VLBFly's of a k-ary n-fly.
//!
//! Each worker that packets come to has an instance, with a path choice, flows and numbers of its own. What the instances share is
//! in [`super::shared`].

mod links;

use super::settings::{HELLO_ROOM, Settings};
use super::shared::{Keeper, Kept, Published, Shared};
use super::succession::is_state;
use super::witness::Sign;
use cluster::NodeId;
use cluster::choice::{self, Burst, Chooser, Known, Lane, Numbers};
use cluster::label::{self, Label, Stamp};
use cluster::membership::{Member, Phase, Roster};
use cluster::resequence::Resequencer;
use cluster::transit::{Next, next};
use elements_shared::flow_hash::{Fields, Flows};
use links::Signposts;
use packet::{BATCH_MAX, Batch, DEFAULT_HEADROOM, Packet};
use router::{Config, ConfigError, Cx, Element, Handlers, Merge, Verdict};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;
use wire::MacAddr;
use wire::ethernet::{HEADER_LEN, header};

/// The EtherType of hellos: one of those set aside for experiments.
const HELLO_TYPE: u16 = 0x88b5;
/// The port of the node's own side.
const OWN: usize = 0;
/// Reads what an instance has counted.
type Count = fn(&Node) -> u64;
/// Timers.
const HELLO: u32 = 0;
const EXPIRE: u32 = 1;

/// A node of a mesh or of a fly, as one worker has it.
pub(super) struct Node {
    settings: Settings,
    /// Who is at the other end of each cable; cable I is at port I + 1.
    cables: Vec<NodeId>,
    /// The port of each link out of this node; none of links that lead nowhere.
    ports: Vec<Option<usize>>,
    signposts: Signposts,
    shared: Arc<Shared>,
    /// Which of the workers that have an instance this one is for, and whether it is the one that sends hellos.
    place: usize,
    is_home: bool,
    running: Option<Running>,
    passed: u64,
    delivered: u64,
    /// Whether the running part is that of a former configuration.
    is_taken: bool,
}

/// What an instance hands over to one of its namesake in another configuration.
struct Handed {
    /// The first to give has it.
    kept: Option<Kept>,
    running: Running,
    numbers: Option<(Lane, Numbers)>,
    /// Packets that other workers had given to this one.
    given: Vec<Packet>,
    passed: u64,
    delivered: u64,
}

/// What there is from the start on.
struct Running {
    /// The version of what was published that this worker knows, and what it says.
    version: u64,
    is_active: bool,
    accepts: Box<[bool]>,
    lives: Box<[u32]>,
    /// By which node leaves what is to leave by each; empty: by itself.
    stand_ins: Box<[NodeId]>,
    /// A terminal's; nodes between terminals choose nothing.
    chooser: Option<Chooser>,
    /// How packets' flows are told apart.
    flows: Flows,
    resequencer: Resequencer<Packet>,
}

/// By which node a packet leaves that is to leave by another. Messages are for the node itself, whatever others do for it.
#[cold]
#[inline(never)] // the packet path of a cluster in which every node serves itself stays short
fn stand_in(stand_ins: &[NodeId], egress: NodeId, packet: &Packet) -> NodeId {
    let by = stand_ins.get(usize::from(egress)).copied();
    by.filter(|_| !is_state(packet.data())).unwrap_or(egress)
}

impl Running {
    /// Something new was published.
    #[cold]
    fn adopt(&mut self, cx: &mut Cx<'_>, published: &Published) {
        let renewed =
            self.lives.iter().zip(&published.lives).enumerate().filter(|(_, (old, new))| old != new);
        for (node, _) in renewed {
            self.resequencer.forget(node as NodeId, |packet| cx.drop(packet, "late"));
        }
        self.version = published.version;
        self.is_active = published.is_active;
        self.accepts = published.accepts.clone();
        self.lives = published.lives.clone();
        self.stand_ins = published.stand_ins.clone();
        if let Some(chooser) = &mut self.chooser {
            chooser.set_view(published.view.clone());
        }
    }
}

/// The worker's time as the cluster counts it.
fn now(cx: &Cx<'_>) -> u64 {
    cx.now_ns().max(0) as u64
}

impl Node {
    pub(super) fn new(
        config: &mut Config<'_>,
        settings: Settings,
        roster: Roster,
    ) -> Result<Node, ConfigError> {
        let topology = &settings.topology;
        let cables = topology.neighbours(settings.node);
        let port = |link| {
            let next = topology.neighbour(usize::from(settings.node), link);
            cables.iter().position(|&node| usize::from(node) == next).map(|cable| cable + 1)
        };
        let (workers, seed) = (config.workers().to_vec(), config.common_seed());
        if settings.is_strict() && workers.len() > choice::BUCKETS {
            return Err("ORDER: STRICT: labels have room for the numbers of 256 workers".into());
        }
        let shared = config.shared(|| Ok(Shared::new(&settings, roster, &workers, seed)))?;
        let ports: Vec<_> = (0..topology.links(usize::from(settings.node))).map(port).collect();
        Ok(Node {
            signposts: Signposts::new(topology, settings.node, &ports, 1 + cables.len()),
            ports,
            cables,
            shared,
            place: workers.iter().position(|&worker| worker == config.worker()).unwrap_or(0),
            is_home: config.home() == config.worker(),
            running: None,
            passed: 0,
            delivered: 0,
            is_taken: false,
            settings,
        })
    }

    /// Looks whether something new was published.
    #[inline]
    fn refresh(&mut self, cx: &mut Cx<'_>) {
        let Some(running) = &mut self.running else { return };
        let published = self.shared.published.read(cx.turn());
        if published.version != running.version {
            running.adopt(cx, published);
        }
    }

    /// The output that a link is at.
    #[inline]
    fn output(&self, link: usize) -> Verdict {
        self.ports.get(link).copied().flatten().map_or(Verdict::Drop("no such node"), Verdict::Output)
    }

    /// Packets that have come in here: where they go first.
    #[inline]
    fn ingress(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        let Some(running) = &mut self.running else { return cx.drop_batch(batch, "no node") };
        let Some(chooser) = &mut running.chooser else { return cx.drop_batch(batch, "no terminal") };
        let (me, is_active) = (self.settings.node, running.is_active);
        let terminals = self.settings.topology.terminals();
        let hops = self.settings.topology.max_hops() as u8 - 1;
        let plain = label::source(me, hops, Stamp::None);
        let mut burst = chooser.burst(now(cx));
        // What is for this node itself needs no way, unless another acts for it.
        let own = running.stand_ins.is_empty().then_some(me);
        let (known, mut at) = (find_flows(&mut burst, &running.flows, own, &batch), 0);
        cx.scatter(batch, |_, packet| {
            let of = known[at % BATCH_MAX];
            at += 1;
            let Some(named) = label::egress(packet.data()) else { return Verdict::Drop("no label") };
            let mut egress = named;
            if !running.stand_ins.is_empty() {
                egress = stand_in(&running.stand_ins, named, packet);
            }
            if egress == me {
                self.delivered += 1;
                return Verdict::Output(OWN);
            }
            if !is_active {
                return Verdict::Drop("node not active");
            }
            if usize::from(egress) >= terminals {
                return Verdict::Drop("no such node");
            }
            let of = if egress == named { of } else { burst.elsewhere(of, egress) };
            let decision = match burst.choose(of, egress, packet.len() as u32) {
                Ok(decision) => decision,
                Err(refusal) => return Verdict::Drop(refusal.reason()),
            };
            let source = match decision.stamp {
                Stamp::None => plain,
                stamp => label::source(me, hops, stamp),
            };
            if let Some(place) = packet.data_array_mut(label::SOURCE) {
                *place = source;
            }
            if egress != named {
                set_egress(packet, egress);
            }
            self.signposts.output(decision.link).map_or(Verdict::Drop("no such node"), Verdict::Output)
        });
    }

    /// A packet that came over a link: on, out, or away. Nothing but its label is looked at.
    #[inline]
    fn transit(&mut self, cx: &mut Cx<'_>, port: usize, packet: &mut Packet) -> Verdict {
        let (Some(label), Some(running)) = (Label::decode(packet.data()), &mut self.running) else {
            return Verdict::Drop("no label");
        };
        if !running.accepts.get(port - 1).is_some_and(|accepts| *accepts) {
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
                self.shared.passed(self.place, at);
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

    /// Packets that came over a cable, one by one: there are hellos among them, or numbers to be heeded.
    fn with_care(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        let (mut has_heard, mut own) = (false, cx.batch());
        batch.drain(|mut packet| {
            if is_hello(packet.data()) {
                self.hear(cx, port, packet.data().get(HEADER_LEN..).unwrap_or_default());
                has_heard = true;
                return cx.pool().free(packet);
            }
            match self.transit(cx, port, &mut packet) {
                Verdict::Output(OWN) => own.push(packet),
                Verdict::Output(output) => cx.emit_packet(output, packet),
                Verdict::Pass => cx.emit_packet(0, packet),
                Verdict::Drop(reason) => cx.drop(packet, reason),
            }
        });
        cx.consume(batch);
        self.put_all_in_order(cx, own);
        if has_heard {
            self.notice(cx);
        }
    }

    /// A packet leaves here, in its turn if it has a number; whether another worker has it now, which puts those of its lane in order.
    /// What is to leave is added to `leaving`.
    #[inline]
    fn put_in_order(&mut self, cx: &mut Cx<'_>, packet: Packet, leaving: &mut Batch) -> bool {
        let Some(Label { stamp: Stamp::Sequence { bucket, number }, ingress, .. }) =
            Label::decode(packet.data())
        else {
            leave(cx, leaving, packet);
            return false;
        };
        let owner = self.shared.handover.owner(ingress, bucket);
        if owner != self.place {
            let refused = self.shared.handover.give(owner, packet).err();
            refused.into_iter().for_each(|packet| cx.drop(packet, "worker busy"));
            return true;
        }
        let at = now(cx);
        let Some(running) = &mut self.running else {
            cx.drop(packet, "no node");
            return false;
        };
        let out = |packet| leave(cx, leaving, packet);
        if let Some(late) = running.resequencer.push(at, (ingress, bucket), number, packet, out) {
            cx.drop(late, "late");
        }
        false
    }

    /// Packets leave here, in their turn.
    fn put_all_in_order(&mut self, cx: &mut Cx<'_>, mut batch: Batch) {
        let (mut leaving, mut has_given) = (cx.batch(), false);
        batch.drain(|packet| has_given |= self.put_in_order(cx, packet, &mut leaving));
        cx.consume(batch);
        cx.emit(OWN, leaving);
        self.set_expiry(cx);
        if has_given {
            self.shared.handover.wake(cx, &self.shared.workers);
        }
    }

    /// Takes what other workers have given to this one.
    fn take_given(&mut self, cx: &mut Cx<'_>) {
        let mut given = cx.batch();
        for _ in 0..cx.vector().min(BATCH_MAX) {
            match self.shared.handover.take(self.place) {
                Some(packet) => given.push(packet),
                None => break,
            }
        }
        let goes_on = given.len() >= cx.vector().min(BATCH_MAX) || self.shared.handover.sleep(self.place);
        self.put_all_in_order(cx, given);
        if goes_on {
            cx.tasks().schedule();
        }
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
        if let Some(&from) = self.cables.get(port - 1) {
            self.shared.keeper().hear(now(cx), from, bytes);
        }
    }

    /// Takes note of what the member says has happened.
    fn notice(&mut self, cx: &mut Cx<'_>) {
        let has_news = self.shared.settle(&mut self.shared.keeper());
        if has_news && self.is_home {
            cx.timers().after(HELLO, Duration::ZERO);
        } else if has_news {
            self.shared.ask_for_hello();
            cx.tasks().schedule_on(self.shared.workers[0]);
        }
        self.refresh(cx);
    }

    /// Sends a hello into every link.
    fn greet(&mut self, cx: &mut Cx<'_>) {
        let frames = {
            let mut keeper = self.shared.keeper();
            self.shared.tick(&mut keeper, now(cx));
            let Keeper { member: Some(member), witness, .. } = &mut *keeper else { return };
            if !cx.info().clock.is_simulated() {
                witness.runs(Sign::now(), member.hellos(), self.settings.timing.hold_ns / 2);
            }
            member.frames(HELLO_ROOM)
        };
        let [n0, n1] = self.settings.node.to_be_bytes();
        let head = header(MacAddr::BROADCAST, MacAddr([2, 0xc1, 0, 0, n0, n1]), HELLO_TYPE);
        for port in 1..=self.cables.len() {
            frames.iter().for_each(|bytes| say(cx, port, &head, bytes));
        }
        self.notice(cx);
    }

    /// Why the state of another configuration's node does not fit.
    fn misfit(&self, old: &Node) -> Option<&'static str> {
        let keeper = old.shared.keeper();
        let member = keeper.member.as_ref()?;
        if (old.settings.node, &old.settings.topology) != (self.settings.node, &self.settings.topology) {
            return Some("another node, or another cluster");
        }
        match self.settings.key() {
            Ok(key) if member.has_key(&key) => None,
            _ => Some("another key"),
        }
    }

    /// Something that the member knows; the default where there is none.
    fn of_member<T: Default>(&self, ask: impl FnOnce(&Member) -> T) -> T {
        self.shared.keeper().member.as_ref().map_or_else(T::default, ask)
    }

    fn view(&self) -> String {
        let view = self.of_member(|member| Some(member.view()));
        let Some(view) = view else { return String::new() };
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
            let is_up = self.of_member(|member| member.is_connected(other));
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

    fn set_roster(&mut self, cx: &mut Cx<'_>, text: &str) -> Result<(), String> {
        {
            let mut keeper = self.shared.keeper();
            let nodes = self.settings.topology.nodes();
            let known = Roster::parse(text).and_then(|roster| roster.within(nodes));
            known.and_then(|_| keeper.roster.offer(text)).map_err(|errors| errors.join("\n"))?;
            keeper.take_roster(now(cx));
        }
        self.notice(cx);
        Ok(())
    }
}

/// Looks for the flows of packets, all before the first is needed, so that their cache misses overlap; not of those that are for `own`.
#[inline]
fn find_flows(
    burst: &mut Burst<'_>,
    flows: &Flows,
    own: Option<NodeId>,
    batch: &Batch,
) -> [Known; BATCH_MAX] {
    let (mut known, mut touched) = ([Known::default(); BATCH_MAX], 0);
    for (packet, known) in batch.iter().zip(&mut known) {
        let egress = label::egress(packet.data()).unwrap_or_default();
        if own == Some(egress) {
            continue;
        }
        let quick = packet.data_from(HEADER_LEN as u32).and_then(|(bytes, _)| flows.of_plain(bytes));
        let flow = match quick {
            Some(flow) => flow,
            None => flows.of(packet.data().get(HEADER_LEN..).unwrap_or_default()),
        };
        *known = burst.find(flow, egress, &mut touched);
    }
    std::hint::black_box(touched);
    known
}

/// Has a packet leave together with others.
#[inline]
fn leave(cx: &mut Cx<'_>, leaving: &mut Batch, packet: Packet) {
    if leaving.is_full() {
        let full = std::mem::replace(leaving, cx.batch());
        cx.emit(OWN, full);
    }
    leaving.push(packet);
}

/// Has a packet leave by another node.
#[cold]
fn set_egress(packet: &mut Packet, egress: NodeId) {
    if let Some(label) = Label::decode(packet.data()) {
        write_label(packet, Label { egress, ..label });
    }
}

/// Puts a label in place of the one that a frame has.
#[inline]
fn write_label(packet: &mut Packet, label: Label) {
    if let Some(place) = packet.data_mut().first_chunk_mut::<{ label::LEN }>() {
        *place = label.encode();
    }
}

/// Sends a hello, or a part of one, into a link.
fn say(cx: &mut Cx<'_>, port: usize, head: &[u8; HEADER_LEN], bytes: &[u8]) {
    let Some(mut packet) = cx.pool().alloc(DEFAULT_HEADROOM, HEADER_LEN + 2 + bytes.len()) else {
        return cx.count_drops("no buffer", 1);
    };
    let (start, rest) = packet.data_mut().split_at_mut(HEADER_LEN);
    start.copy_from_slice(head);
    rest[..2].copy_from_slice(&(bytes.len() as u16).to_be_bytes());
    rest[2..].copy_from_slice(bytes);
    packet.set_mac_offset(0);
    cx.emit_packet(port, packet);
}

#[inline]
fn is_hello(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&HELLO_TYPE.to_be_bytes())
}

/// Whether a frame may be a hello, as far as its first byte tells: hellos are for all, and labels never are.
#[inline]
fn may_be_hello(frame: &[u8]) -> bool {
    frame.first() == Some(&0xff)
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
        let topology = &self.settings.topology;
        let mut choice = self.settings.choice.clone();
        choice.seed = cx.unguessable().u64();
        let view = {
            let mut keeper = self.shared.keeper();
            keeper.start(&self.settings, now(cx))?;
            self.shared.settle(&mut keeper);
            keeper.member.as_ref().map(Member::view)
        };
        let is_terminal = topology.is_terminal(self.settings.node);
        let mut chooser =
            view.filter(|_| is_terminal).map(|view| Chooser::new(topology.clone(), view, choice));
        if let Some(chooser) = &mut chooser {
            chooser.share(self.shared.sent.clone(), self.place, self.shared.workers.len());
        }
        self.running = Some(Running {
            version: 0,
            is_active: false,
            accepts: [].into(),
            lives: [].into(),
            stand_ins: [].into(),
            chooser,
            flows: Flows { key: self.shared.key, fields: Fields::Ports },
            resequencer: Resequencer::new(self.settings.resequence),
        });
        cx.tasks().unschedule(); // there is a task from now on, for others to wake
        if self.is_home {
            // Not all nodes at once.
            let first = cx.rng().u64(..self.settings.timing.hello_ns);
            cx.timers().after(HELLO, Duration::from_nanos(first));
        }
        Ok(())
    }

    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        self.refresh(cx);
        if port == OWN {
            return self.ingress(cx, batch);
        }
        let Err(batch) = self.send_all(cx, port, batch) else { return };
        if self.settings.is_strict() || batch.iter().any(|packet| may_be_hello(packet.data())) {
            return self.with_care(cx, port, batch);
        }
        cx.scatter(batch, |cx, packet| self.transit(cx, port, packet));
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.refresh(cx);
        if self.is_home && self.shared.is_asked_for_hello() {
            cx.timers().after(HELLO, Duration::ZERO);
        }
        self.take_given(cx);
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

    fn held_together(&self) -> usize {
        self.shared.handover.len()
    }

    fn can_take_over(&mut self, _cx: &mut Cx<'_>, old: &dyn Any) -> Result<(), ConfigError> {
        let why = old.downcast_ref::<Node>().and_then(|old| self.misfit(old));
        why.map_or(Ok(()), |why| Err(why.into()))
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let running = self.running.take()?;
        Some(Box::new(Handed {
            kept: self.shared.keeper().give(),
            numbers: running.chooser.as_ref().map(Chooser::numbers),
            running,
            given: std::iter::from_fn(|| self.shared.handover.take(self.place)).collect(),
            passed: self.passed,
            delivered: self.delivered,
        }))
    }

    /// The node goes on as the one that it was to the others: no hello and no number is given twice.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(handed) = state.downcast::<Handed>() else { return };
        let Handed { kept, running, numbers, given, passed, delivered } = *handed;
        {
            let mut keeper = self.shared.keeper();
            kept.into_iter().for_each(|kept| keeper.take(kept, &self.settings, now(cx)));
            numbers.iter().for_each(|numbers| keeper.numbers.merge(numbers));
        }
        (self.passed, self.delivered) = (self.passed + passed, self.delivered + delivered);
        self.take_running(cx, running);
        let mut leaving = cx.batch();
        for packet in given {
            self.put_in_order(cx, packet, &mut leaving);
        }
        cx.emit(OWN, leaving);
        self.set_expiry(cx);
    }

    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        {
            let keeper = self.shared.keeper();
            if let Some(Running { chooser: Some(chooser), .. }) = &mut self.running {
                chooser.set_numbers(&keeper.numbers);
            }
        }
        self.shared.handover.wake(cx, &self.shared.workers);
        self.notice(cx);
        self.set_expiry(cx);
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = Node;
        h.read("node", |e: &mut E, _| e.settings.node);
        h.read("phase", |e: &mut E, _| e.of_member(|member| phase_name(member.phase())));
        h.read("view", |e: &mut E, _| e.view());
        h.read("links", |e: &mut E, _| e.links());
        h.write("drain", |e: &mut E, cx, _| {
            if let Some(member) = &mut e.shared.keeper().member {
                member.drain(now(cx));
            }
            e.notice(cx);
            Ok(())
        })
        .as_button();
        let counts: [(&str, Count); 9] = [
            ("direct", |e| e.count(|counts| counts.direct)),
            ("balanced", |e| e.count(|counts| counts.balanced)),
            ("spilled", |e| e.count(|counts| counts.spilled)),
            ("moved", |e| e.count(|counts| counts.moved)),
            ("refused", |e| e.count(|counts| counts.refused)),
            ("passed", |e| e.passed),
            ("delivered", |e| e.delivered),
            ("late", |e| e.running.as_ref().map_or(0, |r| r.resequencer.counts().late)),
            ("waiting", |e| e.running.as_ref().map_or(0, |r| r.resequencer.waiting() as u64)),
        ];
        for (name, count) in counts {
            h.read(name, move |e: &mut E, _| count(e)).merged(Merge::Sum);
        }
        h.read("given_up", |e: &mut E, _| e.of_member(|member| member.counts().given_up));
        h.read("pauses", |e: &mut E, _| e.of_member(|member| member.counts().pauses));
        h.read("longest_pause", |e: &mut E, _| {
            e.of_member(|member| member.counts().longest_pause_ns / 1_000_000)
        });
        h.read("pause_log", |e: &mut E, _| e.shared.keeper().witness.pauses());
        h.read("alarm_log", |e: &mut E, _| e.shared.keeper().witness.alarms());
        h.read("rejected", |e: &mut E, _| {
            let keeper = e.shared.keeper();
            let incomplete = keeper.member.as_ref().map_or(0, |member| member.counts().incomplete);
            let incomplete = Some((&"incomplete", &incomplete)).filter(|(_, count)| **count > 0);
            let all = keeper.rejected.iter().chain(incomplete);
            all.map(|(reason, count)| format!("{count}\t{reason}\n")).collect::<String>()
        });
        h.read("roster", |e: &mut E, _| e.shared.keeper().roster.current().render());
        h.write("roster", |e: &mut E, cx, text| e.set_roster(cx, text));
    }
}

impl Node {
    /// Goes on with what an instance of a former configuration had; with what a further one had, whose worker has none any more.
    fn take_running(&mut self, cx: &mut Cx<'_>, mut old: Running) {
        let Some(running) = &mut self.running else { return };
        if std::mem::replace(&mut self.is_taken, true) {
            if let (Some(chooser), Some(old)) = (&mut running.chooser, &old.chooser) {
                chooser.add_counts(old.counts());
            }
            return running.resequencer.absorb(old.resequencer, |packet| cx.drop(packet, "late"));
        }
        if let Some(chooser) = &mut old.chooser {
            chooser.set_settings(self.settings.choice.clone());
            chooser.share(self.shared.sent.clone(), self.place, self.shared.workers.len());
        }
        old.resequencer.set_settings(self.settings.resequence);
        // The key stays the same, and so does what is remembered of flows.
        (old.version, old.flows) = (0, running.flows);
        *running = old;
    }
}
