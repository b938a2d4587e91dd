//! Decrypts wireless frames with WEP.
//!
//! ```click
//! WepDecap([KEY, KEYID, KEYWORDS])
//! ```
//!
//! Decrypts IEEE 802.11 frames that are encrypted with the key, and takes the initialization vector and the checksum
//! off. Frames that are not encrypted, or with another of the network's keys, or in another way, pass as they are, so
//! that elements for several keys can stand one behind the other. Where the checksum is wrong the frame is dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `KEY` (string): the key: 5 or 13 bytes by the standard, up to 16. Without one, what is encrypted is dropped.
//! - `KEYID` (integer, default 0): which of the network's four keys it is.
//! - `STRICT`, `DEBUG` (boolean, default false): without effect, as in Click.
//!
//! # Handlers
//! - `key` (write): the key. Unlike Click's it cannot be read, neither here nor in `config`, which goes on saying what KEY was; the
//!   configuration's own KEY can be read by a user who may read handlers.
//! - `keyid`, `debug` (read, write): the arguments.
//!
//! # Example
//! ```click
//! FromDevice(mon0) -> RadiotapDecap -> FilterTX -> WifiDupeFilter -> WepDecap(\<0102030405>)
//!     -> Classifier(0/08%0c) -> WifiDecap -> ToHost(radio);
//! ```
//!
//! # See also
//! WepEncap, WifiDecap

use super::reasons::NO_HEADER;
use super::wep::{HEAD, Key, TAIL};
use packet::Packet;
use router::{Bytes, Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use wire::ieee80211::{Header, flag, kind};

/// The class.
pub(crate) const CLASS: Class = Class::new("WepDecap", create).live().doc(router::manual!("wep_decap.rs"));

struct WepDecap {
    key: Key,
    debug: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = WepDecap { key: Key::default(), debug: false };
    let (mut bytes, mut place, mut strict) = (Bytes::default(), 0, false);
    config
        .args()
        .positional("KEY", &mut bytes)
        .positional("KEYID", &mut place)
        .keyword("DEBUG", &mut e.debug)
        .keyword("STRICT", &mut strict)
        .finish()?;
    e.key.set_bytes(bytes.0)?;
    e.key.set_place(place)?;
    Ok(Box::new(PerPacket(e)))
}

impl WepDecap {
    fn decrypt(&self, packet: &mut Packet) -> Result<(), &'static str> {
        // What is shorter than a header is not encrypted: an acknowledgement, for instance.
        let Ok(header) = Header::new_checked(packet.data()) else { return Ok(()) };
        let (len, protected) = (header.header_len(), header.flags() & flag::PROTECTED != 0);
        if !protected || header.kind() == kind::CONTROL {
            return Ok(());
        }
        let (header, rest) = packet.data_mut().split_at_mut_checked(len).ok_or(NO_HEADER)?;
        if !self.key.concerns(rest) {
            return Ok(());
        }
        self.key.decrypt(rest).ok_or("wrong checksum")?;
        if let Ok(mut header) = Header::new_checked_mut(header) {
            header.set_flags(header.flags() & !flag::PROTECTED);
        }
        packet.data_mut().copy_within(..len, HEAD);
        let _ = packet.pull(HEAD) && packet.take(TAIL);
        Ok(())
    }
}

impl Simple for WepDecap {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.decrypt(packet).map_or_else(Verdict::Drop, |()| Verdict::Pass)
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = WepDecap;
        h.write("key", |e: &mut E, cx, text| e.key.set_bytes(router::value::<Bytes>(cx, text)?.0))
            .as_secret();
        h.read("keyid", |e: &mut E, _| e.key.place());
        h.write("keyid", |e: &mut E, cx, text| e.key.set_place(router::value(cx, text)?));
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use proptest::prelude::*;

    /// What is too short to be encrypted is dropped where it says that it is, and is otherwise left alone.
    #[test]
    fn short_frames() {
        let mut frame = [8; 40];
        frame[1] = 0x40;
        frame[27] = 0;
        let cut = |len: usize| frame[..len].to_vec();
        let flow =
            send("Inject -> WepDecap(abcde) -> Collect(0)", [cut(31), cut(24), cut(23), cut(40), vec![]]);
        assert_eq!((flow.data(0), flow.drops()), (vec![cut(23), vec![]], vec![("wrong checksum", 3)]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn whatever_comes(mut bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            bytes.iter_mut().skip(1).take(1).for_each(|flags| *flags |= 0x40);
            let flow = send("Inject -> WepDecap(abcde) -> WepEncap(abcde, ACTIVE true) -> Collect(0)", [bytes]);
            prop_assert!(flow.data(0).len() + flow.drops().len() == 1);
        }
    }
}
