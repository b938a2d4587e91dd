//! Computes the TCP checksum of IPv6 packets.
//!
//! ```click
//! SetTCPChecksumIP6
//! ```
//!
//! Expects packets with a marked IPv6 header. TCP packets shorter than their length field, or than a TCP header, are
//! dropped; the first one is reported. Packets of other protocols pass unchanged, and so do those whose TCP header
//! does not directly follow the IPv6 header. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIP6Header(14) -> SetTCPChecksumIP6 -> Discard
//! ```
//!
//! # See also
//! SetTCPChecksum, SetICMPChecksumIP6, CheckIP6Header

use super::checksum::{Checksum, create};
use super::header::header;
use packet::Packet;
use router::Class;
use wire::{ip_proto, ipv6, tcp};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetTCPChecksumIP6", create::<Tcp>).doc(router::manual!("set_tcp_checksum_ip6.rs"));

struct Tcp;

impl Checksum for Tcp {
    const COMPLAINT: &'static str = "SetTCPChecksumIP6: bad lengths";
    const REASON: &'static str = "bad TCP length";

    /// Computes the checksum, if the packet has one; none if it is too short.
    #[inline]
    fn fill(packet: &mut Packet) -> Option<()> {
        let ip = header(packet)?;
        if ip.next_header() != ip_proto::TCP {
            return Some(());
        }
        let (src, dst, len) = (ip.src(), ip.dst(), usize::from(ip.payload_len()));
        let segment = packet.network_mut()?.get_mut(ipv6::HEADER_LEN..ipv6::HEADER_LEN + len)?;
        if segment.len() < tcp::HEADER_LEN {
            return None;
        }
        tcp::fill_checksum_v6(src, dst, segment).ok()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use std::net::Ipv6Addr;

    const CONFIG: &str = "Inject -> MarkIP6Header -> SetTCPChecksumIP6 -> Collect(0)";

    /// A packet whose header says `len` bytes of a protocol, with the last octet of its addresses 1 and 2.
    fn packet(protocol: u8, len: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0, 0, len, protocol, 64];
        for last in [1, 2] {
            packet.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
        }
        packet.extend(payload);
        packet
    }

    #[test]
    fn right_checksums() {
        let mut segment = [7; 25];
        segment[12] = 0x50;
        let flow = send(CONFIG, [packet(6, 25, &[&segment[..], &[9, 9]].concat()), packet(17, 25, &segment)]);
        let [tcp, udp] = &flow.data(0)[..] else { panic!("two packets") };
        let address = |last| Ipv6Addr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last]);
        assert_eq!(wire::tcp::verify_checksum_v6(address(1), address(2), &tcp[40..65]), Ok(()));
        assert_eq!((&tcp[65..], &udp[40..]), (&[9, 9][..], &segment[..]));
    }

    #[test]
    fn short_packets() {
        let flow = send(CONFIG, [packet(6, 21, &[0; 20]), packet(6, 19, &[0; 20]), vec![0x60; 30]]);
        assert_eq!(flow.drops().iter().map(|(_, count)| count).sum::<u64>(), 3);
        assert!(flow.data(0).is_empty());
        assert_eq!(flow.log().matches("bad lengths").count(), 1);
    }
}
