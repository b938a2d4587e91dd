//! Generates UDP packets of many flows over IPv6, for measurements.
//!
//! ```click
//! FastUDPFlowsIP6(RATE, LIMIT, LENGTH, SRCETH, SRCIP6, DSTETH, DSTIP6, FLOWS, FLOWSIZE [, CHECKSUM, ACTIVE, STOP])
//! ```
//!
//! Does what FastUDPFlows does, over IPv6 (hop limit 250). It is FastClick's element.
//!
//! Ports: no inputs, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! Those of FastUDPFlows, but with IPv6 addresses `SRCIP6` and `DSTIP6`; a frame has at least 62 bytes.
//!
//! # Handlers
//! Those of FastUDPFlows.
//!
//! # Example
//! ```click
//! FastUDPFlowsIP6(0, -1, 64, 0:0:0:0:0:1, 2001:db8::1, 0:0:0:0:0:2, 2001:db8::2, 1000, 10) -> Discard
//! ```
//!
//! # See also
//! FastUDPFlows, FastUDPSourceIP6

use super::fast_udp_flows;
use router::Class;
use std::net::Ipv6Addr;

/// The class.
pub(crate) const CLASS: Class = Class {
    name: "FastUDPFlowsIP6",
    create: |config| super::flow_source::create::<Ipv6Addr>(config, false, ["SRCIP6", "DSTIP6"]),
    doc: include_str!("fast_udp_flows_ip6.rs"),
    ..fast_udp_flows::CLASS
};
