//! The ways through a cluster.

use crate::NodeId;

/// The way of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Straight to the egress.
    Direct,
    /// By way of another terminal. While a way is chosen, that may be the egress: the packet goes straight then, but not as
    /// part of the straight share.
    Via(NodeId),
}

impl Path {
    /// The terminal that a packet for `egress` goes to first.
    #[inline]
    pub(super) fn first(self, egress: NodeId) -> NodeId {
        if let Path::Via(node) = self { node } else { egress }
    }
}
