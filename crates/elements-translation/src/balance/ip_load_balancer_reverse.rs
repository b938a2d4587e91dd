//! Gives packets from servers the address of their load balancer.
//!
//! ```click
//! IPLoadBalancerReverse(LB)
//! FlowIPLoadBalancerReverse(LB)
//! ```
//!
//! Sets the source address of packets with a marked IP header to the VIP of an IPLoadBalancer or FlowIPLoadBalancer,
//! and updates the checksums. Packets without an IP header are dropped. They are FastClick's elements; both do the
//! same.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `LB` (element): the IPLoadBalancer or FlowIPLoadBalancer.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! Idle -> lb :: IPLoadBalancer(DST 10.0.0.2, DST 10.0.0.3, VIP 10.0.0.1) -> Discard;
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> IPLoadBalancerReverse(lb) -> Discard
//! ```
//!
//! # See also
//! IPLoadBalancer, FlowIPLoadBalancer

use super::ip_load_balancer::Front;
use super::shifter::{Side, change};
use elements_shared::ip_header::NO_HEADER;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, ElementName, PerPacket, Simple, Verdict};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("IPLoadBalancerReverse", create)
    .processing("h/h")
    .doc(router::manual!("ip_load_balancer_reverse.rs"));
struct IpLoadBalancerReverse {
    balancer: ElementName,
    vip: Ipv4Addr,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut balancer = ElementName::default();
    config.args().required("LB", &mut balancer).finish()?;
    Ok(Box::new(PerPacket(IpLoadBalancerReverse { balancer, vip: Ipv4Addr::UNSPECIFIED })))
}

impl Simple for IpLoadBalancerReverse {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.vip = cx.shared_of::<Front>(&self.balancer.name, "IPLoadBalancer")?.vip;
        Ok(())
    }

    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match change(packet, Side::Source, |_| self.vip, |port| port) {
            Some(()) => Verdict::Pass,
            None => Verdict::Drop(NO_HEADER),
        }
    }
}
