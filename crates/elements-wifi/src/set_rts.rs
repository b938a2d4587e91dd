//! Says whether wireless frames are to be announced before they are sent.
//!
//! ```click
//! SetRTS(RTS)
//! ```
//!
//! Notes in the packet's annotation, which ExtraEncap and RadiotapEncap hand on to the interface, whether it is to
//! ask who the frame is for whether the air is free (RTS and CTS), so that those who do not hear this host keep
//! still.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `RTS` (boolean): whether to ask.
//!
//! # Handlers
//! - `rts` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1) -> SetRTS(true) -> RadiotapEncap -> Discard;
//! ```
//!
//! # See also
//! SetNoAck, SetTXRate, RadiotapEncap, ExtraEncap

use super::extra::{self, flag};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("SetRTS", create).live().doc(router::manual!("set_rts.rs"));

struct SetRts {
    ask: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = SetRts { ask: false };
    config.args().required("RTS", &mut e.ask).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for SetRts {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        extra::set(packet, |extra| extra.mark(flag::RTS, self.ask));
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("rts", |e: &mut SetRts, _| e.ask);
        h.write("rts", |e: &mut SetRts, cx, text| router::value(cx, text).map(|ask| e.ask = ask));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_one;

    /// The flags in front of the frame, and what radiotap headers have of them.
    #[test]
    fn flags_reach_both_kinds_of_header() {
        for (stages, flags, told) in [
            ("SetRTS(true)", [0x80, 0], 0x04),
            ("SetRTS(true) -> SetRTS(false)", [0, 0], 0),
            ("SetNoAck", [0, 0x10], 0x08),
            ("SetNoAck -> SetRTS(true)", [0x80, 0x10], 0x0c),
        ] {
            let config = format!(
                "Inject -> {stages} -> t :: Tee -> ExtraEncap -> Collect(0); t[1] -> RadiotapEncap -> Collect(1)"
            );
            let flow = send_one(&config, vec![1]);
            assert_eq!((&flow.data(0)[0][12..14], flow.data(1)[0][22]), (&flags[..], told), "{stages}");
        }
    }
}
