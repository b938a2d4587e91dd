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
//! - `LB_MODE` (default `rr`), `NSERVER` (integer, default 0), `LST_MODE` and what belongs to modes: as of
//!   FlowIPLoadBalancer, where servers are outputs.
//!
//! # Handlers
//! - `nb_total_servers`, `nb_active_servers`, `load_conn`, `load_packets`, `load_bytes`, `load`: as of FlowIPLoadBalancer.
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

use super::balancer::FlowBalancer;
use crate::ip::balance::{Output, Servers, Settings};
use router::{Class, Config, ConfigError, Element, PerPacket, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowSwitch", create)
    .ports("1/1-")
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(include_str!("flow_switch.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut settings = Settings::default();
    settings.read(config.args()).finish()?;
    let outputs = (0..config.outputs().max(1)).map(Output).collect();
    Ok(Box::new(PerPacket(FlowBalancer::new(Servers::new(outputs, settings, config)?))))
}
