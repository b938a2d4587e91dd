//! Prepends UDP and IP headers to packets.
//!
//! ```click
//! UDPIPEncap(SRC, SPORT, DST, DPORT [, CHECKSUM, ECN])
//! ```
//!
//! The identification counts up from 0; the TTL is 250. Marks the new headers and sets the destination address
//! annotation, unless the destination is taken from it. Packets that do not fit into an IP packet are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; each has its own identifications, and so has, with ECN, each of
//! several UDPIPEncap with the same SRC and DST. Without ECN several use the same ones: behind one of them packets of all can be cut.
//!
//! # Arguments
//! - `SRC` (address): the source.
//! - `SPORT` (port): the source port.
//! - `DST` (address or `DST_ANNO`): the destination; `DST_ANNO` takes it from the destination address annotation.
//! - `DPORT` (port): the destination port.
//! - `CHECKSUM` (boolean, default true): whether to compute the UDP checksum.
//! - `ECN` (boolean, default false): whether packets are IP packets whose congestion mark the new header has (RFC 6040,
//!   RFC 9601). Only for a tunnel whose other end puts the mark back, as StripTransportHeader does with its argument ECN:
//!   where it does not, congestion would be hidden from the ends.
//!
//! # Handlers
//! - `src`, `sport`, `dst`, `dport` (read, write): the arguments.
//!
//! # Example
//! ```click
//! RatedSource -> UDPIPEncap(1.0.0.1, 1234, 2.0.0.2, 1234) -> ...
//! ```
//!
//! # See also
//! IPEncap, SetUDPChecksum, StripTransportHeader

use super::super::encap::{Destination, MarkOf, NO_FIT, Template, push_headers};
use elements_shared::ecn;
use elements_shared::identification::Identification;
use packet::{Batch, Packet};
use router::{
    Class, Config, ConfigError, Cx, Element, FromArg, Handlers, IpPort, PerPacket, Simple, Verdict,
};
use std::any::Any;
use std::net::Ipv4Addr;
use wire::checksum::Sum;
use wire::{ip_proto, ipv4, udp};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("UDPIPEncap", create).live().doc(router::manual!("udp_ip_encap.rs"));

/// Bytes of both headers.
const HEADERS: usize = ipv4::HEADER_LEN + udp::HEADER_LEN;

/// The headers that go in front of packets.
pub(super) struct UdpIp {
    template: Template<HEADERS>,
    ports: [u16; 2],
    checksum: bool,
    id: Identification,
    mark: MarkOf,
}

impl UdpIp {
    pub(super) fn new(
        config: &Config<'_>,
        src: Ipv4Addr,
        destination: Destination,
        ports: [IpPort; 2],
        checksum: bool,
        ends: &[usize],
    ) -> UdpIp {
        let template = Template::of(ip_proto::UDP, 250, src, destination);
        let (id, mark) = (Identification::new(config, 0, ends), MarkOf::Fixed);
        let mut headers = UdpIp { template, ports: [0, 0], checksum, id, mark };
        headers.set_ports(ports.map(|port| port.0));
        headers
    }

    /// Source and destination port.
    pub(super) fn ports(&self) -> [u16; 2] {
        self.ports
    }

    /// Changes them.
    pub(super) fn set_ports(&mut self, ports: [u16; 2]) {
        self.ports = ports;
        self.template.rest_mut().copy_from_slice(&udp::header(ports, 0, 0));
    }

    /// Puts the headers in front of a packet, unless it becomes too long.
    #[inline(always)] // one call less for every packet
    pub(super) fn wrap(&mut self, packet: &mut Packet) -> Verdict {
        let mut id = self.id;
        let verdict = match (self.checksum, self.template.destination()) {
            (false, Destination::Address(_)) => self.wrap_with::<false, false>(packet, &mut id),
            (false, Destination::Annotation) => self.wrap_with::<false, true>(packet, &mut id),
            (true, Destination::Address(_)) => self.wrap_with::<true, false>(packet, &mut id),
            (true, Destination::Annotation) => self.wrap_with::<true, true>(packet, &mut id),
        };
        self.id = id;
        verdict
    }

    /// The same for all packets of a batch, which asks once what is the same for all, so that nothing takes a register that is not needed.
    #[inline]
    fn wrap_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        let (this, mut id) = (&*self, self.id);
        match (this.checksum, this.template.destination()) {
            (false, Destination::Address(_)) => {
                cx.scatter(batch, |_, packet| this.wrap_with::<false, false>(packet, &mut id));
            }
            (false, Destination::Annotation) => {
                cx.scatter(batch, |_, packet| this.wrap_with::<false, true>(packet, &mut id));
            }
            (true, Destination::Address(_)) => {
                cx.scatter(batch, |_, packet| this.wrap_with::<true, false>(packet, &mut id));
            }
            (true, Destination::Annotation) => {
                cx.scatter(batch, |_, packet| this.wrap_with::<true, true>(packet, &mut id));
            }
        }
        self.id = id;
    }

    #[inline(always)] // so that the identification stays in a register
    fn wrap_with<const CHECKSUM: bool, const ANNOTATION: bool>(
        &self,
        packet: &mut Packet,
        id: &mut Identification,
    ) -> Verdict {
        let mark = self.mark.mark(packet);
        if self.encapsulate::<CHECKSUM, ANNOTATION>(packet, id.take()).is_none() {
            return Verdict::Drop(NO_FIT);
        }
        if mark != 0 {
            ecn::set_mark(packet.data_mut(), mark);
        }
        Verdict::Pass
    }

    /// None if the packet becomes too long.
    #[inline(always)] // one call less for every packet
    fn encapsulate<const CHECKSUM: bool, const ANNOTATION: bool>(
        &self,
        packet: &mut Packet,
        id: Identification,
    ) -> Option<()> {
        // Cut only if the packet becomes too long anyway.
        let len = (packet.len() + udp::HEADER_LEN) as u16;
        if !CHECKSUM {
            return push_headers::<ANNOTATION, HEADERS>(packet, &self.template, id, move |rest| {
                if let Some(header) = rest.first_chunk_mut() {
                    udp::Header::new(header).set_len(len);
                }
            });
        }
        // The sum comes before the headers, which are written and not read.
        let (src, dst) = (self.template.src(), self.template.destination().of(packet));
        let header = udp::header_v4(src, dst, self.ports, len, Sum::of(packet.data()));
        push_headers::<ANNOTATION, HEADERS>(packet, &self.template, id, move |rest| {
            rest.copy_from_slice(&header)
        })
    }
}

