//! Packets that came over a link, in batches: one look at each label says whether it leaves here or which link it goes on by.
//!
//! What is asked once for a batch: whether the neighbour is heard, whether links have room, what time it is. Batches in which something is
//! unusual, a hello or a label that this does not know, are left as they are for the way that takes packets one by one.

use super::{Node, OWN, now};
use cluster::NodeId;
use cluster::topology::Topology;
use packet::{BATCH_MAX, Batch};
use router::Cx;

/// There is no output for this node; packets for it go one by one.
const UNUSUAL: u16 = u16::MAX;
/// What the first eight bytes of a label, as a little-endian number, have in common if they say neither a stopover nor anything unknown.
const PLAIN: u64 = 0x0002_0000_0000_c102;
const PLAIN_MASK: u64 = 0x000b_0000_0000_ffff;
/// Where they have the hops, and the lowest bit of these.
const HOPS_AT: u32 = 52;
/// Where a label has its hops, and one of them.
const HEAD: usize = 6;
const HOP: u8 = 1 << 4;

/// What goes to an output.
#[derive(Clone, Copy, Default)]
struct Load {
    packets: u32,
    bytes: u32,
    /// The longest packet.
    most: u32,
}

/// What labels without a stopover mean here.
pub(super) struct Signposts {
    /// The output for what leaves by each node.
    ways: Box<[u16]>,
    /// The output of each link.
    outputs: Box<[u16]>,
    /// The link of each output.
    links: Box<[usize]>,
    /// What a batch brings, by output; empty between batches.
    loads: Box<[Load]>,
}

impl Signposts {
    /// Those of a node whose links are at these ports.
    pub(super) fn new(topology: &Topology, me: NodeId, ports: &[Option<usize>], outputs: usize) -> Signposts {
        let is_passed_on = matches!(topology, Topology::Mesh { .. }) || !topology.is_terminal(me);
        let way = |egress: usize| match topology.toward(usize::from(me), egress) {
            None => OWN as u16,
            Some(link) if is_passed_on => ports[link].map_or(UNUSUAL, |port| port as u16),
            Some(_) => UNUSUAL,
        };
        let mut links = vec![usize::MAX; outputs];
        for (link, port) in ports.iter().enumerate() {
            port.iter().for_each(|&port| links[port] = link);
        }
        Signposts {
            ways: (0..topology.terminals()).map(way).collect(),
            outputs: ports.iter().map(|port| port.map_or(UNUSUAL, |port| port as u16)).collect(),
            links: links.into(),
            loads: vec![Load::default(); outputs].into(),
        }
    }

    /// The output of a link, if it is at one.
    #[inline]
    pub(super) fn output(&self, link: usize) -> Option<usize> {
        self.outputs.get(link).filter(|&&output| output != UNUSUAL).map(|&output| output.into())
    }

    /// The way of a packet by the first bytes of its label.
    #[inline]
    fn way(&self, word: u64) -> u16 {
        let way = self.ways.get(usize::from(((word >> 16) as u16).swap_bytes())).copied().unwrap_or(UNUSUAL);
        let is_over = word >> HOPS_AT & 0xf == 0 && way != OWN as u16;
        if word & PLAIN_MASK != PLAIN || is_over { UNUSUAL } else { way }
    }

    /// Looks where packets go, and notes what each output gets; whether nothing about them is unusual. If something is, no load is left.
    #[inline]
    fn look(&mut self, batch: &Batch, ways: &mut [u16; BATCH_MAX]) -> bool {
        for (packet, place) in batch.iter().zip(ways.iter_mut()) {
            let label = packet.data_from::<{ cluster::label::LEN }>(0);
            let way = label.map_or(UNUSUAL, |(label, _)| match label.first_chunk() {
                Some(word) => self.way(u64::from_le_bytes(*word)),
                None => UNUSUAL,
            });
            let Some(load) = self.loads.get_mut(usize::from(way)) else {
                self.loads.fill(Load::default());
                return false;
            };
            let bytes = packet.len() as u32;
            load.packets += 1;
            load.bytes += bytes;
            load.most = load.most.max(bytes);
            *place = way;
        }
        true
    }
}

impl Node {
    /// Sends packets that came over a link where their labels say. If there is something unusual about one of them, all come back, and
    /// nothing has been done.
    #[inline]
    pub(super) fn send_all(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Result<(), Batch> {
        let mut ways = [0; BATCH_MAX];
        let Some(running) = &mut self.running else { return Err(batch) };
        let accepts = running.accepts.get(port - 1).is_some_and(|accepts| *accepts);
        if !accepts || !self.signposts.look(&batch, &mut ways) {
            return Err(batch);
        }
        let Signposts { links, loads, .. } = &mut self.signposts;
        let (all, own, at) = (batch.len() as u32, loads[OWN].packets, now(cx));
        let goes_on = own < all;
        if goes_on && let Some(chooser) = &mut running.chooser {
            // Output 0 is the node's own side.
            let others = || links[1..].iter().zip(&loads[1..]).filter(|(_, load)| load.packets > 0);
            if !others().all(|(&link, load)| chooser.has_room(at, link, load.bytes, load.most)) {
                loads.fill(Load::default());
                return Err(batch);
            }
            others().for_each(|(&link, load)| chooser.pass_all(at, link, load.bytes));
        }
        loads.fill(Load::default());
        self.delivered += u64::from(own);
        if goes_on {
            self.passed += u64::from(all - own);
            self.shared.passed(self.place, at);
            for (packet, &way) in batch.iter_mut().zip(&ways) {
                if way != OWN as u16
                    && let Some(label) = packet.data_array_mut::<{ cluster::label::LEN }>(0)
                {
                    label[HEAD] = label[HEAD].wrapping_sub(HOP);
                }
            }
        }
        match (self.settings.is_strict(), own) {
            (false, _) | (true, 0) => cx.spread(batch, &ways),
            (true, _) => self.send_in_order(cx, batch, &ways),
        }
        Ok(())
    }

    /// The same, and what leaves here does so in order.
    fn send_in_order(&mut self, cx: &mut Cx<'_>, mut batch: Batch, ways: &[u16; BATCH_MAX]) {
        let mut goes = [false; BATCH_MAX];
        goes.iter_mut().zip(ways).for_each(|(goes, &way)| *goes = way == OWN as u16);
        let (mut own, count) = (cx.batch(), batch.len());
        batch.part(&goes[..count], &mut own);
        self.put_all_in_order(cx, own);
        let mut others = [0; BATCH_MAX];
        let onward = ways[..count].iter().filter(|&&way| way != OWN as u16);
        others.iter_mut().zip(onward).for_each(|(other, &way)| *other = way);
        if batch.is_empty() { cx.consume(batch) } else { cx.spread(batch, &others) }
    }
}

#[cfg(test)]
mod tests;
