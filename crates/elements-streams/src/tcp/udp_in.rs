//! Start of a UDP context.
//!
//! ```click
//! UDPIn
//! ```
//!
//! Passes UDP packets with a marked IP header, and drops others. After a context arrow `~>` it gets only UDP packets,
//! and others go where the next arrow leads; `~udp>` is such an arrow followed by a UDPIn. It is FastClick's element.
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
//! FromDump(trace.pcap, STOP true) -> Strip(14) -> CTXManager -> IPIn ~> UDPIn -> FlowCounter -> IPOut -> Discard
//! ```
//!
//! # Differences from FastClick
//! It does not record where the payload of packets begins: no element here needs that.
//!
//! # See also
//! UDPOut, IPIn, FlowContextDispatcher

use elements_shared::ip_header::header;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ip_proto;

/// The class.
pub(crate) const CLASS: Class = Class::new("UDPIn", create).doc(router::manual!("udp_in.rs"));

/// Whether UDPIn takes a packet.
#[inline]
pub(crate) fn takes(packet: &Packet) -> bool {
    header(packet).is_some_and(|ip| ip.protocol() == ip_proto::UDP)
}

struct UdpIn;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().rest(&mut Vec::new()).finish()?;
    Ok(Box::new(PerPacket(UdpIn)))
}

impl Simple for UdpIn {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if takes(packet) { Verdict::Pass } else { Verdict::Drop("not UDP") }
    }
}
