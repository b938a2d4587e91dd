//! What the kernel says of a frame beside it.

use super::{TCP_CHECKSUM, UDP_CHECKSUM};
use wire::checksum::Sum;

/// A note about a frame: `struct virtio_net_hdr` of the virtio specification (section 5.1.6), in the form and byte order that Linux uses
/// in front of the frames of TUN and TAP interfaces and of packet sockets. By default it asks for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    pub(super) flags: u8,
    pub(super) kind: u8,
    /// Bytes of all headers together; a hint.
    pub(super) header: u16,
    /// Payload bytes of each segment that a long one is to be cut into.
    pub(super) size: u16,
    /// Where the segment starts whose checksum is to be completed, and where in it the checksum is.
    pub(super) start: u16,
    pub(super) offset: u16,
}

impl Note {
    /// Its bytes.
    pub const LEN: usize = 10;
    pub(super) const NEEDS_CHECKSUM: u8 = 1;
    pub(super) const TCP4: u8 = 1;
    pub(super) const TCP6: u8 = 4;
    pub(super) const UDP: u8 = 5;
    /// A mark beside the kind: the segment says that it met congestion.
    pub(super) const CONGESTION: u8 = 0x80;

    /// Reads it.
    #[inline]
    pub fn of(bytes: &[u8; Note::LEN]) -> Note {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Note {
            flags: bytes[0],
            kind: bytes[1],
            header: word(2),
            size: word(4),
            start: word(6),
            offset: word(8),
        }
    }

    /// Writes it.
    #[inline]
    pub fn bytes(&self) -> [u8; Note::LEN] {
        let mut bytes = [self.flags, self.kind, 0, 0, 0, 0, 0, 0, 0, 0];
        for (at, word) in [self.header, self.size, self.start, self.offset].into_iter().enumerate() {
            bytes[2 + 2 * at..4 + 2 * at].copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// Whether the packet is longer than its sender wants it on the wire.
    #[inline]
    pub fn is_long(&self) -> bool {
        self.kind != 0
    }

    /// Completes the checksum of TCP or UDP if that was left to do.
    pub fn finish(&self, packet: &mut [u8]) {
        let at = usize::from(self.offset);
        if self.flags & Note::NEEDS_CHECKSUM != 0
            && matches!(at, TCP_CHECKSUM | UDP_CHECKSUM)
            && let Some(segment) = packet.get_mut(usize::from(self.start)..)
        {
            complete(segment, at); // too short a packet is the receiver's to refuse
        }
    }
}

/// Completes the checksum at `at` of a segment that has the pseudo-header's sum there; false if it is too short.
pub(crate) fn complete(segment: &mut [u8], at: usize) -> bool {
    if segment.len() < at + 2 {
        return false;
    }
    // The pseudo-header's sum is in the field already, so the sum of the segment is that of both.
    let sum = in_field(Sum::of(segment), at);
    segment[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    true
}

/// What a sum makes of the checksum at `at` of a segment.
#[inline]
pub(super) fn in_field(sum: Sum, at: usize) -> u16 {
    match sum.checksum() {
        0 if at == UDP_CHECKSUM => 0xffff, // zero says that there is none
        sum => sum,
    }
}
