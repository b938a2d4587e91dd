//! The ways of packets that come one behind the other: what is sent is accounted for by link and not by packet.

use super::path::Path;
use super::settings::{OrderPolicy, Scheme};
use super::{Chooser, Decision, Refusal, persists};
use crate::NodeId;
use crate::label::Stamp;
use crate::topology::Topology;

/// What of a burst goes into a link and is not accounted for yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pending {
    /// So many bytes more may go there without that a flow has to be looked at more closely.
    left: u32,
    bytes: u32,
    packets: u32,
    /// Bytes of those that are part of the share that goes straight.
    direct: u32,
    /// Packets that go straight, as part of that share or because their egress was the node to go by way of.
    straight: u32,
    /// Whether it is on the list of those that were sent into.
    is_open: bool,
}

/// Packets of one point in time.
///
/// As long as their flows keep their ways and the links of these have room, a packet takes no more than a look at its flow. Where each packet goes its own
/// way, it takes less than that while the share that goes straight has room. Any other is
/// chosen for as [`Chooser::choose`] does, when all before it is accounted for, so that the same comes out. What is left is accounted for when the burst is
/// dropped.
#[derive(Debug)]
pub struct Burst<'c> {
    chooser: &'c mut Chooser,
    now_ns: u64,
    egress: NodeId,
    /// How long a flow may have rested that keeps its way; nothing where flows have none.
    gap_ns: Option<u64>,
    /// In a mesh the first link tells the way.
    is_mesh: bool,
    straight: Straight,
}

/// How much may go straight to the egress where each packet goes its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Straight {
    /// So many bytes more, by a link.
    Room(u32, usize),
    /// It is not known yet.
    Unknown,
    /// It has to be looked at for each packet.
    Close,
}

/// A packet's flow, and where it is remembered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    flow: u64,
    place: usize,
}

impl Chooser {
    /// Begins a burst.
    pub fn burst(&mut self, now_ns: u64) -> Burst<'_> {
        let gap_ns = (self.settings.order == OrderPolicy::Flowlet).then_some(self.settings.flowlet_gap_ns);
        let is_mesh = matches!(self.topology, Topology::Mesh { .. });
        let straight = self.straight_at_first();
        Burst { chooser: self, now_ns, egress: NONE, gap_ns, is_mesh, straight }
    }

    /// How many bytes may go into a link before a flow is looked at more closely, in packets of up to `most` bytes.
    fn room(&mut self, now_ns: u64, link: usize, most: u32) -> u32 {
        let bound = (self.settings.comfortable_bytes / 2).min(self.room_bytes());
        self.queues.room(link, now_ns, bound.saturating_sub(most))
    }

    /// What is known of what may go straight before a packet has.
    fn straight_at_first(&self) -> Straight {
        let is_spread = matches!(self.settings.order, OrderPolicy::None | OrderPolicy::Sequence);
        if is_spread && self.settings.scheme == Scheme::Direct { Straight::Unknown } else { Straight::Close }
    }

    /// How many bytes may go straight to an egress by a link, before each packet has to be looked at more closely.
    fn room_straight(&mut self, now_ns: u64, egress: NodeId, link: usize) -> u32 {
        let allowance = self.links + usize::from(egress);
        let [share, comfortable] = [self.settings.direct_burst_bytes, self.settings.comfortable_bytes];
        self.queues.room(allowance, now_ns, share).min(self.queues.room(link, now_ns, comfortable))
    }
}

/// Stands for an egress before the first packet: no node has this number.
const NONE: NodeId = NodeId::MAX;
/// Packets that are longer than this are chosen for one by one.
const MOST: u32 = 2_048;

