//! Nodes with naive tables over links that lose, double and reorder, from seeds.

use super::*;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

const MS: u64 = 1_000_000;
const NODES: NodeId = 4;
/// Between two turns of a node.
const TURN_NS: u64 = 10 * MS;

type Flows = BTreeMap<Box<[u8]>, Box<[u8]>>;

/// A table that notes what changes.
#[derive(Default)]
struct Naive {
    flows: Flows,
    /// Those that are not confirmed.
    fresh: BTreeSet<Box<[u8]>>,
    notes: Vec<Box<[u8]>>,
    is_watched: bool,
    is_wide: bool,
    is_lost: bool,
}

/// Changes that a table keeps, and those that it looks at at once.
const NOTES: usize = 40;
const LOOKS: usize = 15;

impl Naive {
    fn note(&mut self, key: &[u8]) {
        if self.is_watched && self.notes.len() < NOTES {
            self.notes.push(key.into());
        } else {
            self.is_lost |= self.is_watched;
        }
    }

    fn put(&mut self, key: &[u8], value: &[u8]) {
        self.flows.insert(key.into(), value.into());
        self.fresh.remove(key);
        self.note(key);
    }

    /// A flow's first packet.
    fn begin(&mut self, key: &[u8], value: &[u8]) {
        self.flows.insert(key.into(), value.into());
        self.fresh.insert(key.into());
        if self.is_wide {
            self.note(key);
        }
    }

    fn remove(&mut self, key: &[u8]) {
        self.flows.remove(key);
        if !self.fresh.remove(key) || self.is_wide {
            self.note(key);
        }
    }

    fn shown(&self, key: &[u8], is_confirmed: bool) -> Option<&[u8]> {
        let value = self.flows.get(key).filter(|_| self.fresh.contains(key) != is_confirmed);
        value.map(|value| &**value)
    }
}

impl Tables for Naive {
    fn watch(&mut self, is_wanted: bool) {
        (self.is_watched, self.is_wide, self.is_lost) = (is_wanted, false, false);
        self.notes.clear();
    }

    fn widen(&mut self) {
        self.is_wide = true;
    }

    fn changes(&mut self, _: usize, most: usize, tell: &mut Tell<'_>) -> Result<bool, Overrun> {
        assert!(most <= 2_048, "a turn takes no longer than for these");
        if std::mem::take(&mut self.is_lost) {
            self.notes.clear();
            return Err(Overrun);
        }
        let some = self.notes.len().min(most).min(LOOKS);
        for key in self.notes.drain(..some).collect::<Vec<_>>() {
            let fresh = self.shown(&key, false).filter(|_| self.is_wide);
            tell(&key, fresh.or_else(|| self.shown(&key, true)));
        }
        Ok(!self.notes.is_empty())
    }

    fn scan(
        &mut self,
        _: usize,
        is_confirmed: bool,
        from: u32,
        _: usize,
        tell: &mut Tell<'_>,
    ) -> Option<u32> {
        // A few at a time, so that much happens meanwhile.
        for place in from..from + 40 {
            let key = [(place / 256) as u8, place as u8, 0];
            self.shown(&key, is_confirmed).into_iter().for_each(|value| tell(&key, Some(value)));
        }
        Some(from + 40).filter(|next| *next < 256 * u32::from(NODES))
    }

    fn adopt(&mut self, _: usize, entries: &[Held]) -> Adoption {
        let mut adoption = Adoption::default();
        for (key, value) in entries {
            match self.flows.get(key) {
                Some(known) if known != value => adoption.contended += 1,
                Some(_) => adoption.taken += 1,
                None => {
                    self.put(key, value);
                    adoption.taken += 1;
                }
            }
        }
        adoption
    }
}

struct Node {
    succession: Succession,
    table: Naive,
    drains: bool,
    over: u32,
    has_left: bool,
    is_alive: bool,
}

