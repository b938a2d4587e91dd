//! What a node knows of the others: whom it can reach, and whom they can.

use crate::NodeId;

/// A set of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nodes {
    /// All there are.
    All,
    /// These: a bit for each.
    Only(Box<[u64]>),
}

impl Nodes {
    /// The nodes of a list.
    pub fn of(nodes: impl IntoIterator<Item = NodeId>) -> Nodes {
        let mut bits: Vec<u64> = Vec::new();
        for node in nodes.into_iter().map(usize::from) {
            bits.resize(bits.len().max(node / 64 + 1), 0);
            bits[node / 64] |= 1 << (node % 64);
        }
        Nodes::Only(bits.into())
    }

    /// Whether a node is among them.
    #[inline]
    pub fn contains(&self, node: NodeId) -> bool {
        match self {
            Nodes::All => true,
            Nodes::Only(bits) => {
                bits.get(usize::from(node) / 64).is_some_and(|word| word >> (node % 64) & 1 == 1)
            }
        }
    }
}

/// What is known of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Frames for it get there: it is alive and the way to it is whole, in both directions.
    pub up: bool,
    /// It may pass on traffic of others: it is not draining.
    pub transit: bool,
    /// Whom it says it can reach.
    pub reach: Nodes,
}

/// What a node knows.
#[derive(Clone, Debug)]
pub struct View {
    me: NodeId,
    peers: Vec<Peer>,
}

impl View {
    /// Everybody reaches everybody.
    pub fn whole(me: NodeId, nodes: usize) -> View {
        View { me, peers: vec![Peer { up: true, transit: true, reach: Nodes::All }; nodes] }
    }

    /// Nobody is known yet.
    pub fn empty(me: NodeId, nodes: usize) -> View {
        let mut view = View::whole(me, nodes);
        view.peers.fill(Peer { up: false, transit: false, reach: Nodes::Only([].into()) });
        view
    }

    /// The node whose view it is.
    pub fn me(&self) -> NodeId {
        self.me
    }

    /// Nodes there are, this one included.
    pub fn nodes(&self) -> usize {
        self.peers.len()
    }

    /// Nodes that are up, this one included.
    pub fn alive(&self) -> usize {
        1 + self.others().filter(|&node| self.peers[usize::from(node)].up).count()
    }

    fn others(&self) -> impl Iterator<Item = NodeId> {
        (0..self.peers.len() as NodeId).filter(|&node| node != self.me)
    }

    /// Something is learnt of a node; whether that changes anything. A node that does not exist is ignored.
    pub fn set(&mut self, node: NodeId, peer: Peer) -> bool {
        match self.peers.get_mut(usize::from(node)) {
            Some(known) if *known != peer => {
                *known = peer;
                true
            }
            _ => false,
        }
    }

    /// What is known of a node.
    pub fn peer(&self, node: NodeId) -> Option<&Peer> {
        self.peers.get(usize::from(node))
    }

    /// Whether a frame for `egress` can be sent there without help.
    #[inline]
    pub fn direct(&self, egress: NodeId) -> bool {
        self.peers.get(usize::from(egress)).is_some_and(|peer| peer.up)
    }

    /// Whether a frame for `egress` can go by way of `via`.
    #[inline]
    pub fn via(&self, via: NodeId, egress: NodeId) -> bool {
        via != self.me
            && via != egress
            && self.peers.get(usize::from(via)).is_some_and(|p| p.up && p.transit && p.reach.contains(egress))
    }

    /// Whether a flow for `egress` that goes by way of `via` can go on doing so: also while that node is draining.
    #[inline]
    pub fn via_still(&self, via: NodeId, egress: NodeId) -> bool {
        via != self.me
            && via != egress
            && self.peers.get(usize::from(via)).is_some_and(|peer| peer.up && peer.reach.contains(egress))
    }

    /// Whether there is any way to `egress`.
    pub fn reachable(&self, egress: NodeId) -> bool {
        self.direct(egress) || self.others().any(|via| self.via(via, egress))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node is no stopover for itself or for what ends there, nor one that drains or has lost the egress.
    #[test]
    fn stopovers() {
        let mut view = View::whole(0, 130);
        assert_eq!([0, 5, 7, 200].map(|via| view.via(via, 7)), [false, true, false, false]);
        assert!(view.set(5, Peer { up: true, transit: true, reach: Nodes::of([1, 129]) }));
        assert_eq!((view.via(5, 7), view.via(5, 129), view.via(5, 128)), (false, true, false));
        assert!(view.set(6, Peer { up: true, transit: false, reach: Nodes::All }));
        assert_eq!((view.via(6, 7), view.direct(6)), (false, true));
    }
}
