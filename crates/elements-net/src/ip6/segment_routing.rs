//! The routing header of segment routing (RFC 8754).

use std::net::Ipv6Addr;
use wire::ip_proto;
use wire::ipv6::{self, Extension};

/// Bytes in front of the segments.
pub(super) const FIXED_LEN: usize = 8;
/// Bytes of each.
pub(super) const SEGMENT_LEN: usize = 16;
/// The routing header's type.
pub(super) const TYPE: u8 = 4;

/// Where the type is in the header, and how many segments come after the one that is the destination.
const KIND: usize = 2;
pub(super) const SEGMENTS_LEFT: usize = 3;

/// Finds the header in a packet that starts with an IPv6 header.
#[inline]
pub(super) fn find(bytes: &[u8]) -> Option<Extension> {
    ipv6::find_extension(bytes, ip_proto::ROUTING).filter(|found| bytes[found.header.start + KIND] == TYPE)
}

/// A segment of a header.
pub(super) fn segment(header: &[u8], index: usize) -> Option<Ipv6Addr> {
    let bytes = header.get(FIXED_LEN + index * SEGMENT_LEN..)?.first_chunk::<SEGMENT_LEN>()?;
    Some(Ipv6Addr::from(*bytes))
}

/// Makes the next segment the destination; none if there is none.
pub(super) fn advance(bytes: &mut [u8], found: &Extension) -> Option<()> {
    let left = &mut bytes.get_mut(found.header.clone())?[SEGMENTS_LEFT];
    *left = left.checked_sub(1)?;
    let next = usize::from(*left);
    let destination = segment(&bytes[found.header.clone()], next)?;
    ipv6::Header::new_checked_mut(bytes).ok()?.set_dst(destination);
    Some(())
}
