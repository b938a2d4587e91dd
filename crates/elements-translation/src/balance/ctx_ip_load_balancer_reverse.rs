//! Replaces the source address of packets.
//!
//! ```click
//! CTXIPLoadBalancerReverse(IP)
//! ```
//!
//! Sets the source address of packets with a marked IP header to IP, and updates the checksums. Packets without an IP
//! header are dropped. It is FastClick's element for packets that return from the servers of a CTXIPLoadBalancer.
//!
//! FlowSimpleIPLoadBalancerReverse is an older name for it.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `IP` (address): the new source address.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> CTXIPLoadBalancerReverse(10.0.0.1) -> Discard
//! ```
//!
//! # See also
//! CTXIPLoadBalancer, IPLoadBalancerReverse

use super::shifter::{Side, change};
use elements_shared::ip_header::NO_HEADER;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("CTXIPLoadBalancerReverse", create)
    .processing("h/h")
    .doc(router::manual!("ctx_ip_load_balancer_reverse.rs"));
struct CtxIpLoadBalancerReverse {
    address: Ipv4Addr,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut address = Ipv4Addr::UNSPECIFIED;
    config.args().required("IP", &mut address).finish()?;
    Ok(Box::new(PerPacket(CtxIpLoadBalancerReverse { address })))
}

impl Simple for CtxIpLoadBalancerReverse {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match change(packet, Side::Source, |_| self.address, |port| port) {
            Some(()) => Verdict::Pass,
            None => Verdict::Drop(NO_HEADER),
        }
    }
}
