//! Checks IPv6 headers.
//!
//! ```click
//! CheckIP6Header([BADADDRS, OFFSET, KEYWORDS])
//! ```
//!
//! Expects an IPv6 header OFFSET bytes into each packet. Passes packets with a complete header of version 6, all of
//! the payload that it announces, and an acceptable source address. Marks the header and cuts off link-layer padding
//! after the packet. Other packets leave by output 1 if it is connected and are dropped otherwise; the first one is
//! reported. Of extension headers only hop-by-hop options must be there; others are looked at with PROCESS_EH, and the destination annotation is left to
//! GetIP6Address.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated; counts add up.
//!
//! # Arguments
//! - `BADADDRS` (IPv6 addresses separated by spaces): source addresses to reject, in addition to the all-ones
//!   address. A router that forwards packets should list `::`, which hosts use only for duplicate address detection.
//! - `OFFSET` (integer, default 0): where the header starts.
//! - `PROCESS_EH` (boolean, default false): FastClick's; whether to mark the transport header after the extension
//!   headers, as far as those are complete, instead of directly after the IPv6 header.
//!
//! # Handlers
//! - `count`, `drops` (read): valid packets and bad ones. `count` is FastClick's.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> CheckIP6Header -> GetIP6Address(24) -> Discard
//! ```
//!
//! # See also
//! MarkIP6Header, GetIP6Address, DecIP6HLIM, CheckIPHeader

use elements_shared::verdict::fail;
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, FromArg, Handlers, Merge, PerPacket, Scope, Simple, Verdict,
};
use std::net::Ipv6Addr;
use wire::Error;
use wire::ip_proto;
use wire::ipv6::{self, HEADER_LEN, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckIP6Header", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("check_ip6_header.rs"));

/// Addresses separated by spaces.
#[derive(Default)]
struct Addresses(Vec<Ipv6Addr>);

impl FromArg for Addresses {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let words = lang::conf::split_spaces(&lang::conf::unquote(text));
        words.iter().map(|word| Ipv6Addr::from_arg(word, scope)).collect::<Result<_, _>>().map(Addresses)
    }
}

struct CheckIp6Header {
    offset: u32,
    process_extensions: bool,
    /// Besides the one that is all ones.
    bad_sources: Vec<Ipv6Addr>,
    outputs: usize,
    count: u64,
    drops: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut bad, mut offset, mut process_extensions) = (Addresses::default(), 0_u32, false);
    config
        .args()
        .positional("BADADDRS", &mut bad)
        .positional("OFFSET", &mut offset)
        .keyword("PROCESS_EH", &mut process_extensions)
        .finish()?;
    let outputs = config.outputs();
    Ok(Box::new(PerPacket(CheckIp6Header {
        offset,
        process_extensions,
        bad_sources: bad.0,
        outputs,
        count: 0,
        drops: 0,
    })))
}

/// Bytes in front of the upper-layer protocol, or those of the IPv6 header if extension headers are not whole.
fn headers_len(bytes: &[u8]) -> usize {
    ipv6::upper_layer(bytes).map_or(HEADER_LEN, |upper| upper.offset)
}

/// Whether a packet of so many bytes has all of its hop-by-hop options, the only ones that routers look at, if it has some.
fn hop_by_hop_fits(bytes: &[u8], len: usize) -> bool {
    let behind = bytes.get(HEADER_LEN..len).unwrap_or_default();
    let needed = behind.get(1).map_or(8, |&words| 8 + usize::from(words) * 8);
    bytes.get(6) != Some(&ip_proto::HOP_BY_HOP) || needed <= behind.len()
}

impl CheckIp6Header {
    #[cold]
    fn bad(&mut self, cx: &mut Cx<'_>, reason: &'static str) -> Verdict {
        if self.drops == 0 {
            cx.complain("IP6 header check failed", reason);
        }
        self.drops += 1;
        fail(self.outputs, reason)
    }

    #[cold]
    fn malformed(&mut self, cx: &mut Cx<'_>, error: Error) -> Verdict {
        let reason = match error {
            Error::BadVersion => "bad IPv6 version",
            Error::BadLength => "bad IPv6 length",
            _ => "tiny packet",
        };
        self.bad(cx, reason)
    }

    /// A packet that has a fault, or whose extension headers matter.
    #[cold]
    fn unusual(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(bytes) = packet.data().get(self.offset as usize..) else {
            return self.malformed(cx, Error::Truncated);
        };
        let checked =
            ipv6::check(bytes).and_then(|len| Header::new_checked(bytes).map(|header| (len, header)));
        let (len, header) = match checked {
            Ok(checked) => checked,
            Err(error) => return self.malformed(cx, error),
        };
        if self.is_bad(header.src()) {
            return self.bad(cx, "bad source address");
        }
        if !hop_by_hop_fits(bytes, len) {
            return self.malformed(cx, Error::BadLength);
        }
        let padding = bytes.len() - len;
        let headers = if self.process_extensions { headers_len(bytes) } else { HEADER_LEN };
        packet.set_network(self.offset as isize, headers);
        // The announced length is at most what is there, so there is as much padding to take.
        let _ = packet.take(padding);
        self.count += 1;
        Verdict::Pass
    }

