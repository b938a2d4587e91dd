//! Ethernet headers in front of packets.

use packet::Packet;
use wire::ethernet::{HEADER_LEN, ether_type};
use wire::vlan::TAG_LEN;
use wire::{ipv4, ipv6};

/// The type of outer VLAN tags before there was a standard.
const OLD_QINQ: u16 = 0x9100;

/// An Ethernet header as its first and its last eight octets, which overlap by two: it is written by two stores, and one that many packets
/// get stays in registers.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    front: [u8; 8],
    back: [u8; 8],
}

impl Ready {
    /// That of this header.
    #[inline]
    pub fn of(header: &[u8; HEADER_LEN]) -> Ready {
        let [front @ .., _, _, _, _, _, _] = header;
        let [_, _, _, _, _, _, back @ ..] = header;
        Ready { front: *front, back: *back }
    }

    /// The same header with another type of what follows.
    #[inline]
    #[must_use]
    pub fn with_type(self, ether_type: u16) -> Ready {
        let [a, b, c, d, e, f, _, _] = self.back;
        let [high, low] = ether_type.to_be_bytes();
        Ready { back: [a, b, c, d, e, f, high, low], ..self }
    }

    /// Puts the header in front of a packet. False, and nothing changed, if the buffer has no room for it.
    #[inline]
    #[must_use]
    pub fn encapsulate(self, packet: &mut Packet) -> bool {
        let Some(place) = packet.push_mac::<HEADER_LEN>() else { return false };
        let [front @ .., _, _, _, _, _, _] = place;
        *front = self.front;
        let [_, _, _, _, _, _, back @ ..] = place;
        *back = self.back;
        true
    }
}

/// Puts an Ethernet header in front of a packet. False, and nothing changed, if the buffer has no room for it.
#[inline]
pub fn encapsulate(packet: &mut Packet, header: &[u8; HEADER_LEN]) -> bool {
    Ready::of(header).encapsulate(packet)
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
pub fn mark_behind(packet: &mut Packet, end: usize) {
    let data = packet.data();
    let end = behind_tags(data, end);
    if end > data.len() {
        return packet.clear_network();
    }
    match ip_header_len(&data[end..]) {
        Some(len) => packet.set_network(end as isize, len),
        None => packet.set_network_alone(end as isize),
    }
}

/// Where the type ends of what follows the VLAN tags, if there are some, behind the type that ends at `end`. It may be behind the data.
#[inline]
pub fn behind_tags(data: &[u8], mut end: usize) -> usize {
    while is_tag(data, end) {
        end += TAG_LEN;
    }
    end
}

/// What follows the headers of a frame that end at `end`, by the type there.
#[inline]
pub fn type_before(data: &[u8], end: usize) -> Option<u16> {
    data.get(end.checked_sub(2)?..end)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

/// Whether the type that ends here announces a VLAN tag.
#[inline]
fn is_tag(data: &[u8], end: usize) -> bool {
    matches!(type_before(data, end), Some(ether_type::VLAN | ether_type::QINQ | OLD_QINQ))
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
