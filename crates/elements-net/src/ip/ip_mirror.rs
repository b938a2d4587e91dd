//! Swaps source and destination of packets.
//!
//! ```click
//! IPMirror([DST_ANNO])
//! ```
//!
//! Swaps the addresses of packets with a marked IP header. For TCP and UDP packets that contain the start of the
//! transport header it also swaps the ports, and for TCP packets the sequence and acknowledgement numbers. Checksums
//! stay valid. Packets without a complete header are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `DST_ANNO` (boolean, default true): whether to set the destination address annotation to the new destination.
//!
//! # Example
//! ```click
//! ... -> CheckIPHeader -> IPMirror -> ...
//! ```
//!
//! # See also
//! IP6Mirror, EtherMirror, ICMPPingResponder

use elements_shared::ip_header::{NO_HEADER, header_mut};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ip_proto;
use wire::ipv4::{HEADER_LEN, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPMirror", create).pure().doc(router::manual!("ip_mirror.rs"));

struct IpMirror {
    annotate: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = IpMirror { annotate: true };
    config.args().positional("DST_ANNO", &mut e.annotate).finish()?;
    Ok(Box::new(PerPacket(e)))
}

/// Bytes that a transport header has at least: that of UDP. The ports are the first four.
const PORTS_LEN: usize = 8;

/// Swaps what the two directions of a TCP or UDP flow have the other way round.
fn mirror_transport(transport: &mut [u8], protocol: u8) {
    if let Some(ports) = transport.first_chunk_mut() {
        swap_ports(ports);
    }
    if protocol == ip_proto::TCP {
        mirror_numbers(transport);
    }
}

/// Swaps the ports, as one word.
#[inline]
fn swap_ports(transport: &mut [u8; PORTS_LEN]) {
    let [a, b, c, d, ..] = *transport;
    [transport[0], transport[1], transport[2], transport[3]] = [c, d, a, b];
}

/// Swaps sequence and acknowledgement number.
#[inline]
fn mirror_numbers(transport: &mut [u8]) {
    if let Some(numbers) = transport.get_mut(4..12) {
        numbers.rotate_left(4);
    }
}

impl IpMirror {
    /// A packet with options, or without all of its headers.
    #[cold]
    #[inline(never)] // the usual keeps all it needs in registers
    fn mirror_unusual(&self, packet: &mut Packet) -> Verdict {
        let Some(mut ip) = header_mut(packet) else { return Verdict::Drop(NO_HEADER) };
        let (src, protocol) = (ip.src(), ip.protocol());
        ip.swap_addresses();
        // Behind a header that says it is shorter than it can be there are no ports.
        let whole = ip.is_first_fragment() && ip.header_len() >= HEADER_LEN;
        let flow = whole && matches!(protocol, ip_proto::TCP | ip_proto::UDP);
        if self.annotate {
            packet.set_dst_ip(src);
        }
        if let Some(transport) = packet.transport_mut().filter(|_| flow) {
            mirror_transport(transport, protocol);
        }
        Verdict::Pass
    }
}

impl Simple for IpMirror {
    #[inline(always)]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        // Where there are no options, one comparison tells that ports are there, too.
        let Some((header, ports)) = packet.network_arrays_mut::<HEADER_LEN, PORTS_LEN>() else {
            return self.mirror_unusual(packet);
        };
        let mut ip = Header::new(header);
        if !ip.has_no_options() {
            return self.mirror_unusual(packet);
        }
        let (src, tcp, udp) = (ip.src(), ip.begins(ip_proto::TCP), ip.begins(ip_proto::UDP));
        ip.swap_addresses();
        if tcp | udp {
            swap_ports(ports);
        }
        if self.annotate {
            packet.set_dst_ip(src);
        }
        if tcp && let Some(transport) = packet.transport_mut() {
            mirror_numbers(transport);
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{send, send_one};
    use elements_testing::samples::{DST, SRC, edited, hostile, udp, with_addresses};
    use elements_testing::transport_samples::{carrying, naive_with_pseudo_header, summed, tcp};
    use proptest::prelude::*;

    const CONFIG: &str = "Inject -> MarkIPHeader -> IPMirror -> Collect(0);";

    #[test]
    fn there_and_back() {
        let segment = summed(tcp(b"abc"), 16, naive_with_pseudo_header(6, &tcp(b"abc")));
        let packet = carrying(6, 1, &segment);
        let flow = send_one(
            "Inject -> CheckIPHeader -> IPMirror -> CheckIPHeader -> CheckTCPHeader -> Collect(0)",
            packet.clone(),
        );
        let data = flow.only(0).data();
        assert_eq!((&data[12..16], &data[16..20]), (&DST.octets()[..], &SRC.octets()[..]));
        assert_eq!(data[24..36], [0x00, 0x50, 0x13, 0x88, 0, 0, 0, 7, 0, 0, 0, 9]);
        assert_eq!(flow.only(0).dst_ip(), SRC);
        let twice = "Inject -> MarkIPHeader -> IPMirror -> IPMirror(DST_ANNO false) -> Collect(0)";
        let flow = send_one(twice, packet.clone());
        assert_eq!((flow.data(0), flow.only(0).dst_ip()), (vec![packet], SRC));
    }

    /// What follows the header of a later fragment are no ports.
    #[test]
    fn fragments_keep_their_data() {
        let fragment = edited(udp(20), |ip| ip.set_fragment_field(9));
        let mirrored = with_addresses(fragment.clone(), DST, SRC);
        assert_eq!(send_one(CONFIG, fragment).data(0), [mirrored]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(packets in hostile()) {
            let twice = "Inject -> MarkIPHeader -> IPMirror -> IPMirror -> Collect(0)";
            let whole: Vec<_> = packets.iter().filter(|data| data.len() >= 20).cloned().collect();
            prop_assert_eq!(send(twice, packets).data(0), whole);
        }
    }
}
