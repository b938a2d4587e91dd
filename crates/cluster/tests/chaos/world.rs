//! The machines, the wires between them, and the events of a story.

mod duties;
mod hellos;
mod mishaps;
mod packets;

use crate::heirs::{Heir, Ledger};
use cluster::NodeId;
use cluster::choice::{Chooser, OrderPolicy, Settings};
use cluster::membership::{Hello, Key, Member, Roster, Timing};
use cluster::resequence::{self, Resequencer};
use cluster::topology::Topology;
use cluster::view::View;
use fastrand::Rng;
use mishaps::Mishap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

const MS: u64 = 1_000_000;
const END: u64 = 2_200 * MS;
/// How long a packet may be under way, queues and waiting for its predecessors included.
const UNDER_WAY: u64 = 30 * MS;
const HELLO: u64 = 10 * MS;
/// How long packets wait for their predecessors in a fly, where ways differ by more links than in a mesh.
const WAIT_IN_FLY: u64 = 10 * MS;
/// A node has so many workers, at most.
const WORKERS: usize = 4;

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

    fn is_fly(&self) -> bool {
        matches!(self.topology, Topology::Fly { .. })
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
}
