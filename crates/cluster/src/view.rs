//! What a node knows about the others: which nodes it can reach, and which nodes they can.

use crate::NodeId;
use std::sync::Arc;

/// A set of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nodes {
    /// All there are.
    All,
    /// These: a bit for each.
    Only(Arc<[u64]>),
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
            Nodes::Only(bits) => bit(bits, node),
        }
    }
}

/// The bit of a node.
#[inline]
fn bit(bits: &[u64], node: NodeId) -> bool {
    bits.get(usize::from(node) / 64).is_some_and(|word| word >> (node % 64) & 1 == 1)
}

fn set_bit(bits: &mut [u64], node: NodeId, value: bool) {
    if let Some(word) = bits.get_mut(usize::from(node) / 64) {
        *word = *word & !(1 << (node % 64)) | u64::from(value) << (node % 64);
    }
}

/// What a terminal of an n-fly can be used for along some way, in rising order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Nothing gets there.
    #[default]
    Down,
    /// What leaves the cluster there gets there.
    Egress,
    /// Flows that go this way already may go on doing so, also those that only go by way of the terminal.
    Kept,
    /// New flows may go this way, too.
    Open,
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
///
/// A few bits for each other node, since a path choice looks at several, and a simulation has thousands of nodes with a view
/// each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    me: NodeId,
    nodes: usize,
    up: Box<[u64]>,
    transit: Box<[u64]>,
    /// Whom each node reaches; empty: every node reaches every node.
    reach: Vec<Nodes>,
    /// What each link of a terminal of a fly is good for, by link and terminal; empty: everything.
    links: Vec<Vec<Standing>>,
    /// The link that new flows take, by the terminal that they go to first.
    first_links: Vec<Option<u16>>,
}

impl View {
    /// Every node reaches every node.
    pub fn whole(me: NodeId, nodes: usize) -> View {
        let all: Box<[u64]> = vec![u64::MAX; nodes.div_ceil(64)].into();
        View { me, nodes, up: all.clone(), transit: all, reach: vec![], links: vec![], first_links: vec![] }
    }

    /// No node is known yet.
    pub fn empty(me: NodeId, nodes: usize) -> View {
        let none: Box<[u64]> = vec![0; nodes.div_ceil(64)].into();
        let reach = vec![Nodes::Only([].into()); nodes];
        View { me, nodes, up: none.clone(), transit: none, reach, links: vec![], first_links: vec![] }
    }

    /// Bytes of memory outside of the value itself.
    pub fn heap_bytes(&self) -> usize {
        let reach = |nodes: &Nodes| match nodes {
            Nodes::All => 0,
            Nodes::Only(bits) => size_of_val::<[u64]>(bits),
        };
        size_of_val::<[u64]>(&self.up)
            + size_of_val::<[u64]>(&self.transit)
            + self.reach.iter().map(|nodes| size_of_val(nodes) + reach(nodes)).sum::<usize>()
            + self.links.iter().map(|link| size_of_val(link) + link.len()).sum::<usize>()
            + size_of_val::<[Option<u16>]>(&self.first_links)
    }

    /// The node whose view it is.
    pub fn me(&self) -> NodeId {
        self.me
    }

    /// Nodes there are, this one included.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Nodes that are up, this one included.
    pub fn alive(&self) -> usize {
        1 + self.others().filter(|&node| self.direct(node)).count()
    }

    fn others(&self) -> impl Iterator<Item = NodeId> {
        (0..self.nodes as NodeId).filter(|&node| node != self.me)
    }

    /// Something is learnt of a node. A node that does not exist is ignored.
    pub fn set(&mut self, node: NodeId, peer: Peer) {
        if usize::from(node) >= self.nodes {
            return;
        }
        set_bit(&mut self.up, node, peer.up);
        set_bit(&mut self.transit, node, peer.transit);
        if self.reach.is_empty() && peer.reach != Nodes::All {
            self.reach = vec![Nodes::All; self.nodes];
        }
        if let Some(reach) = self.reach.get_mut(usize::from(node)) {
            *reach = peer.reach;
        }
    }

