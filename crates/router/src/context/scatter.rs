//! Sending the packets of one batch different ways.

use crate::context::core::{Exits, Link, NO_LOT};
use crate::context::cx::Cx;
use crate::context::verdict::Verdict;
use crate::context::work::Work;
use packet::{Batch, Packet};
use std::hint::cold_path;

/// The way of packets that are dropped; others are outputs.
const DROPPED: u16 = u16::MAX;

/// Packets that are dropped one after the other under the same reason, to be counted together.
#[derive(Default)]
struct Drops {
    reason: &'static str,
    packets: u64,
    /// Whether the packets are looked at.
    seen: bool,
}

impl Drops {
    /// Notes one more. Where the reason is another one, those before are counted.
    #[inline]
    fn add(&mut self, cx: &mut Cx<'_>, packet: &Packet, reason: &'static str) -> u16 {
        if !std::ptr::eq(self.reason, reason) {
            self.change(cx, reason);
        }
        if self.seen {
            cx.core.look_at_drop(packet, reason);
            self.seen = cx.core.watch.drops;
        }
        self.packets += 1;
        DROPPED
    }

    #[inline(never)] // does not belong into the loop of each element
    fn change(&mut self, cx: &mut Cx<'_>, reason: &'static str) {
        cx.count_drops(self.reason, self.packets);
        *self = Drops { reason, packets: 0, seen: cx.looks_at_drops(reason) };
    }
}

/// The way to an output.
#[inline]
fn way_to(output: usize) -> u16 {
    output.min(usize::from(DROPPED - 1)) as u16
}

/// A way's place in the table of [`LOTS`], if it is not beyond: [`DROPPED`] comes first.
fn table_place(way: u16) -> usize {
    usize::from(way.wrapping_add(1))
}

