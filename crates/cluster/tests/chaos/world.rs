//! The machines, the wires between them, and what befalls them.

use crate::heirs::{self, Heir, Ledger};
use cluster::NodeId;
use cluster::choice::{Chooser, Numbers, OrderPolicy, Settings};
use cluster::label::Label;
use cluster::membership::{Event, Hello, Key, Member, Phase, Roster, Timing};
use cluster::resequence::{self, Resequencer};
use cluster::succession;
use cluster::topology::Topology;
use cluster::transit::{Next, next};
use cluster::view::View;
use fastrand::Rng;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

const MS: u64 = 1_000_000;
const END: u64 = 2_200 * MS;
/// How long after a mishap packets may be lost.
const BLACKHOLE: u64 = 100 * MS;
/// How long a packet may be under way, queues and waiting for its predecessors included.
const UNDER_WAY: u64 = 30 * MS;
const HELLO: u64 = 10 * MS;
/// How long packets wait for their predecessors in a fly, where ways differ by more links than in a mesh.
const WAIT_IN_FLY: u64 = 10 * MS;
/// By how much a machine may be behind without loss: less than packets wait for their predecessors. What goes by way of a
/// machine that is further behind comes too late for strict order.
const SLOW: u64 = 12 * MS / 10;
/// A node has so many workers, at most.
const WORKERS: usize = 4;
/// The flow of messages between heirs, which no other packet has.
const MESSAGES: u8 = 7;
/// After a mishap flows have moved, duties that none has taken over were taken back, and no two nodes do the same.
const MOVED: u64 = 2_600 * MS;
/// After a mishap it is no wonder that two nodes do the same.
const CLAIMED: u64 = 700 * MS;
/// Messages between heirs are late as long as something was disturbed so lately.
const LATELY: u64 = 400 * MS;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    id: u64,
    label: [u8; 12],
    flow: u8,
    number: u32,
    /// The machine that it came in at, and its workers: those of which swap.
    source: (usize, u32),
    crossed: u8,
    /// The nodes that it has come to since it came in or, in a fly, since its stopover: a bit for each.
    seen: u128,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Frame {
    Hello(Vec<u8>),
    Data(Packet),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Tick(usize, u32),
    News(usize, u32),
    Inject(usize, u32),
    Arrive { to: usize, life: u32, from: NodeId, frame: Frame },
    Expire(usize, u32),
    Mishap(usize),
    Resume(usize),
}

#[derive(Clone, Copy, Debug)]
enum Mishap {
    Crash(usize),
    Start(usize),
    Cut(usize, usize),
    Mend(usize, usize),
    Pause(usize, u64),
    Drain(usize),
    /// From now on frames reach it so much later.
    Slow(usize, u64),
    /// A hot swap to so many workers.
    Swap(usize, usize),
}

struct Machine {
    id: NodeId,
    life: u32,
    running: bool,
    paused: bool,
    drained: bool,
    member: Member,
    /// A terminal's, one for each worker.
    choosers: Vec<Chooser>,
    /// Starts and swaps: who has other workers keeps no order between packets of before and after.
    swaps: u32,
    /// It has something to tell at once.
    has_news: bool,
    resequencer: Resequencer<Packet>,
    numbers: BTreeMap<(NodeId, u8), u32>,
    /// By how much it is behind with what it receives.
    slow_ns: u64,
    /// What arrived during a pause.
    backlog: Vec<(NodeId, Frame)>,
    active_ns: Option<u64>,
    /// What it has and does for others, in stories about that.
    heir: Option<Heir>,
}

impl Machine {
    /// Its view has changed.
    fn learn(&mut self) {
        self.choosers.iter_mut().for_each(|chooser| chooser.set_view(self.member.view()));
    }
}

#[derive(Clone, Copy)]
struct Sent {
    at_ns: u64,
    from: usize,
    to: usize,
    must_arrive: bool,
}

/// How the machines are connected.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Mesh,
    Fly,
    /// A mesh whose nodes remember flows, and go on with each other's.
    Heirs,
}

