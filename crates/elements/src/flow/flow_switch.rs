//! Spreads flows over its outputs.
//!
//! ```click
//! FlowSwitch([KEYWORDS])
//! ```
//!
//! All packets of a flow leave at one output, which its first packet chooses. A flow manager upstream tells flows apart; packets without a
//! flow are dropped. It is FastClick's element.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: replicated; each takes turns by itself.
//!
//! # Arguments
//! - `LB_MODE` (default `rr`), `NSERVER` (integer, default 0): as of FlowIPLoadBalancer, where servers are outputs.
//!
//! # Handlers
//! - `nb_total_servers`, `nb_active_servers`, `load_packets`, `load_bytes` (read): as of FlowIPLoadBalancer.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager -> s :: FlowSwitch(LB_MODE rr);
//! s [0] -> Discard;
//! s [1] -> Discard;
//! ```
//!
//! # See also
//! FlowIPManager, FlowIPLoadBalancer, FlowRoundRobinSwitch, HashSwitch

use super::NO_FLOW;
use super::space::Space;
use crate::ip::balance::{Servers, Settings};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("FlowSwitch", create).ports("1/1-").processing("h/h").doc(include_str!("flow_switch.rs"));

struct FlowSwitch {
    /// The outputs of flows.
    flows: Space<usize>,
    outputs: Servers<usize>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut settings = Settings::default();
    settings.read(config.args()).finish()?;
    let outputs = Servers::new((0..config.outputs().max(1)).collect(), settings, config.worker());
    Ok(Box::new(PerPacket(FlowSwitch { flows: Space::default(), outputs })))
}

impl Simple for FlowSwitch {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.flows.connect(cx)
    }

    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some((output, new)) = self.flows.of(packet.flow(), drop) else { return Verdict::Drop(NO_FLOW) };
        if new {
            *output = self.outputs.pick(packet);
        }
        self.outputs.charge(*output, packet);
        Verdict::Output(*output)
    }

    fn handlers(&self, h: &mut Handlers) {
        Servers::handlers(h, |e: &FlowSwitch| &e.outputs);
    }
}
