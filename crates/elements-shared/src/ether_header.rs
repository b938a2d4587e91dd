//! Ethernet headers in front of packets.

use packet::Packet;
use wire::ethernet::HEADER_LEN;
use wire::vlan::TAG_LEN;
use wire::{ipv4, ipv6};

/// Puts an Ethernet header in front of a packet. False, and nothing changed, if the buffer has no room for it.
#[inline]
pub fn encapsulate(packet: &mut Packet, header: &[u8; HEADER_LEN]) -> bool {
    let Some(place) = packet.push_array() else { return false };
    *place = *header;
    packet.set_mac_offset(0);
    true
}

/// Says where the headers of a frame are: the network header behind the Ethernet header and its VLAN tags, and the transport header
/// behind that.
#[inline]
pub fn mark_frame(packet: &mut Packet) {
    packet.set_mac_offset(0);
    mark_behind(packet, HEADER_LEN);
}

/// Says where the network header is behind a link-layer header that ends at `end` with the type of what follows, and maybe VLAN
/// tags, and where the transport header is, if the network header is IP's and whole.
#[inline]
pub fn mark_behind(packet: &mut Packet, mut end: usize) {
    let data = packet.data();
    while is_tag(data, end) {
        end += TAG_LEN;
    }
    if end > data.len() {
        return packet.clear_network();
    }
    match ip_header_len(&data[end..]) {
        Some(len) => packet.set_network(end as isize, len),
        None => packet.set_network_alone(end as isize),
    }
}

/// Whether the type that ends here announces a VLAN tag.
#[inline]
fn is_tag(data: &[u8], end: usize) -> bool {
    let kind = end.checked_sub(2).and_then(|at| data.get(at..end));
    matches!(kind, Some([0x81, 0] | [0x88, 0xa8] | [0x91, 0]))
}

/// Bytes of an IP header, as far as it says and all are there; of IPv6's without what extends it.
#[inline]
fn ip_header_len(bytes: &[u8]) -> Option<usize> {
    let first = *bytes.first()?;
    let len = match first >> 4 {
        4 => usize::from(first & 15) * 4,
        6 => ipv6::HEADER_LEN,
        _ => return None,
    };
    (len >= ipv4::HEADER_LEN && len <= bytes.len()).then_some(len)
}

/// Why packets are dropped whose buffers are full.
pub const NO_ROOM: &str = "no room for an Ethernet header";
