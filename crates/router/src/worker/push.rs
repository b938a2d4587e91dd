//! How packets are brought from element to element.

use crate::context::core::Link;
use crate::context::cx::Cx;
use crate::context::leash::Leash;
use crate::context::next::Next;
use crate::context::work::Load;
use crate::worker::instances::{ASTRAY, Running, Slot};
use packet::{Batch, Packet};

/// After so many hops of a packet that is alone the worker looks whether a grace period waits for the turn.
const HOPS_PER_LOOK: usize = 64;

impl Running<'_> {
    /// Brings packets to an element, and what that emits first to the next, and so on to the end of the path. Whatever else
    /// is emitted on the way goes onto the list.
    #[inline(never)] // the list's loop stays small
    pub(super) fn push(&mut self, mut link: Link, mut load: Load, budget: &mut usize) {
        self.core.account.batches.count(load.len());
        loop {
            match load {
                Load::Packet(packet) => self.push_packet(link, packet, budget),
                Load::Batch(batch) => self.push_batch(link, batch),
            }
            if self.core.first.is_none() {
                return;
            }
            if !self.goes_on(*budget) {
                return self.core.leave();
            }
            let Some((to, next)) = self.core.take_load() else { return };
            link = to;
            load = match next {
                Load::Batch(batch) => self.load(batch),
                alone => alone,
            };
            *budget -= 1;
        }
    }

    /// What a batch is: a packet that is alone in one goes on without it.
    #[inline]
    pub(super) fn load(&mut self, batch: Batch) -> Load {
        if batch.len() == 1 { self.unpack(batch) } else { Load::Batch(batch) }
    }

    #[inline(never)] // seldom, where there are batches
    fn unpack(&mut self, mut batch: Batch) -> Load {
        let Some(packet) = batch.pop() else { return Load::Batch(batch) };
        self.core.pool.recycle(batch);
        Load::Packet(packet)
    }

    /// Whether the turn has time for another hop.
    #[inline]
    fn goes_on(&self, budget: usize) -> bool {
        budget > 0 && !self.is_hurried()
    }

    #[inline]
    fn push_batch(&mut self, link: Link, batch: Batch) {
        let mut cx = Cx { core: self.core, turn: self.turn };
        match self.slots.get_mut(link.element as usize) {
            Some(Slot { instance: Some(instance), exits }) => {
                cx.core.enter(link.element, exits);
                instance.push(&mut cx, link.port as usize, batch);
            }
            // Counted for the element that sent it there.
            _ => cx.drop_batch(batch, ASTRAY[0]),
        }
    }

    /// Takes a packet that is alone through elements for as long as they only pass it on, and does what the last of them wants.
    #[inline]
    fn push_packet(&mut self, mut link: Link, mut packet: Packet, budget: &mut usize) {
        let next = self.walk(&mut link, &mut packet, budget);
        let mut cx = Cx { core: self.core, turn: self.turn };
        match next {
            Next::PASS => cx.emit_packet(0, packet),
            Next::DROP => cx.drop(packet, cx.core.reason),
            Next::STAY => match self.slots.get_mut(link.element as usize) {
                Some(Slot { instance: Some(instance), .. }) => {
                    instance.push_packet(&mut cx, link.port as usize, packet);
                }
                // Counted for the element that sent it there.
                _ => cx.drop(packet, ASTRAY[0]),
            },
            next => cx.emit_packet(next.output(), packet),
        }
    }

    /// Takes a packet through elements, which needs neither list nor emission, and moves `link` to the one where that ends: the way from
    /// there.
    #[inline(never)] // a loop of its own keeps all it needs in registers
    fn walk(&mut self, link: &mut Link, packet: &mut Packet, budget: &mut usize) -> Next {
        self.core.base = self.core.list.len();
        let leash = Leash::of((*budget).min(HOPS_PER_LOOK));
        self.core.leash = leash;
        let mut to = *link;
        let mut cx = Cx { core: self.core, turn: self.turn };
        let next = loop {
            let Some(Slot { instance: Some(instance), exits }) = self.slots.get_mut(to.element as usize)
            else {
                cx.core.leash.step();
                break Next::STAY;
            };
            cx.core.here = to.element;
            cx.core.exits = *exits;
            let next = instance.push_alone(&mut cx, to.port as usize, packet);
            if !cx.core.leash.step() {
                break next;
            }
            match next {
                Next::PASS => to = exits.first,
                next if next.output() < exits.count as usize => {
                    to = cx.core.outputs[exits.start as usize + next.output()];
                }
                next => break next,
            }
        };
        // The element where it ends is no hop from there.
        *budget -= leash.left() - 1 - cx.core.leash.left();
        *link = to;
        next
    }
}
