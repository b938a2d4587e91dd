//! Machines say hello, and learn of each other.

use super::{Frame, HELLO, What, World};
use cluster::membership::{Event, Phase};

impl World {
    pub(super) fn tick(&mut self, m: usize) {
        let life = self.machines[m].life;
        self.add_event(HELLO, What::Tick(m, life));
        self.greet(m);
        self.inherit(m);
    }

    /// Time passes for a machine, and it says hello.
    pub(super) fn greet(&mut self, m: usize) {
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
    pub(super) fn notice(&mut self, m: usize) {
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
}