pub(crate) struct World {
    rng: Rng,
    now: u64,
    serial: u64,
    events: BinaryHeap<Reverse<(u64, u64, What)>>,
    machines: Vec<Machine>,
    topology: Topology,
    nodes: usize,
    terminals: usize,
    /// Bytes of a hello that a frame has room for.
    frame: usize,
    cut: HashSet<(usize, usize)>,
    /// When the last frame from one machine to another arrives: wires keep order.
    wires: BTreeMap<(usize, usize), u64>,
    /// When the story ends.
    end: u64,
    ledger: Ledger,
    /// What messages between heirs say.
    messages: BTreeMap<u64, Vec<u8>>,
    /// When something last happened that lets duties move.
    moved: u64,
    /// When a node last began to take part.
    joined: u64,
    /// Until when nodes that do well cannot reach each other, or have just met again.
    torn_until: u64,
    mishaps: Vec<Mishap>,
    /// Times at which something was disturbed.
    disturbed: Vec<u64>,
    sent: BTreeMap<u64, Sent>,
    arrived: HashSet<u64>,
    last: BTreeMap<(usize, u32, NodeId, u8), u32>,
    pub(crate) story: Vec<String>,
    pub(crate) broken: Vec<String>,
    pub(crate) delivered: u64,
    pub(crate) judged: u64,
    pub(crate) drops: BTreeMap<&'static str, u64>,
}

impl World {
    /// Lives through the story of a seed.
    pub(crate) fn run(shape: Shape, seed: u64) -> World {
        let mut rng = Rng::with_seed(seed);
        let topology = match shape {
            Shape::Mesh => Topology::Mesh { nodes: rng.usize(3..7) },
            Shape::Heirs => Topology::Mesh { nodes: rng.usize(4..7) },
            Shape::Fly => {
                // Of one level, of two, and of three.
                let (terminals, fanout) = [(3, 3), (4, 2), (4, 2), (5, 3), (6, 3), (5, 2)][rng.usize(..6)];
                Topology::fly(terminals, fanout)
            }
        };
        let (nodes, terminals) = (topology.nodes(), topology.terminals());
        let mut world = World {
            now: 0,
            serial: 0,
            events: BinaryHeap::new(),
            machines: Vec::new(),
            topology,
            nodes,
            terminals,
            // In every third fly hellos come in two parts, in every third in four or five.
            frame: if let Shape::Fly = shape { [1_498, 120, 80][(seed % 3) as usize] } else { 1_498 },
            cut: HashSet::new(),
            wires: BTreeMap::new(),
            end: END,
            ledger: Ledger::default(),
            messages: BTreeMap::new(),
            moved: 0,
            torn_until: 0,
            joined: 0,
            mishaps: Vec::new(),
            disturbed: vec![0],
            sent: BTreeMap::new(),
            arrived: HashSet::new(),
            last: BTreeMap::new(),
            story: Vec::new(),
            broken: Vec::new(),
            delivered: 0,
            judged: 0,
            drops: BTreeMap::new(),
            rng,
        };
        (0..nodes).for_each(|id| world.add(id as NodeId));
        match shape {
            Shape::Heirs => world.invent_heirs(),
            _ => world.invent(),
        }
        while let Some(Reverse((at, _, what))) = world.events.pop() {
            world.now = at;
            if at > world.end || !world.broken.is_empty() {
                break;
            }
            world.happen(what);
        }
        world.judge();
        world
    }

    fn add(&mut self, id: NodeId) {
        let index = self.machines.len();
        let (member, choosers) = self.fresh(id, 1_000 + index as u64);
        self.machines.push(Machine {
            id,
            life: 0,
            running: true,
            paused: false,
            drained: false,
            member,
            choosers,
            swaps: 0,
            has_news: false,
            resequencer: self.resequencer(),
            numbers: BTreeMap::new(),
            slow_ns: 0,
            backlog: Vec::new(),
            active_ns: None,
            heir: None,
        });
        self.begin(index);
    }

    fn resequencer(&self) -> Resequencer<Packet> {
        Resequencer::new(resequence::Settings { wait_ns: self.wait_ns(), ..resequence::Settings::default() })
    }

    fn wait_ns(&self) -> u64 {
        match self.topology {
            Topology::Mesh { .. } => resequence::Settings::default().wait_ns,
            _ => WAIT_IN_FLY,
        }
    }

    fn fresh(&mut self, id: NodeId, incarnation: u64) -> (Member, Vec<Chooser>) {
        let roster = Roster::simple(self.nodes as NodeId);
        let (key, mut timing) = (Key::new(b"secret"), Timing::default());
        if let Topology::Fly { .. } = self.topology {
            // As VLBFly does: lives go from level to level, and all terminals must know of a new one.
            let rounds = 2 * self.topology.diameter() * self.terminals.div_ceil(Hello::MOST_LIVES);
            timing.announce_ns = HELLO * (2 + rounds as u64);
        }
        let member = Member::new(id, incarnation, &self.topology, &roster, key, timing, self.now);
        let workers = self.rng.usize(1..=WORKERS);
        (member, self.workers(id, workers))
    }

