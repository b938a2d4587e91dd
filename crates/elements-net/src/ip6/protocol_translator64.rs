//! Translates IPv6 packets to IPv4.
//!
//! ```click
//! ProtocolTranslator64
//! ```
//!
//! Expects packets that start with an IPv6 header with IPv4-mapped addresses (`::ffff:1.2.3.4`), as produced by
//! AddressTranslator. Translates them according to RFC 7915: traffic class and hop limit are kept, extension headers
//! are left out, fragments stay fragments, and TCP and UDP checksums are updated. Packets of up to 1,260 bytes get a
//! random identification and may be fragmented on their path; longer ones may not. ICMPv6 echo messages and errors
//! are translated, including the quoted packets. The new header is marked and the destination annotation set.
//!
//! Packets that cannot be translated are dropped: malformed packets, other addresses, routing headers with segments
//! left, other ICMPv6 messages, fragmented ICMPv6. Click follows an older RFC.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap) -> Strip(14) -> CheckIP6Header -> ProtocolTranslator64 -> CheckIPHeader -> Discard
//! ```
//!
//! # See also
//! ProtocolTranslator46, AddressTranslator

use elements_shared::header_translation::{Change, Refusal, begin6, quoted6, to_ipv4};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv6Addr;
use wire::ipv4;

/// The class.
pub(crate) const CLASS: Class = Class::new("ProtocolTranslator64", create)
    .processing("h/h")
    .doc(router::manual!("protocol_translator64.rs"));

/// The longest IPv4 packet that may be fragmented on its path. Longer ones need no identification.
const MAY_FRAGMENT: usize = 1260;

struct ProtocolTranslator64;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(ProtocolTranslator64)))
}

impl Simple for ProtocolTranslator64 {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let id = cx.unguessable().u16();
        translate(packet, id).map_or_else(Verdict::Drop, |()| Verdict::Pass)
    }
}

fn translate(packet: &mut Packet, id: u16) -> Result<(), Refusal> {
    let head = begin6(packet)?;
    let change = unmapped(head.ends)?;
    let quoted = quoted6(packet, &head)?.map(|(inner, _)| unmapped(inner.ends)).transpose()?;
    let payload = packet.len().saturating_sub(head.header_len);
    let id = if ipv4::HEADER_LEN + payload <= MAY_FRAGMENT { id } else { 0 };
    to_ipv4(packet, &head, &change, quoted.as_ref(), id)
}

/// What ends become that are IPv4-mapped.
fn unmapped(v6: [Ipv6Addr; 2]) -> Result<Change, Refusal> {
    let [src, dst] = v6.map(|address| address.to_ipv4_mapped().ok_or("no IPv4-mapped address"));
    Ok(Change { v4: [src?, dst?], v6, ports: None })
}

#[cfg(test)]
mod tests {
    use crate::testing::{send, send_one};
    use elements_testing::ip6_samples::{with_addresses, with_body};
    use wire::{icmpv6, ipv4};

    const CONFIG: &str = "Inject -> ProtocolTranslator64 -> CheckIPHeader -> Collect(0)";

    fn packet(next_header: u8, body: &[u8]) -> Vec<u8> {
        with_addresses(with_body(next_header, body), "::ffff:10.0.0.1", "::ffff:192.0.2.7")
    }

    #[test]
    fn the_header_becomes_that_of_ipv4() {
        let options = [&[17, 0, 1, 4, 0, 0, 0, 0][..], &[7; 9]].concat();
        let flow = send_one(CONFIG, packet(60, &options));
        let ip = ipv4::Header::new_checked(flow.only(0).data()).unwrap();
        assert_eq!((ip.total_len(), ip.ttl(), ip.protocol(), ip.dont_fragment()), (29, 64, 17, false));
        assert_eq!((ip.src().octets(), ip.dst().octets()), ([10, 0, 0, 1], [192, 0, 2, 7]));
        let flow = send_one(CONFIG, packet(89, &[7; 1300]));
        assert_eq!(flow.only(0).data()[4..8], [0, 0, 0x40, 0]);
        let fragment =
            send_one(CONFIG, packet(44, &[&[89, 0, 0, 17, 9, 9, 0x12, 0x34][..], &[7; 8]].concat()));
        assert_eq!(fragment.only(0).data()[4..8], [0x12, 0x34, 0x20, 2]);
        let routed = packet(43, &[&[17, 0, 0, 1, 0, 0, 0, 0][..], &[7; 8]].concat());
        let flow = send(CONFIG, [routed, with_body(17, &[7; 8])]);
        assert_eq!(flow.drops(), [("no IPv4-mapped address", 1), ("source route", 1)]);
    }

    /// An echo that has a fragment header and is whole (RFC 6946).
    #[test]
    fn an_atomic_fragment_is_no_part() {
        let mut echo = [128, 0, 0, 0, 0, 1, 0, 2, 7, 7];
        let ends = ["::ffff:10.0.0.1", "::ffff:192.0.2.7"].map(|text| text.parse().unwrap());
        icmpv6::fill_checksum(ends[0], ends[1], &mut echo).unwrap();
        let fragment = |field: u8| packet(44, &[&[58, 0, 0, field, 9, 9, 0x12, 0x34][..], &echo].concat());
        let flow = send(CONFIG, [fragment(0), fragment(1)]);
        let message = &flow.only(0).data()[20..];
        assert!(message[0] == 8 && wire::checksum::verify(message));
        assert_eq!(flow.drops(), [("fragmented ICMP", 1)]);
    }

    #[test]
    fn errors_are_translated_with_what_they_quote() {
        let inside = packet(17, &[1, 2, 3, 4, 0, 8, 0, 0]);
        for (head, expected) in [
            ([2, 0, 0, 0, 0, 0, 5, 0x14], [3, 4, 0, 0, 5, 0]),
            ([1, 4, 0, 0, 0, 0, 0, 0], [3, 3, 0, 0, 0, 0]),
            ([4, 1, 0, 0, 0, 0, 0, 6], [3, 2, 0, 0, 0, 0]),
            ([4, 0, 0, 0, 0, 0, 0, 7], [12, 0, 8, 0, 0, 0]),
        ] {
            let mut message = [&head[..], &inside].concat();
            let address = |text: &str| text.parse().unwrap();
            icmpv6::fill_checksum(address("::ffff:10.0.0.1"), address("::ffff:192.0.2.7"), &mut message)
                .unwrap();
            let flow = send_one(CONFIG, packet(58, &message));
            let data = flow.only(0).data();
            assert!(wire::checksum::verify(&data[20..]));
            assert_eq!([&data[20..22], &data[24..28]].concat(), expected);
            let ip = ipv4::Header::new_checked(&data[28..]).unwrap();
            assert_eq!((ip.protocol(), ip.total_len(), ip.dst().octets()), (17, 28, [192, 0, 2, 7]));
        }
    }
}
