//! Prints the flows of packets.
//!
//! ```click
//! FlowPrint([CONTINUE, KEYWORDS])
//! ```
//!
//! Writes a line to standard error for consecutive packets of a flow: the element's name, the number of packets, the
//! flow's number, and the number of packets of the flow so far. Passes them on. A flow manager upstream identifies
//! flows. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `CONTINUE` (boolean, default false): whether packets without a flow pass; otherwise they are dropped. If they
//!   pass, no flow manager is needed.
//! - `PTR` (boolean): accepted.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager -> FlowPrint -> Discard
//! ```
//!
//! # Differences from FastClick
//! The number after `Count` is that of packets, not of references to the flow.
//!
//! # See also
//! FlowIPManager, StoreFlowID, FlowCounter, IPPrint

use elements_shared::flow_space::{Given, NO_FLOW, Space};
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("FlowPrint", create).processing("h/h").doc(router::manual!("flow_print.rs"));

struct FlowPrint {
    /// Packets of flows so far.
    flows: Space<u64>,
    passes_others: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut passes_others, mut pointer) = (false, false);
    config.args().positional("CONTINUE", &mut passes_others).keyword("PTR", &mut pointer).finish()?;
    Ok(Box::new(FlowPrint { flows: Space::default(), passes_others }))
}

impl FlowPrint {
    /// Says that so many packets of a flow came: whether there is such a flow.
    fn tell(&mut self, cx: &Cx<'_>, flow: packet::FlowTag, packets: usize) -> bool {
        match self.flows.of(flow, drop) {
            Some((count, _)) => {
                *count += packets as u64;
                let (name, number) = (cx.name(), flow.number);
                cx.print(&format!("{name}: {packets} packets from flow {number}. Count : {count}"));
                true
            }
            None => {
                cx.print(&format!("{packets} packets not from a specific flow..."));
                false
            }
        }
    }
}

impl Element for FlowPrint {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        match self.flows.connect(cx) {
            Err(_) if self.passes_others => Ok(()), // no packet has a flow then
            connected => connected,
        }
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        while let Some(first) = batch.packets().first() {
            let flow = first.flow();
            let together = batch.iter().take_while(|packet| packet.flow() == flow).count();
            let mut rest = cx.batch();
            batch.split_off(together, &mut rest);
            if self.tell(cx, flow, together) || self.passes_others {
                cx.emit(0, batch);
            } else {
                cx.drop_batch(batch, NO_FLOW);
            }
            batch = rest;
        }
        cx.consume(batch);
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.flows.give()))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(flows) = state.downcast::<Given<u64>>() {
            self.flows.adopt(cx, *flows, Some);
        }
    }
}
