//! Next hops, precomputed: a simulation asks for several of each packet.

use crate::topology::Topology;

/// A topology as a simulation asks about it.
#[derive(Debug)]
pub(super) enum Map<'t> {
    /// Of an n-fly, the place of each node.
    Fly(Vec<FlyNode>),
    /// Computed each time.
    Other(&'t Topology),
}

/// A node of an n-fly. Links out of it change the digit of the row that has this unit and radix.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlyNode {
    unit: u32,
    radix: u32,
    /// What is added to a terminal's digit: the first step is free.
    free: u32,
    /// The node to which link 0 leads.
    base: u32,
    /// Nodes from here on are not there: links to them lead back.
    end: u32,
}

impl<'t> Map<'t> {
    pub(super) fn new(topology: &'t Topology) -> Map<'t> {
        let Topology::Fly { terminals, radices } = topology else { return Map::Other(topology) };
        let (terminals, rows) = (*terminals, radices.iter().product::<usize>());
        let place = |node: usize| {
            let (level, row) = match node.checked_sub(terminals) {
                None => (0, node),
                Some(behind) => (1 + behind / rows, behind % rows),
            };
            let digit = level % radices.len();
            let unit: usize = radices[..digit].iter().product();
            let is_last = level == radices.len();
            let next = if is_last { 0 } else { terminals + level * rows };
            FlyNode {
                unit: unit as u32,
                radix: radices[digit] as u32,
                free: if level == 0 { (row % radices[digit]) as u32 } else { 0 },
                base: (next + row - row / unit % radices[digit] * unit) as u32,
                end: if is_last { terminals as u32 } else { u32::MAX },
            }
        };
        Map::Fly((0..topology.nodes()).map(place).collect())
    }

    /// As [`Topology::toward`].
    #[inline]
    pub(super) fn toward(&self, node: usize, terminal: usize) -> Option<usize> {
        match self {
            Map::Fly(_) if node == terminal => None,
            Map::Fly(places) => {
                let place = places[node];
                Some(((terminal as u32 / place.unit + place.free) % place.radix) as usize)
            }
            Map::Other(topology) => topology.toward(node, terminal),
        }
    }

    /// As [`Topology::neighbour`].
    #[inline]
    pub(super) fn neighbour(&self, node: usize, link: usize) -> usize {
        match self {
            Map::Fly(places) => {
                let place = places[node];
                let next = place.base + link as u32 * place.unit;
                if next < place.end { next as usize } else { node }
            }
            Map::Other(topology) => topology.neighbour(node, link),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is looked up is what the topology computes, for every node.
    #[test]
    fn as_the_topology() {
        let flies =
            [(4, 2), (16, 4), (23, 3), (100, 7), (5, 8)].map(|(size, fanout)| Topology::fly(size, fanout));
        for topology in flies.into_iter().chain([Topology::Mesh { nodes: 9 }, Topology::torus(12, 2)]) {
            let map = Map::new(&topology);
            for node in 0..topology.nodes() {
                for terminal in 0..topology.terminals() {
                    let way = [map.toward(node, terminal), topology.toward(node, terminal)];
                    assert_eq!(way[0], way[1], "{topology:?}: from {node} to {terminal}");
                }
                for link in 0..topology.links(node) {
                    let next = [map.neighbour(node, link), topology.neighbour(node, link)];
                    assert_eq!(next[0], next[1], "{topology:?}: link {link} of {node}");
                }
            }
        }
    }
}
