//! Answers ICMPv6 echo requests.
//!
//! ```click
//! ICMP6PingResponder()
//! ```
//!
//! The IPv6 counterpart of ICMPPingResponder (RFC 4443, section 4.2): turns echo requests, whose IPv6 header must be
//! marked, into replies. It swaps the addresses, sets the hop limit to 255, clears the flow label, updates the
//! checksum incrementally (a wrong one stays wrong), sets the destination annotation and the timestamp, and clears
//! the paint. In a reply to a multicast request the fix-IP-source annotation is set, for FixIP6Src.
//!
//! Requests that are fragments, or have other extension headers, are not answered; nor are those whose sender is not
//! a single host. These and other packets leave by output 1 if it is connected and are dropped otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Example
//! ```click
//! Idle -> CheckIP6Header -> ICMP6PingResponder -> FixIP6Src(2001:db8::1) -> Discard
//! ```
//!
//! # See also
//! ICMPPingResponder, FixIP6Src, ICMP6Error, IP6NDAdvertiser

use super::header::{header, header_mut};
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv6Addr;
use wire::icmpv6::{self, kind};
use wire::ipv6::HEADER_LEN;
use wire::{checksum, ip_proto};

/// The class.
pub(crate) const CLASS: Class = Class::new("ICMP6PingResponder", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("icmp6_ping_responder.rs"));

/// Hop limit of replies.
const HOP_LIMIT: u8 = 255;

struct Icmp6PingResponder {
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(Icmp6PingResponder { outputs: config.outputs() })))
}

/// Whether a packet asks for an echo that a host would get.
#[inline(always)]
fn is_request(packet: &Packet) -> bool {
    let message =
        packet.network().and_then(|bytes| icmpv6::Header::new_checked(bytes.get(HEADER_LEN..)?).ok());
    header(packet).zip(message).is_some_and(|(ip, message)| {
        let echo = (message.kind(), message.code()) == (kind::ECHO, 0);
        ip.version() == 6 && ip.next_header() == ip_proto::ICMPV6 && echo && is_host(ip.src())
    })
}

/// Whether a host can have this address. Asked last: nearly all packets are no requests.
fn is_host(address: Ipv6Addr) -> bool {
    !address.is_multicast() && !address.is_unspecified() && !address.is_loopback()
}

/// Makes the reply of a request. Swapping the addresses leaves the checksum as it is.
#[inline(never)] // most packets are no requests
fn reply(packet: &mut Packet) {
    let message = packet.network_mut().and_then(|bytes| bytes.get_mut(HEADER_LEN..));
    if let Some(mut message) = message.and_then(|bytes| icmpv6::Header::new_checked_mut(bytes).ok()) {
        let word = |kind: u8| u16::from_be_bytes([kind, 0]);
        let sum = checksum::update_u16(message.checksum(), word(kind::ECHO), word(kind::ECHO_REPLY));
        message.set_kind(kind::ECHO_REPLY);
        message.set_checksum(sum);
    }
    let Some(mut ip) = header_mut(packet) else { return };
    let (src, dst) = (ip.src(), ip.dst());
    ip.set_src(dst);
    ip.set_dst(src);
    ip.set_flow_label(0);
    ip.set_hop_limit(HOP_LIMIT);
    packet.set_dst_ip6(src);
    packet.set_anno(Anno::FIX_IP_SRC, u64::from(dst.is_multicast()));
    packet.set_paint(0);
}

impl Simple for Icmp6PingResponder {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if !is_request(packet) {
            return match self.outputs {
                2 => Verdict::Output(1),
                _ => Verdict::Drop("not an echo request"),
            };
        }
        reply(packet);
        packet.set_timestamp_ns(cx.now_ns());
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{send, send_one};
    use elements_testing::ip6_samples::{DST, SRC, hostile, udp, with_addresses, with_body};
    use packet::Anno;
    use proptest::prelude::*;
    use std::net::Ipv6Addr;
    use wire::icmpv6;

    const CONFIG: &str =
        "Inject -> MarkIP6Header -> Paint(3) -> r :: ICMP6PingResponder -> Collect(0); r[1] -> Collect(1)";

    fn address(text: &str) -> Ipv6Addr {
        text.parse().expect("an address")
    }

    fn request(source: &str, destination: &str) -> Vec<u8> {
        let mut message = [&[128, 0, 0, 0, 0, 7, 0, 1][..], b"hello"].concat();
        icmpv6::fill_checksum(address(source), address(destination), &mut message).expect("long enough");
        with_addresses(with_body(58, &message), source, destination)
    }

    #[test]
    fn request_to_reply() {
        let flow = send_one(CONFIG, request(SRC, DST));
        let packet = flow.only(0);
        assert_eq!((packet.dst_ip6(), packet.paint(), packet.anno(Anno::FIX_IP_SRC)), (address(SRC), 0, 0));
        let data = packet.data();
        assert_eq!((&data[8..24], &data[24..40]), (&address(DST).octets()[..], &address(SRC).octets()[..]));
        assert_eq!((data[7], &data[40..42], &data[44..]), (255, &[129, 0][..], &b"\0\x07\0\x01hello"[..]));
        assert_eq!(icmpv6::verify_checksum(address(DST), address(SRC), &data[40..]), Ok(()));
        // A wrong checksum stays wrong.
        let mut damaged = request(SRC, DST);
        damaged[50] ^= 1;
        let flow = send_one(CONFIG, damaged);
        assert!(icmpv6::verify_checksum(address(DST), address(SRC), &flow.only(0).data()[40..]).is_err());
    }

    /// A group's answer comes from one of its members.
    #[test]
    fn to_a_group() {
        let config = "Inject -> MarkIP6Header -> ICMP6PingResponder -> FixIP6Src(2001:db8::5) -> Collect(0)";
        let flow = send_one(config, request(SRC, "ff02::1"));
        let data = flow.only(0).data();
        assert_eq!(data[8..24], address("2001:db8::5").octets());
        assert_eq!(icmpv6::verify_checksum(address("2001:db8::5"), address(SRC), &data[40..]), Ok(()));
    }

    #[test]
    fn not_a_request() {
        let answer = with_body(58, &[129, 0, 0, 0, 0, 0, 0, 0]);
        let fragment = with_body(44, &[58, 0, 0, 1, 0, 0, 0, 1, 128, 0, 0, 0, 0, 0, 0, 0]);
        let mut others = vec![udp(3), answer, fragment, with_body(58, &[128])];
        others.extend(["::", "::1", "ff02::1"].map(|source| request(source, DST)));
        let flow = send(CONFIG, others.clone());
        assert_eq!((flow.data(0).len(), flow.data(1)), (0, others));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(packets in hostile()) {
            let n = packets.iter().filter(|data| !data.is_empty()).count();
            prop_assert_eq!(send(CONFIG, packets).seen.len(), n);
        }
    }
}
