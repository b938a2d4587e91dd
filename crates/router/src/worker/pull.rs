//! How packets are asked for, and handed down to who waits for them.

use crate::context::core::Link;
use crate::context::cx::Cx;
use crate::context::work::{Load, Waiting, Work};
use crate::element::behaviour::Pull;
use crate::worker::instances::{ASTRAY, Running, Slot};
use packet::{Batch, Packet};

impl Running<'_> {
    /// An element asks upstream. What is answered at once comes down at once; otherwise the list remembers who waits.
    #[inline(never)] // the list's loop stays small
    pub(super) fn ask(&mut self, element: u32, port: u16, want: u8, own: bool, budget: &mut usize) {
        let waiting = Waiting { element, port, own };
        let (base, link) = (self.core.list.len(), self.core.uplink(element, port));
        match self.pull_from(link, want as usize) {
            // Mostly a neighbour has what is asked for, and nothing has to be done before.
            Pull::Alone(packet) if self.core.list.len() == base => self.hand_down_packet(waiting, packet),
            Pull::Give(batch) if self.core.list.len() == base => self.hand_down(waiting, Load::Batch(batch)),
            pull => self.ask_on(waiting, (base, link.element, pull), budget),
        }
    }

    /// Finds out who answers, passing the request on as often as necessary. Where the list ended before, which element was asked, and what
    /// that said is known.
    #[inline(never)]
    fn ask_on(&mut self, mut waiting: Waiting, mut asked: (usize, u32, Pull), budget: &mut usize) {
        loop {
            let (base, element, pull) = asked;
            let at_once = self.core.list.len() == base; // nothing has to be done before
            match pull {
                Pull::Alone(packet) if at_once => return self.hand_down(waiting, Load::Packet(packet)),
                Pull::Give(batch) if at_once => return self.hand_down(waiting, Load::Batch(batch)),
                Pull::Nothing if at_once => {
                    let batch = self.core.pool.batch();
                    return self.hand_down(waiting, Load::Batch(batch));
                }
                Pull::Ask { input, want } if at_once && *budget > 0 => {
                    *budget -= 1;
                    self.core.list.push(Work::Waiting(waiting));
                    waiting = Waiting { element, port: input as u16, own: false };
                    let (base, link) = (self.core.list.len(), self.core.uplink(element, waiting.port));
                    let pull = self.pull_from(link, want.min(packet::BATCH_MAX));
                    asked = (base, link.element, pull);
                }
                pull => {
                    self.core.list.insert(base, Work::Waiting(waiting));
                    return self.handle_pull(base + 1, element, pull);
                }
            }
        }
    }

    /// Asks an element for packets, if it is there.
    #[inline(always)] // once for each run
    fn pull_from(&mut self, link: Link, want: usize) -> Pull {
        let Some(Slot { instance: Some(instance), exits }) = self.slots.get_mut(link.element as usize) else {
            return Pull::Nothing;
        };
        self.core.enter(link.element, exits);
        let mut cx = Cx { core: self.core, turn: self.turn };
        let pull = instance.pull(&mut cx, link.port as usize, want);
        self.core.leave();
        pull
    }

    /// Carries out what an element in a pull path wants, after whatever it emitted above `base`.
    fn handle_pull(&mut self, base: usize, element: u32, pull: Pull) {
        let work = match pull {
            Pull::Later => return,
            Pull::Give(batch) => Work::Answer { batch },
            Pull::Alone(packet) => Work::Answer { batch: self.core.pool.batch_of(packet) },
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
            Some(Work::Waiting(waiting)) => self.hand_down(waiting, Load::Batch(batch)),
            other => {
                self.core.list.extend(other);
                self.drop_answer(Load::Batch(batch));
            }
        }
    }

    /// Drops packets that an element has answered although nothing waits for them.
    #[cold]
    #[inline(never)]
    fn drop_answer(&mut self, load: Load) {
        let mut cx = Cx { core: self.core, turn: self.turn };
        match load {
            Load::Packet(packet) => cx.drop(packet, ASTRAY[1]),
            Load::Batch(batch) => cx.drop_batch(batch, ASTRAY[1]),
        }
    }

    /// Hands packets to the element that waits for them; unless it asked of its own accord, it hands them on.
    fn hand_down(&mut self, waiting: Waiting, load: Load) {
        self.core.account.batches.count(load.len());
        self.hand_on(waiting, load);
    }

    /// The same of a packet that is alone: mostly it goes to an element that has asked of its own accord.
    #[inline(always)] // once for each packet that is pulled alone
    fn hand_down_packet(&mut self, waiting: Waiting, packet: Packet) {
        self.core.account.batches.count(1);
        let Waiting { element, port, own } = waiting;
        let Some(Slot { instance: Some(instance), exits }) = self.slots.get_mut(element as usize) else {
            return self.hand_on(waiting, Load::Packet(packet));
        };
        let base = self.core.list.len();
        self.core.enter(element, exits);
        let mut cx = Cx { core: self.core, turn: self.turn };
        let pull = instance.pulled_packet(&mut cx, port as usize, packet);
        self.core.leave();
        if own && matches!(pull, Pull::Nothing | Pull::Later) {
            return std::mem::forget(pull); // owns nothing
        }
        if let Some((waiting, load)) = self.further(waiting, base, pull) {
            self.hand_on(waiting, load);
        }
    }

    /// Hands packets on, which were counted when they came, for as long as there are any and elements wait for them.
    #[inline(never)]
    fn hand_on(&mut self, mut waiting: Waiting, mut load: Load) {
        loop {
            let Waiting { element, port, own } = waiting;
            let base = self.core.list.len();
            let pull = match self.slots.get_mut(element as usize) {
                Some(Slot { instance: Some(instance), exits }) => {
                    self.core.enter(element, exits);
                    let mut cx = Cx { core: self.core, turn: self.turn };
                    let pull = match load {
                        Load::Packet(packet) => instance.pulled_packet(&mut cx, port as usize, packet),
                        Load::Batch(batch) => instance.pulled(&mut cx, port as usize, batch),
                    };
                    self.core.leave();
                    pull
                }
                _ => Pull::Nothing,
            };
            if own && matches!(pull, Pull::Nothing | Pull::Later) {
                return;
            }
            match self.further(waiting, base, pull) {
                Some(next) => (waiting, load) = next,
                None => return,
            }
        }
    }

    /// Where to go on with what an element has answered that got what it waited for, if that is packets and nothing has to be done before.
    fn further(&mut self, waiting: Waiting, base: usize, pull: Pull) -> Option<(Waiting, Load)> {
        let Waiting { element, own, .. } = waiting;
        let at_once = self.core.list.len() == base;
        let load = match pull {
            Pull::Ask { input, want } if own => {
                let want = want.min(packet::BATCH_MAX) as u8;
                self.core.list.insert(base, Work::Ask { element, port: input as u16, want, own });
                return None;
            }
            Pull::Give(rest) if own || at_once => Load::Batch(rest),
            Pull::Alone(rest) if own || at_once => Load::Packet(rest),
            // It has dropped what it got, and the one below waits all the same.
            Pull::Nothing if !own && at_once => Load::Batch(self.core.pool.batch()),
            pull => {
                self.handle_pull(base, element, pull);
                return None;
            }
        };
        match self.core.list.pop_if(|work| !own && matches!(work, Work::Waiting(_))) {
            Some(Work::Waiting(below)) => Some((below, load)),
            _ => {
                self.drop_answer(load);
                None
            }
        }
    }
}