    /// The choosers of a node with so many workers, if it is a terminal.
    fn workers(&mut self, id: NodeId, workers: usize) -> Vec<Chooser> {
        if !self.topology.is_terminal(id) {
            return Vec::new();
        }
        let links = self.topology.links(0) as u64;
        let mut settings = Settings::new(1_000_000_000, 2_000_000_000 / links);
        settings.order = OrderPolicy::Sequence;
        settings.seed = self.rng.u64(..);
        // Small, so that traffic is balanced although there is little of it.
        settings.direct_burst_bytes = 100;
        let sent = Chooser::sent(&self.topology, id, workers);
        let one = |worker| {
            let view = View::empty(id, self.terminals);
            let mut chooser = Chooser::new(self.topology.clone(), view, settings.clone());
            chooser.share(sent.clone(), worker, workers);
            chooser
        };
        (0..workers).map(one).collect()
    }

    fn begin(&mut self, index: usize) {
        let (life, offset) = (self.machines[index].life, self.rng.u64(..10 * MS));
        self.add_event(offset, What::Tick(index, life));
        if !self.machines[index].choosers.is_empty() {
            self.add_event(offset, What::Inject(index, life));
        }
    }

    fn add_event(&mut self, ahead: u64, what: What) {
        self.serial += 1;
        self.events.push(Reverse((self.now + ahead, self.serial, what)));
    }

    /// Makes up what goes wrong with nodes that hand on what they remember: they drain and die, also while flows move.
    fn invent_heirs(&mut self) {
        for m in 0..self.nodes {
            self.machines[m].heir = Some(Heir::new(m as NodeId, self.nodes as NodeId, 0));
        }
        let (mut at, mut last) = (800 * MS, 0);
        for _ in 0..self.rng.usize(1..5) {
            at += self.rng.u64(..900 * MS);
            let (a, b) = self.cable();
            let next = (a + 1) % self.nodes;
            // At once, in the middle of a hand-over, or later.
            let soon = at + [0, self.rng.u64(..60 * MS), self.rng.u64(..400 * MS)][self.rng.usize(..3)];
            let back = 500 * MS + self.rng.u64(..400 * MS);
            match self.rng.u8(..8) {
                0 => self.plan(&[(at, Mishap::Crash(a)), (at + back, Mishap::Start(a))]),
                1 => self.plan(&[(at, Mishap::Drain(a)), (at + back, Mishap::Start(a))]),
                2 => self.plan(&[(at, Mishap::Drain(a))]),
                // It is killed while it hands over, or its successor is.
                3 => self.plan(&[
                    (at, Mishap::Drain(a)),
                    (soon, Mishap::Crash(a)),
                    (soon + back, Mishap::Start(a)),
                ]),
                4 => self.plan(&[
                    (at, Mishap::Drain(a)),
                    (soon, Mishap::Crash(next)),
                    (soon + back, Mishap::Start(next)),
                ]),
                5 => self.plan(&[(at, Mishap::Drain(a)), (soon, Mishap::Drain(next))]),
                6 if a != b => self.plan(&[(at, Mishap::Cut(a, b)), (at + back, Mishap::Mend(a, b))]),
                _ => {
                    let workers = self.rng.usize(1..=WORKERS);
                    self.plan(&[(at, Mishap::Swap(a, workers))]);
                }
            }
            last = last.max(soon + back);
        }
        self.end = last + MOVED;
    }

    /// Makes up what goes wrong.
    fn invent(&mut self) {
        let twin = self.rng.u8(..4) == 0;
        // In a fly any node may have one.
        let original = if twin && self.is_fly() { self.rng.usize(..self.nodes) } else { 0 };
        for _ in 0..self.rng.usize(2..7) {
            let at = 300 * MS + self.rng.u64(..1_400 * MS);
            let (a, b) = self.cable();
            let lasts = self.rng.u64(5 * MS..400 * MS);
            match self.rng.u8(..8) {
                // While a machine has a twin it is spared: if all lost sight of it, the twin would rightly take over.
                _ if twin && (a == original || b == original) => (),
                0 => self.plan(&[(at, Mishap::Crash(a)), (at + lasts, Mishap::Start(a))]),
                1 if a != b => self.plan(&[(at, Mishap::Cut(a, b)), (at + lasts, Mishap::Mend(a, b))]),
                2 => self.plan(&[(at, Mishap::Pause(a, lasts.min(300 * MS)))]),
                3 if a != b => (0..4).for_each(|flap| {
                    let at = at + flap * 40 * MS;
                    self.plan(&[(at, Mishap::Cut(a, b)), (at + lasts % (35 * MS), Mishap::Mend(a, b))]);
                }),
                4 if !twin => self.partition(at, lasts),
                5 => self.plan(&[(at, Mishap::Drain(a)), (at + 500 * MS + lasts, Mishap::Start(a))]),
                6 => {
                    let by = if self.rng.bool() { SLOW } else { 40 * MS };
                    let by = self.rng.u64(MS / 10..by);
                    self.plan(&[(at, Mishap::Slow(a, by)), (at + lasts, Mishap::Slow(a, 0))]);
                }
                7 => {
                    let workers = self.rng.usize(1..=WORKERS);
                    self.plan(&[(at, Mishap::Swap(a, workers))]);
                }
                _ => (),
            }
        }
        if twin {
            let incarnation_is_younger = self.rng.bool();
            self.add(original as NodeId);
            let index = self.machines.len() - 1;
            let incarnation = if incarnation_is_younger { 9_000 } else { 1 };
            let (member, choosers) = self.fresh(original as NodeId, incarnation);
            (self.machines[index].member, self.machines[index].choosers) = (member, choosers);
            // It is started once the others run.
            self.machines[index].running = false;
            self.machines[index].life += 1;
            let at = self.rng.u64(400 * MS..1_000 * MS);
            self.plan(&[(at, Mishap::Start(index))]);
        }
    }