    /// Something is learnt of the links of a terminal of a fly: what they are good for, by link and terminal.
    ///
    /// Of links that are equally good for a terminal this node takes one, others take others: so each node's links are used alike,
    /// and if all are good it is the link that [`crate::topology::Topology::first_link`] says.
    pub fn set_links(&mut self, links: Vec<Vec<Standing>>) {
        let standing = |link: usize, terminal: usize| links[link].get(terminal).copied().unwrap_or_default();
        let choose = |terminal: usize| {
            let best = (0..links.len()).map(|link| standing(link, terminal)).max()?;
            let good = || (0..links.len()).filter(|&link| standing(link, terminal) == best);
            let turn = (usize::from(self.me) + terminal) % good().count();
            good().nth(turn).filter(|_| best > Standing::Down).map(|link| link as u16)
        };
        self.first_links = (0..self.nodes).map(choose).collect();
        self.links = links;
    }

    /// Whether something is known of the links of this node.
    #[inline]
    pub fn knows_links(&self) -> bool {
        !self.links.is_empty()
    }

    /// The link that a new flow takes which goes to a terminal first; `None` if nothing is known of links.
    #[inline]
    pub fn first_link(&self, first: NodeId) -> Option<usize> {
        self.first_links.get(usize::from(first)).copied().flatten().map(usize::from)
    }

    /// Whether a flow that goes to a terminal first can go on taking a link.
    #[inline]
    pub fn link_still(&self, link: usize, first: NodeId) -> bool {
        let standing = |link: usize| {
            let of = self.links.get(link).and_then(|link| link.get(usize::from(first)));
            of.copied().unwrap_or_default()
        };
        self.links.is_empty()
            || standing(link) >= Standing::Kept
            || self.first_link(first).is_some_and(|best| standing(link) == standing(best))
    }

    /// Whether a frame for `egress` can be sent there without help.
    #[inline]
    pub fn direct(&self, egress: NodeId) -> bool {
        usize::from(egress) < self.nodes && bit(&self.up, egress)
    }

    /// Whether traffic of others may be sent to a node for it to pass on.
    pub fn transit(&self, node: NodeId) -> bool {
        usize::from(node) < self.nodes && bit(&self.transit, node)
    }

    /// Whether a frame for `egress` can go by way of `via`.
    #[inline]
    pub fn via(&self, via: NodeId, egress: NodeId) -> bool {
        bit(&self.transit, via) && self.via_still(via, egress)
    }

    /// Whether a flow for `egress` that goes by way of `via` can go on doing so: also while that node is draining.
    #[inline]
    pub fn via_still(&self, via: NodeId, egress: NodeId) -> bool {
        via != self.me
            && via != egress
            && self.direct(via)
            && self.reach.get(usize::from(via)).is_none_or(|reach| reach.contains(egress))
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
    fn a_stopover_has_the_egress_and_does_not_drain() {
        let mut view = View::whole(0, 130);
        assert_eq!([0, 5, 7, 200].map(|via| view.via(via, 7)), [false, true, false, false]);
        view.set(5, Peer { up: true, transit: true, reach: Nodes::of([1, 129]) });
        assert_eq!((view.via(5, 7), view.via(5, 129), view.via(5, 128)), (false, true, false));
        view.set(6, Peer { up: true, transit: false, reach: Nodes::All });
        assert_eq!((view.via(6, 7), view.direct(6), view.transit(6)), (false, true, false));
        assert_eq!((view.via(4, 7), view.via(4, 128)), (true, true));
        // Nodes that do not exist are ignored.
        view.set(130, Peer { up: true, transit: true, reach: Nodes::All });
        assert_eq!((view.direct(130), view.transit(130), view.alive()), (false, false, 130));
    }

    /// Links that are good for a terminal are used in turn by different nodes; a flow stays on one that is not quite good any more,
    /// but not when it is bad, unless nothing is better.
    #[test]
    fn links_of_a_fly() {
        use Standing::{Down, Egress, Kept, Open};
        let mut view = View::empty(1, 4);
        assert_eq!((view.first_link(3), view.link_still(7, 3)), (None, true));
        view.set_links(vec![
            vec![Open, Down, Open, Down],
            vec![Open, Kept, Kept, Down],
            vec![Open, Egress, Egress, Down],
        ]);
        assert_eq!([0, 1, 2, 3].map(|first| view.first_link(first)), [Some(1), Some(1), Some(0), None]);
        assert_eq!([0, 1, 2].map(|link| view.link_still(link, 2)), [true, true, false]);
        view.set_links(vec![vec![Down; 4], vec![Egress; 4]]);
        assert_eq!([0, 1].map(|link| view.link_still(link, 2)), [false, true]);
    }
}