impl Node {
    fn new(me: NodeId, life: u64) -> Node {
        Node {
            succession: Succession::new(settings(me), life, Key::new(b"k")),
            table: Naive::default(),
            drains: false,
            over: 0,
            has_left: false,
            is_alive: true,
        }
    }
}

/// A message on its way.
struct Flight {
    at_ns: u64,
    to: NodeId,
    bytes: Vec<u8>,
}

/// All that was ever sent, and to whom.
type Record = Rc<RefCell<Vec<(NodeId, Vec<u8>)>>>;

struct Net {
    rng: fastrand::Rng,
    now_ns: u64,
    nodes: Vec<Node>,
    flights: Vec<Flight>,
    /// Of a hundred messages so many are lost, and as many doubled.
    loss: u32,
    /// A node that others hear, and by way of which they send nothing.
    shunned: Option<usize>,
    /// For who replays it.
    record: Record,
}

fn settings(me: NodeId) -> Settings {
    Settings { me, nodes: NODES, tables: vec!["nat".to_owned()], limit: 10_000 }
}

impl Net {
    fn new(seed: u64, loss: u32) -> Net {
        Net {
            rng: fastrand::Rng::with_seed(seed),
            now_ns: 1,
            nodes: (0..NODES).map(|me| Node::new(me, 1 + u64::from(me))).collect(),
            flights: Vec::new(),
            loss,
            shunned: None,
            record: Rc::default(),
        }
    }

    fn send(&mut self, (to, bytes): (NodeId, Vec<u8>)) {
        self.record.borrow_mut().push((to, bytes.clone()));
        let copies = match self.rng.u32(..100) {
            n if n < self.loss => 0,
            n if n < 2 * self.loss => 2,
            _ => 1,
        };
        for _ in 0..copies {
            let at_ns = self.now_ns + self.rng.u64(MS / 10..3 * MS);
            self.flights.push(Flight { at_ns, to, bytes: bytes.clone() });
        }
    }

    /// One turn of all nodes; in between messages arrive.
    fn turn(&mut self) {
        let until = self.now_ns + TURN_NS;
        while let Some(at) = (0..self.flights.len()).min_by_key(|&at| self.flights[at].at_ns)
            && self.flights[at].at_ns < until
        {
            let flight = self.flights.swap_remove(at);
            self.now_ns = flight.at_ns;
            let node = &mut self.nodes[usize::from(flight.to)];
            if node.is_alive && !node.has_left {
                let _ = node.succession.receive(self.now_ns, &flight.bytes);
                node.succession.take_answers().into_iter().for_each(|answer| self.send(answer));
            }
        }
        self.now_ns = until;
        let alive: Vec<bool> = self.nodes.iter().map(|node| node.is_alive && !node.has_left).collect();
        let stays = |(at, node): (usize, &Node)| node.is_alive && !node.drains && self.shunned != Some(at);
        let stays: Vec<bool> = self.nodes.iter().enumerate().map(stays).collect();
        for at in 0..self.nodes.len() {
            if !alive[at] {
                continue;
            }
            let node = &mut self.nodes[at];
            let world = World {
                takes_part: true,
                drains: node.drains,
                reaches: &|other| alive[usize::from(other)],
                stays: &|other| stays[usize::from(other)],
            };
            let out = node.succession.tick(self.now_ns, &world, &mut node.table);
            // It leaves when nothing has come for a while.
            node.over += u32::from(node.drains && node.succession.is_over());
            node.has_left = node.over > 12;
            out.into_iter().for_each(|message| self.send(message));
        }
    }

    fn turns(&mut self, count: usize) {
        (0..count).for_each(|_| self.turn());
    }

    /// Flows come and go at a node.
    fn traffic(&mut self, at: usize, count: usize) {
        for _ in 0..count {
            let key = [at as u8, self.rng.u8(..200), 0];
            let node = &mut self.nodes[at];
            if self.rng.u32(..3) == 0 {
                node.table.remove(&key);
            } else if !node.table.flows.contains_key(&key[..]) {
                let value = self.rng.u64(..).to_be_bytes();
                node.table.put(&key, &value);
            }
        }
    }

