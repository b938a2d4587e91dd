//! Accepted for compatibility; flows need no locks.
//!
//! ```click
//! FlowLock
//! ```
//!
//! Passes packets on. Two workers never process packets of the same flow downstream at the same time: each has its
//! own flows, and its own instances of elements. It is FastClick's element.
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
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager -> FlowLock -> FlowCounter -> Discard
//! ```
//!
//! # See also
//! FlowIPManager, PathSpinlock

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("FlowLock", create).processing("h/h").doc(include_str!("flow_lock.rs"));

struct FlowLock;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(FlowLock)))
}

impl Simple for FlowLock {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, _packet: &mut Packet) -> Verdict {
        Verdict::Pass
    }
}
