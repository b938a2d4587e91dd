//! Answers IPv6 packets with ICMPv6 errors.
//!
//! ```click
//! ICMP6Error(SRC, TYPE, CODE [, KEYWORDS])
//! ```
//!
//! Expects packets with a marked IPv6 header, and emits an ICMPv6 error message (RFC 4443) or redirect (RFC 4861,
//! section 4.5) about each of them, addressed to its sender. The message quotes as much of the packet as fits in MTU
//! bytes; Click's messages have at most 568. The message's destination annotation is set, and its other annotations
//! are cleared, except for the VLAN, and that the "fix IP source" annotation is set, so that FixIP6Src gives the message the address of
//! the interface through which it leaves (section 2.2).
//!
//! No message is sent, and the packet is dropped, where RFC 4443, section 2.4 forbids it: in answer to an ICMPv6
//! error or redirect, to a fragment other than the first, to IP multicasts, to link-layer broadcasts and multicasts,
//! or to a source that is not a single host. Packet too big, and parameter problem with code 2 (an unknown option), are
//! sent about multicasts and broadcasts, too. Click sends some of these, and no exceptions. At most RATE messages are sent per second
//! (section 2.4 f).
//!
//! `clique drops` lists the packets that are answered, but with redirects, under what TYPE and CODE mean, and says that their
//! senders were told.
//!
//! The pointer of a parameter problem comes from the parameter problem annotation, and the target of a redirect from
//! the destination annotation.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `SRC` (IPv6 address): source address of the messages.
//! - `TYPE` (integer): 1 unreachable, 2 packet too big, 3 time exceeded, 4 parameter problem, 137 redirect.
//! - `CODE` (integer): the code.
//! - `MTU` (integer, default 1280): the largest message, in bytes.
//! - `PMTU` (integer, default 1500): the next hop's MTU, sent in packet too big messages.
//! - `RATE` (integer, default 1000): messages per second, on each worker; packets beyond it are dropped. 0 means no
//!   limit.
//! - `BURST` (integer, default 100): the largest burst of messages.
//!
//! # Handlers
//! - `src`, `mtu`, `pmtu` (read, write): the arguments.
//!
//! # Example
//! ```click
//! InfiniteSource -> CheckIP6Header -> h :: DecIP6HLIM -> Discard;
//! h[1] -> ICMP6Error(2001:db8::1, 3, 0) -> Discard
//! ```
//!
//! # See also
//! FixIP6Src, DecIP6HLIM, IP6Fragmenter, ICMPError

