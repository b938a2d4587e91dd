//! A node of a cluster: many servers that are one router.
//!
//! ```click
//! VLBNode(NODE, NODES, KEY [, keywords ORDER, SCHEME, LINE_RATE, LINK_RATE, KEYFILE, ROSTER, HELLO, HOLD, FLOWLET, WAIT])
//! ```
//!
//! The nodes of the cluster are connected each with each. Input and output 0 are this node's own side: what has come in at
//! its external ports and was labelled by VLBEncap, and what leaves by them (see VLBDecap). Inputs and outputs from 1 on are
//! the links to the other nodes, in the order of their numbers: those of node 1 lead to nodes 0, 2, 3 and so on.
//!
//! A packet that comes in here is sent straight to its egress node, or by way of another node: Valiant load balancing in its
//! direct variant, in which up to LINE_RATE/NODES for each egress goes straight and the rest is spread over all others. Links
//! then need to carry no more than 2 LINE_RATE/NODES, whatever the traffic. A packet that comes over a link is moved on by
//! its label alone. No packet crosses more than two links.
//!
//! Into every link the node sends hellos, authenticated with the key that all nodes share, and from those of the others it
//! knows which links and nodes are up and who reaches whom. Packets that come from where no hello comes from are dropped.
//! A node takes part once most others hear it. A node that is to be stopped should drain: others use other ways, and when
//! nothing has come for a while its phase is `left`. When the configuration is replaced while it runs, the new element of the
//! same name goes on in its place, with other keywords if they differ; the key must be the same.
//!
//! Ports: NODES inputs, NODES outputs. Processing: push. Workers: exclusive. Not in Click.
//!
//! # Arguments
//! - `NODE` (integer): the number of this node, from 0.
//! - `NODES` (integer): how many there are, or may be; at most 128, since hellos name all nodes and fit into a frame.
//! - `KEY` (string): the shared key. Whoever may read handlers can read it, so it is for trials; `KEYFILE` (file name)
//!   reads it from a file, all bytes of it.
//! - `ORDER` (`NONE`, `PINNED`, `FLOWLET`, `STRICT`; default `FLOWLET`): what is done to keep packets of a flow in order.
//!   `NONE`: nothing. `PINNED`: a flow always takes the same way. `FLOWLET`: a flow keeps its way while its packets follow
//!   each other within FLOWLET and the link has room. `STRICT`: packets are numbered, and those that come too early wait at
//!   the egress for at most WAIT; those that come later than that are dropped. All nodes need the same setting.
//! - `SCHEME` (`DIRECT`, `VALIANT`; default `DIRECT`): `VALIANT` sends every packet by way of a random node.
//! - `LINE_RATE` (bandwidth, default 10Gbps): what comes in at this node's external ports.
//! - `LINK_RATE` (bandwidth, default 2 LINE_RATE/NODES): what a link carries.
//! - `ROSTER` (file name): which nodes there are; without it, nodes 0 to NODES - 1.
//! - `HELLO` (time, default 10ms): between two hellos. A link that gets more than it can take loses hellos, too, so where
//!   that happens they should be more frequent: 25 in the time of HOLD have lost no neighbour.
//! - `HOLD` (time, default 50ms): a node that is silent for so long is down.
//! - `FLOWLET` (time, default 100ms), `WAIT` (time, default 2ms): see ORDER.
//!
//! # Handlers
//! - `node` (read): the number of this node.
//! - `phase` (read): `listening`, `active`, `draining`, `leaving` or `left`.
//! - `view` (read): a line for each other node: its number, `up` or `down`, `transit` if packets may go by way of it.
//! - `links` (read): a line for each link: its port, `both` as they lead both ways, the node at its other end, `up` or `down`.
//! - `drain` (write, button): starts draining.
//! - `direct`, `balanced`, `spilled`, `refused` (read): packets that came in here and went straight, by way of others, of
//!   both off the way of their flowlet, or nowhere.
//! - `passed`, `delivered` (read): packets that came over links and went on, or left here.
//! - `late`, `waiting` (read): packets that were dropped because they came too late, and that wait for others.
//! - `rejected` (read): hellos that were not believed, by reason.
//! - `given_up` (read): how often a node or the link to it was given up because nothing was heard of it.
//! - `pauses`, `longest_pause` (read): how often this node itself did not run for longer than two HELLOs are apart, because others
//!   had the processor; and for how many milliseconds at most. Nobody is given up for that: such a time does not count as silence.
//! - `pause_log` (read): a line for each of the last 256 times in which the node did not send a hello for half of HOLD or more: its number,
//!   when it began and ended on CLOCK_MONOTONIC, processor time of the node in it, all in microseconds, and the number of the hello
//!   before. `alarm_log` (read): a line for each of the last 256 nodes given up: its number, when, the node, and the number of the last
//!   hello that was heard of it. An alarm is right if the node had a pause behind that hello; what was given up for nothing shows so.
//! - `roster` (read, write): the roster. What has a mistake or no higher version is refused, and nothing changes. A node that
//!   drained because a roster said so takes part again when the next one does not.
//!
//! # Example
//! ```click
//! a :: VLBNode(NODE 0, NODES 2, KEY secret);
//! b :: VLBNode(NODE 1, NODES 2, KEY secret);
//! InfiniteSource(DATA "E", LIMIT 0) -> VLBEncap(1) -> a;
//! a[0] -> VLBDecap -> Discard;
//! a[1] -> Queue -> Unqueue -> [1]b;
//! b[1] -> Queue -> Unqueue -> [1]a;
//! Idle -> b;
//! b[0] -> VLBDecap -> Discard;
//! ```
//!
//! # See also
//! VLBEncap, VLBDecap, VLBFly, EtcdRoster

use super::node::Node;
use super::settings::{Settings, Wiring};
use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("VLBNode", create)
    .ports("1-/=")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(include_str!("vlb_node.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (settings, roster) = Settings::read(config, Wiring::Mesh)?;
    Ok(Box::new(Node::new(settings, roster)))
}

#[cfg(test)]
mod tests;
