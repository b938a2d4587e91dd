//! What an MRT file says.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::import::list::AnyPrefix;

/// What stands for a number of an autonomous system that does not fit into 16 bits (RFC 6793).
pub(super) const AS_TRANS: u32 = 23_456;

/// A neighbour of a route collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    /// Its address.
    pub address: IpAddr,
    /// Its autonomous system. Where a record has 16 bits for one that needs more, the number that the file has of the peer elsewhere
    /// before, or else 23456 (RFC 6793).
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

impl Event {
    fn peer_mut(&mut self) -> &mut Peer {
        match self {
            Event::Route(route) => &mut route.peer,
            Event::Down { peer, .. } => peer,
        }
    }
}

/// Peers whose numbers do not fit into 16 bits, so that a peer is the same in records of both kinds.
#[derive(Default)]
pub(super) struct WidePeers(HashMap<IpAddr, u32>);

impl WidePeers {
    /// Puts the number of a peer in the place of its stand-in, if it is known.
    pub(super) fn resolve(&mut self, event: &mut Event) {
        let peer = event.peer_mut();
        if peer.asn == AS_TRANS {
            peer.asn = self.0.get(&peer.address).copied().unwrap_or(AS_TRANS);
        } else if peer.asn > u32::from(u16::MAX) {
            self.0.insert(peer.address, peer.asn);
        }
    }
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
