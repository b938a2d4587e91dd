//! Sends each new flow to the output with the fewest packets so far.
//!
//! ```click
//! FlowMinLoadSwitch([KEYWORDS])
//! ```
//!
//! All packets with the same addresses and ports form a flow and leave by one output: the one that had sent the
//! fewest packets when the flow began, or the first of several such. Packets need a marked IP header; packets without
//! ports count as having ports 0. It needs no flow manager, and is FastClick's element.
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
//! - `load` (read): packets sent by each output. FastClick has no such handler.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> s :: FlowMinLoadSwitch;
//! s [0] -> Discard;
//! s [1] -> Discard;
//! ```
//!
//! # See also
//! IPRRSwitch, FlowSwitch, HashSwitch, RSSHashSwitch

use super::flow_outputs::FlowOutputs;
use super::ip_rr_switch::flow;
use elements_shared::flow_id::FlowId;
use elements_shared::ip_header::NO_HEADER;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};
use std::any::Any;
use std::collections::HashMap;

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowMinLoadSwitch", create)
    .ports("1/1-")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .keeps("flows", "CAPACITY", 65_536, 64)
    .doc(router::manual!("flow_min_load_switch.rs"));

struct FlowMinLoadSwitch {
    flows: FlowOutputs,
    /// Packets that left, by output.
    loads: Vec<u64>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let flows = FlowOutputs::new(config)?;
    let loads = vec![0; flows.outputs()];
    Ok(Box::new(PerPacket(FlowMinLoadSwitch { flows, loads })))
}

/// Where the least is, the first of several.
fn least(loads: &[u64]) -> usize {
    (0..loads.len()).min_by_key(|&output| loads[output]).unwrap_or(0)
}

impl Simple for FlowMinLoadSwitch {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(flow) = flow(packet) else { return Verdict::Drop(NO_HEADER) };
        let output = self.flows.of(flow, || least(&self.loads));
        self.loads[output] += 1;
        Verdict::Output(output)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.flows.give(), std::mem::take(&mut self.loads))))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(HashMap<FlowId, usize>, Vec<u64>)>() {
            let (flows, loads) = *state;
            self.flows.adopt(flows);
            self.loads.iter_mut().zip(loads).for_each(|(load, old)| *load = old);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type S = FlowMinLoadSwitch;
        h.read("flow_count", |e: &mut S, _| e.flows.len());
        h.read("load", |e: &mut S, _| e.loads.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    }
}
