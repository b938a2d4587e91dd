//! Prepends an IP header to packets.
//!
//! ```click
//! IPEncap(PROTO, SRC, DST [, KEYWORDS])
//! ```
//!
//! The identification counts up from 0. Marks the new header and sets the destination address annotation, unless the
//! destination is taken from it. Packets that do not fit into an IP packet are dropped.
//!
//! The header of a tunnel (protocol 4 or 41, esp behind ESPEncap, gre behind GREEncap) has the congestion mark of the
//! IP packet inside (RFC 6040), unless TOS, ECT or CE say another.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; each uses its own share of the 65,536 identifications, so that none
//! repeats before that share is used up. So do several IPEncap of a tunnel with the same PROTO, SRC and DST.
//!
//! # Arguments
//! - `PROTO` (protocol name or number): the protocol.
//! - `SRC` (address): the source.
//! - `DST` (address or `DST_ANNO`): the destination; `DST_ANNO` takes it from the destination address annotation.
//! - `TOS` (integer, 0 to 255): the type-of-service octet.
//! - `TTL` (integer, default 250): time to live.
//! - `DSCP` (integer, 0 to 63): the differentiated services code point.
//! - `ECT` (boolean, or 2; default false): whether the transport is ECN-capable; 2 means ECT(0), true ECT(1).
//! - `CE` (boolean, default false): congestion experienced.
//! - `DF` (boolean, default false): don't fragment.
//!
//! # Handlers
//! - `src` (read, write): the source.
//! - `dst` (read, write): the destination, or `DST_ANNO`.
//!
//! # Example
//! ```click
//! ... -> IPEncap(ipip, 18.26.4.24, 140.247.60.147) -> ...
//! ```
//!
//! # See also
//! UDPIPEncap, ICMPPingEncap, StripIPHeader

use super::encap::{Destination, MarkOf, NO_DESTINATION, NO_FIT, Template, push_headers};
use elements_shared::ecn;
use elements_shared::identification::Identification;
use elements_shared::ip_numbers::IpProtocol;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Flags, FromArg, Handlers, PerPacket, Simple, Verdict};
use std::any::Any;
use wire::ipv4::{FLAG_DF, HEADER_LEN, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPEncap", create).live().doc(router::manual!("ip_encap.rs"));

struct IpEncap {
    template: Template<HEADER_LEN>,
    id: Identification,
    mark: MarkOf,
}

/// The arguments about the type-of-service octet.
#[derive(Default)]
struct Service {
    tos: Option<u32>,
    dscp: Option<u32>,
    ect: u8,
    ce: bool,
}

impl Service {
    fn octet(&self) -> Result<u8, &'static str> {
        if self.tos.is_some() && self.dscp.is_some() {
            return Err("cannot set both TOS and DSCP");
        }
        if self.tos.is_some() && (self.ect != 0 || self.ce) {
            return Err("cannot set both TOS and ECN bits");
        }
        let tos = u8::try_from(self.tos.unwrap_or(0)).map_err(|_| "TOS too large; max 255")?;
        let dscp = u8::try_from(self.dscp.unwrap_or(0)).ok().filter(|&dscp| dscp < 64);
        let dscp = dscp.ok_or("DSCP too large; max 63")?;
        if self.ect != 0 && self.ce {
            return Err("can set at most one ECN option");
        }
        Ok(tos | dscp << 2 | self.ect | if self.ce { 3 } else { 0 })
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut protocol, mut dst, mut ect) = (IpProtocol::default(), String::new(), String::new());
    let (mut src, mut ttl, mut df) = (std::net::Ipv4Addr::UNSPECIFIED, 250u8, false);
    let (mut tos, mut dscp) = (-1i32, -1i32);
    let mut service = Service::default();
    config
        .args()
        .required("PROTO", &mut protocol)
        .required("SRC", &mut src)
        .required("DST", &mut dst)
        .keyword("TOS", &mut tos)
        .keyword("TTL", &mut ttl)
        .keyword("DSCP", &mut dscp)
        .keyword("ECT", &mut ect)
        .keyword("CE", &mut service.ce)
        .keyword("DF", &mut df)
        .finish()?;
    let protocol = protocol.octet()?;
    let destination = Destination::from_arg(&dst, config.scope()).map_err(|_| NO_DESTINATION)?;
    service.ect = match (ect.as_str(), bool::from_arg(&ect, config.scope())) {
        ("", _) => 0,
        ("2", _) => 2,
        (_, Ok(capable)) => u8::from(capable),
        _ => return Err(format!("bad ECT value '{ect}'").into()),
    };
    let fixed = tos >= 0 || !ect.is_empty() || service.ce;
    let tunnel = MarkOf::protocol(protocol);
    // What a tunnel makes may be cut. Of others each counts by itself, as Click has it.
    let ends: &[usize] = if matches!(tunnel, MarkOf::Fixed) { &[] } else { &[0, 1, 2] };
    let mark = if fixed { MarkOf::Fixed } else { tunnel };
    (service.tos, service.dscp) = (u32::try_from(tos).ok(), u32::try_from(dscp).ok());
    let mut template = [0; HEADER_LEN];
    let mut ip = Header::new(&mut template);
    ip.set_version_and_header_len(HEADER_LEN);
    ip.set_tos(service.octet()?);
    ip.set_fragment_field(if df { FLAG_DF } else { 0 });
    ip.set_ttl(ttl);
    ip.set_protocol(protocol);
    ip.set_src(src);
    Ok(Box::new(PerPacket(IpEncap {
        template: Template::new(template, destination),
        id: Identification::new(config, 0, ends),
        mark,
    })))
}