    fn is_fly(&self) -> bool {
        matches!(self.topology, Topology::Fly { .. })
    }

    /// Two machines; in a fly with a cable between them.
    fn cable(&mut self) -> (usize, usize) {
        let (a, b) = (self.rng.usize(..self.nodes), self.rng.usize(..self.nodes));
        let around = if self.is_fly() { self.topology.neighbours(a as NodeId) } else { Vec::new() };
        (a, around.get(b % around.len().max(1)).map_or(b, |&node| usize::from(node)))
    }

    fn partition(&mut self, at: u64, lasts: u64) {
        let border = self.rng.usize(1..self.nodes);
        // In a fly any node may be on either side: numbers there go by level.
        let (unit, is_fly) = (self.rng.usize(1..self.nodes), self.is_fly());
        let place = |node: usize| if is_fly { node * unit % self.nodes } else { node };
        let cables: Vec<(usize, usize)> = (0..self.nodes)
            .flat_map(|a| self.topology.neighbours(a as NodeId).into_iter().map(move |b| (a, usize::from(b))))
            .filter(|&(a, b)| place(a) < border && place(b) >= border)
            .collect();
        for (a, b) in cables {
            self.plan(&[(at, Mishap::Cut(a, b)), (at + lasts, Mishap::Mend(a, b))]);
        }
    }

    fn plan(&mut self, mishaps: &[(u64, Mishap)]) {
        for &(at, mishap) in mishaps {
            self.mishaps.push(mishap);
            self.add_event(at, What::Mishap(self.mishaps.len() - 1));
        }
    }

    fn happen(&mut self, what: What) {
        match what {
            What::Tick(m, life) if self.lives(m, life) => self.tick(m),
            What::News(m, life) if self.lives(m, life) => self.greet(m),
            What::Inject(m, life) if self.lives(m, life) => self.inject(m),
            What::Arrive { to, life, from, frame } if self.lives(to, life) => {
                if self.machines[to].paused {
                    self.machines[to].backlog.push((from, frame));
                } else {
                    self.receive(to, from, frame);
                }
            }
            What::Expire(m, life) if self.lives(m, life) && !self.machines[m].paused => {
                let (now, mut out) = (self.now, Vec::new());
                self.machines[m].resequencer.expire(now, |packet| out.push(packet));
                out.into_iter().for_each(|packet| self.deliver(m, packet));
            }
            What::Mishap(index) => self.befall(self.mishaps[index]),
            What::Resume(m) => self.resume(m),
            _ => (),
        }
    }

    fn lives(&self, m: usize, life: u32) -> bool {
        self.machines[m].running && self.machines[m].life == life
    }

