//! What machines remember of flows goes from one to another, and each message about it with other packets.

use super::{MS, Machine, World};
use crate::heirs;
use cluster::NodeId;
use cluster::membership::Phase;
use cluster::succession;

/// The flow of messages between heirs, which no other packet has.
const MESSAGES: u8 = 7;
/// After a mishap it is no wonder that two nodes do the same.
const CLAIMED: u64 = 700 * MS;
/// Messages between heirs are late as long as something was disturbed so lately.
const LATELY: u64 = 400 * MS;

impl World {
    /// A machine is about to die: its flows go on where its heir has everything and is well, and more than half of the nodes are left.
    pub(super) fn bereave(&mut self, m: usize) {
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
    pub(super) fn inherit(&mut self, m: usize) {
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
    pub(super) fn hear(&mut self, m: usize, id: u64) {
        let (now, Some(bytes)) = (self.now, self.messages.remove(&id)) else { return };
        let Some(heir) = &mut self.machines[m].heir else { return };
        if heir.succession.receive(now, &bytes).is_err() {
            *self.drops.entry("message").or_default() += 1;
        }
        let answers = heir.succession.take_answers();
        answers.into_iter().for_each(|answer| self.tell(m, answer));
    }
}
