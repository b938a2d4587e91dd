//! Looks up IPv4 routes.
//!
//! ```click
//! LinearIPLookup(ADDR/MASK [GATEWAY] OUTPUT, ...)
//! SortedIPLookup(ADDR/MASK [GATEWAY] OUTPUT, ...)
//! ```
//!
//! Searches the prefixes sequentially, the longest first: suitable for few routes. SortedIPLookup is a deprecated
//! name. A change copies the part of the list that it is in, up to 256 prefixes. Masks must be
//! contiguous.
//!
//! Lookups take no lock, even while routes change; all workers share one table.
//!
//! FPMServer and KernelRoutes bring routes from threads of their own. Of several sources, the last to set a prefix has
//! it, and only that one withdraws it. `watch --events route` tells of each change.
//!
//! When the configuration is replaced while the router runs, routes that were added or changed since the old one was
//! read (by handlers, FPMServer or KernelRoutes) move to the table of the same name, unless its configuration has a
//! route for the same prefix; the routes of the old configuration itself are removed. A message reports how many
//! routes are lost because their output no longer exists.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: one shared table.
//!
//! # Arguments
//! - `ADDR/MASK [GATEWAY] OUTPUT`, any number: routes. A packet whose destination annotation matches the prefix
//!   leaves by OUTPUT; the longest matching prefix decides. If there is a GATEWAY (other than `-`), the annotation is
//!   set to it; if GATEWAY is an IPv6 address (RFC 8950), that is the IPv6 destination annotation, which IP6NDSolicitor
//!   takes. Packets without a route are dropped and the first few reported, unless there is NOROUTE.
//! - `FLOW` (`addresses` or `ports`, default `ports`): what identifies a flow if a route has several next hops: the
//!   addresses only; or also the protocol and the TCP or UDP ports. For fragments ports are never used, so that they
//!   all take the same path.
//! - `FLOW_KEY` (integer, default the program's seed): the key of the hash that selects next hops; routers with the
//!   same key make the same choices.
//! - `FLOWS` (integer, default 0): the size of a table, one per worker, in which the next hops of flows are remembered.
//!   A remembered flow keeps its next hop as long as its route has it, even if other next hops come, go and come back.
//!   Half of the table is for new flows. While that is full, another is remembered from its second packet on, in the
//!   place of the oldest new one, and never of one that went on. A flow that is not remembered goes where its hash
//!   says. When the configuration is replaced and other workers see the packets from then on, flows wait, as many as all
//!   workers' tables have room for, until a worker sees their next packet; `flows` and `flow_list` include them. In a cluster
//!   VLBState moves them to another node.
//! - `FLOW_TIMEOUT` (time, default 30 s): how long a flow is remembered after its last packet; 0 for ever.
//! - `FLOW_QUOTA` (integer up to 65535, default 0): the maximum number of new flows, which had one packet, whose sources are in one prefix, of 24
//!   bits of IPv4 and 64 of IPv6; 0 for no limit. More are not remembered, so that a flood from one prefix leaves room for others' new flows.
//! - `SPREAD` (boolean, default false): choose among several next hops for each packet by itself, as often as their
//!   weights say. One flow can then use them all, and its packets may overtake each other. Not with FLOWS.
//! - `NOROUTE` (integer): the output for packets without a route, for instance to ICMPError; they are then neither
//!   dropped nor reported.
//! - `CACHE` (integer, default 0): the size of a table, one per worker, in which the routes of destinations are
//!   cached until a route to the same 4096th part of all addresses changes. It does not change where packets go. It
//!   saves slow lookups: of IPv6, or in tables that are searched sequentially.
//!
//! # Handlers
//! - `add`, `set` (write, a route): add a route for a new prefix; add or replace a route. Several next hops are
//!   written `ADDR/MASK nexthop GATEWAY OUTPUT [WEIGHT] nexthop GATEWAY OUTPUT [WEIGHT] ...`: each flow uses one of
//!   them, chosen according to their weights. A next hop of weight 0 beside others gets no new flows, and keeps those
//!   that FLOWS remembers. The OUTPUT -1 drops packets.
//! - `remove` (write, `ADDR/MASK [[GATEWAY] OUTPUT]`): remove a route.
//! - `ctrl` (write): commands (`add`, `set`, `remove`), one per line; if one fails, none is carried out.
//!   While the memory that waits for workers to be done with old routes is at its limit, these and the following
//!   wait, and with them the script or client that writes; packets go on.
//! - `begin`, `commit`, `abort` (write, buttons): a transaction. Changes made by the other handlers after `begin`
//!   become visible and take effect at `commit`, all at once; `abort` discards them.
//! - `load` (write, `[--strict] FILE [OUTPUT] [INTERFACE=OUTPUT[,OUTPUT6] ...]`): add the routes of a file to those that there
//!   are, all at once: one route per line, the output of `ip -j route` or `ip route`, or an MRT file, optionally
//!   compressed by gzip, bzip2, xz or zstd. A route for a prefix that has one takes its place. Next hops without an
//!   output in the file go to the output given for their INTERFACE (those to IPv6 gateways to OUTPUT6, if there is one),
//!   or else to OUTPUT, 0 by default. If a route has
//!   several next hops, each flow uses one of them, chosen according to their weights. Lines and records that cannot be
//!   used are left out and reported; with `--strict` they are an error. After an error the routes are as before.
//! - `replace` (write, like `load`): the same, but the routes of the file take the place of all that there are. Each
//!   packet takes one of the old routes or one of the new.
//! - `load_text`, `replace_text` (write, `[--strict] [OUTPUT] [INTERFACE=OUTPUT[,OUTPUT6] ...]`, and routes from the second line
//!   on): the same, without a file.
//! - `flush` (write, button): remove all routes.
//! - `table` (read, `[ADDR/MASK]`): all routes, or those inside a prefix. `length` (read): how many there are. `flows` (read): flows remembered.
//! - `flow_list` (read, a filter): the flows remembered, one per line: source, port, destination, port, protocol (or `label:` and
//!   the flow label), gateway, output, milliseconds since the last packet, and `established` or `new`. ConnTrack says what a
//!   filter is; established flows are `assured`, and none has a state or was replied to. Its limit is that of each worker.
//! - `flow_json` (read, a filter): the same as objects of JSON, one per line. `flow_count` (read, a filter): how many those are.
//! - `flow_capacity` (read/write, integer): the size of the table of FLOWS. It can grow; it does while packets come.
//! - `flow_load` (write, such lines): remember these flows, as another router listed them, in the place of those that are known. They
//!   wait, as many as all workers' tables have room for, until a worker sees their next packet.
//! - `flow_kill` (write, a filter, or columns of such lines, `*` for any): forget the flows that it asks for, or whose lines begin so.
//! - `flow_hits`, `flow_misses` (read): packets of flows that were remembered, and of those that were not.
//!   `flow_evictions`, `flow_expiries` (read): flows forgotten for newer ones, and after their timeout.
//!   `flow_refusals` (read): packets of new flows for which there was no room, or that FLOW_QUOTA forbade: `flow_quota_refusals` (read). `flow_moves` (read): flows whose next hop
//!   went, and that got another.
//! - `cache_hits`, `cache_misses` (read): lookups answered from the CACHE, and those that were not.
//! - `lookup` (read, with an address): the output and the gateway for it; -1 if there is no route.
//!
//! # Example
//! ```click
//! Idle -> r :: LinearIPLookup(18.26.4.0/24 0, 0/0 18.26.4.1 1); r[0] -> Discard; r[1] -> Discard
//! ```
//!
//! # See also
//! IPLookup, IP6Lookup, StaticIPLookup, RadixIPLookup

use super::element::{FLOW_BYTES, LookupStyle, create};
use super::family::V4;
use lpm::faithful::LinearTable;
use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("LinearIPLookup", |config| {
    create::<V4, LinearTable>(config, LookupStyle::saying("LinearIPLookup"))
})
.ports("1/-")
.processing("h/h")
.residency(Residency::Shared)
.keeps("flows of each worker", "FLOWS", 0, FLOW_BYTES)
.kinds(&["IPRouteTable"])
.doc(router::manual!("linear_ip_lookup.rs"));

/// Click's variant whose table is sorted, as this one's is.
pub(crate) const SORTED: Class = Class { name: "SortedIPLookup", create: create_sorted, ..CLASS };

fn create_sorted(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.warn("SortedIPLookup is deprecated; use LinearIPLookup or RadixIPLookup instead");
    (CLASS.create)(config)
}