    fn holders(&self) -> Vec<Option<NodeId>> {
        (0..NODES).map(|of| self.nodes[3].succession.holder(of)).collect()
    }
}

/// A node that drains hands over all that it has, and its duty, whatever links lose; and nothing is lost or twice.
#[test]
fn a_drain_loses_nothing() {
    for seed in 0..60 {
        let mut net = Net::new(seed, (seed % 4) as u32 * 8);
        for _ in 0..60 {
            net.traffic(0, 4);
            net.turn();
        }
        assert_eq!(net.nodes[0].succession.holder(0), Some(0), "{seed}");
        net.nodes[0].drains = true;
        let mut turns = 0;
        while !net.nodes[0].has_left {
            // Flows begin, and some of them have one packet only; those that end here may last at the other.
            if net.nodes[0].over == 0 {
                let key = [3, turns as u8, 0];
                let table = &mut net.nodes[0].table;
                if turns % 2 == 0 { table.begin(&key, &[7]) } else { table.put(&key, &[7]) }
            }
            net.turn();
            turns += 1;
            assert!(turns < 200, "seed {seed}: it does not leave");
        }
        net.turns(60);
        let (left, heir) = (&net.nodes[0].table.flows, &net.nodes[1]);
        for (key, value) in left {
            assert_eq!(heir.table.flows.get(key), Some(value), "seed {seed}: {key:?}");
        }
        assert_eq!(net.holders(), [Some(1), Some(1), Some(2), Some(3)], "seed {seed}");
        assert_eq!(heir.succession.counts().lost, 0, "seed {seed}");
    }
}

/// A flood of flows that have one packet each sends nothing, ends included, and begins no stream; what it leaves behind moves at a drain,
/// and with a death the rest does.
#[test]
fn what_is_not_confirmed_moves_at_a_drain_only() {
    for seed in 0..20 {
        let mut net = Net::new(seed, (seed % 3) as u32 * 5);
        net.turns(110);
        net.traffic(0, 60);
        net.turns(60);
        let confirmed = net.nodes[0].table.flows.clone();
        let before = net.nodes[0].succession.counts().clone();
        for turn in 0..60 {
            for flow in 0..3 * NOTES as u8 {
                net.nodes[0].table.begin(&[2, flow, 0], &[turn]);
            }
            (20..3 * NOTES as u8).for_each(|flow| net.nodes[0].table.remove(&[2, flow, 0]));
            net.turn();
        }
        assert_eq!(net.nodes[0].succession.counts(), &before, "{seed}");
        assert_eq!(net.nodes[1].succession.held(), confirmed.len(), "{seed}");
        let all = net.nodes[0].table.flows.clone();
        assert_eq!(all.len(), confirmed.len() + 20);
        if seed % 2 == 0 {
            net.nodes[0].is_alive = false;
        } else {
            net.nodes[0].drains = true;
        }
        net.turns(120);
        let expected = if seed % 2 == 0 { &confirmed } else { &all };
        assert_eq!(&net.nodes[1].table.flows, expected, "{seed}");
    }
}

/// A node that drains and then stays after all tells confirmed flows only, as before.
#[test]
fn who_stays_after_all_tells_no_more_than_before() {
    let mut net = Net::new(1, 0);
    net.turns(110);
    net.nodes[0].table.begin(&[0, 1, 0], &[1]);
    net.turns(10);
    net.nodes[0].drains = true;
    net.turn();
    net.nodes[0].drains = false;
    net.turns(60);
    let before = net.nodes[0].succession.counts().sent;
    net.nodes[0].table.begin(&[0, 2, 0], &[2]);
    net.turns(60);
    assert_eq!(net.nodes[0].succession.counts().sent, before);
}

