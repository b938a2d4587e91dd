//! Says that wireless frames want no acknowledgement.
//!
//! ```click
//! SetNoAck
//! ```
//!
//! Notes it in the packet's annotation, which ExtraEncap and RadiotapEncap hand on to the interface: it sends the
//! frame once, and waits for nothing.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1) -> SetNoAck -> RadiotapEncap -> Discard;
//! ```
//!
//! # See also
//! SetRTS, SetTXRate, RadiotapEncap, ExtraEncap

use super::extra::{self, flag};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("SetNoAck", create).doc(router::manual!("set_no_ack.rs"));

struct SetNoAck;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(SetNoAck)))
}

impl Simple for SetNoAck {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        extra::set(packet, |extra| extra.mark(flag::NO_ACK, true));
        Verdict::Pass
    }
}
