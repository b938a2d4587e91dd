//! Gives flows the address of one of several servers.
//!
//! ```click
//! FlowIPLoadBalancer(DST ADDR, DST ADDR, ..., VIP ADDR [, KEYWORDS])
//! ```
//!
//! Sets the destination address of packets, and the destination address annotation, to that of a server: the same one for all packets of a
//! flow, which its first packet chooses. Checksums stay right. A flow manager upstream tells flows apart; packets without a flow are
//! dropped. It is FastClick's element. What servers answer goes back through a FlowIPLoadBalancerReverse.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated; each takes turns by itself.
//!
//! # Arguments
//! - `DST` (address), any number of times: the servers.
//! - `VIP` (address): this balancer's own address, for FlowIPLoadBalancerReverse.
//! - `LB_MODE` (default `rr`): how a server is chosen: `rr`, one after the other; `hash` or `hash_crc`, by addresses and ports;
//!   `hash_agg`, by the aggregate annotation.
//! - `NSERVER` (integer, default 0): how many of the servers are used, the first ones; 0 means all.
//! - `LST_MODE`, `AWRR_TIME`, `AWRR_ALPHA`, `AUTOSCALE`, `FORCE_TRACK_LOAD`, `CST_BUCKETS`: of modes that are missing; accepted.
//!
//! # Handlers
//! - `nb_total_servers`, `nb_active_servers` (read): how many servers there are, and are used.
//! - `load_packets`, `load_bytes` (read): packets and bytes that each server got on the first worker.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager
//!   -> FlowIPLoadBalancer(VIP 10.0.0.1, DST 10.0.0.2, DST 10.0.0.3) -> Discard
//! ```
//!
//! # Differences from FastClick
//! Checksums are changed with the address. Modes that measure servers' load (`least`, `pow2`, `wrr`, `awrr`) and `cst_hash_agg` are missing.
//!
//! # See also
//! FlowIPLoadBalancerReverse, FlowIPManager, FlowIPNAT, FlowL2LoadBalancer, IPLoadBalancer

use super::balancer::FlowBalancer;
use crate::ip::ip_load_balancer::servers;
use router::{Class, Config, ConfigError, Element, PerPacket, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowIPLoadBalancer", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(include_str!("flow_ip_load_balancer.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(PerPacket(FlowBalancer::new(servers(config)?))))
}
