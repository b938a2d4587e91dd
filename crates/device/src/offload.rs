//! Work that senders leave to hardware, for frames that never met any: checksums, and the cutting of long segments.

use packet::{Packet, Pool};
use wire::checksum::{checksum, pseudo_v4, pseudo_v6};

const ETHERNET: usize = 14;
/// Where the checksums are in their headers.
const TCP_CHECKSUM: usize = 16;
const UDP_CHECKSUM: usize = 6;

/// Completes the TCP or UDP checksum of an Ethernet frame whose field holds the sum of the pseudo-header only, as hosts on
/// virtual links send it. False, and nothing changed, if there is no such segment.
pub fn finish_checksum(frame: &mut [u8]) -> bool {
    let Some((start, end, protocol)) = transport(frame) else { return false };
    let Some(segment) = frame.get_mut(start..end) else { return false };
    let at = match protocol {
        6 => TCP_CHECKSUM,
        17 => UDP_CHECKSUM,
        _ => return false,
    };
    complete(segment, at)
}

/// Completes the checksum at `at` of a segment that has the pseudo-header's sum there; false if it is too short.
fn complete(segment: &mut [u8], at: usize) -> bool {
    if segment.len() < at + 2 {
        return false;
    }
    // The pseudo-header's sum is in the field already, so the sum of the segment is that of both.
    let sum = match checksum(segment) {
        0 if at == UDP_CHECKSUM => 0xffff, // zero says that there is none
        sum => sum,
    };
    segment[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    true
}

/// What the kernel says about a packet beside it (virtio's header, in the form that TUN and TAP interfaces use).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    flags: u8,
    kind: u8,
    /// Payload bytes of each segment that a long one is to be cut into.
    size: u16,
    /// Where the segment starts whose checksum is to be completed, and where in it the checksum is.
    start: u16,
    offset: u16,
}

impl Note {
    /// Its bytes on the wire.
    pub const LEN: usize = 10;
    const NEEDS_CHECKSUM: u8 = 1;
    const TCP4: u8 = 1;
    const TCP6: u8 = 4;
    /// A mark beside the kind: the segment says that it met congestion.
    const CONGESTION: u8 = 0x80;

    /// Reads it.
    pub fn of(bytes: &[u8; Note::LEN]) -> Note {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Note { flags: bytes[0], kind: bytes[1], size: word(4), start: word(6), offset: word(8) }
    }

    /// Whether the packet is longer than its sender wants it on the wire.
    pub fn is_long(&self) -> bool {
        self.kind != 0
    }

    /// Completes the checksum if that was left to do.
    pub fn finish(&self, packet: &mut [u8]) {
        if self.flags & Note::NEEDS_CHECKSUM != 0
            && let Some(segment) = packet.get_mut(usize::from(self.start)..)
        {
            complete(segment, self.offset.into()); // too short a packet is the receiver's to refuse
        }
    }

    /// Cuts a long TCP segment, whose IP header is at `network`, into packets behind `headroom` bytes, and adds them to `out`.
    /// False if it is none, or there is no memory; `out` then has what could be made.
    pub fn cut(
        &self,
        pool: &mut Pool,
        headroom: usize,
        long: &[u8],
        network: usize,
        out: &mut Vec<Packet>,
    ) -> bool {
        let kind = self.kind & !Note::CONGESTION;
        let ip = match kind {
            Note::TCP4 => long.get(network).map_or(0, |byte| usize::from(byte & 0xf) * 4),
            Note::TCP6 => usize::from(self.start).saturating_sub(network), // there may be extension headers
            _ => return false,
        };
        let tcp = network + ip;
        let Some(header) = long.get(tcp + 12).map(|byte| tcp + usize::from(byte >> 4) * 4) else {
            return false;
        };
        let size = usize::from(self.size);
        if ip < if kind == Note::TCP4 { 20 } else { 40 }
            || header < tcp + 20
            || header > long.len()
            || size == 0
        {
            return false;
        }
        let (headers, payload) = long.split_at(header);
        let last = payload.len().div_ceil(size).saturating_sub(1);
        for (i, piece) in payload.chunks(size).enumerate() {
            let Some(mut packet) = pool.alloc(headroom, header + piece.len()) else { return false };
            let data = packet.data_mut();
            data[..header].copy_from_slice(headers);
            data[header..].copy_from_slice(piece);
            let segment_len = data.len() - tcp;
            describe(&mut data[network..], ip, i as u16, kind == Note::TCP4);
            let sequence = [data[tcp + 4], data[tcp + 5], data[tcp + 6], data[tcp + 7]];
            let sequence = u32::from_be_bytes(sequence).wrapping_add((i * size) as u32);
            data[tcp + 4..tcp + 8].copy_from_slice(&sequence.to_be_bytes());
            // The end of the stream and the push belong to the last piece, the answer to congestion to the first.
            data[tcp + 13] &= if i == last { 0xff } else { !0x09 } & if i == 0 { 0xff } else { !0x80 };
            let sum = pseudo(&data[network..], segment_len, kind == Note::TCP4);
            data[tcp + TCP_CHECKSUM..tcp + TCP_CHECKSUM + 2].copy_from_slice(&sum.to_be_bytes());
            complete(&mut data[tcp..], TCP_CHECKSUM);
            out.push(packet);
        }
        true
    }
}

