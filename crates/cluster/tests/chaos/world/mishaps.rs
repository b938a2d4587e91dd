//! What goes wrong with machines and wires: made up at the beginning of a story, and done when its time has come.

use super::{MS, WORKERS, What, World};
use crate::heirs::Heir;
use cluster::NodeId;
use cluster::choice::Numbers;
use cluster::membership::Phase;

/// By how much a machine may be behind without loss: less than packets wait for their predecessors. What goes by way of a
/// machine that is further behind comes too late for strict order.
pub(super) const SLOW: u64 = 12 * MS / 10;
/// After a mishap flows have moved, duties that none has taken over were taken back, and no two nodes do the same.
const MOVED: u64 = 2_600 * MS;

#[derive(Clone, Copy, Debug)]
pub(super) enum Mishap {
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

impl World {
    /// Makes up what goes wrong with nodes that hand on what they remember: they drain and die, also while flows move.
    pub(super) fn invent_heirs(&mut self) {
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
    pub(super) fn invent(&mut self) {
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

    pub(super) fn befall(&mut self, mishap: Mishap) {
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

    pub(super) fn resume(&mut self, m: usize) {
        self.disturb();
        self.machines[m].paused = false;
        for (from, frame) in std::mem::take(&mut self.machines[m].backlog) {
            if self.machines[m].running {
                self.receive(m, from, frame);
            }
        }
    }

    fn disturb(&mut self) {
        self.disturbed.push(self.now);
        self.moved = self.now;
    }
}
