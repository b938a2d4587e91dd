//! Many servers that act as one router.
//!
//! Each server has one or a few external ports and handles what arrives there. Links between the servers carry
//! packets to the server with the port through which they leave. There is no central component: the ingress node
//! chooses a packet's path on its own, by Valiant load balancing or its direct variant, and writes the egress node
//! and port into the Ethernet addresses, so that other nodes forward the packet by looking at these alone.
//!
//! - [`topology`]: full mesh, k-ary n-fly and, for comparison, torus; the next hop from one node to another;
//! - [`label`]: the Ethernet addresses that carry a packet through the cluster;
//! - [`view`]: what a node knows about the others; [`load`]: how busy its links are;
//! - [`membership`]: which nodes are present, by authenticated hellos, and in a fly which nodes are reached through which;
//! - [`choice`]: a packet's path; [`transit`]: forwarding it; [`resequence`]: putting packets back in order;
//! - [`sim`]: all of it in a simulator;
//! - [`plan`]: how many servers and links a router needs; [`chart`]: drawing them.
//!
//! Everything here is a pure state machine: time is an argument, randomness comes from a seed, packets are lengths
//! and flow hashes. The crate knows nothing of buffers, elements or devices. Unit tests are beside the code; `tests/`
//! tests all parts together.

#![forbid(unsafe_code)]

pub mod chart;
pub mod choice;
pub mod label;
pub mod load;
pub mod membership;
pub mod plan;
pub mod resequence;
pub mod sim;
pub mod succession;
pub mod topology;
pub mod transit;
pub mod view;

/// The number of a node.
pub type NodeId = u16;

/// The number of an external port on its node.
pub type PortId = u16;

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
