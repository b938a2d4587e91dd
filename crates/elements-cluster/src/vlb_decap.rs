//! Sends packets that leave the cluster at this node to their external ports.
//!
//! ```click
//! VLBDecap([keyword FAMILIES])
//! ```
//!
//! Removes the label added by VLBEncap. The packet leaves by the output for its external port; it is dropped if there
//! is none.
//!
//! With FAMILIES each port has two outputs: 2P for the IPv4 packets of port P, 2P + 1 for its IPv6 packets. The
//! destination annotation of each packet is set from its header, as GetIPAddress(16) or GetIP6Address(24) would do. So
//! one look at a packet does what otherwise a Classifier, VLBDecap and one of these two do. The EtherType behind the
//! label says what a packet is; others are dropped. Headers were examined where packets entered the cluster, and are not again.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: replicated. Not in Click.
//!
//! # Arguments
//! - `FAMILIES` (boolean, default false): whether IPv4 and IPv6 packets leave by different outputs, with destination annotations.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! node :: VLBNode(NODE 0, NODES 1, KEY secret);
//! InfiniteSource(LIMIT 0) -> VLBEncap(0, 1) -> node -> ports :: VLBDecap;
//! ports[0] -> Discard;
//! ports[1] -> Discard;
//! ```
//! At a node with one external port:
//! ```click
//! node :: VLBNode(NODE 0, NODES 1, KEY secret);
//! InfiniteSource(LIMIT 0) -> VLBEncap(0) -> node -> leaving :: VLBDecap(FAMILIES true);
//! leaving[0] -> arp :: ARPQuerier(10.0.0.1, 2:0:0:0:0:1) -> Discard;
//! leaving[1] -> nd :: IP6NDSolicitor(2001:db8::1, 2:0:0:0:0:1) -> Discard;
//! Idle -> [1]arp; Idle -> [1]nd;
//! ```
//!
//! # See also
//! VLBEncap, VLBNode, GetIPAddress, GetIP6Address

use cluster::label;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ethernet::{HEADER_LEN, ether_type};
use wire::ipv6;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("VLBDecap", create).ports("1/1-").processing("h/h").doc(router::manual!("vlb_decap.rs"));

/// Whether families have outputs of their own.
struct VlbDecap<const FAMILIES: bool> {
    outputs: usize,
}

/// Label, type and the IPv4 header without options: no packet is shorter.
const LEAST: usize = HEADER_LEN + 20;
/// Label, type and IPv6 header.
const LEAST6: usize = HEADER_LEN + ipv6::HEADER_LEN;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (outputs, mut families) = (config.outputs(), false);
    config.args().keyword("FAMILIES", &mut families).finish()?;
    Ok(if families {
        Box::new(PerPacket(VlbDecap::<true> { outputs }))
    } else {
        Box::new(PerPacket(VlbDecap::<false> { outputs }))
    })
}

/// Notes where a frame goes, and says to which of the families it belongs; `None` if to neither.
#[inline]
fn family(packet: &mut Packet) -> Option<usize> {
    let (frame, _) = packet.data_from::<LEAST>(0)?;
    let kind = u16::from_be_bytes([frame[HEADER_LEN - 2], frame[HEADER_LEN - 1]]);
    let destination = *frame.last_chunk::<4>()?;
    match kind {
        ether_type::IPV4 => {
            packet.set_dst_ip(destination.into());
            Some(0)
        }
        ether_type::IPV6 => {
            let destination = *packet.data_from::<LEAST6>(0)?.0.last_chunk::<16>()?;
            packet.set_dst_ip6(destination.into());
            Some(1)
        }
        _ => None,
    }
}

impl<const FAMILIES: bool> Simple for VlbDecap<FAMILIES> {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(port) = label::port(packet.data()) else { return Verdict::Drop("no label") };
        let output = if FAMILIES {
            let Some(family) = family(packet) else { return Verdict::Drop("no IP packet") };
            2 * usize::from(port) + family
        } else {
            port.into()
        };
        if !packet.pull(HEADER_LEN) {
            return Verdict::Drop("no label");
        }
        if output < self.outputs { Verdict::Output(output) } else { Verdict::Drop("no such port") }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{run_and_read, send};
    use cluster::label::{Label, Stamp};
    use std::net::{IpAddr, Ipv6Addr};

    /// Packets find their ports, without the label; what has none, or a port that is not there, is dropped.
    #[test]
    fn packets_leave_at_the_port_that_the_label_names() {
        let config = "InfiniteSource(DATA \\<45000014>, LIMIT 3, STOP true) -> r :: RoundRobinSwitch;
                      r[0] -> VLBEncap(0, 1) -> v :: VLBDecap; r[1] -> VLBEncap(0, 2) -> v; r[2] -> v;
                      v[0] -> z :: Discard; v[1] -> o :: Discard;";
        let read = run_and_read(config, &["z.count", "o.count", "o.byte_count", "v.drop_reasons"]);
        assert_eq!(read[..3], ["0", "1", "4"]);
        assert!(read[3].contains("no such port") && read[3].contains("no label"), "{}", read[3]);
    }

    /// Families have outputs of their own, by port, and packets the annotation that other elements would set. What is neither is dropped, and so is
    /// what is shorter than its header.
    #[test]
    fn families_have_outputs_and_annotations() {
        let frame = |port: u16, kind: [u8; 2], packet: &[u8]| {
            let label = Label { egress: 1, port, ingress: 0, hops: 0, stamp: Stamp::None }.encode();
            [&label[..], &kind, packet].concat()
        };
        let (mut v4, mut v6) = ([0; 20], [0; 40]);
        v4[16..].copy_from_slice(&[10, 0, 1, 7]);
        v6[24..].copy_from_slice(&Ipv6Addr::LOCALHOST.octets());
        let (ip, ip6) = ([8, 0], [0x86, 0xdd]);
        let packets = [
            frame(0, ip, &v4),
            frame(0, ip6, &v6),
            frame(1, ip, &v4),
            frame(1, ip6, &v6),
            frame(2, ip, &v4),
            frame(0, ip, &v4[..19]),
            frame(0, ip6, &v6[..39]),
            frame(0, [8, 6], &v6),
            vec![1; 60],
        ];
        let config = "Inject -> v :: VLBDecap(FAMILIES true) -> Collect(0); v[1] -> Collect(1); v[2] -> Collect(2); v[3] -> Collect(3)";
        let flow = send(config, packets);
        assert_eq!([0, 1, 2, 3].map(|at| flow.data(at).concat()), [&v4[..], &v6, &v4, &v6]);
        for (at, packet) in &flow.seen {
            let found = if at % 2 == 0 { IpAddr::V4(packet.dst_ip()) } else { IpAddr::V6(packet.dst_ip6()) };
            let expected = if at % 2 == 0 { IpAddr::from([10, 0, 1, 7]) } else { Ipv6Addr::LOCALHOST.into() };
            assert_eq!(found, expected, "output {at}");
        }
        assert_eq!(flow.drops(), [("no IP packet", 3), ("no label", 1), ("no such port", 1)]);
    }
}
