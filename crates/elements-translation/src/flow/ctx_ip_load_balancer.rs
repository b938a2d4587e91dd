//! Distributes flows over several servers in turn, by rewriting destination addresses.
//!
//! ```click
//! CTXIPLoadBalancer(ADDR, ADDR, ...)
//! ```
//!
//! Does what FlowIPLoadBalancer does with LB_MODE `rr`. It is FastClick's element for use after a CTXManager, but
//! works with any flow manager. The servers' replies go back through a CTXIPLoadBalancerReverse.
//!
//! FlowSimpleIPLoadBalancer is an older name for it.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated; each takes turns separately.
//!
//! # Arguments
//! - `DST` (addresses), any number of times: the servers. They may also be given first, by position.
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
fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut addresses = Vec::new();
    config.args().list("DST", &mut addresses).finish()?;
    flow_ip_load_balancer::make(config, addresses, Ipv4Addr::UNSPECIFIED)
}