use super::header::{NO_HEADER, header};
use crate::ip::error_limit::{ErrorLimit, TOO_MANY};
use crate::ip::error_reasons::reason6;
use elements_shared::vlan::keep_vlan_only;
use packet::{Anno, Kind, Packet};
use router::{
    Class, Config, ConfigError, Cx, Decision, Element, Handlers, Look, PerPacket, Simple, Then, Verdict,
};
use std::net::Ipv6Addr;
use wire::icmpv6::{self, kind};
use wire::ip_proto;
use wire::ipv6::{self, HEADER_LEN, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("ICMP6Error", create).doc(router::manual!("icmp6_error.rs"));

/// The largest packet that every link takes (RFC 8200, section 5), and so the largest error (RFC 4443, section 2.4 c).
const LEAST_MTU: u32 = 1280;
/// Bytes between the ICMPv6 header of a redirect and what it quotes: target and destination.
const REDIRECT_ADDRESSES: usize = 32;
/// Room for the longest headers, those of a redirect.
const HEAD_MAX: usize = HEADER_LEN + icmpv6::HEADER_LEN + REDIRECT_ADDRESSES;

struct Icmp6Error {
    source: Ipv6Addr,
    kind: u8,
    code: u8,
    mtu: u32,
    path_mtu: u32,
    limit: ErrorLimit,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = Icmp6Error {
        source: Ipv6Addr::UNSPECIFIED,
        kind: 0,
        code: 0,
        mtu: LEAST_MTU,
        path_mtu: 1500,
        limit: ErrorLimit::default(),
    };
    let (mut rate, mut burst) = (1000, 100);
    config
        .args()
        .required("SRC", &mut e.source)
        .required("TYPE", &mut e.kind)
        .required("CODE", &mut e.code)
        .keyword("MTU", &mut e.mtu)
        .keyword("PMTU", &mut e.path_mtu)
        .keyword("RATE", &mut rate)
        .keyword("BURST", &mut burst)
        .finish()?;
    e.limit = ErrorLimit::new(rate, burst);
    if e.source.is_unspecified() {
        return Err("SRC: an address that a router can have expected".into());
    }
    if !matches!(e.kind, 1..=4 | kind::REDIRECT) {
        return Err(format!("ICMP6 type {} is not an error or redirect type", e.kind).into());
    }
    Ok(Box::new(PerPacket(e)))
}

impl Icmp6Error {
    /// Makes the packet an error message about itself, or says why not.
    fn answer(&mut self, now_ns: i64, packet: &mut Packet) -> Result<(), &'static str> {
        allowed(packet, self.is_for_groups())?;
        let old = header(packet).ok_or(NO_HEADER)?;
        let (sender, destination) = (old.src(), old.dst());
        if !self.limit.admits(now_ns) {
            return Err(TOO_MANY);
        }
        let mut head = [0; HEAD_MAX];
        let head_len = self.write_icmp(packet, destination, &mut head);
        reduce_to_network(packet)?;
        let room = (self.mtu as usize).min(usize::from(u16::MAX)).saturating_sub(head_len);
        let _ = packet.take(packet.len().saturating_sub(room));
        let payload_len = head_len - HEADER_LEN + packet.len();
        if let Ok(mut ip) = Header::new_checked_mut(&mut head) {
            ip.set_version_class_flow(0, 0);
            ip.set_payload_len(payload_len as u16);
            ip.set_next_header(ip_proto::ICMPV6);
            ip.set_hop_limit(255);
            ip.set_src(self.source);
            ip.set_dst(sender);
        }
        if !packet.prepend(head_len) {
            return Err("no room for an ICMPv6 error");
        }
        let data = packet.data_mut();
        data[..head_len].copy_from_slice(&head[..head_len]);
        // Cannot fail: the message has a header and is short.
        let _ = icmpv6::fill_checksum(self.source, sender, &mut data[HEADER_LEN..]);
        keep_vlan_only(packet);
        packet.set_dst_ip6(sender);
        packet.set_anno(Anno::FIX_IP_SRC, 1);
        packet.set_timestamp_ns(now_ns);
        packet.set_kind(Kind::Host);
        packet.set_device(0);
        packet.clear_mac();
        packet.set_network(0, HEADER_LEN);
        Ok(())
    }

    /// Whether messages of the type and code are sent about multicasts, too: the MTU of a path to a group is found by these, and an option
    /// may ask for an answer (RFC 4443, section 2.4 e.3).
    fn is_for_groups(&self) -> bool {
        self.kind == kind::PACKET_TOO_BIG
            || (self.kind, self.code) == (kind::PARAMETER_PROBLEM, icmpv6::parameter_problem::OPTION)
    }

    /// Writes what follows the IPv6 header and precedes the quoted packet; returns the length of both headers.
    fn write_icmp(&self, packet: &Packet, destination: Ipv6Addr, head: &mut [u8; HEAD_MAX]) -> usize {
        let (message, addresses) = head[HEADER_LEN..].split_at_mut(icmpv6::HEADER_LEN);
        if let Ok(mut icmp) = icmpv6::Header::new_checked_mut(message) {
            icmp.set_kind(self.kind);
            icmp.set_code(self.code);
            match (self.kind, self.code) {
                (kind::PACKET_TOO_BIG, 0) => icmp.set_rest(self.path_mtu),
                (kind::PARAMETER_PROBLEM, _) => icmp.set_rest(packet.anno(Anno::ICMP_PARAMPROB) as u32),
                _ => {}
            }
        }
        if self.kind != kind::REDIRECT {
            return HEADER_LEN + icmpv6::HEADER_LEN;
        }
        let (target, to) = addresses.split_at_mut(16);
        target.copy_from_slice(&packet.dst_ip6().octets());
        to.copy_from_slice(&destination.octets());
        HEAD_MAX
    }
}