    fn befall(&mut self, mishap: Mishap) {
        self.story.push(format!("{:>6} us {mishap:?}", self.now / 1_000));
        match mishap {
            Mishap::Crash(m) => {
                self.bereave(m);
                self.disturb();
                self.machines[m].running = false;
                self.machines[m].active_ns = None;
            }
            Mishap::Start(m) => {
                if self.machines[m].running && self.machines[m].member.phase() != Phase::Left {
                    return;
                }
                let (id, now) = (self.machines[m].id, self.now);
                // A twin's first life was prepared; all others begin with the time of day, which may have been set back.
                if self.machines[m].numbers.is_empty() && m >= self.nodes {
                    self.machines[m].running = true;
                } else {
                    let behind = if self.rng.u8(..4) == 0 { self.rng.u64(..now) } else { 0 };
                    let (member, choosers) = self.fresh(id, 1_000_000 + now - behind);
                    let resequencer = self.resequencer();
                    let machine = &mut self.machines[m];
                    (machine.member, machine.choosers) = (member, choosers);
                    machine.swaps += 1;
                    (machine.resequencer, machine.has_news) = (resequencer, false);
                    (machine.running, machine.drained, machine.paused) = (true, false, false);
                    machine.life += 1;
                    machine.numbers.clear();
                    machine.backlog.clear();
                    machine.active_ns = None;
                    let nodes = self.nodes as NodeId;
                    machine.heir = machine.heir.take().map(|_| Heir::new(id, nodes, now));
                    self.moved = now;
                }
                self.begin(m);
            }
            Mishap::Cut(a, b) => {
                self.disturb();
                self.cut.extend([(a, b), (b, a)]);
            }
            Mishap::Mend(a, b) => {
                self.disturb();
                self.cut.remove(&(a, b));
                self.cut.remove(&(b, a));
            }
            Mishap::Pause(m, lasts) => {
                self.disturb();
                self.machines[m].paused = true;
                self.add_event(lasts, What::Resume(m));
            }
            Mishap::Slow(m, by) => {
                // What is on its way there is overtaken by nothing: the wires keep order.
                let before = std::mem::replace(&mut self.machines[m].slow_ns, by);
                if before.max(by) > SLOW {
                    self.disturb();
                }
            }
            Mishap::Swap(m, workers) => self.swap(m, workers),
            Mishap::Drain(m) => {
                self.machines[m].drained = true;
                let now = self.now;
                self.machines[m].member.drain(now);
                self.ledger.disturb(now);
                self.moved = now;
            }
        }
    }

    /// Gives a node other workers, which go on with the numbers of those before. Nothing may be lost by it.
    fn swap(&mut self, m: usize, workers: usize) {
        let mut numbers = Numbers::default();
        self.machines[m].choosers.iter().for_each(|chooser| numbers.merge(&chooser.numbers()));
        let mut choosers = self.workers(self.machines[m].id, workers);
        choosers.iter_mut().for_each(|chooser| chooser.set_numbers(&numbers));
        let machine = &mut self.machines[m];
        machine.choosers = choosers;
        machine.swaps += 1;
        machine.learn();
        machine.heir.iter_mut().for_each(Heir::renew);
    }

    fn disturb(&mut self) {
        self.disturbed.push(self.now);
        self.moved = self.now;
    }

    /// A machine is about to die: its flows go on where its heir has everything and is well, and more than half of the nodes are left.
    fn bereave(&mut self, m: usize) {
        let now = self.now;
        let is_well = |other: usize| {
            let machine = &self.machines[other];
            other != m && machine.running && !machine.drained && machine.member.is_active()
        };
        let left = (0..self.nodes).filter(|&other| is_well(other)).count();
        let machine = &self.machines[m];
        let Some(heir) = machine.heir.as_ref().filter(|_| machine.running) else { return };
        let successor = heir.succession.successor().map(usize::from);
        let has_heir = successor.is_some_and(is_well) && 2 * left >= self.nodes;
        let lately = self.disturbed.iter().copied().find(|&at| at + LATELY > now);
        self.ledger.dies(now, heir, has_heir, lately.map_or(now, |at| at.saturating_sub(LATELY / 4)));
    }

    /// Whether a machine has no way to one that does well, or none does well.
    fn is_torn(&self) -> bool {
        let helps = |m: usize| self.machines[m].running && !self.machines[m].drained;
        let is_there = |m: usize| self.machines[m].running && self.machines[m].member.phase() < Phase::Left;
        let whole = |a: usize, b: usize| !self.cut.contains(&(a, b));
        let by = |a: usize, b: usize, m: usize| m != a && m != b && helps(m) && whole(a, m) && whole(m, b);
        let meets = |a: usize, b: usize| a == b || whole(a, b) || (0..self.nodes).any(|m| by(a, b, m));
        let mut there = (0..self.nodes).filter(|&m| is_there(m));
        !(0..self.nodes).any(helps) || there.any(|a| (0..self.nodes).any(|b| helps(b) && !meets(a, b)))
    }

