//! Counts flows.
//!
//! ```click
//! FlowCounter
//! ```
//!
//! Passes packets on, and counts their flows, as identified by a flow manager upstream. Packets without a flow are
//! dropped. MidStat and CTXCounter are other names; in FastClick they count packets and bytes of flows, but do not
//! report them. They are FastClick's elements.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `count` (read): flows so far.
//! - `open` (read): flows that have not expired. FastClick has no such handler.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager -> FlowCounter -> Discard
//! ```
//!
//! # See also
//! FlowIPManager, CTXManager, AggregateIPFlows

use elements_shared::flow_space::{Given, NO_FLOW, Space};
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict, metric};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("FlowCounter", create).processing("h/h").doc(router::manual!("flow_counter.rs"));
#[derive(Default)]
struct FlowCounter {
    flows: Space<()>,
    count: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(FlowCounter::default())))
}

impl Simple for FlowCounter {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.flows.connect(cx)
    }

    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.flows.of(packet.flow(), drop) {
            Some((_, new)) => {
                self.count += u64::from(new);
                Verdict::Pass
            }
            None => Verdict::Drop(NO_FLOW),
        }
    }

    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        self.flows.prefetch(&batch);
        cx.scatter(batch, |cx, packet| self.process(cx, packet));
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.flows.give(), self.count)))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(Given<()>, u64)>() {
            let (flows, count) = *state;
            self.count += count;
            self.flows.adopt(cx, flows, Some);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut FlowCounter, _| e.count).merged(Merge::Sum);
        h.read("open", |e: &mut FlowCounter, _| {
            e.flows.sweep(drop);
            e.flows.len()
        })
        .merged(Merge::Sum)
        .measures(&metric::FLOWS);
    }
}
