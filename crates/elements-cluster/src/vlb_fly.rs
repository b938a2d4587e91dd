//! A node of a cluster connected as a k-ary n-fly, for clusters too large for a full mesh.
//!
//! ```click
//! VLBFly(NODE, TERMINALS, FANOUT, KEY [, keywords ORDER, SCHEME, LINE_RATE, LINK_RATE, KEYFILE, ROSTER, HELLO, HOLD, FLOWLET, WAIT])
//! ```
//!
//! Nodes 0 to TERMINALS - 1, the terminals, have external ports; the nodes behind them, in levels, only pass packets
//! on. Each level is as wide as the product of the radices, which are at most FANOUT; the number of levels, and then
//! their width, is the smallest that reaches all terminals. `clique cluster plan` shows how many nodes that requires.
//!
//! Input and output 0 are the node's own side, as with VLBNode; intermediate nodes do not use them. Inputs and
//! outputs from 1 on are cables, each for both directions. First come the cables that lead on: from a terminal to the
//! first level, from each level to the next, and from the last level to the terminals; then those from the nodes that
//! send to this one. The handler `links` shows which is which. Packets travel along a cable in one direction only,
//! hellos in both. After the last level, there are cables only to terminals that exist.
//!
//! A packet goes either directly to its egress through all levels, or first to another terminal and then through all
//! levels once more. Nodes forward it by its label alone, and only terminals have a choice of links. Links then need
//! to carry at most 2 LINE_RATE/k, where k is the smallest radix, whatever the traffic.
//!
//! Hellos are those of VLBNode, and also list the terminals that can be reached through their sender. So each
//! terminal knows where its links lead, and avoids failed cables, intermediate nodes and terminals. Changes are
//! propagated from level to level immediately. Packets are dropped if they come from a link without hellos, or
//! against the direction of a link. A node that drains, even an intermediate one, gets no new flows while there are
//! other paths; when nothing has arrived for a while, its phase is `left`.
//!
//! A hello has 33 bytes, 11 for each cable, half a byte for each terminal, and at most 180 more. One that does not fit
//! into a frame of 1,500 bytes is sent in up to 16 parts, each with a code of its own; if one of them is lost, the next
//! hello counts. Two levels of 1,024 terminals, with 32 links each way, fit into one frame, up to 2,000 terminals in one
//! level, with as many cables at each node, into 16. With so many cables HELLO and HOLD must be longer than by default:
//! hellos of 12 kB, a hundred times a second over 1,024 cables, would be 10 Gbit/s. Versions that do not know parts
//! refuse configurations that need them, and count parts as `not authentic`; where hellos fit into a frame, their form is
//! the same, and versions can be mixed.
//!
//! Ports: 1 and one for each cable, inputs and outputs. Processing: push. Workers: shared. Not in Click.
//!
//! # Arguments
//! - `NODE` (integer): the number of this node, from 0.
//! - `TERMINALS` (integer): how many nodes have external ports, from 2 on.
//! - `FANOUT` (integer): the maximum number of links out of a node; from 2 on.
//! - `ORDER` (`NONE`, `PINNED`, `FLOWLET`, `STRICT`; default `FLOWLET`): as for VLBNode. `STRICT` works with up to
//!   256 terminals, since labels have no room for larger numbers then; and since paths are longer than in a mesh,
//!   WAIT may have to be longer too. A node knows the load of its own links, but not of those further on. If single
//!   flows fill a good part of a link, `PINNED` overloads some of these, `FLOWLET` less so, since it spreads a flow
//!   when a few of its packets wait, and `NONE` does not.
//! - `LINK_RATE` (bandwidth, default 2 LINE_RATE/k): the capacity of a link.
//! - `KEY`, `KEYFILE`, `SCHEME`, `LINE_RATE`, `ROSTER`, `HELLO`, `HOLD`, `FLOWLET`, `WAIT`: as for VLBNode. The
//!   roster lists intermediate nodes too.
//!
//! # Handlers
//! - `links` (read): one line per cable: its port, `to`, `from` or `both`, the node at its other end, `up` or `down`.
//! - `view` (read): one line for each other terminal: its number, `up` if this node can reach it, or `down`, and
//!   `transit` if packets may be sent through it.
//! - `node`, `phase`, `drain`, `direct`, `balanced`, `spilled`, `moved`, `refused`, `passed`, `delivered`, `late`, `waiting`,
//!   `rejected`, `given_up`, `pauses`, `longest_pause`, `pause_log`, `alarm_log`, `roster`: as for VLBNode.
//!
//! # Example
//! ```click
//! // Two terminals and the nodes between them, which are joined to each terminal by one cable for both ways.
//! a :: VLBFly(0, 2, 2, secret); b :: VLBFly(1, 2, 2, secret);
//! m :: VLBFly(2, 2, 2, secret); n :: VLBFly(3, 2, 2, secret);
//! InfiniteSource(DATA "E", LIMIT 0) -> VLBEncap(1) -> a; Idle -> b; Idle -> m; Idle -> n;
//! a[1] -> Queue -> Unqueue -> [1]m; a[2] -> Queue -> Unqueue -> [1]n;
//! b[1] -> Queue -> Unqueue -> [2]m; b[2] -> Queue -> Unqueue -> [2]n;
//! m[1] -> Queue -> Unqueue -> [1]a; m[2] -> Queue -> Unqueue -> [1]b;
//! n[1] -> Queue -> Unqueue -> [2]a; n[2] -> Queue -> Unqueue -> [2]b;
//! a[0] -> VLBDecap -> Discard; b[0] -> VLBDecap -> Discard; m[0], n[0] -> Discard;
//! ```
//!
//! # See also
//! VLBNode, VLBEncap, VLBDecap, EtcdRoster

use super::node::Node;
use super::settings::{Settings, Wiring, shown};
use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("VLBFly", create)
    .ports("1-/=")
    .processing("h/h")
    .residency(Residency::Shared)
    .makes("hellos")
    .absorbs("hellos")
    .holds("packets that came too early")
    .hides(|config| shown(config, 3))
    .doc(router::manual!("vlb_fly.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (settings, roster) = Settings::read(config, Wiring::Fly)?;
    Ok(Box::new(Node::new(config, settings, roster)?))
}

#[cfg(test)]
mod tests;