    /// Time passes for what a machine remembers, and for what it holds for others.
    fn inherit(&mut self, m: usize) {
        let now = self.now;
        let Some(mut heir) = self.machines[m].heir.take() else { return };
        let machine = &mut self.machines[m];
        let (phase, view) = (machine.member.phase(), machine.member.view());
        let drains = phase >= Phase::Draining;
        let world = succession::World {
            takes_part: machine.member.is_active() || drains && phase < Phase::Left,
            drains,
            reaches: &|other| view.reachable(other),
            stays: &|other| view.reachable(other) && view.transit(other),
        };
        let takes_part = world.takes_part;
        let out = heir.tick(now, &world);
        if drains && !heir.succession.is_over() {
            machine.member.passed(now);
        }
        let does = |machine: &Machine, owner| {
            let takes_part = machine.running && machine.member.phase() < Phase::Left;
            takes_part && machine.heir.as_ref().is_some_and(|heir| heir.duties().contains(&owner))
        };
        let is_sole = |owner| !self.machines.iter().any(|machine| does(machine, owner));
        if now > self.moved + CLAIMED
            && takes_part
            && let Some(owner) = heir.duties().into_iter().find(|&owner| !is_sole(owner))
        {
            let all: Vec<_> = self
                .machines
                .iter()
                .map(|x| {
                    (
                        x.id,
                        x.running,
                        x.member.phase(),
                        x.heir
                            .as_ref()
                            .map(|h| (h.duties(), h.succession.successor(), h.succession.is_over())),
                    )
                })
                .collect();
            self.broken
                .push(format!("{m} and another do the duty of {owner}, after {} us {all:?}", now / 1_000));
        }
        if self.is_torn() {
            self.torn_until = now + heirs::MOVES;
        }
        if now < self.torn_until {
            self.ledger.tear(self.nodes as NodeId);
            self.moved = now;
        }
        if takes_part {
            let moves = drains || now < self.moved + CLAIMED;
            let is_sure = |owner| is_sole(owner) && !(drains && now < self.joined + heirs::YOUNG);
            self.ledger.traffic(&mut heir, &mut self.rng, moves, &is_sure);
        }
        self.machines[m].heir = Some(heir);
        out.into_iter().for_each(|message| self.tell(m, message));
    }

    /// A message between heirs is a packet like others, which come in only at nodes that take part, or still do.
    fn tell(&mut self, m: usize, (to, bytes): (NodeId, Vec<u8>)) {
        if !(Phase::Active..Phase::Left).contains(&self.machines[m].member.phase()) {
            return;
        }
        if let Some(id) = self.send(m, usize::from(to), MESSAGES) {
            self.messages.insert(id, bytes);
        }
    }

    /// A message has come.
    fn hear(&mut self, m: usize, id: u64) {
        let (now, Some(bytes)) = (self.now, self.messages.remove(&id)) else { return };
        let Some(heir) = &mut self.machines[m].heir else { return };
        if heir.succession.receive(now, &bytes).is_err() {
            *self.drops.entry("message").or_default() += 1;
        }
        let answers = heir.succession.take_answers();
        answers.into_iter().for_each(|answer| self.tell(m, answer));
    }

    fn resume(&mut self, m: usize) {
        self.disturb();
        self.machines[m].paused = false;
        for (from, frame) in std::mem::take(&mut self.machines[m].backlog) {
            if self.machines[m].running {
                self.receive(m, from, frame);
            }
        }
    }

    fn tick(&mut self, m: usize) {
        let life = self.machines[m].life;
        self.add_event(HELLO, What::Tick(m, life));
        self.greet(m);
        self.inherit(m);
    }

    /// Time passes for a machine, and it says hello.
    fn greet(&mut self, m: usize) {
        self.machines[m].has_news = false;
        if self.machines[m].paused {
            return;
        }
        let now = self.now;
        self.machines[m].member.tick(now);
        self.notice(m);
        let frames = self.machines[m].member.frames(self.frame);
        for to in self.topology.neighbours(self.machines[m].id) {
            frames.iter().for_each(|bytes| self.transmit(m, to, Frame::Hello(bytes.clone())));
        }
    }

    /// What a member says has happened.
    fn notice(&mut self, m: usize) {
        let now = self.now;
        let machine = &mut self.machines[m];
        let (mut late, events) = (0, machine.member.take_events());
        let has_news = !events.is_empty() && machine.member.has_news() && !machine.has_news;
        for event in events {
            match event {
                Event::View => machine.learn(),
                Event::Restarted(node) => machine.resequencer.forget(node, |_| late += 1),
                Event::GivenUp { .. } => {}
                Event::Phase(phase) => {
                    machine.active_ns = (phase == Phase::Active).then_some(now);
                    if phase == Phase::Active {
                        // It may be a nearer heir than those that flows just move to.
                        self.joined = now;
                        self.ledger.disturb(now);
                    }
                    machine.learn();
                }
            }
        }
        machine.has_news |= has_news;
        let life = machine.life;
        if has_news {
            self.add_event(1, What::News(m, life));
        }
        *self.drops.entry("late").or_default() += late;
    }

