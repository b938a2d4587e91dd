//! Prepends UDP and IPv6 headers to packets.
//!
//! ```click
//! UDPIP6Encap(SRC, SPORT, DST, DPORT [, ECN])
//! ```
//!
//! The hop limit is 255; the checksum, which IPv6 requires, is always computed. Marks the new headers and sets the
//! IPv6 destination annotation. Packets that do not fit into an IPv6 packet are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `SRC` (IPv6 address): the source.
//! - `SPORT` (port): the source port.
//! - `DST` (IPv6 address or `DST_ANNO`): the destination; `DST_ANNO` takes it from the destination annotation.
//! - `DPORT` (port): the destination port.
//! - `ECN` (boolean, default false): as for UDPIPEncap.
//!
//! # Handlers
//! - `src`, `sport`, `dst`, `dport` (read, write): the arguments.
//!
//! # Example
//! ```click
//! RatedSource -> UDPIP6Encap(2001:db8::1, 1234, 2001:db8::2, 1234) -> Discard
//! ```
//!
//! # See also
//! UDPIPEncap, IP6Encap, FastUDPSourceIP6

use super::encap::{Destination, NO_FIT, push_headers, template};
use elements_shared::ecn;
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, FromArg, Handlers, IpPort, PerPacket, Simple, Verdict,
};
use std::net::Ipv6Addr;
use wire::checksum::Sum;
use wire::{ip_proto, ipv6, udp};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("UDPIP6Encap", create).pure().live().doc(router::manual!("udp_ip6_encap.rs"));

const HOP_LIMIT: u8 = 255;

/// Bytes of both headers.
const HEADERS: usize = ipv6::HEADER_LEN + udp::HEADER_LEN;

struct UdpIp6Encap {
    template: [u8; ipv6::HEADER_LEN],
    destination: Destination,
    ports: [u16; 2],
    /// Whether packets are IP packets whose congestion mark the new header has.
    ecn: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut src, mut dst) = (Ipv6Addr::UNSPECIFIED, String::new());
    let (mut sport, mut dport, mut ecn) = (IpPort(0), IpPort(0), false);
    config
        .args()
        .required("SRC", &mut src)
        .required("SPORT", &mut sport)
        .required("DST", &mut dst)
        .required("DPORT", &mut dport)
        .keyword("ECN", &mut ecn)
        .finish()?;
    let destination = Destination::from_arg(&dst, config.scope()).map_err(|_| "bad DST")?;
    let template = template(ip_proto::UDP, 0, HOP_LIMIT, src);
    Ok(Box::new(PerPacket(UdpIp6Encap { template, destination, ports: [sport.0, dport.0], ecn })))
}

impl UdpIp6Encap {
    /// Why the packet is to be dropped, if it is.
    #[inline]
    fn encapsulate(&self, packet: &mut Packet) -> Result<(), &'static str> {
        let len = u16::try_from(packet.len() + udp::HEADER_LEN).map_err(|_| NO_FIT)?;
        let (src, dst) = (ipv6::Header::new(&self.template).src(), self.destination.of(packet));
        // The sum comes before the headers, which are written and not read.
        let header = udp::header_v6(src, dst, self.ports, len, Sum::of(packet.data()));
        let mark = if self.ecn { ecn::mark(packet.data()).unwrap_or(0) } else { 0 };
        push_headers::<HEADERS>(packet, self.template, dst, move |rest| rest.copy_from_slice(&header))?;
        if mark != 0 {
            ecn::set_mark(packet.data_mut(), mark);
        }
        Ok(())
    }
}

impl Simple for UdpIp6Encap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.encapsulate(packet) {
            Ok(()) => Verdict::Pass,
            Err(reason) => Verdict::Drop(reason),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type U = UdpIp6Encap;
        h.read("src", |e: &mut U, _| ipv6::Header::new(&e.template).src());
        h.write("src", |e: &mut U, cx, text| {
            ipv6::Header::new(&mut e.template).set_src(router::value(cx, text)?);
            Ok(())
        });
        h.read("dst", |e: &mut U, _| e.destination);
        h.write("dst", |e: &mut U, cx, text| {
            e.destination = router::value(cx, text)?;
            Ok(())
        });
        for (at, name) in ["sport", "dport"].into_iter().enumerate() {
            h.read(name, move |e: &mut U, _| e.ports[at]);
            h.write(name, move |e: &mut U, cx, text| {
                e.ports[at] = router::value::<IpPort>(cx, text)?.0;
                Ok(())
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;
    use std::net::Ipv6Addr;

    #[test]
    fn writes_both_headers_and_the_checksum() {
        let config =
            "Inject -> e :: UDPIP6Encap(2001:db8::1, 5000, 2001:db8::2, 53) -> CheckIP6Header -> Collect(0)";
        let mut flow = send(config, [b"abc".to_vec(), vec![0; 65_528]]);
        let data = flow.only(0).data().to_vec();
        assert_eq!(data[..8], [0x60, 0, 0, 0, 0, 11, 17, 255]);
        assert_eq!(data[40..46], [0x13, 0x88, 0, 53, 0, 11]);
        let address = |last: u8| Ipv6Addr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, u16::from(last)]);
        assert_eq!(wire::udp::verify_checksum_v6(address(1), address(2), &data[40..]), Ok(()));
        assert_eq!(flow.drops(), [("too long for an IPv6 packet", 1)]);
        for (name, old, new) in [
            ("src", "2001:db8::1", "::9"),
            ("sport", "5000", "7"),
            ("dst", "2001:db8::2", "DST_ANNO"),
            ("dport", "53", "8"),
        ] {
            let name = format!("e.{name}");
            assert_eq!(
                (flow.read(&name), flow.write(&name, new), flow.read(&name)),
                (old.into(), String::new(), new.into())
            );
        }
        assert!(errors("Idle -> UDPIP6Encap(::1, 1, there, 2) -> Discard").contains("bad DST"));
    }
}
