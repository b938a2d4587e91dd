//! What a node remembers of connections, and what it does for its neighbourhood, go to another node when it leaves or dies.
//!
//! Each node has a *successor*: the next node in the order of numbers that takes part. It tells its successor what its tables remember, in
//! a [`stream`]: first all, then what changes, a few times in each tenth of a second. The successor keeps that aside
//! ([`standby`]). When the node drains it says what is left and hands over its [`duties`]; when it falls silent and is given
//! up, the successor takes them as they are. Either way the successor then adopts what it holds into its own tables, and does the
//! other's duties beside its own: it tells all nodes so, and whatever is to leave the cluster by the other leaves by it.
//!
//! Where the successor dies as well, none does the duty any more. Each node sees that, as all say what they do: the node itself claims the duty then, or
//! the next one that stays.
//!
//! A node that cannot hear at least half of the cluster takes nothing over. Where two claim a duty all the same, the later claim counts
//! as soon as they hear of each other.
//!
//! This is a state machine without clock, tables and packets of its own. Messages are authenticated and fresh ([`channels`]); memory, and
//! what is sent at once, are bounded.

mod channels;
mod duties;
pub mod message;
mod node;
mod standby;
mod stream;

pub use channels::Refused;
pub use message::Duty;
pub use node::{Adoption, Counts, Overrun, Settings, Succession, Tables, Tell, World};
pub use standby::Held;
