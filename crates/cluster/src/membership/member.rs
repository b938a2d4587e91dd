//! One node's part in the membership protocol.

use super::hello::{Heard, Hello, Key, Malformed, Phase};
use super::horizon::{Horizon, Link};
use super::parts::{self, Gathered, Gathering, Origin, Part};
use super::roster::Roster;
use crate::NodeId;
use crate::topology::Topology;
use crate::view::{Nodes, Peer, Standing, View};
use std::collections::BTreeMap;

/// How often and how long.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Between two hellos.
    pub hello_ns: u64,
    /// A node that was silent for so long is down.
    pub hold_ns: u64,
    /// A node listens at least so long before it takes part.
    pub listen_ns: u64,
    /// How long it takes until all that must know of it have heard that a node takes part.
    pub announce_ns: u64,
    /// A draining node has left when nothing has passed through it for so long.
    pub quiet_ns: u64,
    /// A draining node sends flows elsewhere that do not rest, after so long.
    pub drain_ns: u64,
}

impl Default for Timing {
    /// A failure is known within 70 ms: held for 50, then one hello and its way.
    fn default() -> Self {
        let ms = 1_000_000;
        Timing {
            hello_ns: 10 * ms,
            hold_ns: 50 * ms,
            listen_ns: 150 * ms,
            announce_ns: 20 * ms,
            quiet_ns: 150 * ms,
            drain_ns: 5_000 * ms,
        }
    }
}

/// Why a hello is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// It is none, or not from a node that knows the key.
    Stranger(Malformed),
    /// The roster does not have the sender.
    Unknown(NodeId),
    /// Another node is at the other end of this link.
    WrongLink(NodeId),
    /// It was heard before.
    Replayed(NodeId),
    /// Another node of the same number is heard already, or this node has it.
    Duplicate(NodeId),
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The view has changed.
    View,
    /// Another life of a node has begun; what was remembered of it is void.
    Restarted(NodeId),
    /// Nothing was heard of a node for so long that it is taken for dead.
    GivenUp {
        /// Which.
        node: NodeId,
        /// The number of the last hello that was heard of it.
        hello: u64,
    },
    /// This node's phase has changed.
    Phase(Phase),
}

/// What there was to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often a node was given up because nothing was heard of it.
    pub given_up: u64,
    /// How often this node itself did not run for longer than two hellos are apart.
    pub pauses: u64,
    /// The longest of these times.
    pub longest_pause_ns: u64,
    /// Hellos that came in parts, and not all of them.
    pub incomplete: u64,
}

#[derive(Debug, Default)]
struct Neighbour {
    /// Whether a link leads from there to here.
    sends_here: bool,
    /// The life that is or was heard.
    incarnation: u64,
    counter: u64,
    /// Lives before, and how far they had counted: their hellos are not believed again.
    past: Vec<(u64, u64)>,
    heard_ns: Option<u64>,
    /// When a hello of it last was not believed although no life of it is heard.
    outlived_ns: Option<u64>,
    phase: Option<Phase>,
    hears_me: bool,
    /// It hears another node of my number.
    hears_rival: bool,
    reach: Vec<NodeId>,
    /// In a fly.
    horizon: Option<Horizon>,
    /// Hellos of it that are not whole yet.
    gathering: Gathering,
}

/// How far a life's number is beyond that of the one that it outlives: about a second, where numbers are nanoseconds.
const MOST_AHEAD: u64 = 1 << 30;

/// Lives of a node that are remembered beside the one that is heard.
const PAST_LIVES: usize = 4;

impl Neighbour {
    /// Nothing is heard of it any more.
    fn forget(&mut self) {
        *self = Neighbour {
            sends_here: self.sends_here,
            incarnation: self.incarnation,
            counter: self.counter,
            past: std::mem::take(&mut self.past),
            ..Neighbour::default()
        };
    }

    /// Whether it was heard within such a time.
    fn was_heard(&self, now_ns: u64, hold_ns: u64) -> bool {
        self.heard_ns.is_some_and(|at| now_ns.saturating_sub(at) <= hold_ns)
    }