    fn inject(&mut self, m: usize) {
        let life = self.machines[m].life;
        let pause = self.rng.u64(MS / 4..3 * MS);
        self.add_event(pause, What::Inject(m, life));
        let me = self.machines[m].id;
        let machine = &self.machines[m];
        if machine.paused || machine.drained || !machine.member.is_active() {
            return;
        }
        let to = self.rng.usize(..self.terminals);
        // Routes no longer lead to a node that drains.
        if to == usize::from(me) || self.machines[to].drained {
            return;
        }
        // Bursts, so that packets of a flow go different ways at once.
        let (flow, burst) = (self.rng.u8(..6), self.rng.u8(1..5));
        for _ in 0..burst {
            self.send(m, to, flow);
        }
    }

    /// A packet comes in at a machine for another node. Its number, if it is on its way.
    fn send(&mut self, m: usize, to: usize, flow: u8) -> Option<u64> {
        let (now, me) = (self.now, self.machines[m].id);
        let machine = &mut self.machines[m];
        let must_arrive = to < self.nodes && Self::must_arrive(machine, now);
        // A flow's packets all come to one worker.
        let worker = usize::from(flow) % machine.choosers.len().max(1);
        let chooser = machine.choosers.get_mut(worker)?;
        let Ok(decision) = chooser.choose(now, u64::from(flow), to as NodeId, 1_000) else {
            let id = self.next_id(m, to, must_arrive);
            *self.drops.entry("refused").or_default() += u64::from(id > 0);
            return None;
        };
        let number = machine.numbers.entry((to as NodeId, flow)).or_default();
        *number += 1;
        let (number, swaps) = (*number, machine.swaps);
        let hops = self.topology.max_hops() as u8;
        let label = Label { egress: to as NodeId, port: 0, ingress: me, hops, stamp: decision.stamp };
        let first = self.topology.neighbour(me.into(), decision.link) as NodeId;
        let id = self.next_id(m, to, must_arrive);
        let label = label.hop().expect("hops").encode();
        let packet = Packet { id, label, flow, number, source: (m, swaps), crossed: 1, seen: 1 << me };
        self.transmit(m, first, Frame::Data(packet));
        Some(id)
    }

    fn must_arrive(machine: &Machine, now: u64) -> bool {
        machine.member.is_active() && machine.active_ns.is_some_and(|since| now - since > UNDER_WAY)
    }

    fn next_id(&mut self, from: usize, to: usize, must_arrive: bool) -> u64 {
        let (id, now) = (self.sent.len() as u64 + 1, self.now);
        let target = &self.machines[to];
        let must_arrive = must_arrive
            && self.machines.iter().all(|machine| machine.slow_ns <= SLOW)
            && !target.paused
            && Self::must_arrive(target, now)
            && self.way_exists(from, to);
        self.sent.insert(id, Sent { at_ns: now, from, to, must_arrive });
        id
    }

    /// Whether two machines are connected: in a mesh directly or by way of a third that takes part, in a fly through all levels; by
    /// way of a third terminal only if all of them have such a way, which need not be so.
    fn way_exists(&self, a: usize, b: usize) -> bool {
        let whole = |a, b| !self.cut.contains(&(a, b));
        let helps = |m: usize| {
            let machine = &self.machines[m];
            machine.running && !machine.paused && !machine.drained && Self::must_arrive(machine, self.now)
        };
        if !self.is_fly() {
            return whole(a, b)
                || (0..self.nodes).any(|m| m != a && m != b && helps(m) && whole(a, m) && whole(m, b));
        }
        // The first step is free; from there on there is one way.
        let mut first = (0..self.topology.links(a)).map(|link| self.topology.neighbour(a, link));
        first.any(|first| {
            let (mut from, mut at) = (a, first);
            while at != b && whole(from, at) && at >= self.terminals && helps(at) {
                let Some(link) = self.topology.toward(at, b) else { return false };
                (from, at) = (at, self.topology.neighbour(at, link));
            }
            at == b && whole(from, b)
        })
    }

    /// A frame goes to every machine that has this number.
    fn transmit(&mut self, from: usize, to: NodeId, frame: Frame) {
        let sender = self.machines[from].id;
        for m in 0..self.machines.len() {
            let machine = &self.machines[m];
            if machine.id != to || !machine.running || self.cut.contains(&(from, m)) {
                continue;
            }
            let (life, delay) = (machine.life, self.rng.u64(20_000..300_000));
            let wire = self.wires.entry((from, m)).or_default();
            *wire = (*wire + 1).max(self.now + delay + machine.slow_ns);
            let ahead = *wire - self.now;
            self.add_event(ahead, What::Arrive { to: m, life, from: sender, frame: frame.clone() });
        }
    }

