//! What a packet says by itself: which flow it belongs to, and what is counted of it.

use flows::{V4Tuple, V6Tuple};
use packet::Packet;
use wire::{ip_proto, ipv4, ipv6};

/// UDP-Lite, whose header begins like UDP's.
const UDP_LITE: u8 = 136;
/// Where the flags stand in a TCP header.
const TCP_FLAGS: usize = 13;

/// The flow of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tuple {
    V4(V4Tuple),
    V6(V6Tuple),
}

/// What is counted of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Octets, IP header included, as that says.
    pub(super) octets: u32,
    pub(super) tcp_flags: u8,
    /// Type and code of an ICMP message.
    pub(super) icmp: u16,
}

/// Reads a packet with a marked network header; nothing if that is no IP header. Packets of protocols without ports, and fragments but the first,
/// have the ports 0.
#[inline]
pub(super) fn of(packet: &Packet) -> Option<(Tuple, Facts)> {
    let network = packet.network()?;
    match network.first()? >> 4 {
        4 => of_v4(network),
        6 => of_v6(network),
        _ => None,
    }
}

#[inline]
fn of_v4(network: &[u8]) -> Option<(Tuple, Facts)> {
    let ip = ipv4::Header::new_checked(network).ok()?;
    let transport = if ip.is_first_fragment() { network.get(ip.header_len()..) } else { None };
    let (ports, facts) = look(ip.protocol(), ip.total_len().into(), transport.unwrap_or_default());
    Some((Tuple::V4(V4Tuple::new((ip.src(), ip.dst()), ports, ip.protocol(), 0)), facts))
}

#[inline]
fn of_v6(network: &[u8]) -> Option<(Tuple, Facts)> {
    let ip = ipv6::Header::new_checked(network).ok()?;
    // Where the extension headers end within one, the fixed header has the last word.
    let (protocol, transport) = match ipv6::upper_layer(network) {
        Ok(upper) if upper.first_fragment => (upper.protocol, network.get(upper.offset..)),
        Ok(upper) => (upper.protocol, None),
        Err(_) => (ip.next_header(), None),
    };
    let octets = ipv6::HEADER_LEN as u32 + u32::from(ip.payload_len());
    let (ports, facts) = look(protocol, octets, transport.unwrap_or_default());
    Some((Tuple::V6(V6Tuple::new((ip.src(), ip.dst()), ports, protocol, 0)), facts))
}

/// Ports and facts of a packet whose transport header begins `transport`.
#[inline]
fn look(protocol: u8, octets: u32, transport: &[u8]) -> ((u16, u16), Facts) {
    let words = || match transport.first_chunk() {
        Some(&[a, b, c, d]) => (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])),
        None => (0, 0),
    };
    let facts = Facts { octets, ..Facts::default() };
    match protocol {
        ip_proto::TCP => {
            (words(), Facts { tcp_flags: transport.get(TCP_FLAGS).copied().unwrap_or(0), ..facts })
        }
        ip_proto::UDP | ip_proto::SCTP | ip_proto::DCCP | UDP_LITE => (words(), facts),
        ip_proto::ICMP | ip_proto::ICMPV6 => ((0, 0), Facts { icmp: words().0, ..facts }),
        _ => ((0, 0), facts),
    }
}