    /// Whether a hello continues the life that is heard, or begins another one that may be. `heard`: there is such a life.
    fn check(&mut self, hello: &Hello, heard: bool) -> Result<(), Rejected> {
        if hello.incarnation == self.incarnation {
            return if hello.counter > self.counter { Ok(()) } else { Err(Rejected::Replayed(hello.sender)) };
        }
        let takes_part = (Phase::Active..Phase::Left).contains(&hello.phase);
        // A node that takes part is the right one; one that only listens may be a second of its number.
        let outdoes = heard && self.phase == Some(Phase::Listening) && takes_part;
        if !outdoes && (heard || hello.incarnation < self.incarnation) {
            return Err(Rejected::Duplicate(hello.sender));
        }
        if self.past.iter().any(|&(life, counter)| life == hello.incarnation && hello.counter <= counter) {
            return Err(Rejected::Replayed(hello.sender));
        }
        self.past.insert(0, (self.incarnation, self.counter));
        self.past.truncate(PAST_LIVES);
        Ok(())
    }
}

/// A node's knowledge of the others, and its own phase.
#[derive(Debug)]
pub struct Member {
    me: NodeId,
    topology: Topology,
    /// Whom there is a cable to.
    cables: Vec<NodeId>,
    /// In a fly, by link: the node that it leads to.
    next: Vec<NodeId>,
    incarnation: u64,
    key: Key,
    timing: Timing,
    roster_version: u64,
    neighbours: BTreeMap<NodeId, Neighbour>,
    /// The latest life of each node that took part, as far as peers speak of it.
    lives: BTreeMap<NodeId, u64>,
    phase: Phase,
    /// It was the roster that said that this node shall leave.
    drains_by_roster: bool,
    since_ns: u64,
    /// The others have had time to hear of the phase.
    is_announced: bool,
    /// When a peer last spoke of another node of my number.
    rival_ns: Option<u64>,
    /// When something last passed through.
    passed_ns: u64,
    /// Since when a terminal of a fly does not reach one that others do.
    lacking_ns: Option<u64>,
    /// In a fly: what was last told.
    told: Option<Horizon>,
    /// In a fly: the terminal whose life was told last.
    told_life: NodeId,
    /// When time last passed.
    ticked_ns: u64,
    counter: u64,
    counts: Counts,
    events: Vec<Event>,
}

impl Member {
    /// A node that begins to listen, in a mesh or a fly. `incarnation` should be larger than in any earlier life, as the time of
    /// day is, and must be another one than that of a second node of this number. If it is smaller, since a clock is behind, peers
    /// do not believe it, which keeps old hellos from being replayed; but they say so, and the node takes a larger one.
    pub fn new(
        me: NodeId,
        incarnation: u64,
        topology: &Topology,
        roster: &Roster,
        key: Key,
        timing: Timing,
        now_ns: u64,
    ) -> Member {
        let links = if let Topology::Fly { .. } = topology { topology.links(me.into()) } else { 0 };
        let mut member = Member {
            me,
            topology: topology.clone(),
            cables: topology.neighbours(me),
            next: (0..links).map(|link| topology.neighbour(me.into(), link) as NodeId).collect(),
            incarnation,
            key,
            timing,
            roster_version: 0,
            neighbours: BTreeMap::new(),
            lives: BTreeMap::new(),
            phase: Phase::Listening,
            drains_by_roster: false,
            since_ns: now_ns,
            is_announced: false,
            rival_ns: None,
            passed_ns: now_ns,
            lacking_ns: None,
            told: None,
            told_life: 0,
            ticked_ns: now_ns,
            counter: 0,
            counts: Counts::default(),
            events: Vec::new(),
        };
        member.set_roster(roster, now_ns);
        member
    }

    /// There is another roster: nodes that it lacks are forgotten, and those that no cable leads to do not matter; if
    /// it says so, this node drains, and if it no longer says so, a node that drained for that reason takes part
    /// again.
    pub fn set_roster(&mut self, roster: &Roster, now_ns: u64) {
        self.roster_version = roster.version;
        self.neighbours.retain(|node, _| roster.nodes.contains_key(node));
        for &node in self.cables.iter().filter(|node| roster.nodes.contains_key(node)) {
            let sends_here = self.topology.link_to(node, self.me).is_some();
            self.neighbours.entry(node).or_default().sends_here = sends_here;
        }
        if roster.nodes.get(&self.me).is_none_or(|entry| entry.drain) {
            self.drains_by_roster |= matches!(self.phase, Phase::Listening | Phase::Active);
            self.drain(now_ns);
        } else if std::mem::take(&mut self.drains_by_roster) {
            self.stay(now_ns);
        }
        self.events.push(Event::View);
    }

    /// Other times, from now on.
    pub fn set_timing(&mut self, timing: Timing) {
        self.timing = timing;
    }

