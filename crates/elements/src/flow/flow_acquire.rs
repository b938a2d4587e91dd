//! Accepted for compatibility; flows need not be held.
//!
//! ```click
//! FlowAcquire
//! ```
//!
//! Passes packets on. In FastClick it keeps a flow from being forgotten; here the flow manager alone decides when
//! flows expire. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager -> FlowAcquire -> FlowCounter -> Discard
//! ```
//!
//! # See also
//! FlowIPManager, CTXManager

use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("FlowAcquire", create).processing("h/h").live().doc(include_str!("flow_acquire.rs"));

struct FlowAcquire;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(FlowAcquire))
}

impl Element for FlowAcquire {
    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        cx.emit(0, batch);
    }
}
