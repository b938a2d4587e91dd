//! Accepted for compatibility: end of a UDP context.
//!
//! ```click
//! UDPOut
//! ```
//!
//! Passes packets on. It is FastClick's element and, as there, prints that it can be removed.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! Any, without effect.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> Strip(14) -> CTXManager -> IPIn ~> UDPIn -> UDPOut -> IPOut -> Discard
//! ```
//!
//! # See also
//! UDPIn, IPOut, SetUDPChecksum

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("UDPOut", create).doc(router::manual!("udp_out.rs"));

struct UdpOut;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().rest(&mut Vec::new()).finish()?;
    config.warn("UDPOut is useless, you can remove it.");
    Ok(Box::new(PerPacket(UdpOut)))
}

impl Simple for UdpOut {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, _packet: &mut Packet) -> Verdict {
        Verdict::Pass
    }
}
