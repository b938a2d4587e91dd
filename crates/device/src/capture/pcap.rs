//! Decoding pcap files (draft-ietf-opsawg-pcap).

use super::byte_order::ByteOrder;
use super::error::ErrorKind;
use super::source::Source;
use super::{LinkType, RECORD_LEN_MAX, Record};

/// Times in microseconds.
pub(super) const MAGIC_MICROS: u32 = 0xa1b2_c3d4;
/// Times in nanoseconds.
pub(super) const MAGIC_NANOS: u32 = 0xa1b2_3c4d;
/// Times in microseconds, 24-byte record headers (interface, protocol and packet type follow the usual fields).
const MAGIC_MODIFIED: u32 = 0xa1b2_cd34;

/// Length in bytes of the file header behind the magic number.
pub(super) const HEADER_REST_LEN: usize = 20;

/// What a pcap file header says about all its records.
pub(super) struct Pcap {
    order: ByteOrder,
    time_unit_ns: i64,
    /// Bytes of each record header behind the usual 16.
    record_header_extra: u64,
    pub(super) linktype: LinkType,
    pub(super) snaplen: u32,
}

impl Pcap {
    /// Whether these are the first bytes of a pcap file.
    pub(super) fn recognises(magic: [u8; 4]) -> bool {
        variant(magic).is_some()
    }

    /// Reads the rest of the file header; `magic` has been read before and is recognised.
    pub(super) fn open(magic: [u8; 4], source: &mut Source) -> Result<Pcap, ErrorKind> {
        let (order, time_unit_ns, record_header_extra) =
            variant(magic).ok_or(ErrorKind::NotACapture { magic })?;
        let mut rest = [0; HEADER_REST_LEN];
        if source.fill(&mut rest)? < rest.len() {
            return Err(ErrorKind::TooShort);
        }
        let (major, minor) = (order.u16_at(&rest, 0), order.u16_at(&rest, 2));
        if major != 2 {
            return Err(ErrorKind::Version { major, minor });
        }
        // The upper bits hold the length of the frame check sequence, if there is one.
        let linktype = LinkType::from_code(order.u32_at(&rest, 16) & 0x03ff_ffff);
        Ok(Pcap { order, time_unit_ns, record_header_extra, linktype, snaplen: order.u32_at(&rest, 12) })
    }

    /// Reads the next record, `None` at the end.
    pub(super) fn next(&self, source: &mut Source, buf: &mut Vec<u8>) -> Result<Option<Record>, ErrorKind> {
        source.set_mark();
        let mut header = [0; 16];
        if !source.fill_or_end(&mut header)? {
            return Ok(None);
        }
        let length = self.order.u32_at(&header, 8);
        if length > RECORD_LEN_MAX {
            return Err(ErrorKind::RecordTooLong { length });
        }
        source.skip(self.record_header_extra)?;
        buf.resize(length as usize, 0);
        source.fill_all(buf)?;
        let seconds = i64::from(self.order.u32_at(&header, 0));
        let fraction = i64::from(self.order.u32_at(&header, 4));
        Ok(Some(Record {
            // At most 2^32 * 10^9 + 2^32 * 1000: far from the end of an i64.
            time_ns: seconds * 1_000_000_000 + fraction * self.time_unit_ns,
            orig_len: self.order.u32_at(&header, 12).max(length),
            linktype: self.linktype,
            interface: 0,
        }))
    }
}

/// Byte order, nanoseconds per unit of the times' fractions, additional bytes of a record header.
fn variant(magic: [u8; 4]) -> Option<(ByteOrder, i64, u64)> {
    [ByteOrder::Little, ByteOrder::Big].into_iter().find_map(|order| match order.u32(magic) {
        MAGIC_MICROS => Some((order, 1000, 0)),
        MAGIC_NANOS => Some((order, 1, 0)),
        MAGIC_MODIFIED => Some((order, 1000, 8)),
        _ => None,
    })
}
