//! Restores addresses and ports of packets returning to a FlowNAPTLoadBalancer.
//!
//! ```click
//! FlowNAPTLoadBalancerReverse(LB)
//! ```
//!
//! Sets the source address of TCP and UDP packets to the address that the client used, and the destination address
//! and port, and the destination address annotation, to the client's. Checksums are updated. Packets to a port that
//! belongs to no flow, or from a host other than the flow's server, are dropped, and so are other protocols and later
//! fragments. It is FastClick's element, but needs no flow manager.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated; each can find the flows of all.
//!
//! # Arguments
//! - `LB` (element): the FlowNAPTLoadBalancer.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! Idle -> FlowIPManager(TIMEOUT 60) -> lb :: FlowNAPTLoadBalancer(DST 10.0.0.2, SIP 10.0.0.1) -> Discard;
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowNAPTLoadBalancerReverse(lb) -> Discard
//! ```
//!
//! # See also
//! FlowNAPTLoadBalancer

use super::flow_ip_nat_reverse::NO_MAPPING;
use super::flow_napt_load_balancer::Front;
use super::mappings::{From, Mappings};
use super::translator::{NO_PORTS, ports};
use crate::balance::loads::tcp_flags;
use crate::balance::shifter::{Side, change};
use elements_shared::ip_header::header;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, ElementName, PerPacket, Simple, Verdict};
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowNAPTLoadBalancerReverse", create)
    .processing("h/h")
    .doc(router::manual!("flow_napt_load_balancer_reverse.rs"));

struct FlowNaptLoadBalancerReverse {
    balancer: ElementName,
    front: Arc<Front>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut balancer = ElementName::default();
    config.args().required("LB", &mut balancer).finish()?;
    let front = Arc::new(Front { mappings: Arc::new(Mappings::new()), servers: Vec::new() });
    Ok(Box::new(PerPacket(FlowNaptLoadBalancerReverse { balancer, front })))
}

impl FlowNaptLoadBalancerReverse {
    /// Why the packet is to be dropped, if it is.
    #[inline]
    fn translate(&self, packet: &mut Packet) -> Result<(), &'static str> {
        let (_, port) = ports(packet).ok_or(NO_PORTS)?;
        let (mapping, token) = self.front.mappings.get(port).ok_or(NO_MAPPING)?;
        let from = header(packet).map(|ip| ip.src());
        if self.front.servers.get(usize::from(mapping.server)).copied() != from {
            return Err(NO_MAPPING);
        }
        self.front.mappings.note(port, token, From::Server, tcp_flags(packet));
        change(packet, Side::Source, |_| mapping.dst, |port| port).ok_or(NO_PORTS)?;
        change(packet, Side::Destination, |_| mapping.client, |_| mapping.client_port).ok_or(NO_PORTS)?;
        packet.set_dst_ip(mapping.client);
        Ok(())
    }
}

impl Simple for FlowNaptLoadBalancerReverse {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.front = cx.shared_of(&self.balancer.name, "FlowNAPTLoadBalancer")?;
        Ok(())
    }

    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.translate(packet) {
            Ok(()) => Verdict::Pass,
            Err(reason) => Verdict::Drop(reason),
        }
    }
}
