//! What packets carry.

use packet::Packet;
use wire::{ip_proto, ipv4, tcp, udp};

/// What is behind the headers of a packet, if it is of TCP or UDP.
pub(super) fn payload(packet: &Packet) -> Option<&[u8]> {
    let (network, transport) = (packet.network()?, packet.transport()?);
    let ip = ipv4::Header::new_checked(network).ok().filter(|ip| !ip.is_fragment())?;
    let header = match ip.protocol() {
        ip_proto::TCP => tcp::Header::new_checked(transport).ok()?.header_len(),
        ip_proto::UDP => udp::HEADER_LEN,
        _ => return None,
    };
    let len = usize::from(ip.total_len()).checked_sub(ip.header_len())?.min(transport.len());
    transport.get(header..len)
}

/// The same, and all of other packets.
pub(super) fn content(packet: &Packet) -> &[u8] {
    payload(packet).unwrap_or_else(|| packet.data())
}
