//! Says with which power wireless frames are to be sent.
//!
//! ```click
//! SetTXPower([POWER])
//! ```
//!
//! Notes the power in the packet's annotation, which ExtraEncap hands on to the interface.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `POWER` (integer, default 0): the power, in the interface's units. Of numbers above 255 the lower eight bits count.
//!
//! # Handlers
//! - `power` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1) -> SetTXPower(63) -> ExtraEncap -> Discard;
//! ```
//!
//! # See also
//! SetTXRate, ExtraEncap

use super::extra;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetTXPower", create).live().doc(router::manual!("set_tx_power.rs"));

struct SetTxPower {
    power: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = SetTxPower { power: 0 };
    config.args().positional("POWER", &mut e.power).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for SetTxPower {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        extra::set(packet, |extra| extra.set_power(self.power as u8));
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("power", |e: &mut SetTxPower, _| e.power);
        h.write("power", |e: &mut SetTxPower, cx, text| router::value(cx, text).map(|power| e.power = power));
    }
}
