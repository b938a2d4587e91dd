//! Which nodes are present, which can reach which, and which are joining or leaving.
//!
//! Every node sends a *hello* into each of its links, many times a second: who it is, whom it hears, whom it can
//! reach. Each node makes its [`crate::view::View`] only from the hellos that it hears itself. No node asks another
//! for permission to forward, and none waits for a server.
//!
//! - A link is *up* when both ends say that they hear each other. A node that falls silent is down after the hold
//!   time. Time in which the listener itself did not run does not count, since what arrived meanwhile is still to be
//!   read.
//! - A node *listens* before it takes part: it is *active* once most others hear it and none hears another node
//!   with its number. So a second node that was given the same number by mistake stays out.
//! - A node that *drains* still forwards, but gets nothing new; when nothing has come for a while, it has *left*.
//! - Hellos are authenticated with a key that all nodes share, and numbered, so that old ones cannot be replayed. A life of a node
//!   whose number is smaller than that of an earlier one, since a clock is behind, hears so from its peers and takes a larger one.
//!
//! In an n-fly a node hears only the nodes at the other ends of its cables. What it cannot hear comes step by step
//! against the direction of the links: a hello also says which terminals are reached through its sender, the sender's
//! [`Horizon`].
//!
//! A [`Roster`], a file with a version, lists the nodes.

mod hello;
mod horizon;
mod member;
mod parts;
mod roster;

/// Nodes that a running mesh has at most: a hello names all that its sender hears, and must fit into a frame of 1,500
/// bytes. In parts there would be room for more nodes, but each node sends as many hellos as there are nodes, each as long as there are
/// nodes: with 128 of them 150 Mbit/s, with 1,024 of them 9 Gbit/s. A fly names less and sends less. Planning and simulation have no
/// such bound.
pub const MOST_NODES: usize = 128;

pub use hello::{Heard, Hello, Key, Malformed, Phase};
pub use horizon::{Horizon, settled};
pub use member::{Counts, Event, Member, Rejected, Timing};
pub use parts::most_in_frames;
pub use roster::{Entry, Holder, Roster};
