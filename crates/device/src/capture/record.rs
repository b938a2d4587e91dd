//! One packet of a capture.

use super::linktype::LinkType;

/// Longest record, in captured bytes, that is read or written: 256 KiB, libpcap's own limit for packets.
///
/// A longer one is a sign of a damaged file; reading it would only turn garbage into packets.
pub const RECORD_LEN_MAX: u32 = 256 * 1024;

/// What a capture says about one packet beside its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// When it was captured: nanoseconds since 1970-01-01 00:00 UTC, 0 if the capture does not say.
    pub time_ns: i64,
    /// Length of the packet in bytes before it was cut to what is captured; never less than that.
    pub orig_len: u32,
    /// What its bytes begin with.
    pub linktype: LinkType,
    /// Number of the link that it was captured from, where the format has such a number; 0 elsewhere.
    pub interface: u8,
}
