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
//! - `LST_MODE`, `AWRR_TIME`, `AWRR_ALPHA`, `AUTOSCALE`, `FORCE_TRACK_LOAD`, `CST_BUCKETS`: of modes that are missing; accepted.
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

use super::balance::{Servers, Settings};
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Refused, Residency, Simple, Verdict,
};
use std::any::Any;
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("IPLoadBalancer", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(include_str!("ip_load_balancer.rs"));

/// What IPLoadBalancerReverse asks for.
pub(crate) struct Front {
    pub(crate) vip: Ipv4Addr,
}

struct IpLoadBalancer(Servers<Ipv4Addr>);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(PerPacket(IpLoadBalancer(servers(config)?))))
}

/// What the arguments say. Others find the element's [`Front`].
pub(crate) fn servers(config: &mut Config<'_>) -> Result<Servers<Ipv4Addr>, ConfigError> {
    let (mut addresses, mut vip) = (Vec::new(), Ipv4Addr::UNSPECIFIED);
    let mut settings = Settings::default();
    let args = config.args().keywords("DST", &mut addresses).required("VIP", &mut vip);
    settings.read(args).finish()?;
    config.shared(|| Ok(Front { vip }))?;
    Servers::new(addresses, settings, config)
}

impl Simple for IpLoadBalancer {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let server = self.0.pick(packet);
        self.0.send(server, packet)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.0.clone()))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) -> Result<(), Refused> {
        if let Some(old) = state.downcast_ref() {
            self.0.adopt(old);
        }
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        Servers::handlers(h, |e: &IpLoadBalancer| &e.0);
    }
}
