//! How packets are asked for, and handed down to who waits for them.

use crate::context::cx::Cx;
use crate::context::work::{Waiting, Work};
use crate::element::behaviour::Pull;
use crate::worker::instances::{ASTRAY, Running, Slot};
use packet::Batch;

impl Running<'_> {
    /// An element asks upstream: finds out who answers, passing the request on as often as necessary. What is answered at
    /// once comes down at once; otherwise the list remembers who waits.
    #[inline(never)] // the list's loop stays small
    pub(super) fn ask(&mut self, element: u32, port: u16, want: u8, own: bool, budget: &mut usize) {
        let (mut waiting, mut want) = (Waiting { element, port, own }, want as usize);
        loop {
            let base = self.core.list.len();
            let link = self.core.uplink(waiting.element, waiting.port);
            let pull = match self.slots.get_mut(link.element as usize) {
                Some(Slot { instance: Some(instance), exits }) => {
                    self.core.enter(link.element, exits);
                    let mut cx = Cx { core: self.core, turn: self.turn };
                    let pull = instance.pull(&mut cx, link.port as usize, want);
                    self.core.leave();
                    pull
                }
                _ => Pull::Nothing,
            };
            let at_once = self.core.list.len() == base; // nothing has to be done before
            match pull {
                Pull::Give(batch) if at_once => return self.hand_down(waiting, batch),
                Pull::Nothing if at_once => {
                    let batch = self.core.pool.batch();
                    return self.hand_down(waiting, batch);
                }
                Pull::Ask { input, want: more } if at_once && *budget > 0 => {
                    *budget -= 1;
                    self.core.list.push(Work::Waiting(waiting));
                    waiting = Waiting { element: link.element, port: input as u16, own: false };
                    want = more.min(packet::BATCH_MAX);
                }
                pull => {
                    self.core.list.insert(base, Work::Waiting(waiting));
                    return self.handle_pull(base + 1, link.element, pull);
                }
            }
        }
    }

    /// Carries out what an element in a pull path wants, after whatever it emitted above `base`.
    fn handle_pull(&mut self, base: usize, element: u32, pull: Pull) {
        let work = match pull {
            Pull::Later => return,
            Pull::Give(batch) => Work::Answer { batch },
            Pull::Nothing => Work::Answer { batch: self.core.pool.batch() },
            Pull::Ask { input, want } => {
                let want = want.min(packet::BATCH_MAX) as u8;
                Work::Ask { element, port: input as u16, want, own: false }
            }
        };
        self.core.list.insert(base, work);
    }

    /// Packets come down to the element that waits for them, which lies on top of the list.
    pub(super) fn answer(&mut self, batch: Batch) {
        match self.core.list.pop() {
            Some(Work::Waiting(waiting)) => self.hand_down(waiting, batch),
            other => {
                self.core.list.extend(other);
                self.drop_answer(batch);
            }
        }
    }

    /// Drops packets that an element has answered although nothing waits for them.
    #[cold]
    #[inline(never)]
    fn drop_answer(&mut self, batch: Batch) {
        Cx { core: self.core, turn: self.turn }.drop_batch(batch, ASTRAY[1]);
    }

    /// Hands packets to the element that waits for them; unless it asked of its own accord, it hands them on.
    fn hand_down(&mut self, mut waiting: Waiting, mut batch: Batch) {
        self.core.account.batches.count(batch.len());
        loop {
            let Waiting { element, port, own } = waiting;
            let base = self.core.list.len();
            let pull = match self.slots.get_mut(element as usize) {
                Some(Slot { instance: Some(instance), exits }) => {
                    self.core.enter(element, exits);
                    let mut cx = Cx { core: self.core, turn: self.turn };
                    let pull = instance.pulled(&mut cx, port as usize, batch);
                    self.core.leave();
                    pull
                }
                _ => Pull::Nothing,
            };
            match pull {
                Pull::Give(rest) if own => return self.drop_answer(rest),
                Pull::Nothing | Pull::Later if own => return,
                Pull::Ask { input, want } if own => {
                    let want = want.min(packet::BATCH_MAX) as u8;
                    self.core.list.insert(base, Work::Ask { element, port: input as u16, want, own });
                    return;
                }
                Pull::Give(rest) if self.core.list.len() == base => match self.core.list.pop() {
                    Some(Work::Waiting(below)) => (waiting, batch) = (below, rest),
                    other => {
                        self.core.list.extend(other);
                        return self.drop_answer(rest);
                    }
                },
                pull => return self.handle_pull(base, element, pull),
            }
        }
    }
}
