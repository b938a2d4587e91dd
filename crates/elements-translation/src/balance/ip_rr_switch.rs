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
//! without ports, and all fragments, count as having ports 0. They are FastClick's elements.
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

/// The flow of a packet. Ports of fragments do not count: later ones have none, and those of one packet must not part.
#[inline]
pub(super) fn flow(packet: &Packet) -> Option<FlowId> {
    let ip = header(packet)?;
    let has_ports = matches!(ip.protocol(), ip_proto::TCP | ip_proto::UDP) && !ip.is_fragment();
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

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::{edited, udp};
    use wire::ipv4::FLAG_MF;

    /// Ports of first fragments do not count: the fragments behind them have none.
    #[test]
    fn fragments_between_two_hosts_leave_by_one_output() {
        let first = |port: u8| {
            let mut data = edited(udp(40), |ip| ip.set_fragment_field(FLAG_MF));
            data[21] = port;
            data
        };
        let later = edited(udp(40), |ip| ip.set_fragment_field(6));
        for switch in [
            "s :: IPRRSwitch",
            "s :: FlowMinLoadSwitch",
            "s :: RSSHashSwitch",
            "FlowIPManager -> s :: FlowRoundRobinSwitch",
        ] {
            let config = format!(
                "Inject -> MarkIPHeader -> {switch}; s[0] -> Collect(0); s[1] -> Collect(1); s[2] -> Collect(2)"
            );
            let flow = send(&config, (0..9).map(first).chain([later.clone()]));
            let most = (0..3).map(|output| flow.data(output).len()).max();
            assert_eq!(most, Some(10), "{switch}");
        }
    }

    /// The flow of fragments is that of no ports, so that a port given to it would be given to all.
    #[test]
    fn a_first_fragment_gets_no_port() {
        let first = edited(udp(40), |ip| ip.set_fragment_field(FLAG_MF));
        let config = "Inject -> MarkIPHeader -> FlowIPManager -> FlowIPNAT(SIP 9.9.9.9) -> Collect(0)";
        let flow = send(config, [udp(40), first]);
        assert_eq!((flow.data(0).len(), flow.drops().len()), (1, 1));
    }
}
