//! FastClick's smallest format of traces: after some lines of text, 15 bytes for each IPv4 packet.
//!
//! Source and destination address and port as they stand in packets, the length as a number of this machine, the protocol.

/// Bytes of a record.
pub(super) const RECORD_LEN: usize = 15;
/// What a file begins with.
pub(super) const HEAD: &[u8] = b"!MINDUMP0.1\n!data\n";
/// The line in front of the records, without its end.
pub(super) const DATA_LINE: &[u8] = b"!data";
/// Lines in front of the records, at most.
pub(super) const LINES_MAX: usize = 1000;
/// Bytes of such a line, at most.
pub(super) const LINE_MAX: u64 = 65_536;
