//! Neighbours: the hosts on a network, their Ethernet addresses, and how those are found out.
//!
//! One implementation serves IPv4 (ARP) and IPv6 (neighbour discovery): [`state`] is what is known of one neighbour,
//! [`table`] of all on a network, [`waiting`] are the packets that wait for an address, [`querier`] is the element, and
//! [`arp`] and [`nd`] are what differs. The files that are named after classes have their documentation.
//!
//! Routes name neighbours by IP address only (a packet's destination annotation): which Ethernet address belongs to it is
//! looked up where the packet leaves.

mod address;
pub(crate) mod arguments;
pub(crate) mod arp;
mod arp_advertiser;
mod arp_faker;
mod arp_print;
mod arp_querier;
mod arp_responder;
mod arp_table;
mod check_arp_header;
mod directory;
mod effects;
mod ip6_adjacency;
mod ip6_nd_advertiser;
mod ip6_nd_solicitor;
mod ip_adjacency;
mod left;
#[cfg(test)]
pub(crate) mod naive;
pub(crate) mod nd;
pub(crate) mod querier;
pub(crate) mod state;
pub(crate) mod table;
#[cfg(test)]
mod table_tests;
mod waiting;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &arp_advertiser::CLASS,
    &arp_faker::CLASS,
    &arp_print::CLASS,
    &arp_querier::CLASS,
    &arp_responder::CLASS,
    &arp_table::CLASS,
    &check_arp_header::CLASS,
    &ip6_adjacency::CLASS,
    &ip6_nd_advertiser::CLASS,
    &ip6_nd_solicitor::CLASS,
    &ip_adjacency::CLASS,
];
