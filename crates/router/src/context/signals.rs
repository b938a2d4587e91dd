//! What elements tell each other of packets and of room: notifiers.

use crate::context::core::Core;
use crate::context::cx::Cx;
use crate::schedule::signals::{Signal, Wanted};
use crate::shared::mailbox::Message;

/// What the element that runs tells others of its packets and its room, and hears of theirs: [`Cx::signals`].
pub struct Signals<'c> {
    core: &'c mut Core,
}

impl Cx<'_> {
    /// What this element says of its packets and its room, and hears of others.
    #[inline]
    pub fn signals(&mut self) -> Signals<'_> {
        Signals { core: self.core }
    }
}

impl Signals<'_> {
    /// Declares, while initialising, that this element tells pullers downstream when it has packets. Initially active.
    #[inline]
    pub fn provide(&mut self) {
        let here = self.core.here as usize;
        if self.core.provides[here].is_none() {
            self.core.provides[here] = Some(self.core.signals.len() as u32);
            self.core.signals.push(Signal::active());
        }
    }

    /// Says whether this element has packets for pullers downstream; wakes their tasks when that becomes true.
    #[inline]
    pub fn set(&mut self, active: bool) {
        if let Some(signal) = self.core.provides[self.core.here as usize] {
            self.core.set_signal(signal, active);
        }
    }

    /// Whether this element's signal is active.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.core.provides[self.core.here as usize]
            .is_none_or(|signal| self.core.signals[signal as usize].active)
    }

    /// Activates the signal of this element's instance on another worker.
    #[inline]
    pub fn activate_on(&self, worker: usize) {
        if let Some(mailbox) = self.core.info.mailboxes.get(worker) {
            mailbox.send(Message::Signal(self.core.here));
        }
    }

    /// Says, while initialising, that this element's task wants to be woken when packets are to be had at a pull input.
    #[inline]
    pub fn listen(&mut self, input: usize) {
        let _ = self.core.own_task();
        let here = self.core.here;
        self.core.wanted.push((here, Wanted::Input(input as u16)));
    }

    /// Says, while initialising, that this element's signal becomes active whenever packets are to be had at a pull input.
    #[inline]
    pub fn relay(&mut self, input: usize) {
        let here = self.core.here;
        self.core.wanted.push((here, Wanted::Relay(input as u16)));
    }

    /// Whether asking at a pull input can yield packets: false only if everything upstream there has said that it has
    /// none. Needs [`Signals::listen`] or [`Signals::relay`] on the same input.
    #[inline]
    pub fn may_have(&self, input: usize) -> bool {
        let at = self.core.first_input[self.core.here as usize] as usize + input;
        self.core.any_active(self.core.upstream.get(at))
    }

    /// Declares, while initialising, that this element tells sources upstream when it is full. Initially it has room.
    #[inline]
    pub fn provide_room(&mut self) {
        let here = self.core.here as usize;
        if self.core.rooms[here].is_none() {
            self.core.rooms[here] = Some(self.core.signals.len() as u32);
            self.core.signals.push(Signal::active());
        }
    }

    /// Says for how many packets this element has room; wakes the tasks of sources upstream when there is some again.
    #[inline]
    pub fn set_room(&mut self, packets: usize) {
        if let Some(signal) = self.core.rooms[self.core.here as usize] {
            self.core.signals[signal as usize].room = packets;
            self.core.set_signal(signal, packets > 0);
        }
    }

    /// Says, while initialising, that this element's task wants to be woken when there is room downstream of a push output.
    #[inline]
    pub fn listen_room(&mut self, output: usize) {
        let _ = self.core.own_task();
        let here = self.core.here;
        self.core.wanted.push((here, Wanted::Output(output as u16)));
    }

    /// Says, while initialising, that this element's task may do several runs at once if there is room for their packets
    /// downstream of a push output.
    #[inline]
    pub fn watch_room(&mut self, output: usize) {
        let here = self.core.here;
        self.core.wanted.push((here, Wanted::Room(output as u16)));
    }

    /// Packets for which there is room in the fullest of the elements downstream of this one's outputs that say what they have room
    /// for. Needs [`Signals::listen_room`] or [`Signals::watch_room`] on push outputs.
    #[inline]
    pub fn room(&self) -> usize {
        self.core.room_downstream()
    }

    /// Whether packets emitted at an output can be kept: false only if they would all end at elements that are full. Needs
    /// [`Signals::listen_room`] on the same output.
    #[inline]
    pub fn has_room(&self, output: usize) -> bool {
        let at = self.core.exits.start as usize + output;
        self.core.any_active(self.core.downstream.get(at))
    }

    /// The signals that [`Signals::may_have`] looks at, for people: which of those that elements provide by [`Signals::provide`], in the
    /// order in which they did, and whether they are active.
    #[inline]
    pub fn above(&self, input: usize) -> Vec<(usize, bool)> {
        let at = self.core.first_input[self.core.here as usize] as usize + input;
        self.numbered(self.core.upstream.get(at), &self.core.provides)
    }

    /// The signals that [`Signals::has_room`] looks at, in the same way: those that elements provide by [`Signals::provide_room`].
    #[inline]
    pub fn below(&self, output: usize) -> Vec<(usize, bool)> {
        let at = self.core.exits.start as usize + output;
        self.numbered(self.core.downstream.get(at), &self.core.rooms)
    }

    #[inline]
    fn numbered(&self, signals: Option<&Vec<u32>>, kind: &[Option<u32>]) -> Vec<(usize, bool)> {
        let before = |signal: u32| kind.iter().flatten().filter(|&&other| other < signal).count();
        signals.into_iter().flatten().map(|&s| (before(s), self.core.signals[s as usize].active)).collect()
    }
}