/// Reads the arguments that all classes with one header have.
pub(super) fn read(config: &Config<'_>, mut interval: Option<&mut u32>) -> Result<UdpIp, ConfigError> {
    let (mut src, mut dst) = (Ipv4Addr::UNSPECIFIED, String::new());
    let (mut sport, mut dport, mut checksum, mut ecn) = (IpPort(0), IpPort(0), true, false);
    let mut args = config
        .args()
        .required("SRC", &mut src)
        .required("SPORT", &mut sport)
        .required("DST", &mut dst)
        .required("DPORT", &mut dport)
        .positional("CHECKSUM", &mut checksum);
    if let Some(interval) = &mut interval {
        args = args.positional("INTERVAL", *interval);
    }
    args.keyword("ECN", &mut ecn).finish()?;
    let destination = Destination::from_arg(&dst, config.scope()).map_err(|_| "bad DST")?;
    // What a tunnel makes may be cut. Of others each counts by itself, as Click has it.
    let (mark, ends): (_, &[usize]) = if ecn { (MarkOf::Inner, &[0, 2]) } else { (MarkOf::Fixed, &[]) };
    Ok(UdpIp { mark, ..UdpIp::new(config, src, destination, [sport, dport], checksum, ends) })
}

struct UdpIpEncap(UdpIp);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(PerPacket(UdpIpEncap(read(config, None)?))))
}

impl Simple for UdpIpEncap {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.0.wrap(packet)
    }

    #[inline]
    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        self.0.wrap_batch(cx, batch);
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.0.id))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Some(id) = state.downcast_ref() {
            self.0.id.go_on(*id);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("src", |e: &mut Self, _| e.0.template.src());
        h.write("src", |e: &mut Self, cx, text| {
            e.0.template.set_src(router::keyword_value(cx, "SRC", text)?);
            Ok(())
        });
        h.read("dst", |e: &mut Self, _| e.0.template.destination());
        h.write("dst", |e: &mut Self, cx, text| {
            e.0.template.set_destination(router::keyword_value(cx, "DST", text)?);
            Ok(())
        });
        h.read("sport", |e: &mut Self, _| e.0.ports()[0]);
        h.write("sport", |e: &mut Self, cx, text| {
            let port = router::keyword_value::<IpPort>(cx, "SPORT", text)?.0;
            e.0.set_ports([port, e.0.ports()[1]]);
            Ok(())
        });
        h.read("dport", |e: &mut Self, _| e.0.ports()[1]);
        h.write("dport", |e: &mut Self, cx, text| {
            let port = router::keyword_value::<IpPort>(cx, "DPORT", text)?.0;
            e.0.set_ports([e.0.ports()[0], port]);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::{send, send_one};
    use elements_testing::samples::{DST, SRC};
    use elements_testing::transport_samples::{data, naive_with_pseudo_header, summed, udp};
    use proptest::prelude::*;

    #[test]
    fn handlers_and_missing_checksum() {
        let config =
            "Inject -> e :: UDPIPEncap(1.2.3.4, 5000, 5.6.7.8, 53, false) -> CheckIPHeader -> Collect(0)";
        let mut flow = send_one(config, b"abc".to_vec());
        assert_eq!(flow.only(0).data()[20..28], [0x13, 0x88, 0, 53, 0, 11, 0, 0]);
        assert_eq!(flow.only(0).transport_offset(), Some(20));
        for (name, old, new) in [
            ("src", "1.2.3.4", "9.9.9.9"),
            ("sport", "5000", "7"),
            ("dst", "5.6.7.8", "DST_ANNO"),
            ("dport", "53", "8"),
        ] {
            let name = format!("e.{name}");
            assert_eq!(
                (flow.read(&name), flow.write(&name, new), flow.read(&name)),
                (old.into(), String::new(), new.into())
            );
        }
        assert!(errors("Idle -> UDPIPEncap(1.2.3.4, 1, there, 2) -> Discard").contains("bad DST"));
    }

    #[test]
    fn too_long_for_ip() {
        let config = "Inject -> UDPIPEncap(1.2.3.4, 1, 5.6.7.8, 2) -> CheckUDPHeader -> Collect(0)";
        let flow = send(config, [vec![0; 65_507], vec![0; 65_508]]);
        assert_eq!((flow.only(0).len(), flow.drops()), (65_535, vec![("too long for an IP packet", 1)]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn as_the_naive_sum(data in data()) {
            let config = format!("Inject -> UDPIPEncap({SRC}, 5000, {DST}, 53) -> CheckIPHeader -> Collect(0)");
            let sum = match naive_with_pseudo_header(17, &udp(&data)) {
                0 => 0xffff,
                sum => sum,
            };
            let flow = send_one(&config, data.clone());
            prop_assert_eq!(&flow.only(0).data()[20..], summed(udp(&data), 6, sum));
        }
    }
}
