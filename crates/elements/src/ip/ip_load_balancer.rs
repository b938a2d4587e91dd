//! Gives packets the address of one of several servers.
//!
//! ```click
//! IPLoadBalancer(DST ADDR, DST ADDR, ..., VIP ADDR [, KEYWORDS])
//! ```
//!
//! Sets the destination address of packets with a marked IP header, and the destination address annotation, to that of a server.
//! Checksums stay right. Packets without an IP header are dropped. It is FastClick's element, and as there nothing is remembered of a
//! flow: with LB_MODE `rr` its packets go to different servers.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated; each takes turns by itself.
//!
//! # Arguments
//! - `DST` (address), any number of times: the servers.
//! - `VIP` (address): this balancer's own address, for IPLoadBalancerReverse.
//! - `LB_MODE` (default `rr`): how a server is chosen: `rr`, one after the other; `hash` or `hash_crc`, by addresses and ports;
//!   `hash_agg`, by the aggregate annotation.
//! - `NSERVER` (integer, default 0): how many of the servers are used, the first ones; 0 means all.
//!
//! # Handlers
//! - `nb_total_servers`, `nb_active_servers` (read): how many servers there are, and are used.
//! - `load_packets`, `load_bytes` (read): packets and bytes that each server got on the first worker.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> IPLoadBalancer(DST 10.0.0.2, DST 10.0.0.3, VIP 10.0.0.1, LB_MODE hash) -> Discard
//! ```
//!
//! # Differences from FastClick
//! Checksums are changed with the address. Modes that measure servers' load (`least`, `pow2`, `wrr`, `awrr`) and `cst_hash_agg` are missing.
//!
//! # See also
//! IPLoadBalancerReverse, L2LoadBalancer, SourceIPHashMapper, RoundRobinIPMapper

use super::balance::{Balance, Mode};
use super::header::NO_HEADER;
use super::shifter::{Side, change};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class = Class::new("IPLoadBalancer", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(include_str!("ip_load_balancer.rs"));

/// What IPLoadBalancerReverse asks for.
pub(super) struct Front {
    pub(super) vip: Ipv4Addr,
}

/// A server and what it got.
struct Server {
    address: Ipv4Addr,
    packets: u64,
    bytes: u64,
}

struct IpLoadBalancer {
    /// Kept for others to find.
    _front: Arc<Front>,
    servers: Vec<Server>,
    used: usize,
    balance: Balance,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut addresses, mut vip) = (Vec::new(), Ipv4Addr::UNSPECIFIED);
    let (mut mode, mut used) = (Mode::RoundRobin, 0u32);
    config
        .args()
        .keywords("DST", &mut addresses)
        .required("VIP", &mut vip)
        .keyword("LB_MODE", &mut mode)
        .keyword("NSERVER", &mut used)
        .finish()?;
    if addresses.is_empty() {
        return Err("DST: required argument missing".into());
    }
    let used = match used as usize {
        0 => addresses.len(),
        used => used.min(addresses.len()),
    };
    let servers = addresses.into_iter().map(|address| Server { address, packets: 0, bytes: 0 }).collect();
    Ok(Box::new(PerPacket(IpLoadBalancer {
        _front: config.shared(|| Ok(Front { vip }))?,
        servers,
        used,
        balance: Balance::new(mode, used, config.worker()),
    })))
}

impl IpLoadBalancer {
    /// A value of each server.
    fn list(&self, value: impl Fn(&Server) -> u64) -> String {
        self.servers.iter().map(|server| value(server).to_string()).collect::<Vec<_>>().join(" ")
    }
}

impl Simple for IpLoadBalancer {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let picked = self.balance.pick(packet);
        let server = &mut self.servers[picked];
        if change(packet, Side::Destination, |_| server.address, |port| port).is_none() {
            return Verdict::Drop(NO_HEADER);
        }
        server.packets += 1;
        server.bytes += packet.len() as u64;
        packet.set_dst_ip(server.address);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type B = IpLoadBalancer;
        h.read("nb_total_servers", |e: &mut B, _| e.servers.len());
        h.read("nb_active_servers", |e: &mut B, _| e.used);
        h.read("load_packets", |e: &mut B, _| e.list(|server| server.packets));
        h.read("load_bytes", |e: &mut B, _| e.list(|server| server.bytes));
    }
}
