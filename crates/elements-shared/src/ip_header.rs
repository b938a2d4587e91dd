//! A packet's IPv4 header, as its annotations say where it is.

use packet::Packet;
use wire::ipv4::{HEADER_LEN, Header};

/// Why packets are dropped that have no header, or less than a whole one, where one is needed.
pub const NO_HEADER: &str = "no IP header";

/// The fixed part of the header.
#[inline]
pub fn header(packet: &Packet) -> Option<Header<&[u8; HEADER_LEN]>> {
    packet.network_array().map(Header::new)
}

/// The same, writable.
#[inline]
pub fn header_mut(packet: &mut Packet) -> Option<Header<&mut [u8; HEADER_LEN]>> {
    packet.network_array_mut().map(Header::new)
}
