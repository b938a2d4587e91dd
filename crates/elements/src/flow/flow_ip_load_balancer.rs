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
//! - `DST` (addresses), any number of times: the servers. They may also stand in front without the keyword.
//! - `VIP` (address): this balancer's own address, for FlowIPLoadBalancerReverse.
//! - `LB_MODE` (default `rr`): how a server is chosen: `rr` or `wrr`, one after the other; `awrr`, the same, but
//!   those with less load more often; `least`, the one with the least load, the first of several; `pow2`, of two at
//!   random the one with less load; `hash` or `hash_crc`, by addresses and ports; `hash_ip`, by the sum of the bytes
//!   32 to 39 of the packet's data; `hash_agg`, by the aggregate annotation; `cst_hash_agg`, by that and a table in
//!   which most stays as it is when servers are added.
//! - `NSERVER` (integer, default 0): how many of the servers are used, the first ones; 0 means all.
//! - `LST_MODE` (default `conn`): what load is: `conn`, TCP connections, by their SYN, and FIN or RST; `packets`; `bytes`; `cpu`, what was
//!   written to the handler `load`.
//! - `AWRR_TIME` (integer, default 100): milliseconds after which `awrr` looks at loads again. `AWRR_ALPHA` (number,
//!   default 0): how much the average counts there instead of a server's load.
//! - `CST_BUCKETS` (integer, default 100 for each server): the size of the table of `cst_hash_agg`.
//! - `FORCE_TRACK_LOAD`, `AUTOSCALE`: accepted; loads are always counted.
//!
//! # Handlers
//! - `nb_total_servers`, `nb_active_servers` (read): how many servers there are, and are used.
//! - `load_conn`, `load_packets`, `load_bytes` (read): connections, packets and bytes that each server got.
//! - `load` (read, with the number of a server or without): how busy servers are; written as `SERVER:LOAD,SERVER:LOAD`.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager
//!   -> FlowIPLoadBalancer(VIP 10.0.0.1, DST 10.0.0.2, DST 10.0.0.3) -> Discard
//! ```
//!
//! # Differences from FastClick
//! Checksums are changed with the address.
//!
//! # See also
//! FlowIPLoadBalancerReverse, FlowIPManager, FlowIPNAT, FlowL2LoadBalancer, IPLoadBalancer

use super::balancer::FlowBalancer;
use crate::ip::balance::Settings;
use crate::ip::ip_load_balancer::{servers, servers_of};
use router::{Class, Config, ConfigError, Element, PerPacket, Residency};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowIPLoadBalancer", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(include_str!("flow_ip_load_balancer.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(PerPacket(FlowBalancer::new(servers(config)?))))
}

/// A balancer whose servers take turns.
pub(super) fn make(
    config: &mut Config<'_>,
    addresses: Vec<Ipv4Addr>,
    vip: Ipv4Addr,
) -> Result<Box<dyn Element>, ConfigError> {
    let servers = servers_of(config, addresses, vip, Settings::default())?;
    Ok(Box::new(PerPacket(FlowBalancer::new(servers))))
}
