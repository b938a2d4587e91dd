//! Neighbours: the hosts on a network, their Ethernet addresses, and how those are found out.
//!
//! One implementation serves IPv4 (ARP) and IPv6 (neighbour discovery): [`state`] is what is known of one neighbour,
//! [`table`] of all on a network, [`waiting`] are the packets that wait for an address, [`querier`] is the element, and
//! [`arp`] and [`nd`] are what differs. The files in `ether/` that are named after classes have their documentation.
//!
//! Routes name neighbours by IP address only (a packet's destination annotation): which Ethernet address belongs to it is
//! looked up where the packet leaves.

mod address;
pub(crate) mod arguments;
pub(crate) mod arp;
mod directory;
mod effects;
#[cfg(test)]
pub(crate) mod naive;
pub(crate) mod nd;
pub(crate) mod querier;
pub(crate) mod state;
pub(crate) mod table;
#[cfg(test)]
mod table_tests;
mod waiting;
