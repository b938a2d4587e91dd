//! The Ethernet addresses that carry a packet through the cluster.
//!
//! A packet's headers are examined once, where it enters. From there on it carries a label in place of its Ethernet
//! addresses:
//!
//! ```text
//! destination  02 c1 | egress node | egress port          one address for each external port of the cluster
//! source       h  b  | ingress node | sequence or via     h: hops left (4 bits), kind (2 bits), 10; b: bucket
//! or           h  b  | ingress | via | sequence           with a byte for ingress and via, for strict order in an n-fly
//! ```
//!
//! The destination depends only on the external port, so that a device that steers frames by destination address can
//! have a receive queue for each port. Two bytes each for node and port allow far more ports than devices have
//! queues; where queues run out, one pass over the label classifies instead. Both addresses are unicast and locally
//! administered.

use crate::{NodeId, PortId};

/// Length of a label: two Ethernet addresses.
pub const LEN: usize = 12;
/// Most hops that a label can allow.
pub const MAX_HOPS: u8 = 15;
/// Nodes with external ports of an n-fly with strict order: the label has a byte for the number of one, where it has two otherwise.
pub const MOST_NUMBERED: usize = 256;

/// Where the source address begins.
pub const SOURCE: u32 = 6;

const MARK: [u8; 2] = [0x02, 0xc1];
/// The two low bits of an address's first byte: locally administered, unicast.
const LOCAL: u8 = 0b10;

/// What the last bytes of a label say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// Nothing.
    None,
    /// The packet's place among those of its bucket from its ingress to its egress node.
    Sequence {
        /// The bucket.
        bucket: u8,
        /// The place, modulo 65,536.
        number: u16,
    },
    /// The node to be visited first, where the next hop does not tell (in an n-fly).
    Via(NodeId),
    /// Both: the node to be visited first, of which the lower byte is kept, as that of the ingress node is, and the place.
    Numbered {
        /// The bucket.
        bucket: u8,
        /// The place, modulo 65,536.
        number: u16,
        /// The node, less than [`MOST_NUMBERED`].
        via: NodeId,
    },
}

impl Stamp {
    /// The node to be visited first, if there is one.
    #[inline]
    pub fn via(self) -> Option<NodeId> {
        match self {
            Stamp::Via(via) | Stamp::Numbered { via, .. } => Some(via),
            Stamp::None | Stamp::Sequence { .. } => None,
        }
    }

    /// What is left of it behind that node.
    #[inline]
    #[must_use]
    pub fn without_via(self) -> Stamp {
        match self {
            Stamp::Via(_) => Stamp::None,
            Stamp::Numbered { bucket, number, .. } => Stamp::Sequence { bucket, number },
            stamp => stamp,
        }
    }
}

/// The source address of a label: what it says beside egress node and port.
#[inline]
pub fn source(ingress: NodeId, hops: u8, stamp: Stamp) -> [u8; 6] {
    let (kind, bucket, last) = match stamp {
        Stamp::None => (0, 0, 0),
        Stamp::Sequence { bucket, number } => (1, bucket, number),
        Stamp::Via(node) => (2, 0, node),
        Stamp::Numbered { bucket, number, .. } => (3, bucket, number),
    };
    let [i0, i1] = match stamp {
        Stamp::Numbered { via, .. } => [ingress as u8, via as u8],
        _ => ingress.to_be_bytes(),
    };
    let ([l0, l1], head) = (last.to_be_bytes(), hops.min(MAX_HOPS) << 4 | kind << 2 | LOCAL);
    [head, bucket, i0, i1, l0, l1]
}

/// The egress node of a frame's label, which is what [`Label::decode`] finds; `None` if the frame bears none.
#[inline]
pub fn egress(frame: &[u8]) -> Option<NodeId> {
    let &[_, _, e0, e1, ..] = marked(frame)?;
    Some(u16::from_be_bytes([e0, e1]))
}

/// The same of the port.
#[inline]
pub fn port(frame: &[u8]) -> Option<PortId> {
    let &[_, _, _, _, p0, p1, ..] = marked(frame)?;
    Some(u16::from_be_bytes([p0, p1]))
}

/// The first bytes of a frame that bears a label.
#[inline]
fn marked(frame: &[u8]) -> Option<&[u8; LEN]> {
    let bytes: &[u8; LEN] = frame.first_chunk()?;
    let &[m0, m1, _, _, _, _, head, ..] = bytes;
    ([m0, m1] == MARK && head & 0b11 == LOCAL).then_some(bytes)
}

