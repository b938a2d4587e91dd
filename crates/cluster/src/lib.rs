//! Many servers, one router.
//!
//! Each server has one or a few external ports and handles what arrives there; links between the servers carry packets to
//! the server whose port they leave by. There is no central component: the ingress node decides by itself which way a
//! packet takes, by Valiant's load balancing or its direct variant, and writes the egress node and port into the
//! Ethernet addresses, so that other nodes move the packet on without looking at more than those.
//!
//! - [`topology`]: full mesh, k-ary n-fly and, for comparison, torus; where a node sends what is meant for another;
//! - [`label`]: the Ethernet addresses that carry a packet through the cluster;
//! - [`view`]: what a node knows of the others; [`load`]: how busy its links are;
//! - [`membership`]: who is there, by authenticated hellos, and in a fly who is reached by way of whom;
//! - [`choice`]: which way a packet takes; [`transit`]: moving it on; [`resequence`]: putting packets back in order;
//! - [`sim`]: all of it in a simulator;
//! - [`plan`]: how many servers and links a router takes; [`chart`]: drawing it.
//!
//! Everything here is a pure state machine: time is an argument, randomness a seed, packets are lengths and flow hashes.
//! The crate knows nothing of buffers, elements or devices. Unit tests stand beside the code; `tests/` has what takes all
//! parts together.

#![forbid(unsafe_code)]

pub mod chart;
pub mod choice;
pub mod label;
pub mod load;
pub mod membership;
pub mod plan;
pub mod resequence;
pub mod sim;
pub mod topology;
pub mod transit;
pub mod view;

/// The number of a node.
pub type NodeId = u16;

/// The number of an external port on its node.
pub type PortId = u16;
