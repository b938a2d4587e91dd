//! Labels IP packets with the node and port by which they will leave the cluster.
//!
//! ```click
//! VLBEncap(NODE [, PORT])
//! ```
//!
//! Prepends an Ethernet header whose destination address encodes a node of the cluster and one of its external ports.
//! The EtherType is chosen by the packet's IP version. VLBNode sends the packet to that node.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated. Not in Click.
//!
//! # Arguments
//! - `NODE` (integer): the node's number.
//! - `PORT` (integer, default 0): the external port.
//!
//! # Handlers
//! - `node`, `port` (read, write): the arguments.
//!
//! # Example
//! ```click
//! routes :: IPLookup(10.0.0.0/24 0, 10.0.1.0/24 1);
//! node :: VLBNode(NODE 0, NODES 2, KEY secret);
//! InfiniteSource(LIMIT 0) -> GetIPAddress(16) -> routes;
//! routes[0] -> VLBEncap(0) -> node;
//! routes[1] -> VLBEncap(1) -> node;
//! node[0] -> VLBDecap -> Discard;
//! node[1] -> Discard;
//! Idle -> [1]node;
//! ```
//!
//! # See also
//! VLBNode, VLBDecap, EtherEncap

use cluster::label::{Label, Stamp};
use cluster::{NodeId, PortId};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use wire::ethernet::{HEADER_LEN, ether_type};

/// The class.
pub(crate) const CLASS: Class = Class::new("VLBEncap", create).doc(router::manual!("vlb_encap.rs"));

struct VlbEncap {
    node: NodeId,
    port: PortId,
    /// What is put in front of IPv4 packets, and of IPv6 packets.
    headers: [[u8; HEADER_LEN]; 2],
}

impl VlbEncap {
    fn new(node: NodeId, port: PortId) -> VlbEncap {
        // The rest of the label is the node's business.
        let label = Label { egress: node, port, ingress: 0, hops: 0, stamp: Stamp::None }.encode();
        let header = |kind: u16| {
            let mut header = [0; HEADER_LEN];
            header[..label.len()].copy_from_slice(&label);
            header[label.len()..].copy_from_slice(&kind.to_be_bytes());
            header
        };
        VlbEncap { node, port, headers: [ether_type::IPV4, ether_type::IPV6].map(header) }
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut node, mut port) = (0, 0);
    config.args().required("NODE", &mut node).positional("PORT", &mut port).finish()?;
    Ok(Box::new(PerPacket(VlbEncap::new(node, port))))
}

impl Simple for VlbEncap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let header = match packet.data().first().map(|byte| byte >> 4) {
            Some(4) => &self.headers[0],
            Some(6) => &self.headers[1],
            _ => return Verdict::Drop("no IP packet"),
        };
        let Some(place) = packet.push_array() else {
            return Verdict::Drop("no room for an Ethernet header");
        };
        *place = *header;
        packet.set_mac_offset(0);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("node", |e: &mut VlbEncap, _| e.node);
        h.write("node", |e: &mut VlbEncap, cx, text| {
            *e = VlbEncap::new(router::value(cx, text)?, e.port);
            Ok(())
        });
        h.read("port", |e: &mut VlbEncap, _| e.port);
        h.write("port", |e: &mut VlbEncap, cx, text| {
            *e = VlbEncap::new(e.node, router::value(cx, text)?);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Node and port are in the destination address, in two bytes each, and the EtherType is the packet's.
    #[test]
    fn the_label_holds_node_and_port() {
        let config = "InfiniteSource(DATA \\<45000014>, LIMIT 1, STOP true) -> VLBEncap(258, 300)
                      -> c :: Classifier(0/02c10102012c 12/0800 14/45, -); c[1] -> Discard; c[0] -> d :: Discard;";
        assert_eq!(run_and_read(config, &["d.count", "d.byte_count"]), ["1", "18"]);
    }
}
