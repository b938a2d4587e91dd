//! Gives flows the Ethernet address of one of several servers.
//!
//! ```click
//! FlowL2LoadBalancer(DST ADDR, DST ADDR, ... [, KEYWORDS])
//! ```
//!
//! Sets the destination address of frames: the same one for all packets of a flow, which its first packet chooses. A flow manager upstream
//! tells flows apart; packets without a flow, or without a whole Ethernet header, are dropped. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated; each takes turns by itself.
//!
//! # Arguments
//! - `DST` (Ethernet address), any number of times: the servers.
//! - `LB_MODE` (default `rr`), `NSERVER` (integer, default 0): as of FlowIPLoadBalancer.
//! - `VIP` (address): accepted.
//!
//! # Handlers
//! - `nb_total_servers`, `nb_active_servers`, `load_packets`, `load_bytes` (read): as of FlowIPLoadBalancer.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager
//!   -> FlowL2LoadBalancer(DST 0:0:0:0:0:1, DST 0:0:0:0:0:2) -> Discard
//! ```
//!
//! # See also
//! FlowIPManager, FlowIPLoadBalancer, L2LoadBalancer

use super::NO_FLOW;
use super::space::Space;
use crate::ip::balance::{Servers, Settings};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use std::net::Ipv4Addr;
use wire::ethernet::{Header, MacAddr};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("FlowL2LoadBalancer", create).processing("h/h").doc(include_str!("flow_l2_load_balancer.rs"));

/// Why packets are dropped.
const NO_HEADER: &str = "no Ethernet header";

struct FlowL2LoadBalancer {
    /// The servers of flows.
    flows: Space<usize>,
    servers: Servers<MacAddr>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut addresses, mut settings, mut vip) = (Vec::new(), Settings::default(), Ipv4Addr::UNSPECIFIED);
    let args = config.args().keywords("DST", &mut addresses).keyword("VIP", &mut vip);
    settings.read(args).finish()?;
    if addresses.is_empty() {
        return Err("DST: required argument missing".into());
    }
    let servers = Servers::new(addresses, settings, config.worker());
    Ok(Box::new(PerPacket(FlowL2LoadBalancer { flows: Space::default(), servers })))
}

impl Simple for FlowL2LoadBalancer {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.flows.connect(cx)
    }

    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some((server, new)) = self.flows.of(packet.flow(), drop) else { return Verdict::Drop(NO_FLOW) };
        if new {
            *server = self.servers.pick(packet);
        }
        let address = self.servers.address(*server);
        self.servers.charge(*server, packet);
        match Header::new_checked_mut(packet.data_mut()) {
            Ok(mut header) => {
                header.set_dst(address);
                Verdict::Pass
            }
            Err(_) => Verdict::Drop(NO_HEADER),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        Servers::handlers(h, |e: &FlowL2LoadBalancer| &e.servers);
    }
}