impl IpEncap {
    #[inline(always)] // so that the identification stays in a register
    fn wrap<const ANNOTATION: bool>(&self, packet: &mut Packet, id: &mut Identification) -> Verdict {
        let mark = self.mark.mark(packet);
        if push_headers::<ANNOTATION, HEADER_LEN>(packet, &self.template, id.take(), |_| ()).is_none() {
            return Verdict::Drop(NO_FIT);
        }
        if mark != 0 {
            ecn::set_mark(packet.data_mut(), mark);
        }
        Verdict::Pass
    }
}

impl Simple for IpEncap {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let mut id = self.id;
        let verdict = match self.template.destination() {
            Destination::Address(_) => self.wrap::<false>(packet, &mut id),
            Destination::Annotation => self.wrap::<true>(packet, &mut id),
        };
        self.id = id;
        verdict
    }

    #[inline]
    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        let mut id = self.id;
        match self.template.destination() {
            Destination::Address(_) => cx.scatter(batch, |_, packet| self.wrap::<false>(packet, &mut id)),
            Destination::Annotation => cx.scatter(batch, |_, packet| self.wrap::<true>(packet, &mut id)),
        }
        self.id = id;
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.id))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Some(id) = state.downcast_ref() {
            self.id.go_on(*id);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("src", |e: &mut IpEncap, _| e.template.src()).flagged(Flags::CALM);
        h.write("src", |e: &mut IpEncap, cx, text| {
            e.template.set_src(router::keyword_value(cx, "SRC", text)?);
            Ok(())
        });
        h.read("dst", |e: &mut IpEncap, _| e.template.destination()).flagged(Flags::CALM);
        h.write("dst", |e: &mut IpEncap, cx, text| {
            let destination = router::value(cx, text).map_err(|_| NO_DESTINATION)?;
            e.template.set_destination(destination);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::{Sent, send, send_one};
    use packet::Anno;

    #[test]
    fn header_by_arguments() {
        let data = [b"abc".to_vec(), vec![]];
        let mut flow =
            send("Inject -> e :: IPEncap(udp, 1.2.3.4, 5.6.7.8) -> CheckIPHeader -> Collect(0)", data);
        assert_eq!(
            flow.data(0)[0],
            [&[0x45, 0, 0, 23, 0, 0, 0, 0, 250, 17, 0xb0, 0xc2, 1, 2, 3, 4, 5, 6, 7, 8][..], b"abc"].concat()
        );
        assert_eq!(flow.data(0)[1][..6], [0x45, 0, 0, 20, 0, 1]);
        assert_eq!(flow.seen[0].1.dst_ip().octets(), [5, 6, 7, 8]);
        assert_eq!((flow.read("e.src"), flow.read("e.dst")), ("1.2.3.4".into(), "5.6.7.8".into()));
        assert_eq!((flow.write("e.dst", "DST_ANNO"), flow.read("e.dst")), (String::new(), "DST_ANNO".into()));

        let sent = Sent {
            data: vec![7],
            annotations: vec![(Anno::DST_IP, u64::from(u32::from_ne_bytes([9, 8, 7, 6])))],
            ..Sent::default()
        };
        let config = "Inject -> IPEncap(50, 1.2.3.4, DST_ANNO, DSCP 46, ECT 2, TTL 3, DF true)
            -> CheckIPHeader -> Collect(0)";
        let flow = send(config, [sent]);
        let data = flow.only(0).data();
        assert_eq!((data[1], &data[6..10], &data[16..20]), (0xba, &[0x40, 0, 3, 50][..], &[9, 8, 7, 6][..]));
    }

    #[test]
    fn protocols_by_names_and_numbers() {
        for (protocol, number) in [("UDP", 17), ("ipip", 4), ("0x11", 17), ("021", 17), ("255", 255)] {
            let config = format!("Inject -> IPEncap({protocol}, 1.2.3.4, 5.6.7.8) -> Collect(0)");
            assert_eq!(send_one(&config, vec![7]).only(0).data()[9], number, "{protocol}");
        }
    }

    #[test]
    fn too_long_for_ip() {
        let config = "Inject -> IPEncap(udp, 1.2.3.4, 5.6.7.8) -> Collect(0)";
        let flow = send(config, [vec![0; 65_515], vec![0; 65_516]]);
        assert_eq!((flow.only(0).len(), flow.drops()), (65_535, vec![("too long for an IP packet", 1)]));
    }

    #[test]
    fn arguments_that_contradict() {
        for (arguments, message) in [
            ("nothing, 1.2.3.4, 5.6.7.8", "  PROTO: parse error\n"),
            ("300, 1.2.3.4, 5.6.7.8", "bad IP protocol"),
            ("tcpudp, 1.2.3.4, 5.6.7.8", "bad IP protocol"),
            ("udp, 1.2.3.4, there", "DST argument should be IP address or 'DST_ANNO'"),
            ("udp, 1.2.3.4, 5.6.7.8, TOS 1, DSCP 1", "cannot set both TOS and DSCP"),
            ("udp, 1.2.3.4, 5.6.7.8, TOS 1, CE true", "cannot set both TOS and ECN bits"),
            ("udp, 1.2.3.4, 5.6.7.8, TOS 256", "TOS too large; max 255"),
            ("udp, 1.2.3.4, 5.6.7.8, DSCP 64", "DSCP too large; max 63"),
            ("udp, 1.2.3.4, 5.6.7.8, ECT 1, CE true", "can set at most one ECN option"),
            ("udp, 1.2.3.4, 5.6.7.8, ECT x", "bad ECT value 'x'"),
        ] {
            let text = errors(&format!("Idle -> IPEncap({arguments}) -> Discard"));
            assert!(text.contains(message), "{arguments}: {text}");
        }
    }

    /// Headers for which the data has to move in its buffer are made and marked as others are, whichever of many that is.
    #[test]
    fn more_than_there_is_headroom() {
        for count in 1..20 {
            let headers = "IPEncap(4, 1.2.3.4, 5.6.7.8) -> ".repeat(count);
            let flow = send(&format!("Inject -> {headers} Collect(0)"), [b"abc".to_vec()]);
            let packet = flow.only(0);
            assert_eq!((packet.network_offset(), packet.transport_offset()), (Some(0), Some(20)), "{count}");
            let (headers, rest) = packet.data().as_chunks::<20>();
            let lens = headers.iter().map(|header| u16::from_be_bytes([header[2], header[3]]));
            assert!(lens.eq((1..=count as u16).rev().map(|from_here| 3 + 20 * from_here)), "{count}");
            assert_eq!(rest, b"abc");
        }
    }
}
