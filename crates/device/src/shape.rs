//! How received frames become packets.

use crate::frame::{Frame, Taken};
use crate::offload;
use crate::packet_socket::Queued;
use crate::segments::{Cut, Link};
use packet::{Anno, Packet, Pool};
use std::collections::VecDeque;

/// How frames that have to be copied become packets.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Free bytes in front of each.
    pub headroom: usize,
    /// Whether to set the time.
    pub timestamp: bool,
}

/// Bytes of a VLAN tag that the driver took out and the packet gets back.
const TAG: usize = 4;
/// Bytes of the addresses in front of it.
const ADDRESSES: usize = 12;

/// Bytes in front of a frame for the tag that it gets back.
fn tag_of(frame: &Frame<'_>) -> usize {
    if frame.vlan.is_some() && frame.data.len() >= ADDRESSES { TAG } else { 0 }
}

impl Shape {
    /// Makes a packet of a received frame; `None` without memory.
    #[inline]
    pub(crate) fn packet(self, pool: &mut Pool, frame: &Frame<'_>) -> Option<Packet> {
        let tag = tag_of(frame);
        let mut packet = pool.alloc(self.headroom, frame.data.len() + tag)?;
        packet.data_mut()[tag..].copy_from_slice(frame.data);
        self.finish(&mut packet, frame, tag);
        if frame.len > frame.data.len() {
            packet.set_anno(Anno::EXTRA_LENGTH, (frame.len - frame.data.len()) as u64);
        }
        Some(packet)
    }

    /// Gives a packet whose frame lies behind `tag` bytes all that it needs beside its bytes.
    #[inline]
    fn finish(self, packet: &mut Packet, frame: &Frame<'_>, tag: usize) {
        if let Some((protocol, tci)) = frame.vlan.filter(|_| tag > 0) {
            let data = packet.data_mut();
            data.copy_within(tag..tag + ADDRESSES, 0);
            data[12..14].copy_from_slice(&protocol.to_be_bytes());
            data[14..16].copy_from_slice(&tci.to_be_bytes());
        }
        if frame.unfinished && !offload::finish_checksum(packet.data_mut()) && tag == 0 {
            frame.note.finish(packet.data_mut());
        }
        packet.set_mac_offset(0);
        packet.set_kind(frame.addressee);
        if self.timestamp {
            packet.set_timestamp_ns(frame.time_ns);
        }
    }

    /// Makes packets of a frame that is longer than its sender wants it on the wire, or than its place in the ring, and adds them to `out`.
    pub(crate) fn packets(
        self,
        pool: &mut Pool,
        frame: &Frame<'_>,
        queued: &mut Queued<'_>,
        out: &mut VecDeque<Packet>,
    ) -> Taken {
        let mut taken = Taken::default();
        if !frame.waits && frame.data.len() < frame.len {
            taken.roomless = 1;
            return taken;
        }
        let cut = if frame.note.is_long() {
            let Some(cut) = Cut::of(&frame.note, frame.data, frame.len, Link::Ethernet) else {
                taken.uncut = 1;
                return taken;
            };
            Some(cut)
        } else {
            None
        };
        let long = if frame.waits { queued.read(frame.len).ok() } else { Some(frame.data) };
        let before = out.len();
        match long.and_then(|long| self.fill(pool, frame, long, cut.as_ref(), out)) {
            Some(()) => taken.segmented = usize::from(cut.is_some()),
            None => {
                out.drain(before..).for_each(|packet| pool.free(packet));
                taken.lost = 1;
            }
        }
        taken
    }

    /// The same for a frame whose bytes are these, and which is cut so, if at all; `None` without memory. `out` may have a part of it then.
    fn fill(
        self,
        pool: &mut Pool,
        frame: &Frame<'_>,
        long: &[u8],
        cut: Option<&Cut>,
        out: &mut VecDeque<Packet>,
    ) -> Option<()> {
        let tag = tag_of(frame);
        let Some(cut) = cut else {
            let mut packet = pool.alloc(self.headroom, long.len() + tag)?;
            packet.data_mut()[tag..].copy_from_slice(long);
            self.finish(&mut packet, frame, tag);
            out.push_back(packet);
            return Some(());
        };
        let frame = Frame { unfinished: false, ..*frame };
        for i in 0..cut.count() {
            let mut packet = pool.alloc(self.headroom, cut.len(i) + tag)?;
            cut.fill(long, i, &mut packet.data_mut()[tag..]);
            self.finish(&mut packet, &frame, tag);
            out.push_back(packet);
        }
        Some(())
    }
}