    /// Whether hellos are authenticated with this key.
    pub fn has_key(&self, key: &Key) -> bool {
        self.key.is_same(key)
    }

    /// The key that hellos are authenticated with.
    pub fn key(&self) -> Key {
        self.key.clone()
    }

    /// How far the node takes part.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether packets may come in at its external ports: it takes part, and has told all peers so.
    pub fn is_active(&self) -> bool {
        self.phase == Phase::Active && self.is_announced
    }

    /// What there was to count so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Hellos of this life so far: the number of the last one.
    pub fn hellos(&self) -> u64 {
        self.counter
    }

    /// What happened since this was last asked.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The node shall leave, without loss.
    pub fn drain(&mut self, now_ns: u64) {
        match self.phase {
            Phase::Active => self.enter(Phase::Draining, now_ns),
            Phase::Listening => self.enter(Phase::Left, now_ns),
            _ => (),
        }
    }

    /// The node need not leave after all.
    fn stay(&mut self, now_ns: u64) {
        match self.phase {
            Phase::Draining | Phase::Leaving => self.enter(Phase::Active, now_ns),
            Phase::Left => self.enter(Phase::Listening, now_ns),
            Phase::Listening | Phase::Active => (),
        }
    }

    /// A packet of others passes through.
    #[inline]
    pub fn passed(&mut self, now_ns: u64) {
        self.passed_ns = now_ns;
    }

    fn enter(&mut self, phase: Phase, now_ns: u64) {
        self.phase = phase;
        self.since_ns = now_ns;
        self.is_announced = false;
        self.events.push(Event::Phase(phase));
    }

    fn is_heard(&self, neighbour: &Neighbour, now_ns: u64) -> bool {
        neighbour.was_heard(now_ns, self.timing.hold_ns)
    }

    /// Whether frames that come over the cable to a node may be its own: a link leads from it to here, it is heard, and this one takes
    /// part.
    pub fn accepts(&self, node: NodeId) -> bool {
        (Phase::Active..Phase::Left).contains(&self.phase)
            && self.neighbours.get(&node).is_some_and(|n| n.sends_here && n.heard_ns.is_some())
    }

    /// Whether frames can be sent to a node.
    fn is_up(&self, neighbour: &Neighbour) -> bool {
        neighbour.heard_ns.is_some()
            && neighbour.hears_me
            && neighbour.phase.is_some_and(|phase| (Phase::Active..Phase::Left).contains(&phase))
    }

    /// What is known of a neighbour's part: which packets can be sent there.
    fn standing(&self, neighbour: &Neighbour) -> Standing {
        match neighbour.phase {
            _ if !self.is_up(neighbour) => Standing::Down,
            Some(Phase::Active) => Standing::Open,
            Some(Phase::Draining) => Standing::Kept,
            _ => Standing::Egress,
        }
    }

    /// Whether frames can be sent over the cable to a node.
    pub fn is_connected(&self, node: NodeId) -> bool {
        self.neighbours.get(&node).is_some_and(|neighbour| self.is_up(neighbour))
    }

