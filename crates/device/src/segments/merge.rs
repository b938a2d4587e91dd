//! Consecutive segments of a TCP flow become one long segment.

use super::{
    ACK, FIN, IPV4, IPV6, Link, Note, PSH, TCP, TCP_CHECKSUM, TCP_LEAST, double, network, pseudo, word,
};
use wire::checksum::checksum;

/// Bytes of a long segment's headers, at most: of Ethernet with two VLAN tags, IPv6 or IPv4 without options, and TCP.
pub const HEADERS_MOST: usize = 14 + 8 + IPV6 + 60;
/// Bytes of a long frame, at most: what the length in an IPv4 header can say, and devices take.
const FRAME_MOST: usize = 65_535;

/// Consecutive frames that make one long segment. It begins with one frame and takes those that follow, as long as cutting the long one
/// gives each of them again, byte for byte: the same headers, with identifications, sequence numbers and lengths that go on, and checksums
/// that are right, since the long one has none that could show an error of theirs.
#[derive(Clone, Copy, Debug)]
pub struct Train<'a> {
    first: Segment<'a>,
    /// Bytes of payload in each frame but the last one, and in all together.
    size: usize,
    payload: usize,
    frames: usize,
    /// Flags of the last frame.
    flags: u8,
    /// Whether the last frame can only be the last one.
    ends: bool,
    /// Whether the first frame's checksums are known to be right.
    is_checked: bool,
}

/// A frame with a TCP segment that may be part of a train.
#[derive(Clone, Copy, Debug)]
struct Segment<'a> {
    frame: &'a [u8],
    network: usize,
    transport: usize,
    /// Bytes of all headers together.
    header: usize,
    v4: bool,
    sequence: u32,
    flags: u8,
}

