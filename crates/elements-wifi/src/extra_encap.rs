//! Puts what is known of a wireless frame in front of it.
//!
//! ```click
//! ExtraEncap([DEBUG])
//! ```
//!
//! Puts 28 bytes in front of packets: what annotations say of signal, rates and outcome. Click's drivers read them.
//! The numbers are in little-endian order.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `DEBUG` (boolean, default false): without effect, as in Click.
//!
//! # Handlers
//! - `debug` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1) -> SetTXRate(22) -> ExtraEncap -> Discard;
//! ```
//!
//! # See also
//! ExtraDecap, RadiotapEncap, SetTXRate

use super::extra;
use super::reasons::NO_ROOM;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("ExtraEncap", create).live().doc(router::manual!("extra_encap.rs"));

struct ExtraEncap {
    debug: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = ExtraEncap { debug: false };
    config.args().keyword("DEBUG", &mut e.debug).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for ExtraEncap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        extra::set(packet, |_| ());
        let bytes = extra::of(packet).bytes();
        let Some(place) = packet.push_array() else { return Verdict::Drop(NO_ROOM) };
        *place = bytes;
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("debug", |e: &mut ExtraEncap, _| e.debug);
        h.write("debug", |e: &mut ExtraEncap, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
    }
}
