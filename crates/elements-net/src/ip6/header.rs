//! A packet's IPv6 header, as its annotations say where it is.

use packet::Packet;
use wire::ipv6::{HEADER_LEN, Header};

/// Why packets are dropped that have no header, or less than a whole one, where one is needed.
pub(super) const NO_HEADER: &str = "no IPv6 header";

/// The fixed header.
#[inline]
pub(super) fn header(packet: &Packet) -> Option<Header<&[u8; HEADER_LEN]>> {
    packet.network_array().map(Header::new)
}

/// The same, writable.
#[inline]
pub(super) fn header_mut(packet: &mut Packet) -> Option<Header<&mut [u8; HEADER_LEN]>> {
    packet.network_array_mut().map(Header::new)
}
