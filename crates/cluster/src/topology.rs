//! How nodes are connected, and the next hop from one node to another.
//!
//! *Terminals* are the nodes with external ports, numbered from 0; nodes that only pass packets on follow. Links are
//! numbered at the node that sends into them.

use crate::NodeId;

/// A topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// Every node has a link to every other; link i leads to node i.
    Mesh {
        /// The nodes.
        nodes: usize,
    },
    /// A k-ary n-fly: terminals, then as many *levels* of nodes as there are radices, each as wide as their product, then
    /// the terminals again. A row is a number with a digit for each radix. The links behind level i change digit i, those
    /// behind the last level the first digit once more. So the first step is free, and is used to spread what goes to one
    /// terminal over all links that lead there: no link carries more than its share.
    Fly {
        /// Nodes with external ports.
        terminals: usize,
        /// How many links lead out of each node of a level.
        radices: Vec<usize>,
    },
    /// A torus: nodes in a ring along each dimension. For comparison only.
    Torus {
        /// Its extent along each dimension.
        extents: Vec<usize>,
    },
}

impl Topology {
    /// The n-fly of fewest levels for so many terminals and links out of a node; levels as narrow as they can be.
    pub fn fly(terminals: usize, fanout: usize) -> Topology {
        let fanout = fanout.max(2);
        let mut levels = 1;
        while fanout.saturating_pow(levels) < terminals {
            levels += 1;
        }
        let radices = radices(levels as usize, terminals, fanout).expect("fanout^levels >= terminals");
        Topology::Fly { terminals, radices }
    }

    /// A torus of a number of dimensions with about so many nodes.
    pub fn torus(nodes: usize, dimensions: usize) -> Topology {
        let mut extents = vec![1usize; dimensions.max(1)];
        while extents.iter().product::<usize>() < nodes {
            *extents.iter_mut().min().expect("there is a dimension") += 1;
        }
        Topology::Torus { extents }
    }

    /// Nodes with external ports.
    #[inline]
    pub fn terminals(&self) -> usize {
        match self {
            Topology::Mesh { nodes } => *nodes,
            Topology::Fly { terminals, .. } => *terminals,
            Topology::Torus { extents } => extents.iter().product(),
        }
    }

    /// All nodes.
    pub fn nodes(&self) -> usize {
        match self {
            Topology::Fly { terminals, radices } => terminals + radices.len() * self.rows(),
            _ => self.terminals(),
        }
    }

    /// Nodes in a level of an n-fly.
    fn rows(&self) -> usize {
        match self {
            Topology::Fly { radices, .. } => radices.iter().product(),
            _ => 0,
        }
    }

    /// Links that lead out of a node. In a mesh one of them, to itself, is not used.
    pub fn links(&self, node: usize) -> usize {
        match self {
            Topology::Mesh { nodes } => *nodes,
            Topology::Fly { radices, .. } => radices[self.place(node).0 % radices.len()],
            Topology::Torus { extents } => 2 * extents.len(),
        }
    }

    /// Level and row of a node of an n-fly.
    fn place(&self, node: usize) -> (usize, usize) {
        let terminals = self.terminals();
        match node.checked_sub(terminals) {
            None => (0, node),
            Some(behind) => (1 + behind / self.rows().max(1), behind % self.rows().max(1)),
        }
    }

    /// Where a link leads.
    pub fn neighbour(&self, node: usize, link: usize) -> usize {
        match self {
            Topology::Mesh { .. } => link,
            Topology::Fly { terminals, radices } => {
                let (level, row) = self.place(node);
                let digit = level % radices.len();
                let unit: usize = radices[..digit].iter().product();
                let changed = row - row / unit % radices[digit] * unit + link * unit;
                match level == radices.len() {
                    false => terminals + level * self.rows() + changed,
                    true if changed < *terminals => changed,
                    // Where a terminal could be, but there is none.
                    true => node,
                }
            }
            Topology::Torus { extents } => {
                let (extent, unit) = (extents[link / 2], extents[..link / 2].iter().product::<usize>());
                let digit = node / unit % extent;
                let moved =
                    if link.is_multiple_of(2) { (digit + 1) % extent } else { (digit + extent - 1) % extent };
                node - digit * unit + moved * unit
            }
        }
    }

