//! Elements that rewrite addresses and ports: network address translation, and what serves it.
//!
//! All rewriters work alike. A rewriter has a *flow table*, shared by all workers: look-ups take no lock, a worker that meets a
//! new flow takes one. Its *input specifications* say how the first packet of a flow is rewritten, and so the flow. The
//! elements differ in what they tell flows apart by and in what they change in a packet.

mod address_translator;
mod adoption;
mod apply;
mod arguments;
mod bits;
mod bucket;
mod changes;
mod copy;
mod counters;
mod counts;
mod crowds;
mod deltas;
mod editor;
mod endpoints;
#[cfg(test)]
mod endpoints_tests;
mod exhausted;
mod expiry;
pub(crate) mod flow_events;
mod flow_set;
#[cfg(test)]
mod flow_set_tests;
mod flows;
mod ftp_port_mapper;
mod icmp_ping_rewriter;
mod icmp_rewriter;
pub(crate) mod index;
mod input;
mod ip_addr_pair_rewriter;
mod ip_addr_rewriter;
mod ip_rewriter;
mod ip_rewriter_patterns;
mod lane;
mod left;
mod listing;
mod load;
mod mapper;
pub(crate) mod nat;
mod nat64;
mod newcomers;
#[cfg(test)]
mod packet_tests;
mod pattern;
mod policy;
mod record;
mod rewriter;
mod round_robin_ip_mapper;
#[cfg(test)]
mod samples;
mod search;
mod share;
mod source_hash;
mod source_ip_hash_mapper;
mod sync;
mod tcp_rewriter;
mod tcp_udp;
mod udp_rewriter;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &address_translator::CLASS,
    &ftp_port_mapper::CLASS,
    &icmp_ping_rewriter::CLASS,
    &icmp_rewriter::CLASS,
    &ip_addr_pair_rewriter::CLASS,
    &ip_addr_rewriter::CLASS,
    &ip_rewriter::CLASS,
    &ip_rewriter_patterns::CLASS,
    &nat64::CLASS,
    &round_robin_ip_mapper::BY_THREAD,
    &round_robin_ip_mapper::CLASS,
    &source_ip_hash_mapper::CLASS,
    &tcp_rewriter::CLASS,
    &udp_rewriter::CLASS,
];
