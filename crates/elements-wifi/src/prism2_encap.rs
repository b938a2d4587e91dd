//! Puts Prism headers in front of wireless frames.
//!
//! ```click
//! Prism2Encap([DEBUG])
//! ```
//!
//! Puts a header of 144 bytes as drivers for Prism chips have it (in little-endian order) in front of frames. It has
//! signal, noise and rate from the packet's annotation, the frame's length, and that this host sends it; times,
//! channel and quality are not said.
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
//! w :: WirelessInfo(SSID lab, BSSID 0:1:2:3:4:5);
//! InfiniteSource(LIMIT 1) -> WifiEncap(1, WIRELESS_INFO w) -> SetTXRate(22) -> Prism2Encap -> Discard;
//! ```
//!
//! # See also
//! Prism2Decap, RadiotapEncap, ExtraEncap

use super::extra::{self, Extra};
use super::prism2_decap::{ITEM, ITEMS, LEN, MESSAGE};
use super::reasons::NO_ROOM;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("Prism2Encap", create).live().doc(router::manual!("prism2_encap.rs"));

struct Prism2Encap {
    debug: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = Prism2Encap { debug: false };
    config.args().keyword("DEBUG", &mut e.debug).finish()?;
    Ok(Box::new(PerPacket(e)))
}

/// The header of a frame of a length.
fn header(extra: &Extra, len: usize) -> [u8; LEN] {
    /// What an item has that says nothing.
    const NO_VALUE: u16 = 1;
    /// Octets of a value.
    const SIZE: u16 = 4;
    let rate = u32::from(extra.rate(0).max(0) as u8);
    let (signal, noise, length) = (extra.signal().into(), extra.noise().into(), len as u32);
    // Times of the host and of the interface, channel; signal as some readers look for it, quality, signal as others do, noise, rate,
    // that it is sent, length.
    let values =
        [None, None, None, Some(signal), None, Some(signal), Some(noise), Some(rate), Some(1), Some(length)];
    let mut header = [0; LEN];
    header[..4].copy_from_slice(&MESSAGE);
    header[4..8].copy_from_slice(&(LEN as u32).to_le_bytes());
    for (at, (item, value)) in header[ITEMS..].chunks_exact_mut(ITEM).zip(values).enumerate() {
        item[..2].copy_from_slice(&MESSAGE[..2]);
        item[2] = at as u8 + 1;
        item[4..6].copy_from_slice(&if value.is_some() { 0 } else { NO_VALUE }.to_le_bytes());
        item[6..8].copy_from_slice(&SIZE.to_le_bytes());
        item[8..].copy_from_slice(&value.unwrap_or(0).to_le_bytes());
    }
    header
}

impl Simple for Prism2Encap {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let header = header(&extra::of(packet), packet.len());
        match packet.push_array() {
            Some(place) => *place = header,
            None => return Verdict::Drop(NO_ROOM),
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("debug", |e: &mut Prism2Encap, _| e.debug);
        h.write("debug", |e: &mut Prism2Encap, cx, text| {
            router::value(cx, text).map(|debug| e.debug = debug)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items in their places, those that say something and those that do not.
    #[test]
    fn items_stand_in_their_places() {
        let mut extra = Extra::empty();
        extra.set_signal(50);
        extra.set_noise(7);
        extra.set_rate(0, 22);
        let header = header(&extra, 0x123);
        assert_eq!(header[..24], [&[0x44, 0, 0, 0, 144, 0, 0, 0][..], &[0; 16]].concat());
        let item = |at: usize| &header[24 + 12 * at..36 + 12 * at];
        assert_eq!(item(0), [0x44, 0, 1, 0, 1, 0, 4, 0, 0, 0, 0, 0]);
        assert_eq!(item(5), [0x44, 0, 6, 0, 0, 0, 4, 0, 50, 0, 0, 0]);
        assert_eq!(item(9), [0x44, 0, 10, 0, 0, 0, 4, 0, 0x23, 1, 0, 0]);
    }

    /// What was put in front comes off.
    #[test]
    fn there_and_back() {
        let config = "Inject -> SetTXRate(22) -> Prism2Encap -> SetTXRate(2) -> Prism2Decap -> f :: FilterTX -> Collect(0);
             f[1] -> Collect(1)";
        let flow = crate::testing::send(config, [vec![1, 2]]);
        let packet = flow.only(1);
        assert_eq!((packet.data(), packet.annotations()[36]), (&[1, 2][..], 22));
    }
}
