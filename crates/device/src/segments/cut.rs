//! A long segment becomes the packets that its sender would have sent without hardware that cuts.

use super::copy::copy;
use super::note::in_field;
use super::{
    CWR, FIN, IPV4, IPV6, Link, Note, PSH, TCP, TCP_CHECKSUM, TCP_LEAST, UDP, UDP_CHECKSUM, UDP_LEN, double,
    network, pseudo, word,
};
use std::ops::Range;
use wire::checksum::checksum;

/// How a long frame is cut: into segments with a copy of its headers each, and so many bytes of its payload. Made for the frame that it
/// was [planned](Cut::of) for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    network: usize,
    transport: usize,
    /// Bytes of all headers together.
    header: usize,
    /// Bytes of payload in each segment but the last one.
    size: usize,
    /// Bytes of the frame.
    len: usize,
    v4: bool,
    protocol: u8,
}

impl Cut {
    /// Segments of a frame, at most: those of 64 KiB with 64 bytes each.
    pub const MOST: usize = 1023;

    /// Plans the cut of a frame of `len` bytes. `front` is its beginning, with the headers at least. `None` if it is no TCP or UDP segment
    /// of the kind that the note says, if a length in it is wrong, or if there would be more than [`Cut::MOST`] segments.
    pub fn of(note: &Note, front: &[u8], len: usize, link: Link) -> Option<Cut> {
        let (network, v4) = network(front, link)?;
        let (transport, protocol) = match v4 {
            true => transport_v4(front, network, len)?,
            false => transport_v6(front, network, len)?,
        };
        let header = match (note.kind & !Note::CONGESTION, v4, protocol) {
            (Note::TCP4, true, TCP) | (Note::TCP6, false, TCP) => {
                let own = usize::from(front.get(transport + 12)? >> 4) * 4;
                (own >= TCP_LEAST).then_some(transport + own)?
            }
            (Note::UDP, _, UDP) => transport + UDP_LEN,
            _ => return None,
        };
        let size = usize::from(note.size);
        let cut = Cut { network, transport, header, size, len, v4, protocol };
        (header <= front.len() && header <= len && size > 0 && cut.count() <= Cut::MOST).then_some(cut)
    }

    /// Number of segments, 1 at least.
    #[inline]
    pub fn count(&self) -> usize {
        (self.len - self.header).div_ceil(self.size).max(1)
    }

    /// Where the payload of a segment is in the long frame.
    #[inline]
    fn payload(&self, i: usize) -> Range<usize> {
        let start = (self.header + i * self.size).min(self.len);
        start..(start + self.size).min(self.len)
    }

    /// Bytes of a segment.
    #[inline]
    pub fn len(&self, i: usize) -> usize {
        self.header + self.payload(i).len()
    }

    /// Writes segment number `i` of the long frame: its part of the payload, and headers with lengths, numbers, flags and checksums of its
    /// own.
    ///
    /// # Panics
    /// If `long` is shorter than the frame that the cut was planned for, or `segment` is not as long as [`Cut::len`] says.
    pub fn fill(&self, long: &[u8], i: usize, segment: &mut [u8]) {
        let (network, transport) = (self.network, self.transport);
        let (headers, payload) = segment.split_at_mut(self.header);
        headers.copy_from_slice(&long[..self.header]);
        let payload_sum = copy(payload, &long[self.payload(i)]);
        let len = segment.len() - transport;
        self.finish_network(i, segment);
        match self.protocol {
            TCP => self.finish_tcp(i, &mut segment[transport..]),
            _ => segment[transport + 4..transport + 6].copy_from_slice(&(len as u16).to_be_bytes()),
        }
        let at = if self.protocol == TCP { TCP_CHECKSUM } else { UDP_CHECKSUM };
        segment[transport + at..transport + at + 2].fill(0);
        // Headers have an even length, so that the payload's words are those of the segment.
        let sum = pseudo(&segment[network..], self.v4, self.protocol, len)
            .add_bytes(&segment[transport..self.header])
            .add(payload_sum);
        segment[transport + at..transport + at + 2].copy_from_slice(&in_field(sum, at).to_be_bytes());
    }

    /// The IP header's length, and in IPv4 its identification, `i` after that of the first one, and its checksum.
    fn finish_network(&self, i: usize, segment: &mut [u8]) {
        let (header, packet) = (self.transport - self.network, &mut segment[self.network..]);
        if !self.v4 {
            let len = (packet.len() - IPV6) as u16;
            packet[4..6].copy_from_slice(&len.to_be_bytes());
            return;
        }
        let id = u16::from_be_bytes([packet[4], packet[5]]).wrapping_add(i as u16);
        let len = packet.len() as u16;
        packet[2..4].copy_from_slice(&len.to_be_bytes());
        packet[4..6].copy_from_slice(&id.to_be_bytes());
        packet[10..12].fill(0);
        let sum = checksum(&packet[..header]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }

    /// The sequence number, and flags: the end of the stream and the push belong to the last segment, the answer to congestion to the first.
    fn finish_tcp(&self, i: usize, segment: &mut [u8]) {
        let sequence = double(segment, 4).unwrap_or(0).wrapping_add((i * self.size) as u32);
        segment[4..8].copy_from_slice(&sequence.to_be_bytes());
        if i + 1 < self.count() {
            segment[13] &= !(FIN | PSH);
        }
        if i > 0 {
            segment[13] &= !CWR;
        }
    }
}

/// Where the segment of an IPv4 packet is, and its protocol. Fragments have none that could be cut.
fn transport_v4(front: &[u8], network: usize, len: usize) -> Option<(usize, u8)> {
    let header = usize::from(front.get(network)? & 0xf) * 4;
    let is_whole = word(front, network + 6)? & 0x3fff == 0;
    let total = usize::from(word(front, network + 2)?);
    (header >= IPV4 && is_whole && network + total == len)
        .then_some((network + header, *front.get(network + 9)?))
}

/// The same of an IPv6 packet, behind extension headers that each of the segments gets.
fn transport_v6(front: &[u8], network: usize, len: usize) -> Option<(usize, u8)> {
    let total = usize::from(word(front, network + 4)?);
    if network + IPV6 + total != len {
        return None;
    }
    let (mut at, mut next) = (network + IPV6, *front.get(network + 6)?);
    // Hop-by-hop options, routing, destination options.
    while matches!(next, 0 | 43 | 60) {
        next = *front.get(at)?;
        at += (usize::from(*front.get(at + 1)?) + 1) * 8;
    }
    Some((at, next))
}