/// Packets that go different ways.
impl Cx<'_> {
    /// Sends each packet of a batch where `decide` says; packets for one output leave together, outputs in the order of
    /// their first packets. When all packets go one way, the batch itself does.
    #[inline]
    pub fn scatter(&mut self, mut batch: Batch, mut decide: impl FnMut(&mut Self, &mut Packet) -> Verdict) {
        let (mut ways, mut all, mut drops) = ([0; packet::BATCH_MAX], 0, Drops::default());
        let (packets, mut at) = (batch.packets_mut(), 0);
        // Counted by hand, and last of all: an iterator would have its next place ready before the packet is looked
        // at, one register more that is kept until then, or written to the stack and read again.
        while let Some(packet) = packets.get_mut(at) {
            // Asked in one place only: what is called once is inlined, and its verdict never gets into memory.
            let way = match decide(self, packet) {
                Verdict::Pass => 0,
                Verdict::Output(output) => way_to(output),
                Verdict::Drop(reason) => {
                    cold_path();
                    drops.add(self, packet, reason)
                }
            };
            if way != 0 {
                all |= way;
                ways[at] = way;
            }
            at += 1;
        }
        // Nearly always everything passes.
        if all == 0 {
            return self.emit(0, batch);
        }
        self.count_drops(drops.reason, drops.packets);
        self.part(batch, &ways);
    }

    /// Sends each packet of a batch to the output that stands in its place, as [`Cx::scatter`] does: for elements
    /// that tell outputs without a verdict for each packet. What stands behind the last packet's place does not
    /// count. There is no output `u16::MAX`.
    #[inline]
    pub fn spread(&mut self, batch: Batch, outputs: &[u16; packet::BATCH_MAX]) {
        if !batch.is_empty() {
            self.part(batch, outputs);
        }
    }

    /// The rest of `scatter` where not all packets pass: each goes its way, an output or [`DROPPED`].
    #[inline(never)] // one for all
    fn part(&mut self, mut batch: Batch, ways: &[u16; packet::BATCH_MAX]) {
        let ways = &ways[..batch.len()];
        let first = ways.first().copied().unwrap_or_default();
        // One by one: a load of several that were just stored would wait.
        let Some(&second) = ways.iter().find(|&&way| way != first) else {
            return self.leave_as_lot(first, batch);
        };
        // Found out for all at once, since a comparison of eight takes no more than that of one: which do not go the
        // first way, and whether any go a third one; mostly there are two ways.
        let (mut goes, mut further) = ([false; packet::BATCH_MAX], false);
        for (goes, &way) in goes.iter_mut().zip(ways) {
            *goes = way != first;
            further |= (way != first) & (way != second);
        }
        let mut others = self.core.pool.batch();
        batch.part(&goes[..ways.len()], &mut others);
        self.leave_as_lot(first, batch);
        if !further {
            return self.leave_as_lot(second, others);
        }
        self.part_further(others, ways.iter().filter(|&&way| way != first));
    }

    /// The rest of `part` where packets go more ways than two.
    #[inline(never)]
    fn part_further<'w>(&mut self, mut batch: Batch, mut ways: impl Iterator<Item = &'w u16>) {
        let mut lots = std::mem::take(&mut self.core.lots);
        batch.drain(|packet| {
            let way = ways.next().copied().unwrap_or_default();
            self.add_to_lot(&mut lots, way, packet);
        });
        self.core.pool.recycle(batch);
        self.emit_lots(lots);
    }

    #[inline(always)] // what is done to each packet
    fn add_to_lot(&mut self, lots: &mut Vec<(u16, Batch)>, way: u16, packet: Packet) {
        let place = self.core.lot_of.get(table_place(way)).map_or(NO_LOT, |&place| place);
        match lots.get_mut(usize::from(place)) {
            Some((_, lot)) => lot.push(packet),
            None => self.add_to_new_lot(lots, way, packet),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_to_new_lot(&mut self, lots: &mut Vec<(u16, Batch)>, way: u16, packet: Packet) {
        // Ways beyond the table are looked for.
        if let Some((_, lot)) = lots.iter_mut().find(|(known, _)| *known == way) {
            return lot.push(packet);
        }
        if let Some(place) = self.core.lot_of.get_mut(table_place(way)) {
            *place = lots.len() as u8;
        }
        let lot = self.core.pool.batch_of(packet);
        lots.push((way, lot));
    }

    #[inline(never)]
    fn emit_lots(&mut self, mut lots: Vec<(u16, Batch)>) {
        for (way, lot) in lots.drain(..) {
            if let Some(place) = self.core.lot_of.get_mut(table_place(way)) {
                *place = NO_LOT;
            }
            self.leave_as_lot(way, lot);
        }
        self.core.lots = lots; // with the room that it has
    }

    /// Sends packets that go one way. Those to be dropped have been counted.
    #[inline]
    fn leave_as_lot(&mut self, way: u16, lot: Batch) {
        if way == DROPPED {
            return self.core.pool.recycle(lot);
        }
        // From the table, output 0, too: which one it is no processor can guess.
        let Exits { start, count, .. } = self.core.exits;
        match self.core.outputs.get(start as usize + usize::from(way)) {
            Some(&Link { element, port }) if u32::from(way) < count => {
                self.core.put(Work::Push { element, port, batch: lot });
            }
            _ => self.emit_nowhere(lot),
        }
    }

    /// Like [`Cx::scatter`], but returns the packets that pass instead of emitting them: for pull paths.
    pub fn sift(
        &mut self,
        mut batch: Batch,
        mut decide: impl FnMut(&mut Self, &mut Packet) -> Verdict,
    ) -> Batch {
        batch.filter_map(|mut packet| match decide(self, &mut packet) {
            Verdict::Pass | Verdict::Output(0) => Some(packet),
            Verdict::Output(output) => {
                self.emit_packet(output, packet);
                None
            }
            Verdict::Drop(reason) => {
                self.drop(packet, reason);
                None
            }
        });
        batch
    }
}