/// Of a node that dies all that was there a tenth of a second before is at its successor, and what was gone is not.
#[test]
fn a_death_costs_what_is_younger_than_a_tenth_of_a_second() {
    for seed in 0..60 {
        let mut net = Net::new(seed, (seed % 3) as u32 * 4);
        for _ in 0..80 {
            net.traffic(0, 4);
            net.turn();
        }
        let before = net.nodes[0].table.flows.clone();
        // What is told is quicker where nothing is lost.
        let turns = if net.loss == 0 { 3 } else { 9 };
        let mut touched: Vec<Box<[u8]>> = Vec::new();
        for _ in 0..turns {
            net.traffic(0, 2);
            touched.extend(net.nodes[0].table.notes.iter().cloned());
            net.turn();
        }
        net.nodes[0].is_alive = false;
        net.turns(60);
        let heir = &net.nodes[1].table.flows;
        for (key, value) in before.iter().filter(|(key, _)| !touched.contains(key)) {
            assert_eq!(heir.get(key), Some(value), "seed {seed}: {key:?}");
        }
        for key in heir.keys().filter(|key| key[0] == 0 && !touched.contains(key)) {
            assert!(before.contains_key(key), "seed {seed}: {key:?} was gone");
        }
        assert_eq!(net.holders(), [Some(1), Some(1), Some(2), Some(3)], "seed {seed}");
    }
}

/// One after the other leaves or dies: the last one has all.
#[test]
fn what_was_taken_over_goes_on() {
    for seed in 0..30 {
        let mut net = Net::new(seed, (seed % 3) as u32 * 4);
        net.turns(110);
        net.traffic(0, 200);
        net.traffic(1, 100);
        net.turns(60);
        let mut all = net.nodes[0].table.flows.clone();
        all.extend(net.nodes[1].table.flows.clone());
        if seed % 2 == 0 {
            net.nodes[0].is_alive = false;
        } else {
            net.nodes[0].drains = true;
        }
        net.turns(120);
        net.nodes[1].drains = true;
        net.turns(120);
        assert!(net.nodes[1].has_left, "seed {seed}");
        assert_eq!(net.nodes[2].table.flows, all, "seed {seed}");
        assert_eq!(net.holders(), [Some(2), Some(2), Some(2), Some(3)], "seed {seed}");
    }
}

/// Two that drain at once leave everything to the next.
#[test]
fn neighbours_that_drain_at_once() {
    for seed in 0..30 {
        let mut net = Net::new(seed, 5);
        net.turns(110);
        net.traffic(0, 100);
        net.traffic(1, 100);
        net.turns(30);
        net.nodes[0].drains = true;
        net.turns(seed as usize % 3);
        net.nodes[1].drains = true;
        net.turns(200);
        let mut all = net.nodes[0].table.flows.clone();
        all.extend(net.nodes[1].table.flows.clone());
        assert!(net.nodes[0].has_left && net.nodes[1].has_left, "seed {seed}");
        let heir = &net.nodes[2].table.flows;
        assert_eq!(all.iter().filter(|(key, value)| heir.get(*key) != Some(value)).count(), 0, "seed {seed}");
        assert_eq!(net.holders(), [Some(2), Some(2), Some(2), Some(3)], "seed {seed}");
    }
}

/// A nearer successor that appears while a node drains has nothing of it: the one that takes over its duty has all flows, also those that began meanwhile.
#[test]
fn a_node_that_drains_keeps_its_successor() {
    for seed in 0..60 {
        let mut net = Net::new(seed, 5);
        net.shunned = Some(1);
        net.turns(110);
        net.traffic(0, 100);
        net.turns(60);
        assert_eq!(net.nodes[0].succession.successor(), Some(2), "seed {seed}");
        net.nodes[0].drains = true;
        for turn in 0..200 {
            if turn == seed {
                net.shunned = None;
            }
            if net.nodes[0].over == 0 {
                net.nodes[0].table.put(&[3, turn as u8, 0], &[7]);
            }
            net.turn();
        }
        assert!(net.nodes[0].has_left, "seed {seed}");
        let heir = net.holders()[0].map(|heir| &net.nodes[usize::from(heir)].table.flows);
        let left = &net.nodes[0].table.flows;
        let missing =
            left.iter().filter(|(key, value)| heir.is_none_or(|heir| heir.get(*key) != Some(value)));
        assert_eq!(missing.count(), 0, "seed {seed}: {:?}", net.holders());
    }
}

