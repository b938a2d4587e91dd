//! What several crates of elements share, and no element itself: flow keys, encapsulations, times and addresses as text, rates.
//!
//! Element crates import no other element crate but this one. What only one of them needs lives there.

#![forbid(unsafe_code)]

/// Files that elements open by their names.
pub use device::files;

pub mod arguments;
pub mod connection_state;
pub mod crc32;
pub mod ecn;
pub mod encap;
pub mod esp_front;
pub mod ether_address;
pub mod ether_header;
pub mod feeds;
pub mod flow_filter;
pub mod flow_hash;
pub mod flow_id;
pub mod flow_key;
pub mod flow_numbers;
pub mod flow_parking;
pub mod flow_space;
pub mod formula;
pub mod fraction;
pub mod header_translation;
pub mod hexadecimal;
pub mod identification;
pub mod instant;
pub mod ip_header;
pub mod ip_numbers;
pub mod ipsec_port;
pub mod key_argument;
pub mod key_file;
pub mod keyed_hash;
pub mod label;
pub mod membership;
pub mod neighbour_discovery;
pub mod notes;
pub mod out_file;
pub mod packet_end;
pub mod packet_state;
pub mod parked;
pub mod pulling;
pub mod rate;
pub mod rate_average;
pub mod rate_limit;
pub mod reading;
pub mod replay_window;
pub mod route_port;
pub mod route_text;
pub mod sprintf;
pub mod state_port;
pub mod verdict;
pub mod vlan;
pub mod writing;
