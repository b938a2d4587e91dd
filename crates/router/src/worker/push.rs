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
    #[inline]
    pub(super) fn push(&mut self, link: Link, load: Load, budget: &mut usize) {
        self.core.account.batches.count(load.len());
        self.push_on(link, load, budget);
    }

    /// The same of packets that were counted when they set out.
    #[inline(never)] // the list's loop stays small
    fn push_on(&mut self, mut link: Link, mut load: Load, budget: &mut usize) {
        loop {
            match load {
                Load::Packet(packet) => self.push_packet(link, packet, budget),
                Load::Batch(batch) => self.push_batch(link, batch),
            }
            match self.way_on(budget) {
                Some(next) => (link, load) = next,
                None => return,
            }
        }
    }

    /// The same of a packet that is alone: mostly it gets to the end of its path by itself.
    #[inline(never)] // needs less than what treats batches, too
    pub(super) fn push_alone(&mut self, link: Link, packet: Packet, budget: &mut usize) {
        self.core.account.batches.count(1);
        self.push_packet(link, packet, budget);
        if let Some((link, load)) = self.way_on(budget) {
            self.push_on(link, load, budget);
        }
    }

    /// Where to go on with what the element that ran has made first, if that is packets and there is time for them.
    #[inline(always)] // once for each hop
    fn way_on(&mut self, budget: &mut usize) -> Option<(Link, Load)> {
        self.core.first.as_ref()?;
        if !self.goes_on(*budget) {
            self.core.leave();
            return None;
        }
        let (link, next) = self.core.take_load()?;
        *budget -= 1;
        let load = match next {
            Load::Batch(batch) => self.load(batch),
            alone => alone,
        };
        Some((link, load))
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
