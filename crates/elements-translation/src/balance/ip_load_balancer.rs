//! Rewrites packets' destinations to one of several servers.
//!
//! ```click
//! IPLoadBalancer(DST ADDR, DST ADDR, ..., VIP ADDR [, KEYWORDS])
//! ```
//!
//! Prints the number of servers at the start. Sets the destination address of packets with a marked IP header, and
//! their destination address annotation, to the address of one of the servers, and updates the checksums. Packets
//! without an IP header are dropped. It is FastClick's element and, as there, keeps no state for flows: with LB_MODE
//! `rr` the packets of one flow go to different servers.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated; each takes turns separately.
//!
//! # Arguments
//! - `DST` (addresses), any number of times: the servers. They may also be given first, by position.
//! - `VIP` (address): this balancer's own address, for IPLoadBalancerReverse.
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
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> IPLoadBalancer(DST 10.0.0.2, DST 10.0.0.3, VIP 10.0.0.1, LB_MODE hash) -> Discard
//! ```
//!
//! # Differences from FastClick
//! Checksums are updated with the address.
//!
//! # See also
//! IPLoadBalancerReverse, L2LoadBalancer, SourceIPHashMapper, RoundRobinIPMapper

use super::loads::Loads;
use super::servers::{Balancer, Servers, Settings};
use router::{Class, Config, ConfigError, Element, PerPacket, Residency};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class = Class::new("IPLoadBalancer", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(router::manual!("ip_load_balancer.rs"));

/// What IPLoadBalancerReverse asks for.
pub(crate) struct Front {
    pub(crate) vip: Ipv4Addr,
    loads: Arc<Loads>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(PerPacket(Balancer(servers(config)?))))
}

/// What the arguments say. Others find the element's [`Front`].
pub(crate) fn servers(config: &mut Config<'_>) -> Result<Servers<Ipv4Addr>, ConfigError> {
    let (mut addresses, mut vip) = (Vec::new(), Ipv4Addr::UNSPECIFIED);
    let mut settings = Settings::default();
    let args = config.args().list("DST", &mut addresses).required("VIP", &mut vip);
    settings.read(args).finish()?;
    servers_of(config, addresses, vip, settings)
}

/// The servers with these addresses.
pub(crate) fn servers_of(
    config: &mut Config<'_>,
    addresses: Vec<Ipv4Addr>,
    vip: Ipv4Addr,
    settings: Settings,
) -> Result<Servers<Ipv4Addr>, ConfigError> {
    let (count, workers) = (addresses.len(), config.workers().len());
    let front = config.shared(|| Ok(Front { vip, loads: Arc::new(Loads::new(count, workers)) }))?;
    Servers::with(addresses, settings, front.loads.clone(), config)
}
