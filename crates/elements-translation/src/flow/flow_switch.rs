//! Distributes flows over its outputs.
//!
//! ```click
//! FlowSwitch([KEYWORDS])
//! ```
//!
//! All packets of a flow leave by one output, which is chosen at its first packet. A flow manager upstream identifies
//! flows; packets without a flow are dropped. It is FastClick's element.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: replicated; each takes turns separately.
//!
//! # Arguments
//! - `LB_MODE` (default `rr`), `NSERVER` (integer, default 0), `LST_MODE` and the arguments of the modes: as for
//!   FlowIPLoadBalancer, with outputs as servers.
//!
//! # Handlers
//! - `nb_total_servers`, `nb_active_servers`, `load_conn`, `load_packets`, `load_bytes`, `load`: as for
//!   FlowIPLoadBalancer.
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
use crate::balance::servers::{Output, Servers, Settings};
use router::{Class, Config, ConfigError, Element, PerPacket, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowSwitch", create)
    .ports("1/1-")
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(router::manual!("flow_switch.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut settings = Settings::default();
    settings.read(config.args()).finish()?;
    let outputs = (0..config.outputs().max(1)).map(Output).collect();
    Ok(Box::new(PerPacket(FlowBalancer::new(Servers::new(outputs, settings, config)?))))
}