/// Whether a message may be sent about a packet (RFC 4443, section 2.4 e); `for_groups` if also where groups receive it.
fn allowed(packet: &Packet, for_groups: bool) -> Result<(), &'static str> {
    let bytes = packet.network().ok_or(NO_HEADER)?;
    let ip = Header::new_checked(bytes).map_err(|_| NO_HEADER)?;
    let to_many = matches!(packet.kind(), Kind::Broadcast | Kind::Multicast) || ip.dst().is_multicast();
    if to_many && !for_groups {
        return Err("no ICMPv6 error about a broadcast or multicast");
    }
    let source = ip.src();
    if source.is_multicast() || source.is_unspecified() || source.is_loopback() {
        return Err("no ICMPv6 error to an invalid source");
    }
    let Ok(upper) = ipv6::upper_layer(bytes) else {
        // What cannot be read may be an ICMPv6 error.
        return Err("no ICMPv6 error about unreadable headers");
    };
    if !upper.first_fragment {
        return Err("no ICMPv6 error about a later fragment");
    }
    if upper.protocol == ip_proto::ICMPV6
        && bytes.get(upper.offset).is_none_or(|&found| found < 128 || found == kind::REDIRECT)
    {
        return Err("no ICMPv6 error about an ICMPv6 error");
    }
    Ok(())
}

/// Cuts off what lies in front of the network header, or brings it back where it was stripped.
fn reduce_to_network(packet: &mut Packet) -> Result<(), &'static str> {
    let offset = packet.network_offset().ok_or(NO_HEADER)?;
    let done =
        if offset < 0 { packet.push(offset.unsigned_abs()) } else { packet.pull(offset.unsigned_abs()) };
    if done { Ok(()) } else { Err(NO_HEADER) }
}