/// A node that begins anew does not take its duty back, and does not disturb what goes on.
#[test]
fn a_node_that_returns_is_relieved() {
    let mut net = Net::new(1, 0);
    net.turns(110);
    net.traffic(0, 100);
    net.turns(60);
    let flows = net.nodes[0].table.flows.clone();
    net.nodes[0].is_alive = false;
    net.turns(30);
    net.nodes[0] = Node::new(0, 1_000);
    net.turns(100);
    assert_eq!(net.nodes[0].succession.holder(0), Some(1));
    assert_eq!(net.nodes[1].table.flows, flows);
    // When the other is gone, and with it all that held its state, it does its duty again.
    net.nodes[1].is_alive = false;
    net.nodes[2].is_alive = false;
    net.turns(250);
    assert_eq!(net.nodes[0].succession.holder(0), Some(0));
}

/// An heir that is about to leave takes over all the same, and hands on what it has taken.
#[test]
fn an_heir_that_drains_takes_over() {
    for seed in 0..20 {
        let mut net = Net::new(seed, (seed % 3) as u32 * 4);
        net.turns(110);
        net.traffic(0, 100);
        net.turns(60);
        let flows = net.nodes[0].table.flows.clone();
        net.nodes[0].is_alive = false;
        net.nodes[1].drains = true;
        net.turns(200);
        assert!(net.nodes[1].has_left, "{seed}");
        assert_eq!(net.holders(), [2, 2, 2, 3].map(Some), "{seed}");
        assert_eq!(net.nodes[2].table.flows, flows, "{seed}");
    }
}

/// Nodes begin anew one after the other. Who has acted for one meanwhile takes nothing of what that one takes over afterwards, also if it is no successor
/// of that one any more.
#[test]
fn who_has_acted_for_a_node_takes_nothing_of_its_next_life() {
    for is_killed in [false, true] {
        let mut net = Net::new(7, 0);
        net.turns(110);
        net.traffic(0, 100);
        net.nodes[2].is_alive = false;
        net.turns(60);
        if is_killed {
            net.nodes[1].is_alive = false;
        } else {
            net.nodes[1].drains = true;
        }
        net.turns(120);
        for me in [1, 2] {
            net.nodes[usize::from(me)] = Node::new(me, 1_000);
        }
        net.turns(120);
        let flows = net.nodes[0].table.flows.clone();
        net.nodes[0].drains = true;
        net.turns(120);
        assert_eq!(net.holders(), [1, 3, 3, 3].map(Some), "{is_killed}");
        assert_eq!(net.nodes[1].table.flows, flows, "{is_killed}");
    }
}

/// A node that acted for another and has forgotten that leaves its duty to it.
#[test]
fn a_duty_that_was_forgotten_is_done_again() {
    let mut net = Net::new(4, 0);
    net.turns(60);
    net.nodes[0].is_alive = false;
    net.turns(30);
    net.nodes[0] = Node::new(0, 1_000);
    net.turns(60);
    assert_eq!(net.nodes[0].succession.holder(0), Some(1));
    // It begins anew so soon that no other took it for dead.
    net.nodes[1] = Node::new(1, 2_000);
    net.turns(250);
    assert_eq!(net.holders(), [0, 1, 2, 3].map(Some));
}

