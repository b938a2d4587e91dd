//! Computes the ICMP checksum of IPv6 packets.
//!
//! ```click
//! SetICMPChecksumIP6
//! ```
//!
//! Expects ICMP packets with a marked IPv6 header, optionally followed by extension headers. Other packets, later
//! fragments, and packets shorter than their length field are dropped; the first one is reported. It is FastClick's
//! element.
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
//! FromDump(trace.pcap, STOP true) -> MarkIP6Header(14) -> SetICMPChecksumIP6 -> Discard
//! ```
//!
//! # See also
//! SetTCPChecksumIP6, SetICMPChecksum, CheckIP6Header

use super::checksum::{Checksum, create};
use super::header::header;
use packet::Packet;
use router::Class;
use wire::{icmpv6, ip_proto, ipv6};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetICMPChecksumIP6", create::<Icmp>).doc(router::manual!("set_icmp_checksum_ip6.rs"));

struct Icmp;

impl Checksum for Icmp {
    const COMPLAINT: &'static str = "SetICMPChecksumIP6: cannot find ICMPv6 header";
    const REASON: &'static str = "no ICMPv6 header";

    /// Computes the checksum; none if there is no ICMP message.
    #[inline]
    fn fill(packet: &mut Packet) -> Option<()> {
        let ip = header(packet)?;
        let (src, dst, end) = (ip.src(), ip.dst(), ipv6::HEADER_LEN + usize::from(ip.payload_len()));
        let upper = ipv6::upper_layer(packet.network()?).ok()?;
        if upper.protocol != ip_proto::ICMPV6 || !upper.first_fragment {
            return None;
        }
        icmpv6::fill_checksum(src, dst, packet.network_mut()?.get_mut(upper.offset..end)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use std::net::Ipv6Addr;

    const CONFIG: &str = "Inject -> MarkIP6Header -> SetICMPChecksumIP6 -> Collect(0)";

    /// A packet whose header says `len` bytes of a protocol, with the last octet of its addresses 1 and 2.
    fn packet(protocol: u8, len: u8, payload: &[u8]) -> Vec<u8> {
        let address = |last: u8| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last.into()).octets();
        [&[0x60, 0, 0, 0, 0, len, protocol, 64][..], &address(1), &address(2), payload].concat()
    }

    /// Directly behind the IPv6 header, with bytes that do not count, and behind destination options.
    #[test]
    fn right_checksums() {
        let echo = [128, 0, 1, 2, 3, 4, 5, 6, 7];
        let options = [58, 0, 1, 4, 0, 0, 0, 0];
        let packets =
            [packet(58, 9, &[&echo[..], &[9]].concat()), packet(60, 17, &[&options[..], &echo].concat())];
        let flow = send(CONFIG, packets);
        let address = |last| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last);
        for (data, message) in flow.data(0).iter().zip([40..49, 48..57]) {
            assert_eq!(wire::icmpv6::verify_checksum(address(1), address(2), &data[message]), Ok(()));
        }
        assert_eq!((flow.data(0).len(), flow.data(0)[0][49]), (2, 9));
    }

    #[test]
    fn other_packets() {
        let later = [58, 0, 0, 8, 0, 0, 0, 1];
        let packets = [packet(17, 8, &[0; 8]), packet(58, 9, &[0; 8]), packet(44, 8, &later), vec![0x60; 30]];
        let flow = send(CONFIG, packets);
        assert_eq!(flow.drops(), [("no ICMPv6 header", 4)]);
        assert_eq!(flow.log().matches("cannot find ICMPv6 header").count(), 1);
    }
}
