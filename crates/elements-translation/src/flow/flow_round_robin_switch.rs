//! Sends flows to its outputs in round-robin order.
//!
//! ```click
//! FlowRoundRobinSwitch
//! ```
//!
//! All packets of a flow leave by one output: the first flow by output 0, the second by output 1, and so on, starting
//! again from output 0 after the last. A flow manager upstream identifies flows; packets without a flow are dropped.
//! It is FastClick's element.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: replicated; each takes turns separately.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager -> s :: FlowRoundRobinSwitch;
//! s [0] -> Discard;
//! s [1] -> Discard;
//! ```
//!
//! # See also
//! FlowIPManager, FlowSwitch, IPRRSwitch, RoundRobinSwitch

use elements_shared::flow_space::{Given, NO_FLOW, Space};
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowRoundRobinSwitch", create)
    .ports("1/1-")
    .processing("h/h")
    .doc(router::manual!("flow_round_robin_switch.rs"));

struct FlowRoundRobinSwitch {
    /// The outputs of flows.
    flows: Space<usize>,
    outputs: usize,
    next: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    let outputs = config.outputs().max(1);
    Ok(Box::new(PerPacket(FlowRoundRobinSwitch { flows: Space::default(), outputs, next: 0 })))
}

impl Simple for FlowRoundRobinSwitch {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.flows.connect(cx)
    }

    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some((output, new)) = self.flows.of(packet.flow(), drop) else { return Verdict::Drop(NO_FLOW) };
        if new {
            *output = self.next;
            self.next = if self.next + 1 == self.outputs { 0 } else { self.next + 1 };
        }
        Verdict::Output(*output)
    }

    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        self.flows.prefetch(&batch);
        cx.scatter(batch, |cx, packet| self.process(cx, packet));
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.flows.give(), self.next)))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(Given<usize>, usize)>() {
            let ((flows, next), outputs) = (*state, self.outputs);
            self.next = next % outputs;
            self.flows.adopt(cx, flows, |output| Some(output).filter(|output| *output < outputs));
        }
    }
}
