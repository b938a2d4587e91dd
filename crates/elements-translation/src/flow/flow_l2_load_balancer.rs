//! Distributes flows over several servers, by rewriting Ethernet addresses.
//!
//! ```click
//! FlowL2LoadBalancer(DST ADDR, DST ADDR, ... [, KEYWORDS])
//! ```
//!
//! Sets the destination address of frames. The first packet of a flow chooses the server for all its packets. A flow
//! manager upstream identifies flows; packets without a flow, or without a complete Ethernet header, are dropped. It
//! is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated; each takes turns separately.
//!
//! # Arguments
//! - `DST` (Ethernet addresses), any number of times: the servers. They may also be given first, by position.
//! - `LB_MODE` (default `rr`), `NSERVER` (integer, default 0), `LST_MODE` and the arguments of the modes: as for
//!   FlowIPLoadBalancer.
//! - `VIP` (address): accepted.
//!
//! # Handlers
//! - `nb_total_servers`, `nb_active_servers`, `load_conn`, `load_packets`, `load_bytes`, `load`: as for
//!   FlowIPLoadBalancer.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager
//!   -> FlowL2LoadBalancer(DST 0:0:0:0:0:1, DST 0:0:0:0:0:2) -> Discard
//! ```
//!
//! # See also
//! FlowIPManager, FlowIPLoadBalancer, L2LoadBalancer

use super::balancer::FlowBalancer;
use crate::balance::servers::{Servers, Settings};
use router::{Class, Config, ConfigError, Element, PerPacket, Residency};
use std::net::Ipv4Addr;
use wire::ethernet::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowL2LoadBalancer", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(router::manual!("flow_l2_load_balancer.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut addresses, mut settings, mut vip) =
        (Vec::<MacAddr>::new(), Settings::default(), Ipv4Addr::UNSPECIFIED);
    let args = config.args().list("DST", &mut addresses).keyword("VIP", &mut vip);
    settings.read(args).finish()?;
    Ok(Box::new(PerPacket(FlowBalancer::new(Servers::new(addresses, settings, config)?))))
}