    /// What comes over each link of a node of a fly.
    fn links(&self) -> Vec<Link<'_>> {
        let link = |node: &NodeId| {
            let neighbour = self.neighbours.get(node)?;
            let standing = Some(self.standing(neighbour)).filter(|&standing| standing > Standing::Down)?;
            Some((standing, neighbour.horizon.as_ref()?))
        };
        self.next.iter().map(link).collect()
    }

    /// In a fly: what lies beyond this node.
    fn horizon(&self) -> Option<Horizon> {
        let Topology::Fly { .. } = self.topology else { return None };
        Some(self.horizon_of(&self.links()))
    }

    fn horizon_of(&self, links: &[Link<'_>]) -> Horizon {
        Horizon::of(&self.topology, self.me, links, self.is_stopover())
    }

    /// In a fly: whether others may send by way of this terminal, since it does not lack any that others reach. Terminals do not learn of a
    /// failure all at the same time: a terminal that lacks one for a moment lacks nothing.
    fn is_stopover(&self) -> bool {
        let long = |since: u64| self.ticked_ns.saturating_sub(since) >= self.timing.hold_ns;
        !self.lacking_ns.is_some_and(long)
    }

    /// Whether neighbours should be told something at once, not with the next hello that is due: in a fly what has changed is
    /// passed on from level to level.
    pub fn has_news(&self) -> bool {
        self.horizon() != self.told
    }

    /// What is known of the others: in a mesh of all nodes, in a fly of the terminals.
    pub fn view(&self) -> View {
        if let Topology::Fly { .. } = self.topology {
            let links = self.links();
            return self.horizon_of(&links).view(&self.topology, self.me, &links);
        }
        let mut view = View::empty(self.me, self.topology.nodes());
        for (&node, neighbour) in &self.neighbours {
            let transit = neighbour.phase == Some(Phase::Active);
            // By way of a node that is leaving nothing goes any more.
            let reach = match neighbour.phase {
                Some(Phase::Active | Phase::Draining) => Nodes::of(neighbour.reach.iter().copied()),
                _ => Nodes::Only([].into()),
            };
            view.set(node, Peer { up: self.is_up(neighbour), transit, reach });
        }
        view
    }

    /// Time passes: silent nodes are given up, phases end. To be called as often as hellos are sent, before [`Member::hello`].
    pub fn tick(&mut self, now_ns: u64) {
        self.forgive_pause(now_ns);
        let silent = |n: &Neighbour| n.heard_ns.is_some() && !self.is_heard(n, now_ns);
        let lost: Vec<NodeId> =
            self.neighbours.iter().filter(|(_, n)| silent(n)).map(|(&node, _)| node).collect();
        for node in lost {
            if let Some(neighbour) = self.neighbours.get_mut(&node) {
                self.events.push(Event::GivenUp { node, hello: neighbour.counter });
                self.counts.incomplete += neighbour.gathering.len() as u64;
                neighbour.forget();
                self.counts.given_up += 1;
                self.events.push(Event::View);
            }
        }
        self.find_lack(now_ns);
        let age = now_ns.saturating_sub(self.since_ns);
        self.is_announced = age >= self.timing.announce_ns;
        match self.phase {
            Phase::Listening if age >= self.timing.listen_ns && self.may_join(now_ns) => {
                self.enter(Phase::Active, now_ns);
            }
            // Most hear another node of this number: it has taken over.
            Phase::Active if self.is_outdone() => self.enter(Phase::Listening, now_ns),
            Phase::Draining if age >= self.timing.drain_ns => self.enter(Phase::Leaving, now_ns),
            Phase::Draining | Phase::Leaving if self.is_quiet(now_ns) && age >= self.timing.quiet_ns => {
                self.enter(Phase::Left, now_ns);
            }
            _ => (),
        }
    }

    /// Finds out whether this is a terminal of a fly that does not reach whom others do.
    fn find_lack(&mut self, now_ns: u64) {
        let is_terminal = matches!(self.topology, Topology::Fly { .. }) && self.topology.is_terminal(self.me);
        let links = self.links();
        let lacks = is_terminal && self.horizon_of(&links).lacks_any(&self.topology, self.me, &links);
        self.lacking_ns = lacks.then(|| self.lacking_ns.unwrap_or(now_ns));
    }

    /// If this node itself did not run, on a processor that others wanted, then what came meanwhile waits at its devices: no peer
    /// was silent. Of such a time no more counts as silence than two hellos are apart, so that there is a chance to hear before
    /// a peer is given up. A pause puts off by no more than itself that a failure is noticed. As time in which this node listened, or told
    /// others of its phase, or did not reach a terminal, it counts for one hello.
    fn forgive_pause(&mut self, now_ns: u64) {
        let gap = now_ns.saturating_sub(std::mem::replace(&mut self.ticked_ns, now_ns));
        let pause = gap.saturating_sub(2 * self.timing.hello_ns);
        if pause == 0 {
            return;
        }
        // Before its first hello a node does not run yet.
        if self.counter > 0 {
            self.counts.pauses += 1;
            self.counts.longest_pause_ns = self.counts.longest_pause_ns.max(gap);
        }
        let heard = self.neighbours.values_mut().filter_map(|neighbour| neighbour.heard_ns.as_mut());
        heard.for_each(|at| *at = (*at + pause).min(now_ns));
        let own = [Some(&mut self.passed_ns), Some(&mut self.since_ns)];
        let found = [self.lacking_ns.as_mut(), self.rival_ns.as_mut()];
        let no_time = gap - self.timing.hello_ns;
        own.into_iter().chain(found).flatten().for_each(|at| *at = (*at + no_time).min(now_ns));
    }

    fn is_quiet(&self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.passed_ns) >= self.timing.quiet_ns
    }

    /// More than half of the others hear this node, and for a while no peer has heard another of its number.
    fn may_join(&self, now_ns: u64) -> bool {
        let rival = self.rival_ns.is_some_and(|at| now_ns.saturating_sub(at) < self.timing.listen_ns);
        let hearing = self.neighbours.values().filter(|n| n.heard_ns.is_some() && n.hears_me).count();
        !rival && (2 * hearing > self.neighbours.len() || self.neighbours.is_empty())
    }

    fn is_outdone(&self) -> bool {
        let rivals = self.neighbours.values().filter(|n| n.heard_ns.is_some() && n.hears_rival).count();
        2 * rivals > self.neighbours.len()
    }

    /// What is to be sent into every link: a hello, in one piece if `most` bytes have room for it, or in parts that do not have more than
    /// these; longer ones only if it has more than [`parts::most_in_frames`].
    pub fn frames(&mut self, most: usize) -> Vec<Vec<u8>> {
        let hello = self.hello();
        let of = Origin { sender: self.me, incarnation: self.incarnation, counter: self.counter };
        parts::cut(hello, of, most, &self.key)
    }

    /// The bytes of a hello.
    pub fn hello(&mut self) -> Vec<u8> {
        self.counter += 1;
        let heard = |(&node, neighbour): (&NodeId, &Neighbour)| {
            let (up, incarnation) = (self.is_up(neighbour), neighbour.incarnation);
            let is_past = neighbour.heard_ns.is_none();
            let asks = |at| self.ticked_ns.saturating_sub(at) <= self.timing.hold_ns;
            (!is_past || neighbour.outlived_ns.is_some_and(asks)).then_some(Heard {
                node,
                up,
                incarnation,
                is_past,
            })
        };
        let hello = Hello {
            sender: self.me,
            incarnation: self.incarnation,
            counter: self.counter,
            version: self.roster_version,
            phase: self.phase,
            heard: self.neighbours.iter().filter_map(heard).collect(),
            horizon: self.horizon(),
            lives: self.lives_to_tell(),
        };
        self.told_life = hello.lives.last().map_or(0, |(node, _)| *node);
        let bytes = hello.encode(&self.key);
        self.told = hello.horizon;
        bytes
    }

    /// In a fly: the lives of a few terminals, with each hello the next ones. So a terminal hears, from level to level, of those that
    /// it has no cable to and that send to it.
    fn lives_to_tell(&self) -> Vec<(NodeId, u64)> {
        let Topology::Fly { .. } = self.topology else { return Vec::new() };
        let known = |&(node, life): &(&NodeId, &u64)| *life > 0 && self.topology.is_terminal(*node);
        let behind = self.lives.iter().filter(|(node, _)| **node > self.told_life);
        let before = self.lives.iter().filter(|(node, _)| **node <= self.told_life);
        let next = behind.chain(before).filter(known).map(|(&node, &life)| (node, life));
        next.take(Hello::MOST_LIVES).collect()
    }

    /// Bytes have come over the link to node `from`: a hello, or a part of one, which waits for the others.
    ///
    /// # Errors
    /// Why they are not believed; nothing has changed then, but that a node of the same number may have been noticed.
    pub fn receive(&mut self, now_ns: u64, from: NodeId, bytes: &[u8]) -> Result<(), Rejected> {
        if !parts::is_part(bytes) {
            return self.hear(now_ns, from, bytes);
        }
        let part = Part::decode(bytes, &self.key).map_err(Rejected::Stranger)?;
        match self.gather(now_ns, from, &part)? {
            Gathered::Whole(hello) => self.hear(now_ns, from, &hello),
            Gathered::Waits => Ok(()),
            Gathered::Again => Err(Rejected::Replayed(from)),
            Gathered::Misfit => Err(Rejected::Stranger(Malformed::Form)),
        }
    }

    /// A part of a hello has come. Parts of hellos that would not be believed anyway take no memory.
    fn gather(&mut self, now_ns: u64, from: NodeId, part: &Part<'_>) -> Result<Gathered, Rejected> {
        let (Origin { sender, incarnation, counter }, hold_ns) = (part.of, self.timing.hold_ns);
        let neighbour = self.sender(now_ns, from, sender, incarnation)?;
        let latest = (neighbour.incarnation, neighbour.counter);
        let is_over = |&(life, last): &(u64, u64)| life == incarnation && counter <= last;
        if is_over(&latest) || neighbour.past.iter().any(is_over) {
            neighbour.outlived_ns = (!neighbour.was_heard(now_ns, hold_ns)).then_some(now_ns);
            return Err(Rejected::Replayed(sender));
        }
        let gathered = neighbour.gathering.add(part, neighbour.incarnation);
        let given_up = neighbour.gathering.take_given_up();
        self.counts.incomplete += given_up;
        Ok(gathered)
    }

    /// Who says over the link to node `from` that it is `sender`, with such a life.
    fn sender(
        &mut self,
        now_ns: u64,
        from: NodeId,
        sender: NodeId,
        incarnation: u64,
    ) -> Result<&mut Neighbour, Rejected> {
        if sender == self.me {
            if incarnation != self.incarnation {
                self.rival_ns = Some(now_ns);
            }
            return Err(Rejected::Duplicate(sender));
        }
        let neighbour = self.neighbours.get_mut(&sender).ok_or(Rejected::Unknown(sender))?;
        if sender == from { Ok(neighbour) } else { Err(Rejected::WrongLink(sender)) }
    }

    /// The bytes of a hello have come.
    fn hear(&mut self, now_ns: u64, from: NodeId, bytes: &[u8]) -> Result<(), Rejected> {
        let hello = Hello::decode(bytes, &self.key).map_err(Rejected::Stranger)?;
        let sender = hello.sender;
        let (me, hold_ns) = ((self.me, self.incarnation), self.timing.hold_ns);
        let neighbour = self.sender(now_ns, from, sender, hello.incarnation)?;
        let heard = neighbour.was_heard(now_ns, hold_ns);
        if let Err(rejected) = neighbour.check(&hello, heard) {
            neighbour.outlived_ns = (!heard).then_some(now_ns);
            return Err(rejected);
        }
        neighbour.outlived_ns = None;
        let of_me = hello.heard.iter().find(|heard| heard.node == me.0 && !heard.is_past);
        let before = (neighbour.heard_ns.is_some(), neighbour.phase, neighbour.hears_me);
        let is_as_before = neighbour.horizon == hello.horizon;
        neighbour.incarnation = hello.incarnation;
        neighbour.counter = hello.counter;
        neighbour.heard_ns = Some(now_ns);
        neighbour.phase = Some(hello.phase);
        neighbour.hears_me = of_me.is_some_and(|heard| heard.incarnation == me.1);
        neighbour.hears_rival = of_me.is_some_and(|heard| heard.incarnation > me.1);
        let reach: Vec<NodeId> =
            hello.heard.iter().filter(|heard| heard.up).map(|heard| heard.node).collect();
        let changed = before != (true, neighbour.phase, neighbour.hears_me)
            || reach != neighbour.reach
            || !is_as_before;
        (neighbour.reach, neighbour.horizon) = (reach, hello.horizon);
        if of_me.is_some_and(|heard| heard.incarnation != me.1) && self.phase == Phase::Listening {
            self.rival_ns = Some(now_ns);
        }
        if changed {
            self.events.push(Event::View);
        }
        // A life that only listens may be that of a second node of a number, which never takes part.
        if (Phase::Active..Phase::Left).contains(&hello.phase) {
            self.note_life(sender, hello.incarnation);
        }
        hello
            .heard
            .iter()
            .filter(|heard| heard.up)
            .for_each(|heard| self.note_life(heard.node, heard.incarnation));
        hello.lives.iter().for_each(|&(node, incarnation)| self.note_life(node, incarnation));
        let past = hello.heard.iter().find(|heard| heard.node == self.me && heard.is_past);
        if let Some(past) = past {
            self.outlive(past.incarnation);
        }
        Ok(())
    }

    /// A peer remembers a life of this number that is over, and does not believe in one with a smaller number: this node takes a
    /// larger one. Two that do so at once, because they were given the same number by mistake, take different ones, since theirs were
    /// different. A node that takes part is believed by most, and stays what it is.
    fn outlive(&mut self, past: u64) {
        let takes_part = (Phase::Active..Phase::Left).contains(&self.phase);
        if !takes_part && self.incarnation <= past {
            self.incarnation = past.saturating_add(1 + self.incarnation % MOST_AHEAD);
        }
    }

    /// A peer speaks of a life of a node.
    fn note_life(&mut self, node: NodeId, incarnation: u64) {
        let known = self.lives.entry(node).or_default();
        if node != self.me && incarnation > *known {
            let first = std::mem::replace(known, incarnation) == 0;
            if !first {
                self.events.push(Event::Restarted(node));
            }
        }
    }
}

#[cfg(test)]
mod tests;
