//! Packets come in, cross the cluster and leave it; in the end those that had to arrive have.

use super::mishaps::SLOW;
use super::{Frame, MS, Machine, Packet, Sent, UNDER_WAY, What, World};
use cluster::NodeId;
use cluster::label::{Label, Stamp};
use cluster::transit::{Next, next};

/// How long after a mishap packets may be lost.
const BLACKHOLE: u64 = 100 * MS;

impl World {
    pub(super) fn inject(&mut self, m: usize) {
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
    pub(super) fn send(&mut self, m: usize, to: usize, flow: u8) -> Option<u64> {
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

    pub(super) fn forward(&mut self, m: usize, mut packet: Packet) {
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
        let Stamp::Sequence { bucket, number } = label.stamp else {
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

    pub(super) fn deliver(&mut self, m: usize, packet: Packet) {
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
    pub(super) fn judge(&mut self) {
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
