//! Numbers wireless frames.
//!
//! ```click
//! WifiSeq([KEYWORDS])
//! ```
//!
//! Writes the next number into each IEEE 802.11 frame, little-endian, and notes in its annotation that the interface
//! is to leave it, which RadiotapEncap and ExtraEncap hand on. Frames that end before the place for it pass as they
//! are.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `OFFSET` (integer, default 22): where the number goes.
//! - `BYTES` (integer, default 2): how many bytes it takes, 2 or 4.
//! - `SHIFT` (integer, default 4): by how many bits it is shifted; those below become 0, in a header the number of
//!   the fragment. Below 32.
//! - `DEBUG` (boolean, default false): without effect, as in Click.
//!
//! # Handlers
//! - `seq` (read, write): the next number.
//! - `offset`, `bytes`, `shift` (read): the arguments.
//! - `debug` (read, write): the argument.
//! - `reset` (write): begins with 0 again.
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID lab, BSSID 0:1:2:3:4:5);
//! FromHost(radio) -> WifiEncap(1, WIRELESS_INFO w) -> WifiSeq -> RadiotapEncap -> Queue -> ToDevice(mon0);
//! ```
//!
//! # See also
//! WifiEncap, RadiotapEncap, ExtraEncap

use super::extra::{self, flag};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("WifiSeq", create).residency(Residency::Exclusive).doc(router::manual!("wifi_seq.rs"));

struct WifiSeq {
    next: u32,
    offset: u32,
    bytes: u32,
    shift: u32,
    debug: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = WifiSeq { next: 0, offset: 22, bytes: 2, shift: 4, debug: false };
    config
        .args()
        .keyword("DEBUG", &mut e.debug)
        .keyword("OFFSET", &mut e.offset)
        .keyword("BYTES", &mut e.bytes)
        .keyword("SHIFT", &mut e.shift)
        .finish()?;
    if e.bytes != 2 && e.bytes != 4 {
        return Err("BYTES must be either 2 or 4".into());
    }
    if e.shift >= u32::BITS {
        return Err("SHIFT must be below 32".into());
    }
    Ok(Box::new(PerPacket(e)))
}

impl Simple for WifiSeq {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let number = (self.next << self.shift).to_le_bytes();
        let (start, len) = (self.offset as usize, self.bytes as usize);
        let place = packet.data_mut().get_mut(start..).and_then(|rest| rest.get_mut(..len));
        if let Some(place) = place {
            place.copy_from_slice(&number[..len]);
            self.next = self.next.wrapping_add(1);
            extra::set(packet, |extra| extra.mark(flag::NUMBERED, true));
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = WifiSeq;
        h.read("seq", |e: &mut E, _| e.next);
        h.write("seq", |e: &mut E, cx, text| router::value(cx, text).map(|next| e.next = next));
        h.read("offset", |e: &mut E, _| e.offset);
        h.read("bytes", |e: &mut E, _| e.bytes);
        h.read("shift", |e: &mut E, _| e.shift);
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
        h.write("reset", |e: &mut E, _, _| {
            e.next = 0;
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;

    #[test]
    fn frames_are_numbered() {
        let frames = || [vec![9; 24], vec![9; 23], vec![9; 25]];
        let mut flow = send("Inject -> s :: WifiSeq -> RadiotapEncap -> Collect(0)", frames());
        let ends: Vec<_> = flow.data(0).iter().map(|data| (data[22], data[31 + 21..].to_vec())).collect();
        // Of the header only what says that the number stays, then the frames' ends.
        let expected = [(0x10, vec![9, 0, 0]), (0, vec![9, 9]), (0x10, vec![9, 0x10, 0, 9])];
        assert_eq!(ends, expected);
        assert_eq!((flow.read("s.seq"), flow.write("s.reset", "")), ("2".to_owned(), String::new()));
        assert_eq!(flow.read("s.seq"), "0");
        let flow = send("Inject -> WifiSeq(OFFSET 20, BYTES 4, SHIFT 12) -> Collect(0)", frames());
        assert_eq!(flow.data(0)[2][19..], [9, 0, 0x10, 0, 0, 9]);
    }

    #[test]
    fn bad_widths_and_shifts_are_refused() {
        for (config, error) in
            [("BYTES 3", "BYTES must be either 2 or 4"), ("SHIFT 32", "SHIFT must be below 32")]
        {
            let said = errors(&format!("Idle -> WifiSeq({config}) -> Discard"));
            assert!(said.contains(error), "{said}");
        }
        let flow = send("Inject -> WifiSeq(OFFSET 4294967295) -> Collect(0)", [vec![1; 30]]);
        assert_eq!(flow.data(0), [vec![1; 30]]);
    }
}