    /// Whether a node has external ports.
    #[inline]
    pub fn is_terminal(&self, node: NodeId) -> bool {
        usize::from(node) < self.terminals()
    }

    /// The link that leads from a node to another.
    pub fn link_to(&self, node: NodeId, other: NodeId) -> Option<usize> {
        let (node, other) = (usize::from(node), usize::from(other));
        (0..self.links(node)).find(|&link| node != other && self.neighbour(node, link) == other)
    }

    /// The nodes that a node has a cable to: those that its links lead to, in the order of the links, then others whose links
    /// lead to it. Looks at all links of all nodes.
    pub fn neighbours(&self, node: NodeId) -> Vec<NodeId> {
        let links = 0..self.links(usize::from(node));
        let next = links.map(|link| self.neighbour(usize::from(node), link) as NodeId);
        let mut all: Vec<NodeId> = next.filter(|&other| other != node).collect();
        let before = (0..self.nodes() as NodeId).filter(|&other| self.link_to(other, node).is_some());
        let before: Vec<NodeId> = before.filter(|other| !all.contains(other)).collect();
        all.extend(before);
        all
    }

    /// The link by which a packet for a terminal goes on; `None` at that terminal itself.
    #[inline]
    pub fn toward(&self, node: usize, terminal: usize) -> Option<usize> {
        if node == terminal {
            return None;
        }
        match self {
            Topology::Mesh { .. } => Some(terminal),
            Topology::Fly { radices, .. } => {
                let (level, row) = self.place(node);
                let digit = level % radices.len();
                let unit: usize = radices[..digit].iter().product();
                let free = if level == 0 { row } else { 0 };
                Some((terminal / unit + free) % radices[digit])
            }
            // One dimension after the other, the short way round.
            Topology::Torus { extents } => {
                let mut unit = 1;
                for (dimension, &extent) in extents.iter().enumerate() {
                    let ahead = (terminal / unit % extent + extent - node / unit % extent) % extent;
                    if ahead > 0 {
                        return Some(2 * dimension + usize::from(ahead > extent / 2));
                    }
                    unit *= extent;
                }
                None
            }
        }
    }

    /// The first link on the way from one terminal to another.
    #[inline]
    pub fn first_link(&self, from: NodeId, to: NodeId) -> usize {
        match self {
            Topology::Mesh { .. } => usize::from(to),
            // As `toward` has it, at level 0.
            Topology::Fly { radices, .. } => ((u32::from(from) + u32::from(to)) % radices[0] as u32) as usize,
            _ => self.toward(usize::from(from), usize::from(to)).unwrap_or(0),
        }
    }

    /// Links between any two terminals, at most.
    pub fn diameter(&self) -> usize {
        match self {
            Topology::Mesh { .. } => 1,
            Topology::Fly { radices, .. } => radices.len() + 1,
            Topology::Torus { extents } => extents.iter().map(|extent| extent / 2).sum(),
        }
    }

    /// Links that a packet may cross: to a stopover, and on to its egress.
    #[inline]
    pub fn max_hops(&self) -> usize {
        2 * self.diameter()
    }
}

