//! Generates CPU load for each packet, different for each flow, for measurements.
//!
//! ```click
//! FlowRandLoad([MIN, MAX])
//! ```
//!
//! For each packet it draws a number of random numbers that depends on the flow: it is chosen between MIN and MAX
//! when the flow begins. A flow manager upstream identifies flows; packets without a flow are dropped. It is
//! FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `MIN` (integer, default 1), `MAX` (integer, default 100): the range of a flow's number.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager -> FlowRandLoad(10, 20) -> Discard
//! ```
//!
//! # See also
//! FlowIPManager, RandLoad, WorkPackage

use super::NO_FLOW;
use super::space::Space;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Refused, Simple, Verdict};
use std::any::Any;
use std::hint::black_box;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("FlowRandLoad", create).processing("h/h").doc(include_str!("flow_rand_load.rs"));

struct FlowRandLoad {
    /// How much work the packets of flows are.
    flows: Space<u32>,
    min: u32,
    max: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = FlowRandLoad { flows: Space::default(), min: 1, max: 100 };
    config.args().positional("MIN", &mut e.min).positional("MAX", &mut e.max).finish()?;
    if e.min > e.max {
        return Err("MIN must not be larger than MAX".into());
    }
    Ok(Box::new(PerPacket(e)))
}

impl Simple for FlowRandLoad {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.flows.connect(cx)
    }

    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some((work, new)) = self.flows.of(packet.flow(), drop) else { return Verdict::Drop(NO_FLOW) };
        if new {
            *work = cx.rng().u32(self.min..=self.max);
        }
        for _ in 0..*work {
            black_box(cx.rng().u32(..));
        }
        Verdict::Pass
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.flows.give()))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) -> Result<(), Refused> {
        if let Ok(state) = state.downcast::<Space<u32>>() {
            self.flows.adopt(cx, *state, Some);
        }
        Ok(())
    }
}
