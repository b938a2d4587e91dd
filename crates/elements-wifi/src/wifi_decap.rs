//! Turns wireless frames into Ethernet frames.
//!
//! ```click
//! WifiDecap([DEBUG, STRICT])
//! ```
//!
//! Takes the IEEE 802.11 header of data frames off, and the IEEE 802.2 header behind it, and puts an Ethernet header
//! with the same destination, source and type in front instead. Between access points, source and destination are
//! those of the hop. Encrypted frames are dropped, and so are those that end within the headers. Frames that carry no
//! data (management, control) should not come here.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `DEBUG` (boolean, default false): whether to say of each frame what it became.
//! - `STRICT` (boolean, default false): whether to drop frames in which no SNAP header announces the type.
//!
//! # Handlers
//! - `debug` (read, write): the argument.
//!
//! # Example
//! ```click
//! FromDevice(mon0) -> RadiotapDecap -> data :: Classifier(0/08%0c, -) -> WifiDecap -> ToHost(radio);
//! data[1] -> Discard;
//! ```
//!
//! # See also
//! WifiEncap, RadiotapDecap, EtherEncap

use super::extra;
use super::reasons::NO_HEADER;
use elements_shared::ether_header::encapsulate;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use wire::ethernet;
use wire::ieee80211::{Ends, Header, SNAP, SNAP_LEN, flag};

/// The class.
pub(crate) const CLASS: Class = Class::new("WifiDecap", create).live().doc(router::manual!("wifi_decap.rs"));

struct WifiDecap {
    debug: bool,
    strict: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = WifiDecap { debug: false, strict: false };
    config.args().keyword("DEBUG", &mut e.debug).keyword("STRICT", &mut e.strict).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl WifiDecap {
    /// Whose frame it is, where its contents begin, and of which type they are; or why it is dropped.
    #[inline]
    fn read(&self, packet: &Packet) -> Result<(Ends, usize, u16), &'static str> {
        let data = packet.data();
        let header = Header::new_checked(data).map_err(|_| NO_HEADER)?;
        if header.flags() & flag::PROTECTED != 0 {
            return Err("encrypted");
        }
        let mut len = header.header_len();
        let extra = extra::of(packet);
        if extra.is_set() && extra.padded() {
            len = len.next_multiple_of(4);
        }
        let link: &[u8; SNAP_LEN] = data.get(len..).and_then(<[u8]>::first_chunk).ok_or(NO_HEADER)?;
        if self.strict && !link.starts_with(&SNAP) {
            return Err("no SNAP header");
        }
        Ok((header.ends(), len + SNAP_LEN, u16::from_be_bytes([link[6], link[7]])))
    }
}

impl Simple for WifiDecap {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let (ends, len, kind) = match self.read(packet) {
            Ok(read) => read,
            Err(reason) => return Verdict::Drop(reason),
        };
        if self.debug {
            let direction = packet.data()[1] & flag::DIRECTION;
            let Ends { dst, src, network } = ends;
            let said = format!("dir {direction} src {src} dst {dst} bssid {network} eth 0x{kind:02x}");
            cx.debug(format_args!("{}: {said}", cx.name()));
        }
        let _ = packet.pull(len);
        if !encapsulate(packet, &ethernet::header(ends.dst, ends.src, kind)) {
            return Verdict::Drop(super::reasons::NO_ROOM); // it is where the headers were
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("debug", |e: &mut WifiDecap, _| e.debug);
        h.write("debug", |e: &mut WifiDecap, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send, send_one};
    use packet::Anno;
    use proptest::prelude::*;

    /// A data frame with some flags and addresses 1, 2, 3.
    fn frame(subtype: u8, flags: u8, pad: usize) -> Vec<u8> {
        let between = if flags & 3 == 3 { 6 } else { 0 };
        let qos = if subtype & 8 != 0 { 2 } else { 0 };
        let start = [8 | subtype << 4, flags, 0, 0];
        let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 6, 99];
        [&start[..], &[1; 6], &[2; 6], &[3; 6], &[0; 2], &vec![4; between + qos + pad], &snap].concat()
    }

    fn ethernet(dst: u8, src: u8) -> Vec<u8> {
        [&[dst; 6][..], &[src; 6], &[8, 6, 99]].concat()
    }

    #[test]
    fn each_direction_has_its_addresses() {
        let flow = send(
            "Inject -> WifiDecap(STRICT true) -> Collect(0)",
            [
                frame(0, 0, 0),
                frame(0, 1, 0),
                frame(0, 2, 0),
                frame(8, 3, 0),
                frame(0, 0x40, 0),
                frame(0, 0, 1),
                frame(0, 0, 0)[..31].to_vec(),
            ],
        );
        assert_eq!(flow.data(0), [ethernet(1, 2), ethernet(3, 2), ethernet(1, 3), ethernet(1, 2)]);
        assert_eq!(flow.seen[0].1.mac_offset(), Some(0));
        let mut drops = flow.drops();
        drops.sort_unstable();
        assert_eq!(drops, [("encrypted", 1), ("no IEEE 802.11 header", 1), ("no SNAP header", 1)]);
    }

    #[test]
    fn padding_behind_the_header_is_removed() {
        let padded = Sent {
            data: frame(8, 1, 2),
            annotations: vec![(Anno::new(16, 4).unwrap(), 0x0749_2001), (Anno::new(35, 1).unwrap(), 1)],
            ..Sent::default()
        };
        assert_eq!(send("Inject -> WifiDecap -> Collect(0)", [padded]).data(0), [ethernet(3, 2)]);
    }

    #[test]
    fn there_and_back() {
        let config = "Inject -> WifiEncap(1, 9:9:9:9:9:9) -> WifiDecap(DEBUG true) -> Collect(0)";
        let flow = send_one(config, ethernet(1, 2));
        assert_eq!(flow.only(0).data(), ethernet(1, 2));
        let said = "dir 1 src 02-02-02-02-02-02 dst 01-01-01-01-01-01 bssid 09-09-09-09-09-09 eth 0x806\n";
        assert!(flow.log().ends_with(said), "{}", flow.log());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(data in prop::collection::vec(any::<u8>(), 0..60)) {
            let before = data.len();
            for (_, packet) in send("Inject -> WifiDecap -> Collect(0)", [data]).seen {
                prop_assert!(packet.len() + 18 <= before);
            }
        }
    }
}
