//! Explicit congestion notification where packets are put into others and taken out again, or cut and put together (RFC 3168, RFC 6040).
//!
//! The two bits of a header, here called its mark, are 0 for a transport that does not know of them, 1 for ECT(1), 2 for ECT(0), and 3 for
//! congestion that was experienced.

use packet::Packet;
use wire::checksum::update_u16;

/// Congestion was experienced.
pub const CE: u8 = 3;
/// Why packets are dropped that met congestion in a tunnel, and whose transport cannot be told: a loss tells it.
pub const CONGESTION: &str = "congestion in the tunnel, and no ECN inside";

/// The mark of the IP header that starts `bytes`; `None` if there is none.
#[inline]
pub fn mark(bytes: &[u8]) -> Option<u8> {
    let &[first, second, ..] = bytes else { return None };
    match first >> 4 {
        4 => Some(second & 3),
        6 => Some(second >> 4 & 3),
        _ => None,
    }
}

/// Changes the mark of the IP header that starts `bytes`, and IPv4's checksum by as much. Nothing if there is no header.
#[inline]
pub fn set_mark(bytes: &mut [u8], mark: u8) {
    let Some(head) = bytes.first_chunk_mut::<12>() else { return };
    let old = u16::from_be_bytes([head[0], head[1]]);
    match head[0] >> 4 {
        4 => head[1] = head[1] & !3 | mark,
        6 => head[1] = head[1] & !(3 << 4) | mark << 4,
        _ => return,
    }
    if head[0] >> 4 == 4 {
        let new = u16::from_be_bytes([head[0], head[1]]);
        let sum = update_u16(u16::from_be_bytes([head[10], head[11]]), old, new);
        [head[10], head[11]] = sum.to_be_bytes();
    }
}

/// The mark that a packet has behind a tunnel; `None` if it is to be dropped (RFC 6040, section 4.2).
#[inline]
pub fn behind_tunnel(inner: u8, outer: u8) -> Option<u8> {
    match (inner, outer) {
        (0, CE) => None,
        (0, _) => Some(0),
        (2, 1) => Some(1),
        (_, CE) => Some(CE),
        (inner, _) => Some(inner),
    }
}

/// The mark of a packet's outer header, which was stripped but is still marked as the network header.
#[inline]
pub fn outer_mark(packet: &Packet) -> Option<u8> {
    packet.network_offset().filter(|at| *at < 0)?;
    mark(packet.network()?)
}

/// Gives the packet that a tunnel's packet contained, and that starts the data now, the mark that it has behind the tunnel. False if it is to
/// be dropped.
#[inline]
#[must_use]
pub fn leave_tunnel(packet: &mut Packet, outer: Option<u8>) -> bool {
    let (Some(outer @ 1..), Some(inner)) = (outer, mark(packet.data())) else { return true };
    match behind_tunnel(inner, outer) {
        Some(new) => {
            if new != inner {
                set_mark(packet.data_mut(), new);
            }
            true
        }
        None => false,
    }
}

/// The marks of a packet's fragments.
#[derive(Clone, Copy, Debug, Default)]
pub struct FragmentMarks(u8);

impl FragmentMarks {
    /// Adds that of the fragment whose IP header starts `bytes`.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0 |= mark(bytes).map_or(0, |mark| 1 << mark);
    }

    /// The mark that the whole has, whose first fragment has `first`; `None` if it is to be dropped, because congestion was experienced by a
    /// transport that partly does not know of it (RFC 3168, section 5.3).
    pub fn of_whole(self, first: u8) -> Option<u8> {
        match (self.0 & 1 << CE != 0, self.0 & 1 != 0) {
            (true, true) => None,
            (true, false) => Some(CE),
            (false, _) => Some(first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of RFC 6040, section 4.2: rows by inner mark, columns by outer mark: not ECT, ECT(0), ECT(1), CE.
    #[test]
    fn the_table_of_rfc_6040() {
        let (none, ect0, ect1) = (0, 2, 1);
        let table = [
            (none, [Some(none), Some(none), Some(none), None]),
            (ect0, [Some(ect0), Some(ect0), Some(ect1), Some(CE)]),
            (ect1, [Some(ect1), Some(ect1), Some(ect1), Some(CE)]),
            (CE, [Some(CE); 4]),
        ];
        for (inner, row) in table {
            for (outer, expected) in [none, ect0, ect1, CE].into_iter().zip(row) {
                assert_eq!(behind_tunnel(inner, outer), expected, "inner {inner}, outer {outer}");
            }
        }
    }

    #[test]
    fn marks_are_read_and_written() {
        let mut four = [0x45, 0xb8, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        wire::ipv4::fill_checksum(&mut four).unwrap();
        let mut six = [0x6b, 0x8f, 0, 0, 0, 0, 59, 64, 0, 0, 0, 0];
        for new in [1, 2, CE, 0] {
            set_mark(&mut four, new);
            set_mark(&mut six, new);
            assert_eq!((mark(&four), mark(&six)), (Some(new), Some(new)));
            assert!(wire::ipv4::check(&four, true).is_ok());
            assert_eq!((four[1] & !3, six[0], six[1] & !0x30), (0xb8, 0x6b, 0x8f));
        }
        assert_eq!((mark(&[0x50, 0]), mark(&[0x45])), (None, None));
    }

    #[test]
    fn fragments_marks() {
        let of = |marks: &[u8]| {
            let mut all = FragmentMarks::default();
            marks.iter().for_each(|mark| all.add(&[0x45, *mark]));
            all.of_whole(marks[0])
        };
        assert_eq!(
            (of(&[2, 2]), of(&[2, 3]), of(&[3, 2]), of(&[1, 2, 3])),
            (Some(2), Some(3), Some(3), Some(3))
        );
        assert_eq!((of(&[0, 3]), of(&[3, 0]), of(&[0, 2]), of(&[2, 0, 1])), (None, None, Some(0), Some(2)));
    }
}
