//! What tells flows apart: addresses, protocol, ports.

use crate::flow_id::{FlowId, Key};
use packet::Packet;
use wire::{ethernet, ip_proto, ipv4};

/// The flow of a packet with a marked IPv4 header. Packets without ports have ports 0, and so have all fragments: later
/// ones have none, and those of one packet must not part.
#[inline]
pub fn key(packet: &Packet) -> Option<Key> {
    key_of(packet.network()?, packet.transport())
}

/// The flow of an Ethernet frame with an IPv4 packet.
pub fn key_of_frame(packet: &Packet) -> Option<Key> {
    let frame = ethernet::Header::new_checked(packet.data()).ok()?;
    let network = packet
        .data()
        .get(ethernet::HEADER_LEN..)
        .filter(|_| frame.ether_type() == ethernet::ether_type::IPV4)?;
    let header_len = usize::from(network.first()? & 0xf) * 4;
    let is_whole = network[0] >> 4 == 4 && header_len >= ipv4::HEADER_LEN;
    key_of(network, network.get(header_len..)).filter(|_| is_whole)
}

#[inline]
fn key_of(network: &[u8], transport: Option<&[u8]>) -> Option<Key> {
    let ip = ipv4::Header::new_checked(network).ok()?;
    let has_ports = matches!(ip.protocol(), ip_proto::TCP | ip_proto::UDP) && !ip.is_fragment();
    let ports = transport.filter(|_| has_ports).and_then(|transport| transport.first_chunk());
    let [a, b, c, d] = ports.copied().unwrap_or_default();
    let (sport, dport) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    Some(Key::new(ip.protocol().into(), FlowId::new(ip.src(), sport, ip.dst(), dport)))
}
