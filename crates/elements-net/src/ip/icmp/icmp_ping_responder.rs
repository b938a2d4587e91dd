//! Answers ICMP echo requests.
//!
//! ```click
//! ICMPPingResponder()
//! ```
//!
//! Turns echo requests, whose IP header must be marked, into replies: swaps the addresses, clears the flags and the
//! fragment offset, sets the TTL to 255, and corrects the checksums. Sets the destination address annotation and the
//! timestamp, and clears the paint. Source routes are not reversed. Other packets leave by output 1 if it is
//! connected and are dropped otherwise; so do fragments, also the first one, as only a whole request has an answer. An IPReassembler in
//! front puts them together.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Example
//! ```click
//! ... -> IPClassifier(dst host 1.0.0.1 and icmp type echo) -> ICMPPingResponder -> ...
//! ```
//!
//! # See also
//! ICMPPingSource, ICMPPingEncap, ICMPError, IPMirror, IPReassembler

use super::echo_reply::{FRONT, answer};
use elements_shared::verdict::fail;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv4Addr;
use wire::icmpv4::{self, kind};
use wire::{ip_proto, ipv4};

/// The class.
pub(crate) const CLASS: Class = Class::new("ICMPPingResponder", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("icmp_ping_responder.rs"));

struct IcmpPingResponder {
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(IcmpPingResponder { outputs: config.outputs() })))
}

/// Makes a packet that asks for an echo the reply, and says where it goes. `None`, and nothing changed, if it is none.
/// Checksums are updated, so that a wrong one stays wrong.
#[inline(always)] // one call less for every packet
fn reply(packet: &mut Packet) -> Option<Ipv4Addr> {
    // What the annotations say of the IP header's length is not asked: headers that are answered like this have no options.
    if let Some(front) = packet.network_array_mut::<FRONT>()
        && answer(front)
        && let Some(header) = front.first_chunk_mut()
    {
        let mut ip = ipv4::Header::new(header);
        let asker = ip.src();
        ip.swap_addresses();
        return Some(asker);
    }
    reply_unusual(packet)
}

/// The same for a packet with options, without all of its headers, whose checksum wraps around, whose reply may be all
/// zeros, or that asks for nothing.
#[cold]
#[inline(never)]
fn reply_unusual(packet: &mut Packet) -> Option<Ipv4Addr> {
    let header_len = packet.network_header_len()?;
    let (header, message) = packet.network_mut()?.split_at_mut_checked(header_len)?;
    let (mut ip, mut message) =
        (ipv4::Header::new_checked_mut(header).ok()?, icmpv4::Header::new_checked_mut(message).ok()?);
    if ip.is_fragment()
        || ip.protocol() != ip_proto::ICMP
        || ip.header_len() < ipv4::HEADER_LEN
        || message.kind() != kind::ECHO
    {
        return None;
    }
    let (asker, len) = (ip.src(), usize::from(ip.total_len()).saturating_sub(header_len));
    ip.renew(ip_proto::ICMP);
    ip.swap_addresses();
    message.answer_echo();
    if message.checksum() == 0 {
        // Of nothing but zeros, an updated checksum is not the computed one, and does not check.
        let message = packet.network_mut()?.get_mut(header_len..)?;
        if message.iter().take(len).all(|&byte| byte == 0) {
            icmpv4::Header::new_checked_mut(message).ok()?.set_checksum(0xffff);
        }
    }
    Some(asker)
}

impl Simple for IcmpPingResponder {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(asker) = reply(packet) else {
            return fail(self.outputs, "not an echo request");
        };
        packet.set_dst_ip(asker);
        packet.set_paint(0);
        packet.set_timestamp_ns(cx.now_ns());
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{send, send_one};
    use elements_testing::samples::{DST, SRC, edited, hostile, udp};
    use proptest::prelude::*;
    use wire::ipv4::{self, FLAG_MF};

    #[test]
    fn request_to_reply() {
        let config = "Inject -> ICMPPingEncap(18.26.4.1, 10.9.8.7, IDENTIFIER 9) -> SetIPDSCP(5) -> DecIPTTL -> Paint(3)
            -> ICMPPingResponder -> CheckIPHeader -> CheckICMPHeader -> Collect(0)";
        let flow = send_one(config, b"odd".to_vec());
        let packet = flow.only(0);
        assert_eq!((packet.dst_ip(), packet.paint()), (SRC, 0));
        let data = packet.data();
        assert_eq!((&data[12..16], &data[16..20]), (&DST.octets()[..], &SRC.octets()[..]));
        assert_eq!((&data[6..10], data[20], &data[28..]), (&[0, 0, 255, 1][..], 0, &b"odd"[..]));
        assert_eq!(data[24..28], [9u16.to_be_bytes(), 1u16.to_be_bytes()].concat());
        // No answer to answers.
        let config =
            "Inject -> ICMPPingEncap(1.1.1.1, 2.2.2.2) -> ICMPPingResponder -> r :: ICMPPingResponder
            -> Collect(0); r[1] -> Collect(1);";
        assert_eq!(send_one(config, vec![]).only(1).data()[20], 0);
    }

    /// Requests with a code, with IP options, and without anything but zeros are answered by another way.
    #[test]
    fn unusual_requests() {
        let respond = "ICMPPingResponder -> CheckIPHeader -> CheckICMPHeader -> Collect(0)";
        let config = format!("Inject -> ICMPIPEncap(18.26.4.1, 10.9.8.7, 8, 7) -> {respond}");
        assert_eq!(send_one(&config, b"odd".to_vec()).only(0).data()[20..22], [0, 0]);

        // `08 00 f7 ff`, and nothing else; with one more bit and its checksum.
        for (options, id) in [(4, 0), (4, 1), (0, 0), (0, 1)] {
            let message = [8, 0, 0xf7, 0xff - id, 0, 0, 0, id];
            let mut bytes = [&udp(0)[..20], &[1, 1, 1, 0][..options], &message].concat();
            let len = bytes.len() as u16;
            let mut ip = ipv4::Header::new_checked_mut(&mut bytes).unwrap();
            ip.set_version_and_header_len(20 + options);
            ip.set_total_len(len);
            ip.set_protocol(1);
            ipv4::fill_checksum(&mut bytes).unwrap();
            let flow = send_one(&format!("Inject -> CheckIPHeader -> {respond}"), bytes);
            let data = flow.only(0).data();
            assert_eq!((&data[16..20], data[20 + options]), (&SRC.octets()[..], 0));
        }
    }

    #[test]
    fn not_a_request() {
        let later = edited([&udp(0)[..20], &[8; 16]].concat(), |ip| {
            ip.set_protocol(1);
            ip.set_fragment_field(1);
        });
        // The first fragment begins like a request, but its data are not all here.
        let first = edited([&udp(0)[..20], &[8, 0, 0xf7, 0xff], &[0; 12]].concat(), |ip| {
            ip.set_protocol(1);
            ip.set_fragment_field(FLAG_MF);
        });
        let config = "Inject -> MarkIPHeader -> r :: ICMPPingResponder -> Collect(0); r[1] -> Collect(1);";
        let others = [udp(3), later, first];
        assert_eq!(send(config, others.clone()).data(1), others);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(packets in hostile()) {
            let n = packets.iter().filter(|data| !data.is_empty()).count();
            let config = "Inject -> MarkIPHeader -> r :: ICMPPingResponder -> Collect(0); r[1] -> Collect(1);";
            prop_assert_eq!(send(config, packets).seen.len(), n);
        }
    }
}