/// The node that acted for one that has left dies together with its successor, and both begin anew and know nothing of it: the one that does knows
/// claims the duty, though it is not the next.
#[test]
fn a_duty_that_none_does_is_claimed() {
    for seed in 0..20 {
        let mut net = Net::new(seed, (seed % 3) as u32 * 4);
        net.turns(60);
        net.nodes[0].drains = true;
        net.turns(100);
        assert_eq!(net.holders(), [1, 1, 2, 3].map(Some), "{seed}");
        (1..3).for_each(|at| net.nodes[at].is_alive = false);
        net.turns(20);
        (1..3).for_each(|me| net.nodes[usize::from(me)] = Node::new(me, 1_000));
        net.turns(250);
        assert_eq!(net.holders(), [3, 1, 2, 3].map(Some), "{seed}");
        // Should that one die, too, the duty goes on as any other.
        net.nodes[3].is_alive = false;
        net.turns(60);
        assert_eq!(net.nodes[1].succession.holder(0), Some(1), "{seed}");
    }
}

/// Of a node whose hosts cannot reach half of the cluster none takes over anything but its own duty.
#[test]
fn a_minority_claims_no_duty_of_others() {
    let mut net = Net::new(9, 0);
    net.turns(60);
    (0..3).for_each(|at| net.nodes[at].is_alive = false);
    net.turns(300);
    assert_eq!(net.holders(), [0, 1, 2, 3].map(Some));
}

/// A node that begins anew does its own duty, since those that knew who did it are gone: the others believe it, though its term is an early one.
#[test]
fn who_begins_anew_is_believed() {
    for seed in 0..20 {
        let mut net = Net::new(seed, (seed % 3) as u32 * 4);
        net.turns(60);
        net.nodes[0].is_alive = false;
        net.turns(60);
        assert_eq!(net.holders(), [1, 1, 2, 3].map(Some), "{seed}");
        net.nodes[1].is_alive = false;
        net.nodes[2].is_alive = false;
        net.nodes[0] = Node::new(0, 1_000);
        for _ in 0..250 {
            net.turn();
            assert_ne!(net.nodes[3].succession.holder(0), Some(3), "{seed}");
        }
        assert_eq!(net.nodes[3].succession.holder(0), Some(0), "{seed}");
    }
}

/// A successor that holds nothing, for whatever reason, is told everything anew, also where nothing changes.
#[test]
fn a_copy_that_is_missing_is_made_again() {
    let mut net = Net::new(5, 0);
    net.turns(110);
    net.traffic(0, 100);
    net.turns(60);
    let held = net.nodes[1].succession.held();
    assert!(held > 0);
    net.nodes[1].succession.standbys.clear();
    net.turns(60);
    assert_eq!(net.nodes[1].succession.held(), held);
}

/// A node whose flows change all the time has a successor that has everything all the same.
#[test]
fn a_busy_node_has_a_successor() {
    for seed in 0..10 {
        let mut net = Net::new(seed, (seed % 3) as u32 * 4);
        for turn in 0..170 {
            net.nodes[0].table.put(&[0, turn, 0], &[turn]);
            net.turn();
        }
        assert_eq!(net.nodes[0].succession.successor(), Some(1), "{seed}");
    }
}

/// A successor that comes first in the order of numbers, and later than others, keeps what it is told while the former one is still named.
#[test]
fn a_nearer_successor_takes_the_place_of_another() {
    for seed in 0..30 {
        let mut net = Net::new(seed, 5);
        net.nodes[1].is_alive = false;
        net.turns(110);
        net.traffic(0, 100);
        net.turns(60);
        assert_eq!(net.nodes[0].succession.successor(), Some(2), "{seed}");
        net.nodes[1].is_alive = true;
        net.turns(100);
        let holds =
            |at: usize| net.nodes[at].succession.holds().iter().find(|held| held.0 == 0).map(|held| held.1);
        assert_eq!(holds(1), Some(net.nodes[0].table.flows.len()), "{seed}");
        assert_eq!((net.nodes[0].succession.successor(), holds(2)), (Some(1), None), "{seed}");
    }
}