    /// Whether no packet may come from there.
    #[inline]
    fn is_bad(&self, source: Ipv6Addr) -> bool {
        source.to_bits() == u128::MAX || !self.bad_sources.is_empty() && self.bad_sources.contains(&source)
    }
}

impl Simple for CheckIp6Header {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        // A packet without faults, which nearly all are; what is another is seen to elsewhere.
        let Some((header, there)) = packet.data_from(self.offset) else { return self.unusual(cx, packet) };
        let header = Header::new(header);
        let total = HEADER_LEN + usize::from(header.payload_len());
        let right = header.version() == 6
            && total <= there
            && header.next_header() != ip_proto::HOP_BY_HOP
            && !self.is_bad(header.src());
        if !right || self.process_extensions || !packet.set_near_network(self.offset as isize, HEADER_LEN) {
            return self.unusual(cx, packet);
        }
        if total != there {
            let _ = packet.take(there - total); // there is as much
        }
        self.count += 1;
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut CheckIp6Header, _| e.count).merged(Merge::Sum);
        h.read("drops", |e: &mut CheckIp6Header, _| e.drops).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::errors;
    use crate::testing::{send, send_one};
    use elements_testing::ip6_samples::{hostile, udp, with_addresses, with_body};
    use proptest::prelude::*;

    const BOTH: &str =
        "Inject -> c :: CheckIP6Header(:: 2001:db8::bad fe80::1) -> Collect(0); c[1] -> Collect(1);";

    #[test]
    fn right_packets_pass_without_padding() {
        let framed = |padding: usize| [&[0xee; 14], &udp(30)[..], &vec![0; padding]].concat();
        for arguments in ["OFFSET 14", "\"\", 14"] {
            let config = format!("Inject -> CheckIP6Header({arguments}) -> Collect(0)");
            let flow = send_one(&config, framed(9));
            let packet = flow.only(0);
            assert_eq!(packet.data(), framed(0));
            assert_eq!((packet.network_offset(), packet.transport_offset()), (Some(14), Some(54)));
        }
    }

    /// Options for each hop end within the packet (RFC 8200, section 4.3).
    #[test]
    fn hop_by_hop_options_are_whole() {
        for (body, passes) in [
            (&[17, 0, 1, 4, 0, 0, 0, 0][..], true),
            (&[17, 0, 1, 4, 0, 0, 0], false),
            (&[17, 1, 1, 4, 0, 0, 0, 0], false),
            (&[17], false),
            (&[], false),
        ] {
            // What follows the packet is padding, not options.
            let frame = [&with_body(0, body)[..], &[0; 9]].concat();
            let flow = send("Inject -> CheckIP6Header -> Collect(0)", [frame]);
            assert_eq!(flow.seen.len(), usize::from(passes), "{body:?}");
        }
        assert_eq!(send("Inject -> CheckIP6Header -> Collect(0)", [with_body(60, &[17])]).seen.len(), 1);
    }

    #[test]
    fn each_fault_has_its_reason() {
        let edit = |at: usize, value: u8| {
            let mut data = udp(10);
            data[at] = value;
            data
        };
        let from = |src: &str| with_addresses(udp(10), src, "2001:db8::2");
        let bad = vec![
            udp(10)[..39].to_vec(),
            edit(0, 0x45),
            edit(5, 19),
            from("::"),
            from("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            from("2001:db8::bad"),
            from("fe80::1"),
        ];
        let mut flow = send(BOTH, bad.clone().into_iter().chain([from("fe80::2")]));
        assert_eq!((flow.data(1), flow.data(0)), (bad.clone(), vec![from("fe80::2")]));
        assert_eq!((flow.read("c.drops"), flow.log()), ("7".into(), "IP6 header check failed\n".into()));
        let flow = send("Inject -> CheckIP6Header -> Collect(0)", bad);
        let reasons =
            [("bad IPv6 length", 1), ("bad IPv6 version", 1), ("bad source address", 1), ("tiny packet", 1)];
        assert_eq!(flow.drops(), reasons);
        assert!(errors("Idle -> CheckIP6Header(1.2.3.4) -> Discard").contains("BADADDRS"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(packets in hostile()) {
            let n = packets.len();
            let flow = send(BOTH, packets);
            prop_assert_eq!(flow.seen.len(), n);
            prop_assert!(flow.data(0).iter().all(|data| ipv6::check(data) == Ok(data.len())));
            let wrong = |data: &Vec<u8>| ipv6::check(data).map_or(true, |len| !hop_by_hop_fits(data, len));
            prop_assert!(flow.data(1).iter().all(wrong));
            prop_assert!(!flow.data(0).iter().any(wrong));
        }
    }
}
