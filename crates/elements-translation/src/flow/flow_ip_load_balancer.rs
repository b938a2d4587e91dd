//! Distributes flows over several servers, by rewriting destination addresses.
//!
//! ```click
//! FlowIPLoadBalancer(DST ADDR, DST ADDR, ..., VIP ADDR [, KEYWORDS])
//! ```
//!
//! Sets the destination address of packets, and the destination address annotation, to that of a server. The first
//! packet of a flow chooses the server for all its packets. Checksums are updated. A flow manager upstream identifies
//! flows; packets without a flow are dropped. It is FastClick's element. The servers' replies go back through a
//! FlowIPLoadBalancerReverse.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated; each takes turns separately.
//!
//! # Arguments
//! - `DST` (addresses), any number of times: the servers. They may also be given first, by position.
//! - `VIP` (address): this balancer's own address, for FlowIPLoadBalancerReverse.
//! - `LB_MODE` (default `rr`): how to choose a server: `rr` or `wrr`, round-robin; `awrr`, round-robin weighted so
//!   that servers with less load get more; `least`, the one with the least load (the first of several); `pow2`, the
//!   less loaded of two random ones; `hash` or `hash_crc`, by addresses and ports; `hash_ip`, by the sum of bytes 32
//!   to 39 of the packet's data; `hash_agg`, by the aggregate annotation; `cst_hash_agg`, by consistent hashing of
//!   the aggregate annotation: most of its table stays the same when servers are added.
//! - `NSERVER` (integer, default 0): use only this many servers, from the first on; 0 means all.
//! - `LST_MODE` (default `conn`): the measure of load: `conn`, TCP connections, counted by their SYN, and FIN or RST;
//!   `packets`; `bytes`; `cpu`, the value written to the handler `load`.
//! - `AWRR_TIME` (integer, default 100): milliseconds between updates of the weights of `awrr`. `AWRR_ALPHA` (number,
//!   default 0): how much the average counts there instead of a server's own load.
//! - `CST_BUCKETS` (integer, default 100 for each server): the size of the table of `cst_hash_agg`.
//! - `FORCE_TRACK_LOAD`, `AUTOSCALE`: accepted; load is always tracked.
//!
//! # Handlers
//! - `nb_total_servers`, `nb_active_servers` (read): the number of servers, and of those in use.
//! - `load_conn`, `load_packets`, `load_bytes` (read): connections, packets and bytes sent to each server.
//! - `load` (read, with or without the number of a server; write): the load of servers; write it as
//!   `SERVER:LOAD,SERVER:LOAD`.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager
//!   -> FlowIPLoadBalancer(VIP 10.0.0.1, DST 10.0.0.2, DST 10.0.0.3) -> Discard
//! ```
//!
//! # Differences from FastClick
//! Checksums are updated with the address.
//!
//! # See also
//! FlowIPLoadBalancerReverse, FlowIPManager, FlowIPNAT, FlowL2LoadBalancer, IPLoadBalancer

use super::balancer::FlowBalancer;
use crate::balance::ip_load_balancer::{servers, servers_of};
use crate::balance::servers::Settings;
use router::{Class, Config, ConfigError, Element, PerPacket, Residency};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowIPLoadBalancer", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(router::manual!("flow_ip_load_balancer.rs"));

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
