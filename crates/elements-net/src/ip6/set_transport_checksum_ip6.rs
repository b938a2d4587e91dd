//! Computes the TCP, UDP or ICMP checksum of IPv6 packets.
//!
//! ```click
//! SetTransportChecksumIP6
//! SetUDPChecksumIP6
//! ```
//!
//! Expects packets with a marked IPv6 header, optionally followed by extension headers. TCP, UDP and ICMP packets
//! shorter than their length field, or than their header, are dropped; the first one is reported. Packets of other
//! protocols, and later fragments, pass unchanged. They are FastClick's elements; both do the same.
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
//! FromDump(trace.pcap, STOP true) -> CheckIP6Header(OFFSET 14) -> SetTransportChecksumIP6 -> Discard
//! ```
//!
//! # See also
//! CheckIP6Header, SetTCPChecksumIP6, SetICMPChecksumIP6, SetUDPChecksum

use super::checksum::{Checksum, create};
use super::header::header;
use packet::Packet;
use router::Class;
use wire::{icmpv6, ip_proto, ipv6, tcp, udp};

/// The class.
pub(crate) const CLASS: Class = Class::new("SetTransportChecksumIP6", create::<Transport>)
    .doc(router::manual!("set_transport_checksum_ip6.rs"));

struct Transport;

impl Checksum for Transport {
    const COMPLAINT: &'static str = "SetTransportChecksumIP6: bad lengths";
    const REASON: &'static str = "bad transport length";

    /// Computes the checksum, if the packet has one; none if it is too short.
    #[inline]
    fn fill(packet: &mut Packet) -> Option<()> {
        let ip = header(packet)?;
        let (src, dst, end) = (ip.src(), ip.dst(), ipv6::HEADER_LEN + usize::from(ip.payload_len()));
        let upper = ipv6::upper_layer(packet.network()?).ok()?;
        let known = matches!(upper.protocol, ip_proto::TCP | ip_proto::UDP | ip_proto::ICMPV6);
        if !known || !upper.first_fragment {
            return Some(());
        }
        let message = packet.network_mut()?.get_mut(upper.offset..end)?;
        match upper.protocol {
            ip_proto::TCP => tcp::fill_checksum_v6(src, dst, message),
            ip_proto::UDP => udp::fill_checksum_v6(src, dst, message),
            _ => icmpv6::fill_checksum(src, dst, message),
        }
        .ok()
    }
}
