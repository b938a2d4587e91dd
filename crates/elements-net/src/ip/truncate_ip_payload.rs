//! Shortens the payloads of IP packets.
//!
//! ```click
//! TruncateIPPayload([LENGTH, TRANSPORT, KEYWORDS])
//! ```
//!
//! Cuts off everything beyond LENGTH bytes of payload. The payload begins after the TCP, UDP or ICMP header; for
//! other protocols, in later fragments, or if TRANSPORT is false, after the IP header. Packets without a marked IP header are cut to
//! LENGTH bytes. Lengths and checksums in headers are not changed.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `LENGTH` (integer, 0 to 65535, default 0): bytes of payload to keep.
//! - `TRANSPORT` (boolean, default true): whether to keep transport headers too.
//! - `EXTRA_LENGTH` (boolean, default true): whether to add the number of bytes cut off to the extra-length
//!   annotation.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true, FORCE_IP true) -> TruncateIPPayload -> ToDump(headers.pcap)
//! ```
//!
//! # See also
//! Truncate, EraseIPPayload

use elements_shared::packet_end::cut;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::{icmpv4, ip_proto, ipv4, tcp, udp};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("TruncateIPPayload", create).doc(router::manual!("truncate_ip_payload.rs"));

struct TruncateIpPayload {
    length: usize,
    transport: bool,
    annotate: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut length, mut transport, mut annotate) = (0u16, true, true);
    config
        .args()
        .positional("LENGTH", &mut length)
        .positional("TRANSPORT", &mut transport)
        .keyword("EXTRA_LENGTH", &mut annotate)
        .finish()?;
    Ok(Box::new(PerPacket(TruncateIpPayload { length: usize::from(length), transport, annotate })))
}

/// Bytes of the header of an ICMP message: longer where timestamps or a mask belong to it.
fn icmp_header_len(kind: u8) -> usize {
    match kind {
        icmpv4::kind::TIMESTAMP | icmpv4::kind::TIMESTAMP_REPLY => 20,
        icmpv4::kind::MASK_REQUEST | icmpv4::kind::MASK_REPLY => 12,
        _ => icmpv4::HEADER_LEN,
    }
}

/// Bytes of the IP header that a packet starts with, and of its transport header if `transport`; as much as they would be where they are
/// broken or cut off.
#[inline]
fn header_len(packet: &[u8], transport: bool) -> usize {
    let ip = ipv4::Header::new_checked(packet).ok().filter(|ip| ip.header_len() >= ipv4::HEADER_LEN);
    let Some(ip) = ip else { return ipv4::HEADER_LEN };
    let behind = packet.get(ip.header_len()..).unwrap_or_default();
    let more = match ip.protocol() {
        _ if !transport || !ip.is_first_fragment() => 0,
        ip_proto::TCP => {
            let len = tcp::Header::new_checked(behind).map_or(0, |header| header.header_len());
            len.max(tcp::HEADER_LEN)
        }
        ip_proto::UDP => udp::HEADER_LEN,
        ip_proto::ICMP if behind.len() >= icmpv4::HEADER_LEN => icmp_header_len(behind[0]),
        _ => 0,
    };
    ip.header_len() + more
}

impl Simple for TruncateIpPayload {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let surplus = match packet.network() {
            Some(network) => network.len().saturating_sub(header_len(network, self.transport) + self.length),
            None => packet.len().saturating_sub(self.length),
        };
        cut(packet, surplus.min(packet.len()), self.annotate);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send_one};
    use elements_testing::samples::{edited, udp, with_options};
    use packet::Anno;

    fn cut(packet: Vec<u8>, arguments: &str) -> (usize, u64) {
        let config = format!("Inject -> MarkIPHeader(0) -> TruncateIPPayload({arguments}) -> Collect(0)");
        let flow = send_one(&config, Sent::from(packet));
        (flow.only(0).len(), flow.only(0).anno(Anno::EXTRA_LENGTH))
    }

    #[test]
    fn headers_stay() {
        assert_eq!(cut(udp(100), ""), (28, 100));
        assert_eq!(cut(udp(100), "7"), (35, 93));
        assert_eq!(cut(edited(udp(100), |ip| ip.set_fragment_field(1)), "7"), (27, 101));
        assert_eq!(cut(udp(100), "7, false"), (27, 101));
        assert_eq!(cut(udp(100), "7, EXTRA_LENGTH false"), (35, 0));
        assert_eq!(cut(udp(5), "7"), (33, 0));
        assert_eq!(cut(with_options(&[1; 8], 100), "1"), (37, 99));
        let protocol = |number| edited(udp(100), |ip| ip.set_protocol(number));
        // Of TCP the length field of the sample says too little, of ICMP its type nothing special.
        assert_eq!([6, 1, 99].map(|number| cut(protocol(number), "").0), [40, 28, 20]);
    }

    #[test]
    fn other_packets() {
        let flow = send_one("Inject -> TruncateIPPayload(3) -> Collect(0)", b"abcdef".to_vec());
        assert_eq!(flow.data(0), [b"abc"]);
        assert_eq!(cut(vec![0x45, 0, 0], ""), (3, 0));
    }
}