/// Sets what the IP header, of `ip` bytes, says about a piece: its length, and in IPv4 its identification, `i` after the first one's.
fn describe(packet: &mut [u8], ip: usize, i: u16, v4: bool) {
    if v4 {
        let id = u16::from_be_bytes([packet[4], packet[5]]).wrapping_add(i);
        let len = packet.len() as u16;
        packet[2..4].copy_from_slice(&len.to_be_bytes());
        packet[4..6].copy_from_slice(&id.to_be_bytes());
        packet[10..12].fill(0);
        let sum = checksum(&packet[..ip]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    } else {
        let len = (packet.len() - 40) as u16;
        packet[4..6].copy_from_slice(&len.to_be_bytes());
    }
}

/// The sum of a TCP segment's pseudo-header.
fn pseudo(packet: &[u8], len: usize, v4: bool) -> u16 {
    fn address<const N: usize>(packet: &[u8], at: usize) -> [u8; N] {
        packet.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
    }
    let sum = if v4 {
        pseudo_v4(address::<4>(packet, 12).into(), address::<4>(packet, 16).into(), 6, len as u16)
    } else {
        pseudo_v6(address::<16>(packet, 8).into(), address::<16>(packet, 24).into(), 6, len as u32)
    };
    sum.fold()
}

/// Where the transport segment begins and ends, and its protocol; `None` for fragments and extension headers too.
fn transport(frame: &[u8]) -> Option<(usize, usize, u8)> {
    let mut network = ETHERNET;
    let mut ether_type = word(frame, 12)?;
    while matches!(ether_type, 0x8100 | 0x88a8) {
        ether_type = word(frame, network + 2)?;
        network += 4;
    }
    match ether_type {
        0x0800 => {
            let header = usize::from(frame.get(network)? & 0xf) * 4;
            let end = network + usize::from(word(frame, network + 2)?);
            let whole = word(frame, network + 6)? & 0x3fff == 0;
            whole.then_some((network + header, end, *frame.get(network + 9)?))
        }
        0x86dd => {
            let end = network + 40 + usize::from(word(frame, network + 4)?);
            Some((network + 40, end, *frame.get(network + 6)?))
        }
        _ => None,
    }
}

fn word(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*frame.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::checksum::{Sum, pseudo_v4, pseudo_v6};

    /// A frame with a UDP or TCP segment of `len` bytes whose checksum field holds the pseudo-header's sum, and that sum.
    fn unfinished(v6: bool, protocol: u8, len: usize, vlan: bool) -> (Vec<u8>, usize, Sum) {
        let mut frame = vec![0; 12];
        if vlan {
            frame.extend([0x81, 0, 0, 7]);
        }
        let mut segment: Vec<u8> = (0..len).map(|i| i as u8).collect();
        let pseudo = if v6 {
            pseudo_v6([1; 16].into(), [2; 16].into(), protocol, len as u32)
        } else {
            pseudo_v4([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), protocol, len as u16)
        };
        let at = if protocol == 6 { 16 } else { 6 };
        segment[at..at + 2].copy_from_slice(&pseudo.fold().to_be_bytes());
        if v6 {
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, len as u8, protocol, 64]);
            frame.extend([[1; 16], [2; 16]].concat());
        } else {
            frame.extend([8, 0, 0x45, 0, 0, 20 + len as u8, 0, 0, 0, 0, 64, protocol, 0, 0]);
            frame.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        }
        let start = frame.len();
        frame.extend(segment);
        frame.extend([0xee; 3]); // padding is not part of it
        (frame, start, pseudo)
    }

    #[test]
    fn sums_check_out() {
        for (v6, protocol, len, vlan) in
            [(false, 17, 31, false), (false, 6, 40, true), (true, 17, 8, true), (true, 6, 21, false)]
        {
            let (mut frame, start, pseudo) = unfinished(v6, protocol, len, vlan);
            assert!(finish_checksum(&mut frame));
            assert!(pseudo.add_bytes(&frame[start..start + len]).is_all_ones(), "{v6} {protocol}");
        }
    }

    /// Nothing that is cut short or lies about its length is touched, or read beyond its end.
    #[test]
    fn frames_that_are_cut_short_stay_untouched() {
        let (frame, ..) = unfinished(false, 6, 40, true);
        for len in 0..frame.len() - 3 {
            let mut cut = frame[..len].to_vec();
            assert!(!finish_checksum(&mut cut), "{len}");
            assert_eq!(cut, frame[..len]);
        }
    }

    /// A long TCP segment of `len` bytes of payload with its note, behind `network` bytes.
    fn long(v6: bool, network: usize, len: usize, size: u16) -> (Vec<u8>, Note) {
        let mut packet = vec![9; network];
        if v6 {
            packet.extend([0x60, 0, 0, 0, 0, 0, 6, 64]);
            packet.extend([[1; 16], [2; 16]].concat());
        } else {
            packet.extend([
                0x46, 0, 0, 0, 0xff, 0xfe, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 1, 1, 0,
            ]);
        }
        let start = packet.len();
        // Ports, sequence, acknowledgement; a header of 24 bytes; CWR, ACK, PSH, FIN.
        packet.extend([
            0, 80, 4, 1, 0xff, 0xff, 0xff, 0xf0, 0, 0, 0, 7, 0x60, 0x99, 1, 0, 0, 0, 0, 0, 2, 4, 5, 0xb4,
        ]);
        packet.extend((0..len).map(|i| i as u8));
        let kind = if v6 { Note::TCP6 } else { Note::TCP4 };
        (packet, Note { flags: 1, kind, size, start: start as u16, offset: 16 })
    }

    /// The pieces are whole packets: lengths, sequence numbers, flags and checksums fit, and together they have all bytes.
    #[test]
    fn long_segments_are_cut() {
        let mut pool = Pool::new();
        for (v6, network, len, size) in
            [(false, 14, 3000, 1448u16), (true, 14, 4321, 1000), (false, 0, 60_000, 536), (true, 0, 100, 100)]
        {
            let (packet, note) = long(v6, network, len, size);
            let mut pieces = Vec::new();
            assert!(note.cut(&mut pool, 128, &packet, network, &mut pieces));
            assert_eq!(pieces.len(), len.div_ceil(size.into()));
            let (mut stream, ip) = (Vec::<u8>::new(), if v6 { 40 } else { 24 });
            for (i, piece) in pieces.iter().enumerate() {
                let ip_packet = &piece.data()[network..];
                let segment = &ip_packet[ip..];
                assert_eq!(piece.data()[..network], packet[..network]);
                if v6 {
                    assert_eq!(word(ip_packet, 4), Some((ip_packet.len() - 40) as u16));
                } else {
                    assert_eq!(word(ip_packet, 2), Some(ip_packet.len() as u16));
                    assert_eq!(word(ip_packet, 4), Some(0xfffe_u16.wrapping_add(i as u16)));
                    assert_eq!(checksum(&ip_packet[..ip]), 0);
                }
                let sum = if v6 {
                    pseudo_v6([1; 16].into(), [2; 16].into(), 6, segment.len() as u32)
                } else {
                    pseudo_v4([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 6, segment.len() as u16)
                };
                assert!(sum.add_bytes(segment).is_all_ones());
                let sequence = u32::from_be_bytes(*segment[4..].first_chunk().unwrap());
                assert_eq!(sequence, 0xffff_fff0_u32.wrapping_add(stream.len() as u32));
                let (first, last) = (i == 0, i + 1 == pieces.len());
                let flags = 0x10 | if first { 0x80 } else { 0 } | if last { 0x09 } else { 0 };
                assert_eq!(segment[13], flags, "{i}");
                stream.extend(&segment[24..]);
            }
            assert_eq!(stream, packet[packet.len() - len..]);
        }
    }

    /// Notes that lie, and packets that are cut short, make nothing and break nothing.
    #[test]
    fn notes_that_lie() {
        let mut pool = Pool::new();
        let (packet, note) = long(true, 14, 500, 100);
        for len in 0..packet.len() {
            let mut out = Vec::new();
            note.cut(&mut pool, 0, &packet[..len], 14, &mut out);
            note.finish(&mut packet[..len].to_vec());
        }
        let mut rng = fastrand::Rng::with_seed(2);
        for _ in 0..20_000 {
            let bytes: [u8; Note::LEN] = std::array::from_fn(|_| rng.u8(..) & rng.u8(..) & rng.u8(..));
            let (note, mut out) = (Note::of(&bytes), Vec::new());
            let mut some = packet[..rng.usize(0..packet.len())].to_vec();
            if let Some(byte) = some.get_mut(14) {
                *byte = rng.u8(..);
            }
            note.cut(&mut pool, 0, &some, rng.usize(0..60), &mut out);
            note.finish(&mut some);
            assert!(out.iter().all(|piece| piece.len() <= some.len()));
        }
    }
}
