//! Sends flows to its outputs in round-robin order.
//!
//! ```click
//! IPRRSwitch([KEYWORDS])
//! IPFlowRRSwitch([KEYWORDS])
//! FlowRRSwitch([KEYWORDS])
//! ```
//!
//! All packets with the same addresses and ports form a flow and leave by one output: the first flow by output 1, the
//! second by output 2, and so on, continuing with output 0 after the last. Packets need a marked IP header; packets
//! without ports count as having ports 0. They are FastClick's elements.
//!
//! Flows are remembered forever, up to CAPACITY of them. Beyond that, the output of a new flow is chosen by a hash of
//! its addresses and ports.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `MAX` (integer, default the number of outputs): how many outputs to use.
//! - `CAPACITY` (integer, default 65536): the maximum number of flows to remember.
//!
//! # Handlers
//! - `flow_count` (read): flows remembered.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> s :: IPRRSwitch;
//! s [0] -> Discard;
//! s [1] -> Discard;
//! ```
//!
//! # See also
//! FlowMinLoadSwitch, RoundRobinSwitch, HashSwitch, AggregateIPFlows

use super::flow_outputs::FlowOutputs;
use elements_shared::flow_id::FlowId;
use elements_shared::ip_header::{NO_HEADER, header};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};
use std::any::Any;
use std::collections::HashMap;
use wire::ip_proto;

/// The class.
pub(crate) const CLASS: Class = Class::new("IPRRSwitch", create)
    .ports("1/1-")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .keeps("flows", "CAPACITY", 65_536, 64)
    .doc(router::manual!("ip_rr_switch.rs"));
struct IpRrSwitch {
    flows: FlowOutputs,
    last: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(PerPacket(IpRrSwitch { flows: FlowOutputs::new(config)?, last: 0 })))
}

/// The flow of a packet.
#[inline]
pub(super) fn flow(packet: &Packet) -> Option<FlowId> {
    let ip = header(packet)?;
    let has_ports = matches!(ip.protocol(), ip_proto::TCP | ip_proto::UDP) && ip.is_first_fragment();
    let ports = packet.transport().filter(|_| has_ports).and_then(|transport| transport.first_chunk());
    let [a, b, c, d] = ports.copied().unwrap_or_default();
    let (sport, dport) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    Some(FlowId::new(ip.src(), sport, ip.dst(), dport))
}

impl Simple for IpRrSwitch {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(flow) = flow(packet) else { return Verdict::Drop(NO_HEADER) };
        let (last, outputs) = (&mut self.last, self.flows.outputs());
        Verdict::Output(self.flows.of(flow, || {
            *last = (*last + 1) % outputs;
            *last
        }))
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.flows.give(), self.last)))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(HashMap<FlowId, usize>, usize)>() {
            self.flows.adopt(state.0);
            self.last = state.1 % self.flows.outputs();
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("flow_count", |e: &mut IpRrSwitch, _| e.flows.len());
    }
}