    fn receive(&mut self, m: usize, from: NodeId, frame: Frame) {
        let now = self.now;
        match frame {
            Frame::Hello(bytes) => {
                if self.machines[m].member.receive(now, from, &bytes).is_err() {
                    *self.drops.entry("hello").or_default() += 1;
                }
                self.notice(m);
            }
            Frame::Data(packet) if self.machines[m].member.accepts(from) => self.forward(m, packet),
            Frame::Data(_) => *self.drops.entry("stranger").or_default() += 1,
        }
    }

    fn forward(&mut self, m: usize, mut packet: Packet) {
        let (now, me) = (self.now, self.machines[m].id);
        let Some(label) = Label::decode(&packet.label) else {
            self.broken.push("a label is damaged".to_owned());
            return;
        };
        if packet.seen >> me & 1 == 1 && label.egress != me {
            self.broken.push(format!("{packet:?} has come to {me} twice"));
        }
        packet.seen |= 1 << me;
        match next(&self.topology, me, label) {
            Next::Deliver => self.put_in_order(m, label, packet),
            Next::Forward(link, onward) => {
                if label.stamp.via() == Some(me) {
                    packet.seen = 1 << me;
                }
                packet.label = onward.encode();
                packet.crossed += 1;
                if usize::from(packet.crossed) > self.topology.max_hops() {
                    self.broken.push(format!("{packet:?} has crossed too many links"));
                }
                let machine = &mut self.machines[m];
                machine.member.passed(now);
                let worker = self.rng.usize(..machine.choosers.len().max(1));
                let link = match machine.choosers.get_mut(worker) {
                    None => Ok(link),
                    Some(chooser) => chooser
                        .onward(link, label.egress)
                        .and_then(|link| chooser.pass(now, link, 1_000).map(|()| link)),
                };
                match link {
                    Ok(link) => {
                        let next = self.topology.neighbour(me.into(), link) as NodeId;
                        self.transmit(m, next, Frame::Data(packet));
                    }
                    Err(_) => *self.drops.entry("refused on the way").or_default() += 1,
                }
            }
            Next::Exhausted | Next::Astray => *self.drops.entry("hops").or_default() += 1,
        }
    }

    fn put_in_order(&mut self, m: usize, label: Label, packet: Packet) {
        let cluster::label::Stamp::Sequence { bucket, number } = label.stamp else {
            self.broken.push(format!("{label:?} has no number"));
            return;
        };
        let (now, mut out) = (self.now, Vec::new());
        let machine = &mut self.machines[m];
        let waiting = machine.resequencer.waiting();
        let late =
            machine.resequencer.push(now, (label.ingress, bucket), number, packet, |packet| out.push(packet));
        if machine.resequencer.waiting() > waiting {
            let life = machine.life;
            self.add_event(self.wait_ns(), What::Expire(m, life));
        }
        *self.drops.entry("late").or_default() += u64::from(late.is_some());
        out.into_iter().for_each(|packet| self.deliver(m, packet));
    }

    fn deliver(&mut self, m: usize, packet: Packet) {
        self.delivered += 1;
        let sent = self.sent[&packet.id];
        if m != sent.to {
            self.broken.push(format!("{packet:?} for machine {} was delivered at {m}", sent.to));
        }
        if !self.arrived.insert(packet.id) {
            self.broken.push(format!("{packet:?} was delivered twice"));
        }
        self.hear(m, packet.id);
        let (source, swaps) = packet.source;
        let last = self.last.entry((source, swaps, self.machines[m].id, packet.flow)).or_default();
        if packet.number <= *last {
            self.broken.push(format!("{packet:?} was delivered after number {last} of its flow"));
        }
        *last = packet.number;
    }

    /// Packets that were sent in quiet times must have arrived.
    fn judge(&mut self) {
        if self.broken.is_empty() {
            let takes_part = |machine: &&Machine| machine.running && machine.member.is_active();
            let heirs: Vec<_> =
                self.machines.iter().filter(takes_part).filter_map(|machine| machine.heir.as_ref()).collect();
            if !heirs.is_empty() {
                self.broken = self.ledger.judge(self.nodes as NodeId, &heirs);
                self.judged += self.ledger.judged;
            }
        }
        self.disturbed.sort_unstable();
        for (id, sent) in &self.sent {
            let after = self.disturbed.partition_point(|&at| at + BLACKHOLE <= sent.at_ns);
            let quiet = self.disturbed.get(after).is_none_or(|&at| at > sent.at_ns + UNDER_WAY);
            if !sent.must_arrive || !quiet || sent.at_ns + UNDER_WAY > self.end {
                continue;
            }
            self.judged += 1;
            if !self.arrived.contains(id) {
                let Sent { at_ns, from, to, .. } = sent;
                self.broken
                    .push(format!("a packet from {from} to {to}, sent after {} us, is lost", at_ns / 1_000));
                return;
            }
        }
    }
}
