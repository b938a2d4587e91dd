//! Takes what is known of a wireless frame from in front of it.
//!
//! ```click
//! ExtraDecap([DEBUG])
//! ```
//!
//! Where a packet begins with the 28 bytes that ExtraEncap puts in front of frames, they become its annotation, and
//! are taken off. Other packets pass as they are.
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
//! InfiniteSource(LIMIT 1) -> SetTXPower(63) -> ExtraEncap -> ExtraDecap -> Discard;
//! ```
//!
//! # See also
//! ExtraEncap, RadiotapDecap, Prism2Decap

use super::extra::{self, Extra, LEN};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("ExtraDecap", create).live().doc(router::manual!("extra_decap.rs"));

struct ExtraDecap {
    debug: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = ExtraDecap { debug: false };
    config.args().keyword("DEBUG", &mut e.debug).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for ExtraDecap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if let Some(found) = Extra::in_front(packet.data()) {
            extra::set(packet, |extra| *extra = found);
            let _ = packet.pull(LEN);
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("debug", |e: &mut ExtraDecap, _| e.debug);
        h.write("debug", |e: &mut ExtraDecap, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{send, send_one};

    #[test]
    fn there_and_back() {
        let flow = send_one("Inject -> SetTXPower(63) -> SetTXRate(22) -> ExtraEncap -> Collect(0)", vec![7]);
        let data = flow.only(0).data().to_vec();
        let [magic, middle, rates, tries, rest] = [0..4, 4..20, 20..24, 24..28, 28..29];
        assert_eq!(data[magic], [1, 0x20, 0x49, 7]);
        assert_eq!(
            (&data[middle][14], &data[rates], &data[tries]),
            (&63, &[22, 255, 255, 255][..], &[0; 4][..])
        );
        assert_eq!(data[rest], [7]);
        let flow =
            send("Inject -> ExtraDecap -> Collect(0)", [data.clone(), data[..27].to_vec(), vec![9; 40]]);
        assert_eq!(flow.data(0), [vec![7], data[..27].to_vec(), vec![9; 40]]);
        assert_eq!(flow.seen[0].1.annotations()[16..44], data[..28]);
        assert_eq!(flow.seen[1].1.annotations()[16..44], [0; 28]);
    }
}
