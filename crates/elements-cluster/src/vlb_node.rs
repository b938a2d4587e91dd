//! A node of a cluster: several servers that form one router.
//!
//! ```click
//! VLBNode(NODE, NODES, KEY [, keywords ORDER, SCHEME, LINE_RATE, LINK_RATE, KEYFILE, ROSTER, HELLO, HOLD, FLOWLET, WAIT])
//! ```
//!
//! The nodes of the cluster form a full mesh. Input and output 0 are this node's own side: packets that arrived at
//! its external ports and were labelled by VLBEncap, and packets that leave by these ports (see VLBDecap). Inputs and
//! outputs from 1 on are the links to the other nodes, in order of their numbers: those of node 1 lead to nodes 0, 2,
//! 3 and so on.
//!
//! A packet that enters the cluster here is sent either directly to its egress node, or through another node. This is
//! the direct variant of Valiant load balancing, in which up to LINE_RATE/NODES for each egress is sent directly and
//! the rest is spread over all other nodes. Links then need to carry at most 2 LINE_RATE/NODES, whatever the traffic.
//! A packet that arrives over a link is forwarded by its label alone. No packet crosses more than two links.
//!
//! The node sends hellos over every link, authenticated with the key that all nodes share. From the hellos of the
//! others it knows which links and nodes are up and which nodes reach which. Packets from links without hellos are
//! dropped. A node takes part once most others receive its hellos. Before a node is stopped it should drain: others
//! use other paths, and when nothing has arrived for a while its phase is `left`. When the configuration is replaced
//! while it runs, the new element of the same name takes over, with other keywords if they differ; the key must be
//! the same.
//!
//! Each worker that packets come to has an instance, which chooses ways, remembers flows and numbers packets by itself; what the
//! others send into links it knows. The first of them sends hellos. With ORDER STRICT packets that came in at one node, on one
//! worker, are put in order by one worker of their egress, and the others hand them to it; one that has too many waiting
//! already gets no more (`worker busy`).
//!
//! Ports: NODES inputs, NODES outputs. Processing: push. Workers: shared. Not in Click.
//!
//! # Arguments
//! - `NODE` (integer): the number of this node, from 0.
//! - `NODES` (integer): the maximum number of nodes; at most 128, since hellos list all nodes, fit into a frame, and go
//!   to all nodes. Larger clusters are flies (VLBFly), in which a node has fewer neighbours.
//! - `KEY` (string): the shared key. Handlers do not show it, but who can read the configuration can, so use it only for trials; `KEYFILE`
//!   (file name) reads the key from a file, all bytes of it.
//! - `ORDER` (`NONE`, `PINNED`, `FLOWLET`, `STRICT`; default `FLOWLET`): how to keep packets of a flow in order.
//!   `NONE`: not at all. `PINNED`: a flow always takes the same path. `FLOWLET`: a flow keeps its path as long as its
//!   packets follow each other within FLOWLET and the link has room; if too much waits there it moves to another path, and if
//!   all are full its packets are spread. `STRICT`: packets are numbered, and packets that
//!   arrive too early wait at the egress for at most WAIT; packets that arrive too late for that are dropped. All
//!   nodes need the same setting.
//! - `SCHEME` (`DIRECT`, `VALIANT`; default `DIRECT`): `VALIANT` sends every packet through a random node.
//! - `LINE_RATE` (bandwidth, default 10Gbps): the total rate of this node's external ports.
//! - `LINK_RATE` (bandwidth, default 2 LINE_RATE/NODES): the capacity of a link.
//! - `ROSTER` (file name): a file that lists the nodes; without it, they are nodes 0 to NODES - 1.
//! - `HELLO` (time, default 10ms): the interval between hellos. An overloaded link loses hellos too, so if that
//!   happens they should be more frequent: with 25 per HOLD no neighbour has been lost.
//! - `HOLD` (time, default 50ms): a node that is silent for this time is considered down.
//! - `FLOWLET` (time, default 100ms), `WAIT` (time, default 2ms): see ORDER.
//!
//! # Handlers
//! - `node` (read): the number of this node.
//! - `phase` (read): `listening`, `active`, `draining`, `leaving` or `left`.
//! - `view` (read): one line for each other node: its number, `up` or `down`, and `transit` if packets may be sent
//!   through it.
//! - `links` (read): one line per link: its port, `both` since links work in both directions, the node at its other
//!   end, `up` or `down`.
//! - `drain` (write, button): starts draining.
//! - `direct`, `balanced`, `spilled`, `refused` (read): packets that entered here and were sent directly, through
//!   other nodes, of both these off the path of their flowlet, or not at all. `moved` (read): flows that moved to another
//!   path because much waited for the link of theirs.
//! - `passed`, `delivered` (read): packets that arrived over links and were forwarded, or left the cluster here.
//! - `late`, `waiting` (read): packets dropped because they arrived too late, and packets waiting for others.
//! - `rejected` (read): hellos rejected, by reason; and, as `incomplete`, those that came in parts (see VLBFly) and not
//!   all of them.
//! - `given_up` (read): how often a node or the link to it was declared down because no hellos arrived from it.
//! - `pauses`, `longest_pause` (read): how often this node itself was not running for longer than two HELLOs because
//!   others had the processor, and the longest such pause in milliseconds. No node is declared down because of that:
//!   such pauses do not count as silence.
//! - `pause_log` (read): one line for each of the last 256 times in which the node sent no hello for half of HOLD or
//!   more: its number, its begin and end on CLOCK_MONOTONIC, the node's processor time during it, all in
//!   microseconds, and the number of the hello before. `alarm_log` (read): one line for each of the last 256 nodes
//!   declared down: its number, the time, the node, and the number of the last hello received from it. An alarm is
//!   justified if the node had a pause after that hello; otherwise it was false.
//! - `roster` (read, write): the roster. A roster that contains an error, or whose version is not higher, is
//!   rejected, and nothing changes. A node that drained because a roster said so takes part again when the next one
//!   does not say so.
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
use super::settings::{Settings, Wiring, shown};
use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("VLBNode", create)
    .ports("1-/=")
    .processing("h/h")
    .residency(Residency::Shared)
    .makes("hellos")
    .absorbs("hellos")
    .holds("packets that came too early")
    .hides(|config| shown(config, 2))
    .doc(router::manual!("vlb_node.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (settings, roster) = Settings::read(config, Wiring::Mesh)?;
    Ok(Box::new(Node::new(config, settings, roster)?))
}

#[cfg(test)]
mod tests;