/// Where a packet in the cluster is going.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The node that the packet leaves the cluster by.
    pub egress: NodeId,
    /// The external port of that node.
    pub port: PortId,
    /// The node by which the packet came.
    pub ingress: NodeId,
    /// Links that the packet may still cross, at most [`MAX_HOPS`].
    pub hops: u8,
    /// For order or for the first part of the way.
    pub stamp: Stamp,
}

impl Label {
    /// Destination and source address, as they stand in the frame.
    #[inline]
    pub fn encode(&self) -> [u8; LEN] {
        let ([e0, e1], [p0, p1]) = (self.egress.to_be_bytes(), self.port.to_be_bytes());
        let [s0, s1, s2, s3, s4, s5] = source(self.ingress, self.hops, self.stamp);
        [MARK[0], MARK[1], e0, e1, p0, p1, s0, s1, s2, s3, s4, s5]
    }

    /// Reads the label of a frame; `None` if the frame bears none.
    #[inline]
    pub fn decode(frame: &[u8]) -> Option<Label> {
        let bytes: &[u8; LEN] = frame.first_chunk()?;
        let &[m0, m1, e0, e1, p0, p1, head, bucket, i0, i1, l0, l1] = bytes;
        if [m0, m1] != MARK || head & 0b11 != LOCAL {
            return None;
        }
        let (last, mut ingress) = (u16::from_be_bytes([l0, l1]), u16::from_be_bytes([i0, i1]));
        let stamp = match head >> 2 & 0b11 {
            0 => Stamp::None,
            1 => Stamp::Sequence { bucket, number: last },
            2 => Stamp::Via(last),
            _ => {
                ingress = NodeId::from(i0);
                Stamp::Numbered { bucket, number: last, via: i1.into() }
            }
        };
        Some(Label {
            egress: u16::from_be_bytes([e0, e1]),
            port: u16::from_be_bytes([p0, p1]),
            ingress,
            hops: head >> 4,
            stamp,
        })
    }

    /// The label behind one more link; `None` when the packet has crossed as many as it may. Since every hop takes one,
    /// no packet goes round for ever, whatever nodes believe about each other.
    #[inline]
    #[must_use]
    pub fn hop(self) -> Option<Label> {
        Some(Label { hops: self.hops.checked_sub(1)?, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stamps() -> impl Strategy<Value = Stamp> {
        prop_oneof![
            Just(Stamp::None),
            any::<u16>().prop_map(Stamp::Via),
            any::<(u8, u16)>().prop_map(|(bucket, number)| Stamp::Sequence { bucket, number }),
            any::<(u8, u16, u8)>().prop_map(|(bucket, number, via)| Stamp::Numbered {
                bucket,
                number,
                via: via.into()
            }),
        ]
    }

    proptest! {
        /// Nothing gets lost, with any number of nodes and ports, and both addresses are unicast and local.
        #[test]
        fn a_label_is_read_back_as_it_was_written(egress: u16, port: u16, ingress: u16, hops in 0..=MAX_HOPS, stamp in stamps()) {
            let most = if matches!(stamp, Stamp::Numbered { .. }) { MOST_NUMBERED as u16 - 1 } else { u16::MAX };
            let ingress = ingress.min(most);
            let label = Label { egress, port, ingress, hops, stamp };
            let bytes = label.encode();
            prop_assert_eq!(Label::decode(&bytes), Some(label));
            prop_assert_eq!([bytes[0] & 3, bytes[6] & 3], [LOCAL, LOCAL]);
        }

        /// The destination address tells the external port and nothing else, so that devices can steer by it.
        #[test]
        fn one_address_for_a_port(a: u16, b: u16, hops in 0..=MAX_HOPS, stamp in stamps()) {
            let label = |ingress, hops, stamp| Label { egress: 7, port: 300, ingress, hops, stamp }.encode();
            prop_assert_eq!(&label(a, hops, stamp)[..6], &label(b, 2, Stamp::None)[..6]);
        }

        #[test]
        fn any_bytes_can_be_read_as_a_label(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
            let label = Label::decode(&bytes);
            let found = egress(&bytes).zip(port(&bytes));
            prop_assert_eq!(found, label.map(|label| (label.egress, label.port)));
            if let Some(label) = Label::decode(&bytes) {
                prop_assert_eq!(Label::decode(&label.encode()), Some(label));
            }
        }
    }

    #[test]
    fn hops_run_out() {
        let label = Label { egress: 1, port: 0, ingress: 0, hops: 1, stamp: Stamp::None };
        assert_eq!(label.hop().and_then(Label::hop), None);
    }
}
