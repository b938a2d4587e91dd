//! The cluster in a simulator: the same path choice on made-up links, queues and processors.
//!
//! There is one discrete event for each server that a packet visits. Links and processors are queues that drain at a
//! fixed rate, so the time at which a packet leaves one is known as soon as it arrives there. All randomness comes
//! from one seed, so a run can be repeated exactly.

mod engine;
mod events;
mod lines;
mod map;
pub mod measure;
pub mod report;
pub mod trace;
pub mod traffic;

pub use engine::run;
pub use report::Report;

use crate::NodeId;
use crate::choice::{self, OrderPolicy, Scheme};
use crate::resequence;
use crate::topology::Topology;
use trace::Arrival;
use traffic::{Matrix, Sizes};

/// What comes in at the external ports.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// At every terminal, as a matrix says; packets come at random times, no faster than the line.
    Matrix {
        /// From where to where.
        matrix: Matrix,
        /// The share of the line rate that comes in.
        load: f64,
        /// Sizes of packets.
        sizes: Sizes,
        /// Flows between each pair of terminals; a few have most of the packets.
        flows: u32,
    },
    /// These packets, all from terminal 0 to terminal 1.
    Trace(Vec<Arrival>),
}

/// What breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A node: it forgets all packets and does nothing.
    Node(NodeId),
    /// The cable between two nodes, both ways.
    Link(NodeId, NodeId),
}

/// When something breaks, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    /// What.
    pub part: Part,
    /// From when.
    pub from_ns: u64,
    /// Until when.
    pub until_ns: u64,
}

/// Nanoseconds of a server's processor for each packet, by what it is to the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// Where it comes in.
    pub ingress_ns: u32,
    /// Where it passes through.
    pub intermediate_ns: u32,
    /// Where it leaves.
    pub egress_ns: u32,
}

/// What is simulated.
#[derive(Clone, Debug)]
pub struct Config {
    /// How servers are connected.
    pub topology: Topology,
    /// How ways are chosen: scheme, order, rates.
    pub choice: choice::Settings,
    /// Packets.
    pub traffic: Traffic,
    /// What processors take.
    pub service: Service,
    /// How long each server keeps a packet besides.
    pub latency_ns: u64,
    /// Bytes that wait for an external port, at most.
    pub port_queue_bytes: u32,
    /// How packets are put in order, with [`OrderPolicy::Sequence`].
    pub resequence: resequence::Settings,
    /// When nothing comes in any more.
    pub duration_ns: u64,
    /// Before that time nothing is measured.
    pub warmup_ns: u64,
    /// What breaks, in a mesh or a fly.
    pub failures: Vec<Failure>,
    /// How long it takes until all terminals know of a failure, or of its end.
    pub detect_ns: u64,
    /// The seed of all chance.
    pub seed: u64,
}

impl Config {
    /// A mesh or fly with links as fast as Direct VLB needs, and uniform traffic.
    pub fn new(topology: Topology, line_rate: u64) -> Config {
        let fanout = match &topology {
            Topology::Mesh { nodes } => *nodes,
            Topology::Fly { radices, .. } => radices.iter().copied().min().unwrap_or(1),
            Topology::Torus { extents } => 2 * extents.len(),
        };
        Config {
            choice: choice::Settings::new(line_rate, 2 * line_rate / fanout.max(1) as u64),
            topology,
            traffic: Traffic::Matrix {
                matrix: Matrix::Uniform,
                load: 0.95,
                sizes: Sizes::Fixed(1_000),
                flows: 16,
            },
            service: Service::default(),
            latency_ns: 24_000,
            port_queue_bytes: 4 << 20,
            resequence: resequence::Settings::default(),
            duration_ns: 20_000_000,
            warmup_ns: 5_000_000,
            failures: Vec::new(),
            detect_ns: 50_000_000,
            seed: 1,
        }
    }

    /// With another way of choosing.
    #[must_use]
    pub fn with(mut self, scheme: Scheme, order: OrderPolicy) -> Config {
        (self.choice.scheme, self.choice.order) = (scheme, order);
        self
    }
}

#[cfg(test)]
mod tests;
