//! Holds consecutive packets of one aggregate, so that they leave together.
//!
//! ```click
//! AggregateGroup([TIMER])
//! ```
//!
//! The first packet is held, and so is each following one with the same aggregate annotation. When a packet with
//! another one arrives, all are passed on, that packet last, and the next packet counts as a first one again. Since a
//! batch has at most 64 packets, packets are passed on at the latest when there are that many. It is FastClick's
//! element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `TIMER` (integer, default 0): microseconds after the last arrival when held packets are passed on; 0: no
//!   timeout.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> AggregateIPFlows -> AggregateGroup(100) -> BatchStats -> Discard
//! ```
//!
//! # See also
//! MinBatch, AggregateIPFlows

use packet::{Anno, BATCH_MAX, Batch};
use router::{Class, Config, ConfigError, Cx, Element};
use std::any::Any;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("AggregateGroup", create)
    .processing("h/h")
    .holds("packets of one aggregate")
    .doc(router::manual!("aggregate_group.rs"));

struct AggregateGroup {
    timer: Option<Duration>,
    /// Packets of one aggregate.
    held: Option<Batch>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut timer = 0i32;
    config.args().positional("TIMER", &mut timer).finish()?;
    let timer = u64::try_from(timer).ok().filter(|&us| us > 0).map(Duration::from_micros);
    Ok(Box::new(AggregateGroup { timer, held: None }))
}

impl Element for AggregateGroup {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        let mut held = self.held.take().unwrap_or_else(|| cx.batch());
        batch.drain(|packet| {
            let aggregate = packet.anno(Anno::AGGREGATE);
            let other = held.iter().next().is_some_and(|first| first.anno(Anno::AGGREGATE) != aggregate);
            if held.len() == BATCH_MAX {
                let full = std::mem::replace(&mut held, cx.batch());
                cx.emit(0, full);
            }
            held.push(packet);
            if other {
                let all = std::mem::replace(&mut held, cx.batch());
                cx.emit(0, all);
            }
        });
        cx.consume(batch);
        match self.timer {
            Some(_) if held.is_empty() => cx.timers().cancel(0),
            Some(timer) => cx.timers().after(0, timer),
            None => {}
        }
        self.held = Some(held);
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        if let Some(held) = self.held.take() {
            cx.emit(0, held);
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        self.held.take().map(|held| Box::new(held) as _)
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(held) = state.downcast::<Batch>() else { return };
        if let Some(timer) = self.timer.filter(|_| !held.is_empty()) {
            cx.timers().after(0, timer);
        }
        self.held = Some(*held);
    }

    fn held(&self) -> usize {
        self.held.as_ref().map_or(0, Batch::len)
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        if let Some(held) = self.held.take() {
            cx.drop_batch(held, "held back at the end");
        }
    }
}
