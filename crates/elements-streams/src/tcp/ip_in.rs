//! Start of an IP context.
//!
//! ```click
//! IPIn
//! ```
//!
//! Passes packets with a marked IP header, and drops others. A context arrow `~>` after it distributes packets
//! according to what the elements it leads to accept, for instance UDPIn; see FlowContextDispatcher. It is
//! FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> Strip(14) -> CTXManager -> in :: IPIn;
//! in ~> UDPIn -> FlowCounter -> IPOut -> Discard;
//! in ~> Discard;
//! ```
//!
//! # Differences from FastClick
//! It does not record where the payload of packets begins: no element here needs that.
//!
//! # See also
//! IPOut, UDPIn, FlowContextDispatcher, CTXManager

use elements_shared::ip_header::{NO_HEADER, header};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPIn", create).doc(router::manual!("ip_in.rs"));

struct IpIn;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(IpIn)))
}

impl Simple for IpIn {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if header(packet).is_some() { Verdict::Pass } else { Verdict::Drop(NO_HEADER) }
    }
}
