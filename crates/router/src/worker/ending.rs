//! A worker's part in an end that lets packets arrive: which tasks carry packets on, and running those alone.

use crate::context::core::Core;
use crate::schedule::awaited::Interest;
use crate::schedule::carriers::Carries;
use crate::shared::record::{Level, Record};
use crate::worker::instances::{Running, Turned};
use crate::worker::turn::TASKS_PER_TURN;

impl Running<'_> {
    /// Runs tasks that carry packets on, and no others. `None` once the driver is asked to stop.
    pub(super) fn let_arrive(&mut self, budget: &mut usize) -> Option<Turned> {
        let (info, worker) = (self.core.info.clone(), self.core.worker);
        if worker == 0 && info.clock.now_ns() >= info.ending.until_ns() {
            info.log.write(&Record::new(Level::Warning, "stops while packets are still on their way"));
            info.stop_now();
            return None;
        }
        info.ending.stir(worker);
        self.read_mail();
        if let Some(turned) = self.run_list(budget) {
            return Some(turned);
        }
        for _ in 0..TASKS_PER_TURN {
            let Some(element) = self.core.next_carrier() else {
                return self.has_let_arrive();
            };
            if let Some(turned) = self.run_task(element, budget) {
                return Some(turned);
            }
            if !self.mailbox_is_empty() {
                self.read_mail();
                if let Some(turned) = self.run_list(budget) {
                    return Some(turned);
                }
            }
        }
        Some(Turned::Busy)
    }

    /// This worker has nothing to carry on: the first one finds out whether any has.
    fn has_let_arrive(&mut self) -> Option<Turned> {
        let info = self.core.info.clone();
        let waits =
            self.core.awaited.iter().any(|awaited| {
                awaited.interest == Interest::Writable && self.core.carries_now(awaited.element)
            });
        if !waits {
            info.ending.rest(self.core.worker);
        }
        if self.core.worker != 0 {
            info.mailboxes[0].wake();
            return Some(Turned::Idle(None));
        }
        if info.ending.has_arrived(&info.mailboxes) {
            info.stop_now();
            return None;
        }
        Some(Turned::Idle(Some(info.ending.until_ns())))
    }
}

impl Core {
    /// Takes out the next task that carries packets on: its element. All others stay where they are.
    fn next_carrier(&mut self) -> Option<u32> {
        if self.carriers.is_empty() {
            self.carriers = (0..self.tasks.len()).map(|element| self.carries(element)).collect();
        }
        let (carriers, signals) = (&self.carriers, &self.signals);
        self.scheduler.next_of(|element| carriers[element as usize].any(signals))
    }

    /// Whether an element has packets to carry on now.
    fn carries_now(&self, element: u32) -> bool {
        self.carriers.get(element as usize).is_some_and(|carries| carries.any(&self.signals))
    }

    /// What an element's task does with packets: sources have no inputs, and an element that takes and emits packets by push
    /// needs a task for other things, unless it hands them over.
    fn carries(&self, element: usize) -> Carries {
        let node = &self.info.nodes[element];
        let is_sink = node.outputs.is_empty() && node.inputs.iter().any(|input| input.push);
        if node.class.hands_over || is_sink {
            return Carries::Always;
        }
        let first = self.first_input[element] as usize;
        let mut held = Vec::new();
        for (at, input) in node.inputs.iter().enumerate() {
            if !input.push {
                self.upstream[first + at].iter().for_each(|&signal| self.find_storage(signal, &mut held));
            }
        }
        if held.is_empty() { Carries::Never } else { Carries::While(held) }
    }

    /// Adds the signals of elements that store packets to those found: the signal itself, or those that it relays.
    fn find_storage(&self, signal: u32, found: &mut Vec<u32>) {
        let (mut open, mut seen) = (vec![signal], Vec::new());
        while let Some(signal) = open.pop() {
            if seen.contains(&signal) {
                continue;
            }
            seen.push(signal);
            let relayed = (0..self.signals.len() as u32)
                .filter(|&other| self.signals[other as usize].relays.contains(&signal));
            let before = open.len();
            open.extend(relayed);
            let provider = self.provides.iter().position(|&provided| provided == Some(signal));
            let stores = provider.is_some_and(|element| !self.info.nodes[element].inputs.is_empty());
            if open.len() == before && stores && !found.contains(&signal) {
                found.push(signal);
            }
        }
    }
}
