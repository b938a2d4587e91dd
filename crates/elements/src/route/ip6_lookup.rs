//! Looks up IPv6 routes: the recommended table.
//!
//! ```click
//! IP6Lookup(ADDR/MASK [GATEWAY] OUTPUT, ...)
//! ```
//!
//! As IPLookup, over IPv6 destination annotations.
//!
//! Routes are read without locks while they change; on several workers all instances share one table.
//!
//! When the configuration is replaced while the router runs, routes that came since it was read, or have changed since (by handlers, from
//! FPMServer or KernelRoutes), move to the table of the same name, if its configuration has none for the prefix; those
//! of the old configuration go with it. A message says how many are lost because their output is gone.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: one shared table.
//!
//! # Arguments
//! - `ADDR/MASK [GATEWAY] OUTPUT`, any number: routes. A packet whose destination annotation lies in the prefix leaves at
//!   OUTPUT, the longest prefix deciding; with a GATEWAY (other than `-`) the annotation becomes that. Packets without a
//!   route are dropped, the first few of them reported, unless there is NOROUTE.
//! - `FLOW` (`addresses`, `ports` or `label`, default `label`): what tells flows apart where a route has several next
//!   hops: addresses alone; or protocol and TCP or UDP ports, too, but of fragments never the ports, so that they
//!   take one way; or, in packets that have one, the flow label in place of those.
//! - `FLOW_KEY` (integer, default the program's seed): routers that have the same key choose alike.
//! - `FLOWS` (integer, default 0): flows over several next hops that each worker remembers, in a table of that size: they stay where they
//!   went while that next hop is one of their route's, whatever others come and go.
//! - `FLOW_TIMEOUT` (time, default 30 s): how long a flow is remembered after its last packet.
//! - `NOROUTE` (integer): output for packets without a route, as for ICMP errors; they are neither dropped then nor reported.
//! - `CACHE` (integer, default 0): destinations of which each worker remembers the route, in a table of that size, until any route changes.
//!   Packets go where they would go without it. It spares lookups that are slow, of IPv6 or in tables that are searched one by one.
//!
//! # Handlers
//! - `add`, `set` (write, a route): add a route for a new prefix; add or replace one. Several next hops are written
//!   `ADDR/MASK nexthop GATEWAY OUTPUT [WEIGHT] nexthop GATEWAY OUTPUT [WEIGHT] ...`: each flow takes one of them, by their weights.
//!   The OUTPUT -1 drops packets.
//! - `remove` (write, `ADDR/MASK [[GATEWAY] OUTPUT]`): remove one.
//! - `ctrl` (write): a command (`add`, `set`, `remove`) a line; if one fails, none is carried out.
//! - `begin`, `commit`, `abort` (write, buttons): what the handlers above and below change after `begin` shows, and takes effect, at
//!   `commit`, all at once; `abort` forgets it.
//! - `load` (write, `FILE [OUTPUT] [INTERFACE=OUTPUT ...]`): set all routes of a file: a route a line, the output of `ip route`, or an MRT
//!   file, perhaps compressed by gzip, bzip2, xz or zstd. Next hops that have no output there go to that of their INTERFACE, or
//!   else to OUTPUT, 0 by default. Of several next hops each flow takes one, by their weights. If anything is wrong with the file,
//!   nothing changes.
//! - `load_text` (write, `[OUTPUT] [INTERFACE=OUTPUT ...]`, and routes from the second line on): the same without a file.
//! - `flush` (write, button): remove all routes.
//! - `table` (read): all routes. `length` (read): how many. `flows` (read): flows that are remembered.
//! - `cache_hits`, `cache_misses` (read): lookups that CACHE spared, and those that it did not.
//! - `lookup` (read, with an address): the output and gateway for it, -1 if there is no route.
//!
//! # Example
//! ```click
//! Idle -> r :: IP6Lookup(2001:db8::/32 0, ::/0 fe80::1 1); r[0] -> Discard; r[1] -> Discard
//! ```
//!
//! # See also
//! IPLookup, IP6Lookup, StaticIPLookup, RadixIPLookup

use super::element::{Manner, create};
use super::family::V6;
use lpm::Table6;
use router::{Class, Residency};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("IP6Lookup", |config| create::<V6, Table6>(config, Manner::SILENT))
        .ports("1/-")
        .processing("h/h")
        .residency(Residency::Shared)
        .doc(include_str!("ip6_lookup.rs"));
