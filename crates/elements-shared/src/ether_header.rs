//! Ethernet headers in front of packets.

use packet::Packet;
use wire::ethernet::HEADER_LEN;

/// Puts an Ethernet header in front of a packet. False, and nothing changed, if the buffer has no room for it.
#[inline]
pub fn encapsulate(packet: &mut Packet, header: &[u8; HEADER_LEN]) -> bool {
    let Some(place) = packet.push_array() else { return false };
    *place = *header;
    packet.set_mac_offset(0);
    true
}

/// Why packets are dropped whose buffers are full.
pub const NO_ROOM: &str = "no room for an Ethernet header";