/// Whatever was ever sent, and is sent again by a stranger, changes nothing.
#[test]
fn what_is_replayed_is_not_believed() {
    let mut net = Net::new(2, 0);
    net.turns(110);
    net.traffic(0, 100);
    net.turns(60);
    let (held, streams) = (net.nodes[1].succession.held(), net.nodes[0].succession.counts().streams);
    let record: Vec<_> = net.record.borrow().clone();
    for (to, bytes) in &record {
        let node = &mut net.nodes[usize::from(*to)];
        assert!(node.succession.receive(net.now_ns, bytes).is_err());
    }
    net.turns(20);
    assert_eq!(net.nodes[1].succession.held(), held);
    assert_eq!(net.nodes[0].succession.counts().streams, streams);
    assert_eq!(net.holders(), [0, 1, 2, 3].map(Some));
}

/// More flows come and go in each turn than a table notes.
fn flood(net: &mut Net, turns: usize) {
    for _ in 0..turns {
        for flow in 0..NOTES as u8 {
            net.nodes[0].table.put(&[0, 200 + flow, 0], &[flow]);
            net.nodes[0].table.remove(&[0, 200 + flow, 0]);
        }
        net.turn();
    }
}

/// A flood of new flows does not cost the successor its copy of the others: a stream does not begin anew all the time. Afterwards the copy
/// is whole again.
#[test]
fn a_flood_does_not_empty_the_copy() {
    let fresh = || {
        let mut net = Net::new(6, 0);
        net.turns(10);
        (0..30).for_each(|flow| net.nodes[0].table.put(&[0, flow, 0], &[flow]));
        net.turns(40);
        (net.nodes[0].table.flows.clone(), net)
    };
    let (flows, mut net) = fresh();
    flood(&mut net, 40);
    net.nodes[0].is_alive = false;
    net.turns(60);
    assert_eq!(net.nodes[1].table.flows, flows);

    let (flows, mut net) = fresh();
    let before = net.nodes[0].succession.counts().streams;
    flood(&mut net, 300);
    let after = net.nodes[0].succession.counts().streams;
    assert!((2..=4).contains(&(after - before)), "{before} {after}");
    net.turns(150);
    assert_eq!(net.nodes[1].succession.held(), flows.len());
    net.nodes[0].is_alive = false;
    net.turns(60);
    assert_eq!(net.nodes[1].table.flows, flows);
}

/// While a stream begins anew the successor has no gap: whenever the node dies, what was there all the time goes on. Once the stream is whole, the
/// copy has nothing that is gone.
#[test]
fn a_stream_that_begins_anew_leaves_no_gap() {
    for dies_after in 0..60 {
        let mut net = Net::new(dies_after as u64, 0);
        net.turns(10);
        for flow in 0..100 {
            net.nodes[0].table.put(&[dies_after % 4, flow, 0], &[flow]);
            net.turns(usize::from(flow % 4 == 3));
        }
        net.turns(70);
        (90..100).for_each(|flow| net.nodes[0].table.remove(&[dies_after % 4, flow, 0]));
        let (flows, before) = (net.nodes[0].table.flows.clone(), net.nodes[0].succession.counts().streams);
        // What is gone in the flood is not told.
        flood(&mut net, 1);
        while net.nodes[0].succession.counts().streams == before {
            net.turn();
        }
        net.turns(dies_after.into());
        if dies_after == 59 {
            assert_eq!(net.nodes[1].succession.held(), flows.len());
        }
        net.nodes[0].is_alive = false;
        net.turns(60);
        let heir = &net.nodes[1].table.flows;
        let missing = flows.iter().filter(|(key, value)| heir.get(*key) != Some(value)).count();
        assert_eq!((missing, net.nodes[1].succession.holder(0)), (0, Some(1)), "{dies_after}");
    }
}

