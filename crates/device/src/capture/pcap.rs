//! Decoding pcap files (draft-ietf-opsawg-pcap).

use super::byte_order::ByteOrder;
use super::error::ErrorKind;
use super::skipped::{Skipped, find_next};
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

/// Bytes of a record header, the longer one.
const HEADER_LEN_MAX: usize = 24;
/// Seconds between a record and the next, at most, where the next one is looked for: a day.
const LEAP_MAX: u32 = 86_400;
/// Bytes of a packet, at most, where a record is looked for.
const LENGTH_MAX: u32 = 16 * 1024 * 1024;

/// What a pcap file header says about all its records.
pub(super) struct Pcap {
    order: ByteOrder,
    time_unit_ns: i64,
    /// Bytes of a record header.
    header_len: usize,
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
        let (order, time_unit_ns, header_len) = variant(magic).ok_or(ErrorKind::NotACapture { magic })?;
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
        let snaplen = order.u32_at(&rest, 12);
        Ok(Pcap { order, time_unit_ns, header_len, linktype, snaplen })
    }

    /// Reads the next good record, `None` at the end.
    pub(super) fn next(
        &self,
        source: &mut Source,
        buf: &mut Vec<u8>,
        skipped: &mut Skipped,
    ) -> Result<Option<Record>, ErrorKind> {
        loop {
            source.set_mark();
            let mut header = [0; HEADER_LEN_MAX];
            let header = &mut header[..self.header_len];
            if !source.fill_or_end(header)? {
                return Ok(None);
            }
            let length = self.order.u32_at(header, 8);
            let problem = if length > RECORD_LEN_MAX {
                ErrorKind::RecordTooLong { length }
            } else {
                buf.resize(length as usize, 0);
                let count = source.fill(buf)?;
                if count == buf.len() {
                    return Ok(Some(self.record(header, length)));
                }
                source.unread(&buf[..count]);
                ErrorKind::Truncated
            };
            source.unread(header);
            let claimed = self.header_len.saturating_add(length as usize);
            let next = find_next(source, |bytes, ended| self.next_good(bytes, ended, claimed));
            let Some(next) = next else { return Err(problem) };
            skipped.add(problem, source.mark());
            source.skip(next as u64)?;
        }
    }

    fn record(&self, header: &[u8], length: u32) -> Record {
        let seconds = i64::from(self.order.u32_at(header, 0));
        let fraction = i64::from(self.order.u32_at(header, 4));
        Record {
            // At most 2^32 * 10^9 + 2^32 * 1000: far from the end of an i64.
            time_ns: seconds * 1_000_000_000 + fraction * self.time_unit_ns,
            orig_len: self.order.u32_at(header, 12).max(length),
            linktype: self.linktype,
            interface: 0,
        }
    }

    /// Where in `bytes`, which begin with a bad record, the next good one begins. Where the bad one claims to end is tried first, in case
    /// that nothing but its length is unusual.
    fn next_good(&self, bytes: &[u8], ended: bool, claimed: usize) -> Option<usize> {
        if ended && claimed == bytes.len() {
            return Some(claimed); // the last one
        }
        // Several may be too long in a row.
        if self.begins_records(bytes, ended, claimed, LENGTH_MAX) {
            return Some(claimed);
        }
        (1..bytes.len()).find(|at| self.begins_records(bytes, ended, *at, RECORD_LEN_MAX))
    }

    /// Whether what begins at `at` can only be records of at most so many bytes: one behind the other, up to the end or two of them at
    /// least.
    fn begins_records(&self, bytes: &[u8], ended: bool, mut at: usize, length_max: u32) -> bool {
        let mut last_seconds = None::<u32>;
        for _ in 0..2 {
            let Some(header) = bytes.get(at..).and_then(|rest| rest.get(..self.header_len)) else {
                return false;
            };
            let [seconds, fraction, length, orig_len] =
                [0, 4, 8, 12].map(|field| self.order.u32_at(header, field));
            let soon = last_seconds.is_none_or(|last| seconds.abs_diff(last) <= LEAP_MAX);
            let timely = soon && i64::from(fraction) * self.time_unit_ns < 1_000_000_000;
            if !timely || !(1..=length_max).contains(&length) || !(length..=LENGTH_MAX).contains(&orig_len) {
                return false;
            }
            last_seconds = Some(seconds);
            at += self.header_len + length as usize;
            if ended && at == bytes.len() {
                return true;
            }
        }
        true
    }
}

/// Byte order, nanoseconds per unit of the times' fractions, bytes of a record header.
fn variant(magic: [u8; 4]) -> Option<(ByteOrder, i64, usize)> {
    [ByteOrder::Little, ByteOrder::Big].into_iter().find_map(|order| match order.u32(magic) {
        MAGIC_MICROS => Some((order, 1000, 16)),
        MAGIC_NANOS => Some((order, 1, 16)),
        MAGIC_MODIFIED => Some((order, 1000, HEADER_LEN_MAX)),
        _ => None,
    })
}
