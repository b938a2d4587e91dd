//! Elements that make packets.

mod burst;
mod contents;
mod fast_tcp_flows;
mod fast_udp_flows;
mod fast_udp_flows_ip6;
mod fast_udp_source;
mod fast_udp_source_ip6;
mod flow_source;
mod frame;
mod icmp_ping_source;
mod infinite_source;
mod pace;
mod random_seed;
mod random_source;
mod rated_source;
mod syn_flood;
mod timed_source;

use router::Class;
pub(crate) use timed_source::{DEFAULT_INTERVAL, positive_interval};

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &fast_tcp_flows::CLASS,
    &fast_udp_flows::CLASS,
    &fast_udp_flows_ip6::CLASS,
    &fast_udp_source::CLASS,
    &fast_udp_source_ip6::CLASS,
    &icmp_ping_source::CLASS,
    &infinite_source::CLASS,
    &random_seed::CLASS,
    &random_source::CLASS,
    &rated_source::CLASS,
    &syn_flood::CLASS,
    &timed_source::CLASS,
];
