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

/// What is counted of a packet, or of several of a flow in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Octets, IP header included, as that says.
    pub(super) octets: u32,
    pub(super) packets: u16,
    /// Type and code of an ICMP message.
    pub(super) icmp: u16,
    pub(super) tcp_flags: u8,
}

/// Reads what most packets are, with a single look at their length: the header of IPv4 without options, no later fragment, and one of TCP or UDP.
#[inline(always)] // where it is used it is most of what there is to do
pub(super) fn usual_v4(packet: &Packet) -> Option<(V4Tuple, Facts)> {
    const TRANSPORT: usize = ipv4::HEADER_LEN;
    let (bytes, len) = packet.wide_network::<{ TRANSPORT + TCP_FLAGS + 1 }>(TRANSPORT as u32 + 4)?;
    let ip = ipv4::Header::new_checked(&bytes[..]).ok()?;
    if bytes[0] != 0x45 || !ip.is_first_fragment() {
        return None;
    }
    let protocol = ip.protocol();
    let tcp_flags = match protocol {
        ip_proto::UDP => 0,
        ip_proto::TCP if len >= bytes.len() => bytes[TRANSPORT + TCP_FLAGS],
        _ => return None,
    };
    let words = [bytes[TRANSPORT], bytes[TRANSPORT + 1], bytes[TRANSPORT + 2], bytes[TRANSPORT + 3]];
    let words = u32::from_be_bytes(words);
    let key = V4Tuple::new((ip.src(), ip.dst()), ((words >> 16) as u16, words as u16), protocol, 0);
    Some((key, Facts { octets: ip.total_len().into(), packets: 1, icmp: 0, tcp_flags }))
}

/// Reads a packet with a marked network header of which [`usual_v4`] knows nothing; nothing if that is no IP header. Packets of protocols
/// without ports, and fragments but the first, have the ports 0.
#[inline(never)]
pub(super) fn but_usual_v4(packet: &Packet) -> Option<(Tuple, Facts)> {
    usual_v6(packet).or_else(|| unusual(packet.network()?))
}

/// What [`usual_v4`] does, for IPv6 without extension headers.
#[inline]
fn usual_v6(packet: &Packet) -> Option<(Tuple, Facts)> {
    const TRANSPORT: usize = ipv6::HEADER_LEN;
    let (bytes, len) = packet.wide_network::<{ TRANSPORT + TCP_FLAGS + 1 }>(TRANSPORT as u32 + 4)?;
    let ip = ipv6::Header::new_checked(&bytes[..]).ok()?;
    let protocol = ip.next_header();
    if bytes[0] >> 4 != 6 || !matches!(protocol, ip_proto::TCP | ip_proto::UDP | ip_proto::ICMPV6) {
        return None;
    }
    let flags = if len < bytes.len() { 0 } else { bytes[TRANSPORT + TCP_FLAGS] };
    let words = [bytes[TRANSPORT], bytes[TRANSPORT + 1], bytes[TRANSPORT + 2], bytes[TRANSPORT + 3]];
    let octets = TRANSPORT as u32 + u32::from(ip.payload_len());
    let (ports, facts) = look(protocol, octets, u32::from_be_bytes(words), flags);
    Some((Tuple::V6(V6Tuple::new((ip.src(), ip.dst()), ports, protocol, 0)), facts))
}

/// Reads any packet, from its network header on.
#[inline(never)]
fn unusual(network: &[u8]) -> Option<(Tuple, Facts)> {
    match network.first()? >> 4 {
        4 => of_v4(network),
        6 => of_v6(network),
        _ => None,
    }
}

fn of_v4(network: &[u8]) -> Option<(Tuple, Facts)> {
    let ip = ipv4::Header::new_checked(network).ok()?;
    let transport = if ip.is_first_fragment() { network.get(ip.header_len()..) } else { None };
    let (words, flags) = begin(transport.unwrap_or_default());
    let (ports, facts) = look(ip.protocol(), ip.total_len().into(), words, flags);
    Some((Tuple::V4(V4Tuple::new((ip.src(), ip.dst()), ports, ip.protocol(), 0)), facts))
}

fn of_v6(network: &[u8]) -> Option<(Tuple, Facts)> {
    let ip = ipv6::Header::new_checked(network).ok()?;
    // Where the extension headers end within one, the fixed header has the last word.
    let (protocol, transport) = match ipv6::upper_layer(network) {
        Ok(upper) if upper.first_fragment => (upper.protocol, network.get(upper.offset..)),
        Ok(upper) => (upper.protocol, None),
        Err(_) => (ip.next_header(), None),
    };
    let octets = ipv6::HEADER_LEN as u32 + u32::from(ip.payload_len());
    let (words, flags) = begin(transport.unwrap_or_default());
    let (ports, facts) = look(protocol, octets, words, flags);
    Some((Tuple::V6(V6Tuple::new((ip.src(), ip.dst()), ports, protocol, 0)), facts))
}

/// The first four bytes of a transport header, and the flags that it has if it is TCP's; 0 where it is shorter.
fn begin(transport: &[u8]) -> (u32, u8) {
    let words = transport.first_chunk().map_or(0, |&words| u32::from_be_bytes(words));
    (words, transport.get(TCP_FLAGS).copied().unwrap_or(0))
}

/// Ports and facts of a packet whose transport header begins with `words`, and has `flags` where TCP's has its own.
#[inline]
fn look(protocol: u8, octets: u32, words: u32, flags: u8) -> ((u16, u16), Facts) {
    let ports = ((words >> 16) as u16, words as u16);
    let facts = Facts { octets, packets: 1, ..Facts::default() };
    match protocol {
        ip_proto::TCP => (ports, Facts { tcp_flags: flags, ..facts }),
        ip_proto::UDP | ip_proto::SCTP | ip_proto::DCCP | UDP_LITE => (ports, facts),
        ip_proto::ICMP | ip_proto::ICMPV6 => ((0, 0), Facts { icmp: ports.0, ..facts }),
        _ => ((0, 0), facts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elements_testing::ip6_samples;
    use packet::Pool;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        /// What is read in one look is what a look at each field reads, however short a packet is and whatever its buffer has behind
        /// it.
        #[test]
        fn as_field_by_field(mut data in prop::collection::vec(any::<u8>(), 1..80), first in 0usize..4, protocol in 0usize..8, v6 in ip6_samples::hostile()) {
            let protocols = [6, 17, 1, 58, 132, 33, 136, 0];
            data[0] = [0x45, 0x46, 0x60, data[0]][first];
            if data.len() > 9 && protocol < 7 {
                // Where IPv6 has its next header, IPv4 says which fragment it is.
                data[if first == 2 { 6 } else { 9 }] = protocols[protocol];
                if first < 2 && data[1] % 4 > 0 {
                    (data[6], data[7]) = (data[6] & 0xe0, 0);
                }
            }
            for bytes in v6.into_iter().chain([data.clone(), data]).filter(|bytes| !bytes.is_empty()) {
                let mut packet = Pool::new().packet(&[&bytes[..], &[0xff; 80]].concat()).unwrap();
                prop_assert!(packet.take(80));
                packet.set_network_alone(0);
                let v4 = usual_v4(&packet).map(|(key, facts)| (Tuple::V4(key), facts));
                prop_assert_eq!(v4.or_else(|| but_usual_v4(&packet)), unusual(&bytes));
            }
        }
    }
}
