//! Writes the number of the flow into packets.
//!
//! ```click
//! StoreFlowID(OFFSET [, KEYWORDS])
//! ```
//!
//! Writes an eight-byte number, in host byte order, that is the same for all packets of a flow and differs from that
//! of other flows. Packets too short for it pass unchanged. A flow manager upstream identifies flows; packets without
//! a flow are dropped. It is FastClick's element.
//!
//! Flows are numbered from 1. With several workers, each uses an equal share of all numbers.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `OFFSET` (integer): where to write.
//! - `RANDOM` (boolean, default false): whether to write random numbers instead, a different one into each packet.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager -> StoreFlowID(42) -> Discard
//! ```
//!
//! # See also
//! FlowIPManager, StoreAnno, AggregateIPFlows

use elements_shared::flow_space::{Given, NO_FLOW, Space};
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("StoreFlowID", create).processing("h/h").doc(router::manual!("store_flow_id.rs"));

struct StoreFlowId {
    /// The numbers of flows.
    flows: Space<u64>,
    offset: usize,
    random: bool,
    last: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut offset, mut random) = (0u16, false);
    config.args().required("OFFSET", &mut offset).keyword("RANDOM", &mut random).finish()?;
    let workers = config.workers();
    let place = workers.iter().position(|&worker| worker == config.worker()).unwrap_or(0);
    let last = u64::MAX / workers.len().max(1) as u64 * place as u64;
    Ok(Box::new(PerPacket(StoreFlowId { flows: Space::default(), offset: offset.into(), random, last })))
}

impl Simple for StoreFlowId {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.flows.connect(cx)
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some((number, new)) = self.flows.of(packet.flow(), drop) else { return Verdict::Drop(NO_FLOW) };
        if new {
            self.last += 1;
            *number = self.last;
        }
        let written = if self.random { cx.rng().u64(..) } else { *number };
        if let Some(place) = packet.data_mut().get_mut(self.offset..).and_then(|rest| rest.first_chunk_mut())
        {
            *place = written.to_ne_bytes();
        }
        Verdict::Pass
    }

    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        self.flows.prefetch(&batch);
        cx.scatter(batch, |cx, packet| self.process(cx, packet));
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.flows.give(), self.last)))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(Given<u64>, u64)>() {
            let (flows, last) = *state;
            self.last = self.last.max(last);
            self.flows.adopt(cx, flows, Some);
        }
    }
}
