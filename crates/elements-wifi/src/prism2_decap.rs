//! Takes Prism headers off wireless frames.
//!
//! ```click
//! Prism2Decap([DEBUG])
//! ```
//!
//! Where a packet begins with a header of 144 bytes as drivers for Prism chips put in front of frames (in
//! little-endian order), signal, noise, rate and whether the frame was sent by this host become its annotation, and
//! the header is taken off. Other packets pass as they are; one that ends within such a header is dropped.
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
//! FromDump(prism.pcap, STOP true) -> Prism2Decap -> PrintWifi -> Discard;
//! ```
//!
//! # See also
//! Prism2Encap, RadiotapDecap, ExtraDecap, PrintWifi

use super::extra::{self, flag};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("Prism2Decap", create).live().doc(router::manual!("prism2_decap.rs"));

/// Octets of a header: message, length, name of the interface, ten items.
pub(super) const LEN: usize = ITEMS + 10 * ITEM;
/// Where the items begin.
pub(super) const ITEMS: usize = 24;
/// Octets of an item: what it is, whether it is valid, length, value.
pub(super) const ITEM: usize = 12;
/// How headers begin.
pub(super) const MESSAGE: [u8; 4] = 0x44_u32.to_le_bytes();

struct Prism2Decap {
    debug: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = Prism2Decap { debug: false };
    config.args().keyword("DEBUG", &mut e.debug).finish()?;
    Ok(Box::new(PerPacket(e)))
}

/// Values of items 3 (signal), 6 (noise), 7 (rate) and 8 (sent), of which only the first octet says something.
fn items(header: &[u8; LEN]) -> [u8; 4] {
    [3, 6, 7, 8].map(|item| header[ITEMS + ITEM * item + 8])
}

impl Simple for Prism2Decap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if !packet.data().starts_with(&MESSAGE) {
            return Verdict::Pass;
        }
        let Some([signal, noise, rate, sent]) = packet.data().first_chunk().map(items) else {
            return Verdict::Drop("truncated Prism header");
        };
        extra::set(packet, |extra| {
            extra.set_signal(signal);
            extra.set_noise(noise);
            extra.set_rate(0, rate as i8);
            extra.mark(flag::TX, sent != 0);
        });
        let _ = packet.pull(LEN);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("debug", |e: &mut Prism2Decap, _| e.debug);
        h.write("debug", |e: &mut Prism2Decap, cx, text| {
            router::value(cx, text).map(|debug| e.debug = debug)
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    #[test]
    fn the_header_becomes_the_annotation() {
        let mut header = [0; 144];
        header[0] = 0x44;
        for (at, value) in [(68, 50), (104, 7), (116, 22), (128, 1)] {
            header[at] = value;
        }
        let frame = [&header[..], &[8, 9]].concat();
        let config = "Inject -> Prism2Decap -> t :: FilterTX -> Collect(0); t[1] -> Collect(1)";
        let flow = send(config, [frame, header[..143].to_vec(), vec![8; 150]]);
        assert_eq!((flow.data(1), flow.data(0)), (vec![vec![8, 9]], vec![vec![8; 150]]));
        let at = flow.seen.iter().position(|(at, _)| *at == 1).unwrap();
        let seen = flow.seen[at].1.annotations();
        assert_eq!((seen[32], seen[33], seen[36]), (50, 7, 22));
        assert_eq!(flow.drops(), [("truncated Prism header", 1)]);
    }
}