impl Simple for Icmp6Error {
    fn explain(&self, _look: &Look<'_>, packet: &mut Packet) -> Option<Decision> {
        let _ = packet;
        let because = format!("the sender is told by ICMPv6 type {} code {}", self.kind, self.code);
        Some(Decision::new(Then::Stays, because))
    }

    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let told = reason6(self.kind, self.code);
        let example = told.and_then(|reason| cx.told_example(packet, reason));
        match self.answer(cx.now_ns(), packet) {
            Ok(()) => {
                if let Some(reason) = told {
                    cx.count_told(reason, example);
                }
                Verdict::Pass
            }
            Err(reason) => Verdict::Drop(reason),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("src", |e: &mut Icmp6Error, _| e.source);
        h.write("src", |e: &mut Icmp6Error, cx, text| {
            e.source = router::value(cx, text)?;
            Ok(())
        });
        h.read("mtu", |e: &mut Icmp6Error, _| e.mtu);
        h.write("mtu", |e: &mut Icmp6Error, cx, text| {
            e.mtu = router::value(cx, text)?;
            Ok(())
        });
        h.read("pmtu", |e: &mut Icmp6Error, _| e.path_mtu);
        h.write("pmtu", |e: &mut Icmp6Error, cx, text| {
            e.path_mtu = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::errors;
    use crate::testing::{Sent, send, send_one};
    use elements_testing::ip6_samples::{DST, SRC, hostile, udp, with_addresses, with_body};
    use proptest::prelude::*;

    const ME: &str = "2001:db8::1";

    fn config(kind: u8, code: u8) -> String {
        format!("Inject -> MarkIP6Header -> ICMP6Error({ME}, {kind}, {code}) -> Collect(0)")
    }

    /// Checks what every message must be; returns type, code and rest, and what follows.
    fn parse(packet: &Packet) -> ((u8, u8, u32), Vec<u8>) {
        let data = packet.data();
        assert_eq!(ipv6::check(data), Ok(data.len()));
        let ip = Header::new_checked(data).unwrap();
        assert_eq!((ip.src().to_string(), ip.next_header(), ip.hop_limit()), (ME.to_owned(), 58, 255));
        assert_eq!((packet.dst_ip6(), packet.anno(Anno::FIX_IP_SRC)), (ip.dst(), 1));
        assert_eq!((packet.network_offset(), packet.transport_offset()), (Some(0), Some(40)));
        let message = &data[HEADER_LEN..];
        icmpv6::verify_checksum(ip.src(), ip.dst(), message).unwrap();
        let icmp = icmpv6::Header::new_checked(message).unwrap();
        ((icmp.kind(), icmp.code(), icmp.rest()), message[8..].to_vec())
    }

    #[test]
    fn each_type_quotes_the_packet() {
        let annotations = vec![(Anno::ICMP_PARAMPROB, 41), (Anno::VLAN_TCI, 0x500)];
        let sent = Sent { data: udp(9), annotations, ..Sent::default() };
        for (kind, code, rest) in [(1, 3, 0), (2, 0, 1500), (3, 0, 0), (4, 0, 41), (4, 1, 41), (4, 2, 41)] {
            let flow = send_one(&config(kind, code), sent.clone());
            assert_eq!(parse(flow.only(0)), ((kind, code, rest), udp(9)));
            assert_eq!(flow.only(0).dst_ip6().to_string(), SRC);
            assert_eq!(flow.only(0).anno(Anno::VLAN_TCI), 0x500);
        }
        // As much as fits, in all 1,280 bytes (RFC 4443, section 2.4 c).
        let (_, quoted) = parse(send_one(&config(1, 0), udp(1400)).only(0));
        assert_eq!(quoted, udp(1400)[..1232]);
        let with = |arguments: &str| config(2, 0).replace("2, 0)", &format!("2, 0, {arguments})"));
        let (message, quoted) = parse(send_one(&with("MTU 100, PMTU 1400"), udp(900)).only(0));
        assert_eq!((message, quoted), ((2, 0, 1400), udp(900)[..52].to_vec()));
    }

    #[test]
    fn no_more_than_its_rate() {
        let config = config(1, 0).replace("1, 0)", "1, 0, RATE 10, BURST 3)");
        let flow = send(&config, vec![udp(9); 50]);
        assert_eq!((flow.seen.len(), flow.drops()), (3, vec![(TOO_MANY, 47)]));
    }

    #[test]
    fn handlers_change_the_arguments() {
        let mut flow =
            send_one("Inject -> MarkIP6Header -> e :: ICMP6Error(fe80::1, 2, 0) -> Collect(0)", udp(9));
        assert_eq!(
            (flow.read("e.src"), flow.read("e.mtu"), flow.read("e.pmtu")),
            ("fe80::1".into(), "1280".into(), "1500".into())
        );
        assert_eq!((flow.write("e.pmtu", "1300"), flow.read("e.pmtu")), (String::new(), "1300".into()));
        assert!(flow.write("e.src", "10.0.0.1").contains("parse error"));
    }

    #[test]
    fn a_redirect_names_target_and_destination() {
        let config = format!(
            "Inject -> MarkIP6Header -> SetIP6Address(fe80::9) -> ICMP6Error({ME}, 137, 0) -> Collect(0)"
        );
        let (message, rest) = parse(send_one(&config, udp(9)).only(0));
        assert_eq!(message, (137, 0, 0));
        let address = |text: &str| text.parse::<Ipv6Addr>().unwrap().octets();
        assert_eq!(
            (&rest[..16], &rest[16..32], &rest[32..]),
            (&address("fe80::9")[..], &address(DST)[..], &udp(9)[..])
        );
    }

    #[test]
    fn no_errors_where_forbidden() {
        let reason = |sent: Sent| send_one(&config(1, 0), sent).drops().first().map(|(reason, _)| *reason);
        let from_to = |src, dst| reason(with_addresses(udp(9), src, dst).into());
        assert_eq!(from_to(SRC, "ff02::1"), Some("no ICMPv6 error about a broadcast or multicast"));
        for source in ["::", "::1", "ff02::1"] {
            assert_eq!(from_to(source, DST), Some("no ICMPv6 error to an invalid source"));
        }
        for kind in [Kind::Broadcast, Kind::Multicast] {
            assert!(reason(Sent { data: udp(9), kind, ..Sent::default() }).is_some());
        }
        let icmp = |kind: u8| reason(with_body(58, &[kind, 0, 0, 0, 0, 0, 0, 0]).into());
        for kind in [0, 1, 4, 127, 137] {
            assert_eq!(icmp(kind), Some("no ICMPv6 error about an ICMPv6 error"), "{kind}");
        }
        assert_eq!((icmp(128), icmp(135)), (None, None));
        // Behind a hop-by-hop header, and in fragments.
        let hidden = |kind: u8| reason(with_body(0, &[58, 0, 1, 4, 0, 0, 0, 0, kind, 0, 0, 0]).into());
        assert_eq!((hidden(3).is_some(), hidden(128)), (true, None));
        let fragment = |offset: u8| reason(with_body(44, &[17, 0, 0, offset, 0, 0, 0, 1, 9, 9]).into());
        assert_eq!((fragment(1), fragment(9)), (None, Some("no ICMPv6 error about a later fragment")));
    }

    /// RFC 4443, section 2.4 e.3: a path's MTU to a group, and an unknown option that wants an answer.
    #[test]
    fn multicasts_have_two_errors() {
        for (kind, code, sent) in
            [(2, 0, 1), (4, 2, 1), (1, 0, 0), (3, 0, 0), (3, 1, 0), (4, 0, 0), (4, 1, 0)]
        {
            let group = with_addresses(udp(9), SRC, "ff0e::1");
            let frame = Sent { data: udp(9), kind: Kind::Multicast, ..Sent::default() };
            for packet in [group.into(), frame] {
                assert_eq!(send_one(&config(kind, code), packet).seen.len(), sent, "{kind} {code}");
            }
        }
        // To no source that is none, and about no error, even then.
        let none = with_addresses(udp(9), "::", "ff0e::1");
        let error = with_addresses(with_body(58, &[1, 0, 0, 0, 0, 0, 0, 0]), SRC, "ff0e::1");
        assert_eq!(send(&config(2, 0), [none, error]).seen.len(), 0);
    }

    #[test]
    fn wrong_types_are_refused() {
        for (arguments, message) in [
            ("2001:db8::1, 128, 0", "ICMP6 type 128 is not an error or redirect type"),
            ("2001:db8::1, 1", "CODE"),
            ("::, 1, 0", "SRC"),
        ] {
            assert!(
                errors(&format!("Idle -> ICMP6Error({arguments}) -> Discard")).contains(message),
                "{arguments}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(packets in hostile(), kind in prop::sample::select(vec![1, 2, 3, 4, 137])) {
            let n = packets.len() as u64;
            let flow = send(&config(kind, 0), packets);
            prop_assert_eq!(flow.seen.len() as u64 + flow.drops().iter().map(|(_, n)| n).sum::<u64>(), n);
            for (_, packet) in &flow.seen {
                prop_assert_eq!(parse(packet).0.0, kind);
            }
        }
    }
}