/// While a nearer successor is told everything, the former one takes over, whose copy is whole, whenever the node dies.
#[test]
fn who_has_everything_takes_over() {
    for (me, nearer, former, dies_after) in
        (0..40).flat_map(|at| [(0, 1, 2, at), (2, 3, 0, at), (3, 0, 1, at)])
    {
        let mut net = Net::new(dies_after as u64, 0);
        net.nodes[nearer].is_alive = false;
        net.turns(110);
        net.traffic(me, 100);
        net.turns(60);
        assert_eq!(net.nodes[me].succession.successor(), Some(former as NodeId));
        let flows = net.nodes[me].table.flows.clone();
        net.nodes[nearer].is_alive = true;
        net.turns(dies_after);
        net.nodes[me].is_alive = false;
        net.turns(160);
        let holder = net.nodes[former].succession.holder(me as NodeId).expect("a holder");
        assert!([nearer, former].contains(&usize::from(holder)), "{me} {dies_after}: {holder}");
        let heir = &net.nodes[usize::from(holder)].table.flows;
        let missing = flows.iter().filter(|(key, value)| heir.get(*key) != Some(value)).count();
        assert_eq!(missing, 0, "{me} {dies_after}: {holder} of {}", flows.len());
    }
}

/// What is held for others is bounded; the rest is counted.
#[test]
fn what_is_held_is_bounded() {
    let mut net = Net::new(3, 0);
    let few = Settings { limit: 20, ..settings(1) };
    net.nodes[1].succession = Succession::new(few, 2, Key::new(b"k"));
    net.turns(110);
    net.traffic(0, 100);
    let all = net.nodes[0].table.flows.len();
    net.turns(60);
    assert_eq!(net.nodes[1].succession.held(), 20);
    assert!(net.nodes[1].succession.counts().lost >= (all - 20) as u64);
}

/// However much was held for others, a turn adopts a bounded part of it.
#[test]
fn a_turn_adopts_no_more_than_it_may() {
    let (mut succession, mut table) = (Succession::new(settings(1), 1, Key::new(b"k")), Naive::default());
    for from in [0u8, 2] {
        let mut backlog = Backlog::default();
        (0..3_000u16)
            .for_each(|flow| backlog.add(0, &[&[from], &flow.to_be_bytes()[..]].concat(), Some(&[1])));
        backlog.close();
        backlog.parts.push_front(Part::Begin(settings(1).tables));
        let mut standby = Standby::new((1, 1));
        for (number, part) in backlog.parts.into_iter().enumerate() {
            standby.take(number as u64, part, &settings(1).tables, 10_000);
        }
        standby.begin_adoption();
        succession.standbys.insert(from.into(), standby);
    }
    let all = |_| true;
    let world = World { takes_part: true, drains: false, reaches: &all, stays: &all };
    for turn in 1..4 {
        let before = table.flows.len();
        succession.tick(turn * TURN_NS, &world, &mut table);
        assert!(table.flows.len() - before <= AT_ONCE && table.flows.len() > before);
    }
    assert_eq!((table.flows.len(), succession.is_busy()), (6_000, false));
}

/// However many parts come between two turns, the sender has one answer.
#[test]
fn parts_that_come_together_have_one_answer() {
    let mut net = Net::new(1, 0);
    net.turns(110);
    net.nodes[0].succession.stream = None;
    let all = |_| true;
    let world = World { takes_part: true, drains: false, reaches: &all, stays: &all };
    let node = &mut net.nodes[0];
    let turns =
        (1..40).flat_map(|turn| node.succession.tick(net.now_ns + turn * MS, &world, &mut node.table));
    let parts: Vec<_> = turns.filter(|(to, _)| *to == 1).collect();
    assert!(parts.len() > 1);
    for (_, bytes) in &parts {
        let _ = net.nodes[1].succession.receive(net.now_ns, bytes);
    }
    assert_eq!(net.nodes[1].succession.take_answers().len(), 1);
}