impl<'a> Segment<'a> {
    /// Looks at a frame: a TCP segment with payload in a whole IP packet of up to `mtu` bytes, with nothing behind it.
    #[inline]
    fn of(frame: &'a [u8], link: Link, mtu: usize) -> Option<Segment<'a>> {
        let (network, v4) = network(frame, link)?;
        let packet = frame.get(network..)?;
        let (transport, len) = if v4 {
            // Without options, and no fragment.
            let is_plain =
                *packet.first()? == 0x45 && *packet.get(9)? == TCP && word(packet, 6)? & 0xbfff == 0;
            (is_plain.then_some(network + IPV4)?, usize::from(word(packet, 2)?))
        } else {
            ((*packet.get(6)? == TCP).then_some(network + IPV6)?, IPV6 + usize::from(word(packet, 4)?))
        };
        let tcp = frame.get(transport..)?;
        // The low bits of the byte with the header's length are flags that no train has.
        let offset = *tcp.get(12)?;
        let header = transport + usize::from(offset >> 4) * 4;
        let fits = packet.len() == len && len <= mtu && header < frame.len() && header <= HEADERS_MOST;
        let flags = *tcp.get(13)?;
        let is_data = offset & 0xf == 0 && header >= transport + TCP_LEAST && flags & !(PSH | FIN) == ACK;
        let sequence = double(tcp, 4)?;
        (fits && is_data).then_some(Segment { frame, network, transport, header, v4, sequence, flags })
    }

    #[inline]
    fn payload(&self) -> usize {
        self.frame.len() - self.header
    }

    /// Whether it can only be the last one of a train.
    #[inline]
    fn ends(&self) -> bool {
        self.flags & (PSH | FIN) != 0
    }

    /// Whether the checksums are right, and what a sender computes: all ones would do as well as zero, and would not come back.
    fn is_right(&self) -> bool {
        let (packet, segment) = (&self.frame[self.network..], &self.frame[self.transport..]);
        let is_canonical = |bytes, at| word(bytes, at) != Some(0xffff);
        (!self.v4 || checksum(&packet[..IPV4]) == 0 && is_canonical(packet, 10))
            && is_canonical(segment, TCP_CHECKSUM)
            && pseudo(packet, self.v4, TCP, segment.len()).add_bytes(segment).is_all_ones()
    }

    /// Whether the headers are those of `first`, but for what differs between segments of a flow. Identifications go on.
    #[inline]
    fn is_like(&self, first: &Segment<'_>, number: usize) -> bool {
        let same = |from: usize, to: usize| self.frame[from..to] == first.frame[from..to];
        let (network, transport) = (self.network, self.transport);
        if (network, transport, self.header) != (first.network, first.transport, first.header) {
            return false;
        }
        let network_is_like = if self.v4 {
            let id = |segment: &Segment<'_>| word(segment.frame, network + 4).unwrap_or(0);
            id(self) == id(first).wrapping_add(number as u16)
                && same(0, network + 2)
                && same(network + 6, network + 10)
                && same(network + 12, transport)
        } else {
            same(0, network + 4) && same(network + 6, transport)
        };
        // Ports; acknowledgement and the header's length; window; urgent pointer and options.
        network_is_like
            && same(transport, transport + 4)
            && same(transport + 8, transport + 13)
            && same(transport + 14, transport + 16)
            && same(transport + 18, self.header)
    }
}

impl<'a> Train<'a> {
    /// Begins with a frame, if others may follow it. The IP packet in it has up to `mtu` bytes.
    #[inline]
    pub fn begin(frame: &'a [u8], link: Link, mtu: usize) -> Option<Train<'a>> {
        let first = Segment::of(frame, link, mtu).filter(|first| !first.ends())?;
        let size = first.payload();
        let (frames, flags) = (1, first.flags);
        Some(Train { first, size, payload: size, frames, flags, ends: false, is_checked: false })
    }

    /// Takes the frame that follows, if it is part of the train. The link is that of the first one.
    #[inline]
    pub fn take(&mut self, frame: &[u8], link: Link) -> bool {
        if self.ends || self.first.frame.len() < frame.len() {
            return false; // it is longer than the first one
        }
        let Some(next) = Segment::of(frame, link, usize::MAX) else { return false };
        let is_next = next.v4 == self.first.v4
            && next.sequence == self.first.sequence.wrapping_add(self.payload as u32)
            && self.first.header + self.payload + next.payload() <= FRAME_MOST
            && next.is_like(&self.first, self.frames);
        if !is_next {
            return false;
        }
        if !self.is_checked && !self.first.is_right() {
            self.ends = true;
            return false;
        }
        self.is_checked = true;
        if !next.is_right() {
            return false;
        }
        self.payload += next.payload();
        self.frames += 1;
        self.flags = next.flags;
        self.ends = next.ends() || next.payload() < self.size;
        true
    }

    /// Number of frames.
    #[inline]
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Bytes of the headers, which the long frame and each of its frames have: the payload is behind them.
    #[inline]
    pub fn header(&self) -> usize {
        self.first.header
    }

    /// Writes the long frame's headers, and says what its note is.
    ///
    /// # Panics
    /// If `headers` is shorter than [`Train::header`].
    pub fn finish(&self, headers: &mut [u8]) -> Note {
        let Segment { frame, network, transport, header, v4, .. } = self.first;
        headers[..header].copy_from_slice(&frame[..header]);
        let len = header - transport + self.payload;
        let packet = &mut headers[network..header];
        if v4 {
            packet[2..4].copy_from_slice(&((IPV4 + len) as u16).to_be_bytes());
            packet[10..12].fill(0);
            let sum = checksum(&packet[..IPV4]);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
        } else {
            packet[4..6].copy_from_slice(&(len as u16).to_be_bytes());
        }
        let sum = pseudo(packet, v4, TCP, len).fold();
        let tcp = &mut headers[transport..header];
        tcp[13] = self.flags;
        tcp[TCP_CHECKSUM..TCP_CHECKSUM + 2].copy_from_slice(&sum.to_be_bytes());
        Note {
            flags: Note::NEEDS_CHECKSUM,
            kind: if v4 { Note::TCP4 } else { Note::TCP6 },
            header: header as u16,
            size: self.size as u16,
            start: transport as u16,
            offset: TCP_CHECKSUM as u16,
        }
    }
}
