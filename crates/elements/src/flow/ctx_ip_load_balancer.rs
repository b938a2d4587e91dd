//! Gives flows the address of one of several servers, in turn.
//!
//! ```click
//! CTXIPLoadBalancer(ADDR, ADDR, ...)
//! ```
//!
//! What FlowIPLoadBalancer does with LB_MODE `rr`; it is FastClick's element for use behind a CTXManager, but does
//! with any flow manager. What servers answer goes back through a CTXIPLoadBalancerReverse.
//!
//! FlowSimpleIPLoadBalancer is an older name for it.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated; each takes turns by itself.
//!
//! # Arguments
//! - `DST` (addresses), any number of times: the servers. They may also stand in front without the keyword.
//!
//! # Handlers
//! Those of FlowIPLoadBalancer.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> CTXManager -> CTXIPLoadBalancer(10.0.0.2, 10.0.0.3) -> Discard
//! ```
//!
//! # See also
//! CTXIPLoadBalancerReverse, FlowIPLoadBalancer, CTXManager

use super::flow_ip_load_balancer;
use router::{Class, Config, ConfigError, Element};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class {
    name: "CTXIPLoadBalancer",
    create,
    doc: include_str!("ctx_ip_load_balancer.rs"),
    ..flow_ip_load_balancer::CLASS
};
/// An older name.
pub(crate) const SIMPLE: Class = Class { name: "FlowSimpleIPLoadBalancer", ..CLASS };

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut addresses = Vec::new();
    config.args().list("DST", &mut addresses).finish()?;
    flow_ip_load_balancer::make(config, addresses, Ipv4Addr::UNSPECIFIED)
}
