//! Translates IPv4 packets to IPv6.
//!
//! ```click
//! ProtocolTranslator46
//! ```
//!
//! Expects packets that start with an IPv4 header. Translates them according to RFC 7915. Addresses become
//! IPv4-mapped (`::ffff:1.2.3.4`); use AddressTranslator or a route to translate these further. Type of service and
//! TTL are kept, options are left out, fragments get a fragment header, TCP and UDP checksums are updated, and UDP
//! packets without a checksum get one. ICMP echo messages and errors are translated, including the quoted packets.
//! The new header is marked and the IPv6 destination annotation set.
//!
//! Packets that cannot be translated are dropped: malformed packets, source routes, other ICMP messages, fragmented
//! ICMP. Click follows an older RFC; unlike there, the TTL is not changed, and ICMP errors are translated correctly.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap) -> Strip(14) -> CheckIPHeader -> ProtocolTranslator46 -> CheckIP6Header -> Discard
//! ```
//!
//! # See also
//! ProtocolTranslator64, AddressTranslator

use elements_shared::header_translation::{Change, Refusal, begin4, quoted4, to_ipv6};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("ProtocolTranslator46", create)
    .processing("h/h")
    .doc(router::manual!("protocol_translator46.rs"));

struct ProtocolTranslator46;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(ProtocolTranslator46)))
}

impl Simple for ProtocolTranslator46 {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        translate(packet).map_or_else(Verdict::Drop, |()| Verdict::Pass)
    }
}

fn translate(packet: &mut Packet) -> Result<(), Refusal> {
    let mapped =
        |v4: [Ipv4Addr; 2]| Change { v4, v6: v4.map(|address| address.to_ipv6_mapped()), ports: None };
    let head = begin4(packet)?;
    let quoted = quoted4(packet, &head)?.map(|(inner, _)| mapped(inner.ends));
    to_ipv6(packet, &head, &mapped(head.ends), quoted.as_ref())
}

#[cfg(test)]
mod tests {
    use crate::testing::{send, send_one};
    use proptest::prelude::*;
    use wire::{icmpv6, ipv4, ipv6, tcp, udp};

    const CONFIG: &str = "Inject -> ProtocolTranslator46 -> CheckIP6Header -> Collect(0)";
    const BACK: &str =
        "Inject -> ProtocolTranslator46 -> ProtocolTranslator64 -> CheckIPHeader -> Collect(0)";

    /// An IPv4 packet with right checksums of its header and its message.
    fn ipv4(protocol: u8, field: u16, body: &[u8]) -> Vec<u8> {
        let mut data = [&[0; 20][..], body].concat();
        let len = data.len() as u16;
        let mut ip = ipv4::Header::new_checked_mut(&mut data).unwrap();
        ip.set_version_and_header_len(20);
        ip.set_tos(0xb8);
        ip.set_total_len(len);
        ip.set_id(0x1234);
        ip.set_fragment_field(field);
        ip.set_ttl(33);
        ip.set_protocol(protocol);
        ip.set_src([10, 0, 0, 1].into());
        ip.set_dst([192, 0, 2, 7].into());
        let (src, dst) = (ip.src(), ip.dst());
        ip.fill_checksum();
        match protocol {
            6 => tcp::fill_checksum_v4(src, dst, &mut data[20..]).unwrap(),
            17 => udp::fill_checksum_v4(src, dst, &mut data[20..]).unwrap(),
            1 => {
                let sum = wire::checksum::checksum(&data[20..]).to_be_bytes();
                data[22..24].copy_from_slice(&sum);
            }
            _ => {}
        }
        data
    }

    fn datagram(payload: &[u8]) -> Vec<u8> {
        [&[0x13, 0x88, 0, 53, 0, 8 + payload.len() as u8, 0, 0][..], payload].concat()
    }

    fn segment(payload: &[u8]) -> Vec<u8> {
        [&[0x13, 0x88, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0][..], payload].concat()
    }

    #[test]
    fn the_header_becomes_that_of_ipv6() {
        let flow = send_one(CONFIG, ipv4(17, 0, &datagram(b"abc")));
        let data = flow.only(0).data();
        let ip = ipv6::Header::new_checked(data).unwrap();
        assert_eq!(
            (ip.traffic_class(), ip.payload_len(), ip.next_header(), ip.hop_limit()),
            (0xb8, 11, 17, 33)
        );
        assert_eq!(
            (ip.src().to_string(), ip.dst().to_string()),
            ("::ffff:10.0.0.1".into(), "::ffff:192.0.2.7".into())
        );
        assert_eq!(udp::verify_checksum_v6(ip.src(), ip.dst(), &data[40..]), Ok(()));
        let fragment = send_one(CONFIG, ipv4(17, 0x2003, &[7; 24]));
        assert_eq!(fragment.only(0).data()[40..48], [17, 0, 0, 25, 0, 0, 0x12, 0x34]);
        let mut unsummed = ipv4(17, 0, &datagram(b"xy"));
        unsummed[26..28].fill(0);
        let flow = send_one(CONFIG, unsummed);
        let data = flow.only(0).data();
        let ip = ipv6::Header::new_checked(data).unwrap();
        assert_eq!(udp::verify_checksum_v6(ip.src(), ip.dst(), &data[40..]), Ok(()));
    }

