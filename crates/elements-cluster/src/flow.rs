//! Telling flows apart.

use wire::{ip_proto, ipv4, ipv6};

/// A hash of a packet's flow: addresses, protocol and, for TCP and UDP, ports. All fragments of a datagram have the same,
/// without ports, since only the first has them. Zero for what is no IP packet.
#[inline]
pub fn flow_hash(packet: &[u8]) -> u64 {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) => ipv4_flow(packet),
        Some(6) => ipv6_flow(packet),
        _ => 0,
    }
}

fn ipv4_flow(packet: &[u8]) -> u64 {
    let Ok(header) = ipv4::Header::new_checked(packet) else { return 0 };
    let ends = u64::from(u32::from(header.src())) << 32 | u64::from(u32::from(header.dst()));
    let ports = if header.is_fragment() { 0 } else { ports(header.protocol(), packet, header.header_len()) };
    mix(mix(ends) ^ ports ^ u64::from(header.protocol()) << 32)
}

fn ipv6_flow(packet: &[u8]) -> u64 {
    let Ok(header) = ipv6::Header::new_checked(packet) else { return 0 };
    let (src, dst) = (u128::from(header.src()), u128::from(header.dst()));
    let words = [src as u64, (src >> 64) as u64, dst as u64, (dst >> 64) as u64];
    let ends = words.into_iter().fold(0, |hash, word| mix(hash ^ word));
    let ports = ports(header.next_header(), packet, ipv6::HEADER_LEN);
    mix(ends ^ ports ^ u64::from(header.next_header()) << 32)
}

/// Both ports, where the protocol has them.
#[inline]
fn ports(protocol: u8, packet: &[u8], at: usize) -> u64 {
    match packet.get(at..at + 4) {
        Some(&[a, b, c, d]) if protocol == ip_proto::TCP || protocol == ip_proto::UDP => {
            u64::from(u32::from_be_bytes([a, b, c, d]))
        }
        _ => 0,
    }
}

#[inline]
fn mix(value: u64) -> u64 {
    let product = u128::from(value ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn udp(port: u16, fragment: u16) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&40u16.to_be_bytes());
        packet[6..8].copy_from_slice(&fragment.to_be_bytes());
        packet[9] = ip_proto::UDP;
        packet[16] = 10;
        packet[20..22].copy_from_slice(&port.to_be_bytes());
        packet
    }

    /// Ports tell flows apart, but not those of fragments, whose later ones have none.
    #[test]
    fn ports_and_fragments() {
        assert_ne!(flow_hash(&udp(1, 0)), flow_hash(&udp(2, 0)));
        assert_eq!(flow_hash(&udp(1, 0x2000)), flow_hash(&udp(2, 0x0005)));
        let spread: std::collections::HashSet<_> =
            (0..1_000).map(|port| flow_hash(&udp(port, 0)) & 0xff).collect();
        assert!(spread.len() > 240);
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_hash(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            flow_hash(&bytes);
        }
    }
}
