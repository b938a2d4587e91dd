//! Looks up IPv4 routes that never change.
//!
//! ```click
//! StaticIPLookup(ADDR/MASK [GATEWAY] OUTPUT, ...)
//! ```
//!
//! As LinearIPLookup, but the routes are those of the configuration: there are no handlers that change them.
//!
//! Routes are read without locks while they change; on several workers all instances share one table.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: one shared table.
//!
//! # Arguments
//! - `ADDR/MASK [GATEWAY] OUTPUT`, any number: routes. A packet whose destination annotation lies in the prefix leaves at
//!   OUTPUT, the longest prefix deciding; with a GATEWAY (other than `-`) the annotation becomes that. Packets without a
//!   route are dropped, the first few of them reported, unless there is NOROUTE.
//! - `FLOW` (`addresses` or `ports`, default `ports`): what tells flows apart where a route has several next hops: addresses alone; or
//!   protocol and TCP or UDP ports, too, but of fragments never the ports, so that they take one way.
//! - `FLOW_KEY` (integer, default the program's seed): routers that have the same key choose alike.
//! - `FLOWS` (integer, default 0): flows over several next hops that each worker remembers, in a table of that size: they stay where they
//!   went while that next hop is one of their route's, whatever others come and go.
//! - `FLOW_TIMEOUT` (time, default 30 s): how long a flow is remembered after its last packet.
//! - `NOROUTE` (integer): output for packets without a route, as for ICMP errors; they are neither dropped then nor reported.
//! - `CACHE` (integer, default 0): destinations of which each worker remembers the route, in a table of that size, until any route changes.
//!   Packets go where they would go without it. It spares lookups that are slow, of IPv6 or in tables that are searched one by one.
//!
//! # Handlers
//! - `table` (read): all routes. `length` (read): how many. `flows` (read): flows that are remembered.
//! - `cache_hits`, `cache_misses` (read): lookups that CACHE spared, and those that it did not.
//! - `lookup` (read, with an address): the output and gateway for it, -1 if there is no route.
//!
//! # Example
//! ```click
//! Idle -> r :: StaticIPLookup(18.26.4.0/24 0, 0/0 18.26.4.1 1); r[0] -> Discard; r[1] -> Discard
//! ```
//!
//! # See also
//! IPLookup, IP6Lookup, StaticIPLookup, RadixIPLookup

use super::element::{Manner, create};
use super::family::V4;
use lpm::faithful::LinearTable;
use router::{Class, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("StaticIPLookup", |config| {
    create::<V4, LinearTable>(config, Manner { dynamic: false, ..Manner::saying("LinearIPLookup") })
})
.ports("1/-")
.processing("h/h")
.residency(Residency::Shared)
.kinds(&["IPRouteTable"])
.doc(include_str!("static_ip_lookup.rs"));
