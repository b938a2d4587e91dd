//! What an MRT file says.

use std::net::IpAddr;

use crate::import::list::AnyPrefix;

/// A neighbour of a route collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    /// Its address.
    pub address: IpAddr,
    /// Its autonomous system.
    pub asn: u32,
}

/// Where a peer says that a prefix leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The next hop, if it is named in a way that is understood.
    pub gateway: Option<IpAddr>,
    /// Autonomous systems on the way; a set of them counts as one.
    pub length: u32,
}

/// One thing that a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A route comes, changes or goes.
    Route(Route),
    /// A peer's session ends or begins: all routes that it announced before go.
    Down {
        /// When that was stored, in seconds since 1970.
        time: u32,
        /// Whose routes go.
        peer: Peer,
    },
}

/// One route of one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// When it was stored, in seconds since 1970.
    pub time: u32,
    /// Whether it is of a table dump, not of an update.
    pub dump: bool,
    /// Whose route it is.
    pub peer: Peer,
    /// Which route, where a peer may have several for a prefix (RFC 7911); else 0.
    pub id: u32,
    /// The prefix.
    pub prefix: AnyPrefix,
    /// Where it leads; `None` if it is withdrawn.
    pub path: Option<Path>,
}