/// So many radices of which none exceeds the fanout, with the least product that is at least `need`, and among these the
/// most equal ones.
fn radices(count: usize, need: usize, fanout: usize) -> Option<Vec<usize>> {
    if count == 1 {
        return (need <= fanout).then(|| vec![need.max(1)]);
    }
    let with_first = |first: usize| {
        let mut all = radices(count - 1, need.div_ceil(first), fanout)?;
        all.insert(0, first);
        Some(all)
    };
    let size = |all: &Vec<usize>| (all.iter().product::<usize>(), all.iter().copied().max());
    (1..=fanout.min(need)).filter_map(with_first).min_by_key(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The nodes between, and the last.
    fn walk(topology: &Topology, from: usize, to: usize) -> Vec<usize> {
        let mut way = vec![from];
        while let Some(link) = topology.toward(*way.last().expect("not empty"), to) {
            let at = *way.last().expect("not empty");
            assert!(link < topology.links(at), "{topology:?}: {at} has no link {link}");
            way.push(topology.neighbour(at, link));
            assert!(way.len() <= topology.diameter() + 1, "{topology:?}: {from} to {to} by {way:?}");
        }
        way
    }

    proptest! {
        /// Packets arrive, within the diameter, and visit no node twice but for a terminal that sends to itself.
        #[test]
        fn every_way_ends(which in 0..3, size in 2usize..90, fanout in 2usize..9, from: usize, to: usize) {
            let topology = match which {
                0 => Topology::Mesh { nodes: size },
                1 => Topology::fly(size, fanout),
                _ => Topology::torus(size, fanout % 3 + 1),
            };
            prop_assert!(topology.terminals() >= size);
            let (from, to) = (from % size, to % size);
            if from != to {
                prop_assert_eq!(Some(topology.first_link(from as NodeId, to as NodeId)), topology.toward(from, to));
            }
            let mut way = walk(&topology, from, to);
            prop_assert_eq!(way.last(), Some(&to));
            prop_assert!(way.iter().all(|&node| node < topology.nodes()));
            let length = way.len();
            way.sort_unstable();
            way.dedup();
            prop_assert_eq!(way.len(), length);
        }
    }

    /// The paper's example: 1,024 ports with 32 links a server need two servers more for each.
    #[test]
    fn the_papers_fly() {
        let fly = Topology::fly(1024, 32);
        assert_eq!((fly.nodes(), fly.diameter()), (3_072, 3));
        assert_eq!(Topology::fly(2048, 32).nodes(), 4 * 2_048);
        assert_eq!(Topology::fly(64, 32), Topology::Fly { terminals: 64, radices: vec![8, 8] });
    }

    /// Uniform traffic loads all links of a level alike.
    #[test]
    fn a_fly_is_balanced() {
        let fly = Topology::fly(64, 8);
        let mut load = vec![[0; 8]; fly.nodes()];
        for (from, to) in (0..64).flat_map(|from| (0..64).map(move |to| (from, to))).filter(|(a, b)| a != b) {
            for pair in walk(&fly, from, to).windows(2) {
                let link = (0..8).find(|&link| fly.neighbour(pair[0], link) == pair[1]).expect("a link");
                load[pair[0]][link] += 1;
            }
        }
        // But for what nodes would send to themselves.
        assert!(load.iter().flatten().all(|packets| (6..=8).contains(packets)));
    }

    /// Cables lead to those that a node sends to, and to those that send to it; where these are the same, there is one.
    #[test]
    fn cables_lead_to_receivers_and_senders() {
        let fly = Topology::fly(4, 2);
        assert_eq!(fly.neighbours(1), [4, 5, 8, 9]);
        assert_eq!((fly.neighbours(4), fly.neighbours(8)), (vec![8, 10, 0, 1], vec![0, 1, 4, 6]));
        assert_eq!(Topology::fly(2, 2).neighbours(0), [2, 3]);
        assert_eq!(Topology::Mesh { nodes: 4 }.neighbours(2), [0, 1, 3]);
        // The last level may have links for terminals that there are not.
        assert_eq!(Topology::fly(3, 2).neighbours(9), [2, 3, 5]);
        assert_eq!((fly.link_to(4, 10), fly.link_to(10, 4)), (Some(1), None));
    }

    /// Every link of a level leads to a different node, and each node gets as many as it sends.
    #[test]
    fn a_fly_is_regular() {
        let fly = Topology::Fly { terminals: 12, radices: vec![3, 2, 2] };
        let mut into = vec![0; fly.nodes()];
        for node in 0..fly.nodes() {
            (0..fly.links(node)).for_each(|link| into[fly.neighbour(node, link)] += 1);
        }
        assert_eq!((into[0], into[12], into[24], into[36]), (3, 3, 2, 2));
        assert!(into.iter().all(|&links| (2..=3).contains(&links)));
    }
}