impl Burst<'_> {
    /// Looks where a flow is remembered. Nothing waits for the memory, and `touched` is only there so that it is read: when the packets of a batch are chosen for
    /// after all of them were looked for, it is in the cache.
    #[inline]
    pub fn find(&mut self, flow: u64, egress: NodeId, touched: &mut u64) -> Known {
        let place = self.chooser.flows.place(flow, egress);
        *touched ^= self.chooser.flows.at(place).map_or(0, |bucket| bucket.last_ns);
        Known { flow, place }
    }

    /// The same flow on its way to another egress.
    #[inline]
    pub fn elsewhere(&self, of: Known, egress: NodeId) -> Known {
        Known { place: self.chooser.flows.place(of.flow, egress), ..of }
    }

    /// Chooses the way of a packet as [`Chooser::choose`] does.
    ///
    /// # Errors
    /// Why it cannot be sent.
    #[inline]
    pub fn choose(&mut self, of: Known, egress: NodeId, bytes: u32) -> Result<Decision, Refusal> {
        if self.gap_ns.is_none() {
            return self.choose_alone(of.flow, egress, bytes);
        }
        if egress != self.egress {
            self.turn_to(egress);
        }
        match self.kept(of, bytes) {
            Some(decision) => Ok(decision),
            None => self.look_closely(of.flow, bytes),
        }
    }

    /// The way of a packet whose flow does not keep its own: straight, as others to this egress just did, if there is room.
    #[inline]
    fn choose_alone(&mut self, flow: u64, egress: NodeId, bytes: u32) -> Result<Decision, Refusal> {
        if let Straight::Room(left, link) = self.straight {
            if egress == self.egress
                && bytes <= left
                && let Some(pending) = self.chooser.pending.get_mut(link)
            {
                self.straight = Straight::Room(left - bytes, link);
                (pending.bytes, pending.packets) = (pending.bytes + bytes, pending.packets + 1);
                let number = self.chooser.flows.number(flow, egress);
                let stamp = number.map_or(Stamp::None, |(bucket, number)| Stamp::Sequence { bucket, number });
                return Ok(Decision { path: Path::Direct, link, stamp });
            }
            self.end_straight(link);
        }
        let decision = self.chooser.choose(self.now_ns, flow, egress, bytes)?;
        if egress != self.egress {
            self.egress = egress;
            self.straight = self.chooser.straight_at_first();
        } else if self.straight == Straight::Unknown && decision.path == Path::Direct {
            self.look_ahead(decision.link);
        }
        Ok(decision)
    }

    /// Of the second packet in a row that goes straight to an egress it is found out how much may follow: where egresses alternate that would be for nothing.
    #[inline(never)]
    fn look_ahead(&mut self, link: usize) {
        let left = self.chooser.room_straight(self.now_ns, self.egress, link);
        self.straight = if left > 0 { Straight::Room(left, link) } else { Straight::Close };
    }

    /// Accounts for what went straight. In the same burst there will be no more room than there is now.
    #[inline(never)]
    fn end_straight(&mut self, link: usize) {
        self.straight = Straight::Close;
        let Chooser { pending, queues, counts, links, .. } = &mut *self.chooser;
        let Some(pending) = pending.get_mut(link) else { return };
        let Pending { bytes, packets, .. } = std::mem::take(pending);
        if packets > 0 {
            queues.add(*links + usize::from(self.egress), self.now_ns, bytes);
            queues.add(link, self.now_ns, bytes);
            counts.direct += u64::from(packets);
        }
    }

    /// The way of a flow that keeps it, into a link that has room.
    #[inline]
    fn kept(&mut self, of: Known, bytes: u32) -> Option<Decision> {
        let (chooser, egress) = (&mut *self.chooser, self.egress);
        let gap_ns = self.gap_ns.filter(|_| bytes <= MOST)?;
        let bucket = chooser.flows.at(of.place)?;
        let route = bucket.route.filter(|_| self.now_ns.saturating_sub(bucket.last_ns) <= gap_ns)?;
        let pending = chooser.pending.get_mut(usize::from(route.link))?;
        let left = pending.left.checked_sub(bytes)?;
        // In a mesh a link that has room here was found good for this egress a moment ago.
        if !self.is_mesh && !persists(&chooser.view, egress, route) {
            return None;
        }
        bucket.last_ns = self.now_ns;
        (pending.left, pending.bytes, pending.packets) = (left, pending.bytes + bytes, pending.packets + 1);
        let (path, via) = match route.path {
            Path::Direct => {
                pending.direct += bytes;
                (Path::Direct, None)
            }
            Path::Via(node) if node == egress => (Path::Direct, None),
            Path::Via(node) => (route.path, Some(node)),
        };
        pending.straight += u32::from(via.is_none());
        let stamp = via.filter(|_| !self.is_mesh).map_or(Stamp::None, Stamp::Via);
        Some(Decision { path, link: route.link.into(), stamp })
    }

    /// Goes on with packets for another egress.
    #[inline(never)]
    fn turn_to(&mut self, egress: NodeId) {
        self.account();
        self.close();
        self.egress = egress;
    }

    /// Accounts for what was sent, and chooses for this packet by itself. Then it is known what room its link has for the next.
    #[inline(never)]
    fn look_closely(&mut self, flow: u64, bytes: u32) -> Result<Decision, Refusal> {
        self.account();
        let decision = self.chooser.choose(self.now_ns, flow, self.egress, bytes)?;
        let left = self.chooser.room(self.now_ns, decision.link, MOST);
        if let Some(pending) = self.chooser.pending.get_mut(decision.link) {
            if !pending.is_open {
                self.chooser.open.push(decision.link);
            }
            (pending.left, pending.is_open) = (left, true);
        }
        Ok(decision)
    }

    /// Accounts for what was sent. What room links still have stays known.
    fn account(&mut self) {
        let Chooser { pending, open, queues, counts, links, .. } = &mut *self.chooser;
        for &link in open.iter() {
            let Pending { left, is_open, .. } = pending[link];
            let sent = std::mem::replace(&mut pending[link], Pending { left, is_open, ..Pending::default() });
            if sent.packets == 0 {
                continue;
            }
            if sent.direct > 0 {
                queues.add(*links + usize::from(self.egress), self.now_ns, sent.direct);
            }
            queues.add(link, self.now_ns, sent.bytes);
            counts.direct += u64::from(sent.straight);
            counts.balanced += u64::from(sent.packets - sent.straight);
        }
    }
}

impl Burst<'_> {
    /// Links have no room that is known.
    fn close(&mut self) {
        let Chooser { pending, open, .. } = &mut *self.chooser;
        open.drain(..).for_each(|link| pending[link] = Pending::default());
    }
}

impl Drop for Burst<'_> {
    fn drop(&mut self) {
        if let Straight::Room(_, link) = self.straight {
            self.end_straight(link);
        }
        self.account();
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::Settings;
    use crate::view::View;

    /// How much may go straight is found out of the second packet in a row to an egress, whichever node that is.
    #[test]
    fn the_second_packet_looks_ahead() {
        for (me, egress) in [(1, 0), (0, 2)] {
            let mut settings = Settings::new(10_000_000_000, 5_000_000_000);
            settings.order = OrderPolicy::None;
            let mut chooser = Chooser::new(Topology::Mesh { nodes: 4 }, View::whole(me, 4), settings);
            let mut burst = chooser.burst(0);
            let known = burst.find(7, egress, &mut 0);
            burst.choose(known, egress, 100).expect("a way");
            assert_eq!(burst.straight, Straight::Unknown, "to {egress}");
            burst.choose(known, egress, 100).expect("a way");
            assert!(matches!(burst.straight, Straight::Room(..)), "to {egress}");
        }
    }
}
