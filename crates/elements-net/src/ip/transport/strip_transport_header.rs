//! Removes the transport header.
//!
//! ```click
//! StripTransportHeader([ECN])
//! StripTCPHeader([ECN])
//! ```
//!
//! Removes everything before the data of TCP, UDP and ICMP packets with a marked IP header; of IPv6 packets, of TCP and
//! UDP without extension headers. The marks stay. For other
//! protocols, only what comes before the transport header is removed. Packets without a mark, or without a complete
//! transport header, are dropped. StripTCPHeader is FastClick's name for it where all packets are TCP.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ECN` (boolean, default false): whether the data is an IP packet from a tunnel that keeps the congestion mark, as
//!   UDPIPEncap does with its argument ECN. It has the mark afterwards that RFC 6040 says; if the outer header tells of
//!   congestion and the inner one cannot, the packet is dropped.
//!
//! # Example
//! ```click
//! ... -> CheckIPHeader -> CheckUDPHeader -> StripTransportHeader -> ...
//! ```
//!
//! # See also
//! UDPIPEncap, UnstripTransportHeader, StripIPHeader, StripToNetworkHeader, Strip

use elements_shared::ecn;
use elements_shared::ip_header::{NO_HEADER, header};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::{icmpv4, ip_proto, tcp, udp};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("StripTransportHeader", create).doc(router::manual!("strip_transport_header.rs"));
struct StripTransportHeader {
    ecn: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut ecn = false;
    config.args().keyword("ECN", &mut ecn).finish()?;
    Ok(Box::new(PerPacket(StripTransportHeader { ecn })))
}

/// The protocol of a packet.
#[inline]
fn protocol(packet: &Packet) -> Option<u8> {
    match header(packet) {
        Some(header) => Some(header.protocol()),
        None => packet
            .network()
            .filter(|bytes| bytes.first().is_some_and(|first| first >> 4 == 6))?
            .get(6)
            .copied(),
    }
}

/// Bytes of a packet's transport header.
#[inline]
fn header_len(packet: &Packet) -> Option<usize> {
    match protocol(packet)? {
        ip_proto::TCP => tcp::header_bytes(packet.transport()?).ok().map(<[u8]>::len),
        ip_proto::UDP => Some(udp::HEADER_LEN),
        ip_proto::ICMP => Some(icmpv4::HEADER_LEN),
        _ => Some(0),
    }
}

/// Strips; none, and nothing changed, if there is no whole header.
#[inline]
fn strip(packet: &mut Packet) -> Option<()> {
    let start = packet.transport_offset()?.checked_add_unsigned(header_len(packet)?)?;
    packet.pull(usize::try_from(start).ok()?).then_some(())
}

impl Simple for StripTransportHeader {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if strip(packet).is_none() {
            return Verdict::Drop(NO_HEADER);
        }
        let outer = if self.ecn { ecn::outer_mark(packet) } else { None };
        if ecn::leave_tunnel(packet, outer) { Verdict::Pass } else { Verdict::Drop(ecn::CONGESTION) }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::hostile;
    use elements_testing::transport_samples::{carrying, tcp, udp};
    use proptest::prelude::*;

    #[test]
    fn leaves_the_data_and_brings_the_header_back() {
        let mut long = tcp(b"....data");
        long[12] = 0x60;
        let packets = [
            carrying(6, 1, &long),
            carrying(17, 0, &udp(b"data")),
            carrying(1, 0, b"........data"),
            carrying(99, 0, b"data"),
        ];
        let flow = send("Inject -> MarkIPHeader -> StripTransportHeader -> Collect(0)", packets.clone());
        assert_eq!(flow.data(0), vec![b"data".to_vec(); 4]);
        let back = "Inject -> MarkIPHeader -> StripTransportHeader -> UnstripTransportHeader -> Collect(0)";
        let messages: Vec<_> =
            [24, 20, 20, 20].iter().zip(&packets).map(|(&n, data)| data[n..].to_vec()).collect();
        assert_eq!(send(back, packets.clone()).data(0), messages);
        let cut = packets.clone().map(|data| data[..22].to_vec());
        let flow = send("Inject -> MarkIPHeader -> StripTransportHeader -> Collect(0)", cut);
        assert_eq!((flow.data(0), flow.drops()), (vec![b"da".to_vec()], vec![("no IP header", 3)]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(packets in hostile()) {
            send("Inject -> MarkIPHeader -> StripTransportHeader -> UnstripTransportHeader -> Collect(0)", packets);
        }
    }
}
