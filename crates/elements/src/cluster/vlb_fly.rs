//! A node of a cluster that is a k-ary n-fly: when a mesh would take more links than servers have sockets.
//!
//! ```click
//! VLBFly(NODE, TERMINALS, FANOUT, KEY [, keywords ORDER, SCHEME, LINE_RATE, LINK_RATE, KEYFILE, ROSTER, HELLO, HOLD, FLOWLET, WAIT])
//! ```
//!
//! Nodes 0 to TERMINALS - 1 have external ports; nodes behind them, in levels, only pass packets on. A level is as wide as the product of
//! the radices, which are at most FANOUT: the fewest levels and the narrowest that reach all terminals. `clique cluster plan` says
//! how many nodes that makes.
//!
//! Input and output 0 are the node's own side, as those of VLBNode; a node between others has no use for them. Inputs and outputs from 1 on
//! are cables, each for both directions. First come those that lead on: from a terminal to the first level, from a level to the next, and
//! from the last to the terminals; then those from the nodes that send here. The handler `links` says which is which. Packets go along
//! a cable in one direction only, hellos in both. Behind the last level there are cables to terminals that exist.
//!
//! A packet goes straight to its egress through all levels, or first to another terminal, then once more through all levels. Nodes move
//! it on by its label alone, and only terminals have a choice of links. Links then need to carry no more than 2 LINE_RATE/k, with k the
//! smallest radix, whatever the traffic.
//!
//! Hellos are those of VLBNode, and say besides which terminals are reached by way of their sender. So each terminal knows where its links
//! lead, and goes round cables, nodes between and terminals that are dead. What has changed is told at once from level to level.
//! Packets that come from where no hello comes from, or against the direction of a link, are dropped. A node that drains, also one
//! between others, gets no new flows while there are other ways; when nothing has come for a while, its phase is `left`.
//!
//! Ports: 1 and one for each cable, inputs and outputs. Processing: push. Workers: exclusive. Not in Click.
//!
//! # Arguments
//! - `NODE` (integer): the number of this node, from 0.
//! - `TERMINALS` (integer): how many nodes have external ports, from 2 on.
//! - `FANOUT` (integer): links out of a node, at most; from 2 on.
//! - `ORDER` (`NONE`, `PINNED`, `FLOWLET`, `STRICT`; default `FLOWLET`): as VLBNode has it. `STRICT` with up to 256
//!   terminals: labels have no room for larger numbers then; and since ways are longer than in a mesh, WAIT may have
//!   to be. A node knows how busy its own links are, and not those further on: with flows that fill a good part of a
//!   link by themselves, `PINNED` overloads some of those, `FLOWLET` less, since it spreads a flow of which a few
//!   packets wait, and `NONE` does not.
//! - `LINK_RATE` (bandwidth, default 2 LINE_RATE/k): what a link carries.
//! - `KEY`, `KEYFILE`, `SCHEME`, `LINE_RATE`, `ROSTER`, `HELLO`, `HOLD`, `FLOWLET`, `WAIT`: as VLBNode has them. The
//!   roster names nodes between others, too.
//!
//! # Handlers
//! - `links` (read): a line for each cable: its port, `to`, `from` or `both`, the node at its other end, `up` or `down`.
//! - `view` (read): a line for each other terminal: its number, `up` if this node reaches it, or `down`, `transit` if packets may go by
//!   way of it.
//! - `node`, `phase`, `drain`, `direct`, `balanced`, `spilled`, `refused`, `passed`, `delivered`, `late`, `waiting`,
//!   `rejected`, `given_up`, `pauses`, `longest_pause`, `pause_log`, `alarm_log`, `roster`: as VLBNode has them.
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
use super::settings::{Settings, Wiring};
use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("VLBFly", create)
    .ports("1-/=")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(include_str!("vlb_fly.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (settings, roster) = Settings::read(config, Wiring::Fly)?;
    Ok(Box::new(Node::new(settings, roster)))
}

#[cfg(test)]
mod tests;
