//! How the nodes of a cluster on this machine are joined.

use cluster::topology::Topology;
use std::fmt::Display;

/// Most nodes of a cluster on one machine, those between others included.
const MOST: usize = 128;

/// A mesh, or a fly.
#[derive(Clone, Debug)]
pub(super) struct Wiring {
    topology: Topology,
    /// In a fly: links out of a node, at most.
    fanout: Option<u16>,
}

impl Wiring {
    /// One of so many nodes with a host: a mesh, or a fly of so many links out of a node.
    pub(super) fn new(terminals: u16, fanout: Option<u16>) -> Result<Wiring, String> {
        let topology = match fanout {
            None => Topology::Mesh { nodes: terminals.into() },
            Some(_) if terminals < 2 => return Err("a fly takes 2 nodes with hosts at least".to_owned()),
            Some(fanout) => Topology::fly(terminals.into(), fanout.into()),
        };
        let nodes = topology.nodes();
        if nodes > MOST {
            return Err(format!(
                "such a fly has {nodes} nodes, more than {MOST}; a larger fanout takes fewer"
            ));
        }
        Ok(Wiring { topology, fanout })
    }

    /// Nodes with a host; they come first.
    pub(super) fn terminals(&self) -> u16 {
        self.topology.terminals() as u16
    }

    /// All nodes.
    pub(super) fn nodes(&self) -> u16 {
        self.topology.nodes() as u16
    }

    /// The nodes that a node has a cable to; the first is at its port 1.
    pub(super) fn cables(&self, node: u16) -> Vec<u16> {
        self.topology.neighbours(node)
    }

    /// The port of a node's cable to another.
    pub(super) fn port(&self, node: u16, other: u16) -> usize {
        1 + self.cables(node).iter().position(|&there| there == other).unwrap_or(0)
    }

    /// All pairs of nodes with a cable between them.
    pub(super) fn pairs(&self) -> Vec<(u16, u16)> {
        let of = |a: u16| self.cables(a).into_iter().filter(move |&b| a < b).map(move |b| (a, b));
        (0..self.nodes()).flat_map(of).collect()
    }

    /// The element that is a node, in a configuration.
    pub(super) fn element(&self, node: impl Display, arguments: impl Display) -> String {
        let terminals = self.terminals();
        match self.fanout {
            None => format!("VLBNode({node}, {terminals}, {arguments}, LINE_RATE 1Gbps)"),
            // A fly has so many nodes that they keep each other from running: who does not run for a while is not dead, and what is behind
            // is not lost.
            Some(fanout) => format!(
                "VLBFly({node}, {terminals}, {fanout}, {arguments}, LINE_RATE 1Gbps, HOLD 200ms, WAIT 20ms)"
            ),
        }
    }

    /// How many nodes there are, in words.
    pub(super) fn describe(&self) -> String {
        match self.nodes() - self.terminals() {
            0 => format!("{} nodes", self.terminals()),
            between => format!("{} nodes and {between} between them", self.terminals()),
        }
    }
}
