//! Prepends an IPv6 header to packets.
//!
//! ```click
//! IP6Encap(PROTO, SRC, DST [, KEYWORDS])
//! ```
//!
//! Marks the new header and sets the IPv6 destination annotation to DST. If DST is `DST_ANNO`, the destination is
//! taken from that annotation. Packets that do not fit into an IPv6 packet are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `PROTO` (protocol name or number): the next header.
//! - `SRC` (IPv6 address): the source.
//! - `DST` (IPv6 address or `DST_ANNO`): the destination; `DST_ANNO` takes it from the destination annotation.
//! - `HLIM` (integer, 0 to 255, default 250): the hop limit.
//! - `CLASS` (integer, 0 to 255): the traffic class. By default 0, but in the header of a tunnel (protocol ipip or ip6, esp
//!   behind ESPEncap, gre behind GREEncap) the congestion mark is that of the IP packet inside (RFC 6040).
//!
//! # Handlers
//! - `src` (read, write): the source.
//! - `dst` (read, write): the destination, or `DST_ANNO`.
//!
//! # Example
//! ```click
//! Idle -> IP6Encap(ipip, 2001:db8:1::2, 2001:db8:2::2, HLIM 20) -> Discard;
//! ```
//!
//! # See also
//! IPEncap, UDPIP6Encap, StripIPHeader

use super::encap::{Destination, NO_DESTINATION, push_headers, template};
use crate::ip::encap::MarkOf;
use elements_shared::ecn;
use elements_shared::ip_numbers::IpProtocol;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Flags, FromArg, Handlers, PerPacket, Simple, Verdict};
use std::net::Ipv6Addr;
use wire::ipv6::{HEADER_LEN, Header};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("IP6Encap", create).pure().live().doc(router::manual!("ip6_encap.rs"));

#[derive(Clone, Copy)]
struct Ip6Encap {
    template: [u8; HEADER_LEN],
    destination: Destination,
    mark: MarkOf,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut protocol, mut src, mut dst) = (IpProtocol::default(), Ipv6Addr::UNSPECIFIED, String::new());
    let (mut hop_limit, mut class) = (250u8, None::<u8>);
    config
        .args()
        .required("PROTO", &mut protocol)
        .required("SRC", &mut src)
        .required("DST", &mut dst)
        .keyword("HLIM", &mut hop_limit)
        .keyword("CLASS", &mut class)
        .finish()?;
    let protocol = protocol.octet()?;
    let destination = Destination::from_arg(&dst, config.scope()).map_err(|_| NO_DESTINATION)?;
    let mark = if class.is_some() { MarkOf::Fixed } else { MarkOf::protocol(protocol) };
    let template = template(protocol, class.unwrap_or(0), hop_limit, src);
    Ok(Box::new(PerPacket(Ip6Encap { template, destination, mark })))
}

impl Simple for Ip6Encap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let mark = self.mark.mark(packet);
        match push_headers::<HEADER_LEN>(packet, self.template, self.destination.of(packet), |_| ()) {
            Ok(()) => {}
            Err(reason) => return Verdict::Drop(reason),
        }
        if mark != 0 {
            ecn::set_mark(packet.data_mut(), mark);
        }
        Verdict::Pass
    }

    #[inline]
    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        // A copy that nothing else refers to: it stays in registers, however many packets are written.
        let mut header = *self;
        cx.scatter(batch, |cx, packet| header.process(cx, packet));
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("src", |e: &mut Ip6Encap, _| Header::new(&e.template).src()).flagged(Flags::CALM);
        h.write("src", |e: &mut Ip6Encap, cx, text| {
            Header::new(&mut e.template).set_src(router::keyword_value(cx, "SRC", text)?);
            Ok(())
        });
        h.read("dst", |e: &mut Ip6Encap, _| e.destination).flagged(Flags::CALM);
        h.write("dst", |e: &mut Ip6Encap, cx, text| {
            e.destination = router::value(cx, text).map_err(|_| NO_DESTINATION)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;

    #[test]
    fn header_by_arguments() {
        let config =
            "Inject -> e :: IP6Encap(udp, 2001:db8::1, 2001:db8::2, HLIM 9, CLASS 0xab) -> CheckIP6Header
            -> StripIPHeader -> IP6Encap(50, ::5, DST_ANNO) -> Collect(0)";
        let mut flow = send(config, [b"abc".to_vec(), vec![0; 65_536]]);
        let address = |last| [&[0x20, 1, 0x0d, 0xb8][..], &[0; 11], &[last]].concat();
        let source = [&[0; 15][..], &[5]].concat();
        let fixed = [0x60, 0, 0, 0, 0, 3, 50, 250];
        assert_eq!(flow.only(0).data(), [&fixed[..], &source, &address(2), b"abc"].concat());
        assert_eq!((flow.read("e.src"), flow.read("e.dst")), ("2001:db8::1".into(), "2001:db8::2".into()));
        assert_eq!((flow.write("e.dst", "DST_ANNO"), flow.read("e.dst")), (String::new(), "DST_ANNO".into()));
        assert_eq!(flow.drops(), [("too long for an IPv6 packet", 1)]);
        let flow = send(
            config
                .split_once("-> Strip")
                .map(|(start, _)| start.to_owned() + "-> Collect(0)")
                .unwrap()
                .as_str(),
            [vec![7]],
        );
        assert_eq!(flow.only(0).data()[..8], [0x6a, 0xb0, 0, 0, 0, 1, 17, 9]);
        for (arguments, message) in [
            ("nothing, ::, ::", "PROTO: parse error"),
            ("256, ::, ::", "bad IP protocol"),
            ("udp, ::, 1.2.3", "DST argument"),
        ] {
            assert!(errors(&format!("Idle -> IP6Encap({arguments}) -> Discard")).contains(message));
        }
    }

    /// Headers for which the data has to move in its buffer are made and marked as others are, whichever of many that is.
    #[test]
    fn more_than_there_is_headroom() {
        for count in 1..10 {
            let config = format!("Inject -> {} Collect(0)", "IP6Encap(59, ::5, ::6) -> ".repeat(count));
            let flow = send(&config, [b"abc".to_vec()]);
            let packet = flow.only(0);
            assert_eq!((packet.network_offset(), packet.transport_offset()), (Some(0), Some(40)), "{count}");
            let (headers, rest) = packet.data().as_chunks::<40>();
            let payload_lens = headers.iter().map(|header| u16::from_be_bytes([header[4], header[5]]));
            assert!(payload_lens.eq((0..count as u16).rev().map(|inside| 3 + 40 * inside)), "{count}");
            assert_eq!(rest, b"abc");
        }
    }
}
