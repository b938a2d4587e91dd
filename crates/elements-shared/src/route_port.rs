//! The typed way into a lookup element's table, for threads that bring routes: a routing suite's, the kernel's, a client's.
//!
//! A lookup element offers a [`RoutePort`] beside its table. A source of routes joins it once and gets a [`RouteFeed`], by which its own
//! thread changes the table: no packet worker parses a route or applies one. Next hops are objects with numbers, as the kernel's
//! (`ip nexthop`) and zebra's are. A prefix points to a number, so that a next hop that changes is one replaced cell, however many prefixes
//! lead to it.

use router::{Config, ConfigError, Cx};
use std::net::IpAddr;
use std::sync::Arc;

/// A destination: an address, of which so many bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Destination {
    /// IPv4 or IPv6; the bits that don't count are 0.
    pub address: IpAddr,
    /// From 0 to 32 or 128.
    pub len: u8,
}

/// One way to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    /// The gateway; none where the destination itself is on the link. An IPv4 destination may have an IPv6 gateway (RFC 8950).
    pub gateway: Option<IpAddr>,
    /// The output of the lookup element.
    pub port: u32,
    /// Its share of the flows, from 1 to 65,536.
    pub weight: u32,
}

/// The number of a next-hop object. Each feed has numbers of its own.
pub type NextHopId = u32;

/// One change of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The next hop with this number leads these ways from now on; packets are dropped if there are none. It may be new, or have
    /// destinations.
    NextHop(NextHopId, Vec<Way>),
    /// Nothing leads to the next hop with this number any more: it is forgotten.
    ForgetNextHop(NextHopId),
    /// The destination leads to the next hop with this number.
    Route(Destination, NextHopId),
    /// The destination has no route of this feed any more. If another source has set one since, that stays: the last to set a
    /// destination has it.
    Withdraw(Destination),
}

/// Why changes were not made. The table is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The table is full: more next hops or blocks than it may have. What it says is for people.
    Full(String),
    /// A change (by its place in the list) names a next hop that was not announced, one that is in use, a port that the element does not
    /// have, or an address of the other family.
    Wrong(usize, String),
    /// No room for what has to wait for a grace period came free in time.
    Backpressure(String),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Full(why) | Refused::Wrong(_, why) | Refused::Backpressure(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Refused {}

/// How a source of routes changes a table. Dropping it leaves its routes where they are.
pub trait RouteFeed: Send {
    /// Makes changes in order, all or none, and publishes them at once. Waits while the table's budget of memory that a grace period
    /// holds is used up; the caller is a thread of its own, never a packet worker.
    ///
    /// # Errors
    /// [`Refused`]; then nothing has changed.
    fn apply(&mut self, changes: &[Change]) -> Result<(), Refused>;

    /// Withdraws the routes that feeds of the same origin have left in the table, before this one joined, and that this one has not set
    /// again: for a source that has told everything after a swap or a restart. Returns how many they were.
    ///
    /// # Errors
    /// [`Refused`]; then nothing has changed.
    fn sweep(&mut self) -> Result<usize, Refused>;
}

/// A table of routes, as those who bring routes see it.
pub trait RoutePort: Send + Sync {
    /// A feed for a source with this name (an element's, or `ctl`), which shows as the origin of its routes. A source that joins again, after
    /// a swap, gets numbers anew: its routes of before stay until it withdraws or replaces them.
    fn join(&self, origin: &str) -> Box<dyn RouteFeed>;

    /// Whether it takes IPv6 destinations; otherwise IPv4.
    fn is_v6(&self) -> bool;
}

/// A lookup element's shared part that holds its port.
pub struct Port(Arc<dyn RoutePort>);

impl Port {
    /// Offers a table to threads that bring routes.
    ///
    /// # Errors
    /// As those of [`Config::shared`].
    pub fn offer(config: &mut Config<'_>, table: Arc<dyn RoutePort>) -> Result<(), ConfigError> {
        config.shared(|| Ok(Port(table)))?;
        Ok(())
    }

    /// That of the element with a name, seen from the element that asks, once all are configured.
    ///
    /// # Errors
    /// There is no such element, or it has no routes that can change.
    pub fn of(cx: &Cx<'_>, name: &str) -> Result<Arc<dyn RoutePort>, String> {
        let port: Arc<Port> = cx.shared_of(name, "lookup")?;
        Ok(port.0.clone())
    }
}