    /// The packet inside an error is translated, too; an echo is the other version's.
    #[test]
    fn errors_are_translated_with_what_they_quote() {
        let inside = ipv4(17, 0, &datagram(b"abcd"));
        for (head, expected) in [
            ([3, 4, 0, 0, 0, 0, 5, 0], [2, 0, 0, 0, 5, 0x14]),
            ([3, 4, 0, 0, 0, 0, 0, 0], [2, 0, 0, 0, 5, 0]),
            ([3, 3, 0, 0, 0, 0, 0, 0], [1, 4, 0, 0, 0, 0]),
            ([3, 2, 0, 0, 0, 0, 0, 0], [4, 1, 0, 0, 0, 6]),
            ([11, 1, 0, 0, 0, 0, 0, 0], [3, 1, 0, 0, 0, 0]),
            ([12, 0, 0, 0, 9, 0, 0, 0], [4, 0, 0, 0, 0, 6]),
        ] {
            let flow = send_one(CONFIG, ipv4(1, 0, &[&head[..], &inside].concat()));
            let data = flow.only(0).data();
            let ip = ipv6::Header::new_checked(data).unwrap();
            assert_eq!(icmpv6::verify_checksum(ip.src(), ip.dst(), &data[40..]), Ok(()));
            assert_eq!([&data[40..42], &data[44..48]].concat(), expected);
            assert_eq!(data[48..], *send_one(CONFIG, inside.clone()).only(0).data());
        }
        let flow = send_one(CONFIG, ipv4(1, 0, b"\x08\0\0\0abcdefg"));
        assert_eq!((flow.only(0).data()[40], &flow.only(0).data()[44..]), (128, &b"abcdefg"[..]));
        let mut unsummed = ipv4(17, 0x2000, &[0; 16]);
        unsummed[26..28].fill(0);
        let bad = [ipv4(1, 0, &[5; 40]), ipv4(1, 0x2000, &[8; 16]), unsummed, vec![0x45; 19]];
        assert_eq!(send(CONFIG, bad).seen.len(), 0);
    }

    /// The quoted echo has the checksum that its translation had when it was sent, also if its end is cut off.
    #[test]
    fn a_quoted_echo_keeps_a_right_checksum() {
        for (kind, len) in [(8, 28), (0, 28), (8, 17), (8, 4)] {
            let whole =
                ipv4(1, 0, &[&[kind, 0, 0, 0, 1, 2, 3, 4][..], b"twenty-eight bytes of data.."].concat());
            let translated = send_one(CONFIG, whole.clone()).only(0).data().to_vec();
            let error = ipv4(1, 0, &[&[11, 0, 0, 0, 0, 0, 0, 0][..], &whole[..20 + len]].concat());
            assert_eq!(send_one(CONFIG, error.clone()).only(0).data()[48..], translated[..40 + len]);
            assert_eq!(send_one(BACK, error.clone()).only(0).data()[48..], error[48..]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// There and back: all but the identification of a whole packet is as before.
        #[test]
        fn there_and_back(data in prop::collection::vec(any::<u8>(), 0..200), kind in 0..4, field in prop::sample::select(vec![0, 0x2000, 0x2005, 0x0005])) {
            let fragmented = field != 0;
            let packet = match kind {
                0 if !fragmented => ipv4(6, 0, &segment(&data)),
                1 if !fragmented => ipv4(17, 0, &datagram(&data)),
                2 if !fragmented => ipv4(1, 0, &[&[8, 0, 0, 0, 1, 2, 3, 4][..], &data].concat()),
                _ => ipv4(89, field, &data),
            };
            let flow = send_one(BACK, packet.clone());
            let back = flow.only(0).data().to_vec();
            prop_assert_eq!(&back[12..], &packet[12..]);
            prop_assert_eq!(&back[..4], &packet[..4]);
            prop_assert_eq!(&back[6..10], &packet[6..10]);
            prop_assert!(!fragmented || back[4..6] == packet[4..6]);
        }

        #[test]
        fn whatever_comes(packets in elements_testing::ip6_samples::hostile(), inner in prop::collection::vec(any::<u8>(), 0..60), kind in any::<u8>()) {
            send("Inject -> ProtocolTranslator64 -> CheckIPHeader -> Collect(0)", packets);
            send(CONFIG, [ipv4(1, 0, &[&[kind, 0, 0, 0, 0, 0, 0, 0][..], &inner].concat()), inner]);
        }
    }
}
