//! Encrypts wireless frames with WEP.
//!
//! ```click
//! WepEncap([KEY, KEYWORDS])
//! ```
//!
//! Encrypts the contents of IEEE 802.11 data frames, and of the frame by which a station proves that it has the key:
//! puts an initialization vector in front of them, a checksum behind them, and marks the header. Other frames, those
//! without contents and those that are encrypted already pass as they are. Without a key, what is to be encrypted is
//! dropped. WEP is broken: who listens for minutes has the key. It is here for old stations.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `KEY` (string): the key: 5 or 13 bytes by the standard, up to 16.
//! - `KEYID` (integer, default 0): which of the network's four keys it is.
//! - `ACTIVE` (boolean, default false): whether anything is encrypted.
//! - `STRICT`, `DEBUG` (boolean, default false): without effect, as in Click.
//!
//! # Handlers
//! - `key` (write): the key. Unlike Click's it cannot be read, neither here nor in `config`, which goes on saying what KEY was; the
//!   configuration's own KEY can be read by a user who may read handlers.
//! - `keyid`, `active`, `debug` (read, write): the arguments.
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID old, BSSID 2:0:0:0:0:1, WEP true);
//! FromHost(radio) -> WifiEncap(1, WIRELESS_INFO w) -> WepEncap(\<0102030405>, ACTIVE true)
//!     -> SetTXRate(22) -> RadiotapEncap -> Queue -> ToDevice(mon0);
//! ```
//!
//! # See also
//! WepDecap, WifiEncap

use super::reasons::{NO_HEADER, NO_ROOM};
use super::wep::{self, HEAD, Key, TAIL};
use packet::Packet;
use router::{Bytes, Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use wire::ieee80211::{Header, authentication, flag, kind, management};

/// The class.
pub(crate) const CLASS: Class = Class::new("WepEncap", create).live().doc(router::manual!("wep_encap.rs"));

/// The bit of a data frame's subtype that says that it has no contents.
const EMPTY: u8 = 4;
/// The step in which a station proves that it has the key.
const PROOF: u8 = 3;

struct WepEncap {
    key: Key,
    active: bool,
    debug: bool,
    /// The last initialization vector.
    vector: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = WepEncap { key: Key::default(), active: false, debug: false, vector: 0 };
    let (mut bytes, mut place, mut strict) = (Bytes::default(), 0, false);
    config
        .args()
        .positional("KEY", &mut bytes)
        .keyword("KEYID", &mut place)
        .keyword("DEBUG", &mut e.debug)
        .keyword("STRICT", &mut strict)
        .keyword("ACTIVE", &mut e.active)
        .finish()?;
    e.key.set_bytes(bytes.0)?;
    e.key.set_place(place)?;
    Ok(Box::new(PerPacket(e)))
}

/// How long the header of a frame that is to be encrypted is; `None` if it is not.
fn concerned(frame: &[u8]) -> Result<Option<usize>, &'static str> {
    let header = Header::new_checked(frame).map_err(|_| NO_HEADER)?;
    let body = frame.get(header.header_len()..).ok_or(NO_HEADER)?;
    let proof = [authentication::SHARED_KEY as u8, 0, PROOF, 0];
    let wanted = match (header.kind(), header.subtype()) {
        (kind::DATA, subtype) => subtype & EMPTY == 0,
        (kind::MANAGEMENT, management::AUTHENTICATION) => body.starts_with(&proof),
        _ => false,
    };
    let clear = header.flags() & flag::PROTECTED == 0;
    Ok((wanted && clear).then_some(header.header_len()))
}

impl WepEncap {
    fn encrypt(&mut self, packet: &mut Packet) -> Result<(), &'static str> {
        let Some(header) = concerned(packet.data())? else { return Ok(()) };
        if !packet.push(HEAD) || !packet.put(TAIL) {
            return Err(NO_ROOM);
        }
        self.vector = wep::next(self.vector);
        let [_, vector @ ..] = self.vector.to_be_bytes();
        let data = packet.data_mut();
        data.copy_within(HEAD..HEAD + header, 0);
        let (header, rest) = data.split_at_mut(header);
        if let Ok(mut header) = Header::new_checked_mut(header) {
            header.set_flags(header.flags() | flag::PROTECTED);
        }
        self.key.encrypt(rest, vector).ok_or("no key")
    }
}

impl Simple for WepEncap {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.vector = cx.rng().u32(..);
        Ok(())
    }

    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if !self.active {
            return Verdict::Pass;
        }
        self.encrypt(packet).map_or_else(Verdict::Drop, |()| Verdict::Pass)
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = WepEncap;
        h.write("key", |e: &mut E, cx, text| e.key.set_bytes(router::value::<Bytes>(cx, text)?.0))
            .as_secret();
        h.read("keyid", |e: &mut E, _| e.key.place());
        h.write("keyid", |e: &mut E, cx, text| e.key.set_place(router::value(cx, text)?));
        h.read("active", |e: &mut E, _| e.active);
        h.write("active", |e: &mut E, cx, text| router::value(cx, text).map(|active| e.active = active));
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use crate::testing::{build, errors};
    use router::Call;

    fn frame(kind: u8, flags: u8, body: &[u8]) -> Vec<u8> {
        [&[kind, flags, 0, 0][..], &[1; 6], &[2; 6], &[3; 6], &[0, 0], body].concat()
    }

    /// What is concerned comes back as it was; what is not does not change. Header lengths count.
    #[test]
    fn there_and_back() {
        let secret = [
            frame(8, 1, b"hello"),
            frame(8, 3, b"fourthhello"),
            frame(0x88, 2, b"qshello"),
            frame(0xb0, 0, &[1, 0, 3, 0, 0, 0, 16, 1, 9]),
        ];
        let clear = [
            frame(0x48, 1, b""),
            frame(0xb0, 0, &[0, 0, 1, 0, 0, 0]),
            frame(0x80, 0, b"hello"),
            frame(8, 0x41, b"hello"),
        ];
        let frames = || secret.iter().chain(&clear).cloned();
        let config = "Inject -> WepEncap(\"abcde\", KEYID 2, ACTIVE true) -> t :: Tee -> Collect(0);
             t[1] -> WepDecap(\"wrong\", 2) -> Collect(1); t[2] -> WepDecap(\"abcde\", 1) -> Collect(2);
             t[3] -> WepDecap(\"abcde\", KEYID 2) -> Collect(3)";
        let all = |flow: &crate::testing::Flow| flow.data(3)[..4].to_vec();
        let flow = send(config, secret.clone().into_iter().chain(clear[..3].iter().cloned()));
        assert_eq!(all(&flow), secret);
        let (made, lens) = (flow.data(0), [24, 30, 26, 24]);
        for ((made, frame), len) in made.iter().zip(&secret).zip(lens) {
            assert_eq!((made[1], made.len(), made[len + 3]), (frame[1] | 0x40, frame.len() + 8, 0x80));
            assert_eq!((made[0], &made[2..len]), (frame[0], &frame[2..len]));
            assert_ne!(made[len + 4..made.len() - 4], frame[len..]);
        }
        assert_ne!(made[0][24..27], made[1][30..33]);
        assert_eq!((&made[4..], &flow.data(1)[..], flow.data(2)), (&clear[..3], &clear[..3], made.clone()));
        assert_eq!(flow.drops(), [("wrong checksum", 4)]);
        let flow = send(
            "Inject -> WepEncap(abcde, ACTIVE true) -> Collect(0)",
            [clear[3].clone(), frame(8, 3, b"short")],
        );
        assert_eq!(
            (flow.data(0), flow.drops()),
            (vec![clear[3].clone()], vec![("no IEEE 802.11 header", 1)])
        );
        let flow = send("Inject -> WepEncap(abcde) -> Collect(0)", frames());
        assert_eq!(flow.data(0), frames().collect::<Vec<_>>());
        let flow = send("Inject -> WepEncap(ACTIVE true) -> Collect(0)", frames());
        assert_eq!((flow.data(0).len(), flow.drops()), (4, vec![("no key", 4)]));
    }

    #[test]
    fn a_written_key_works_and_cannot_be_read() {
        let config = "InfiniteSource(LIMIT 1, STOP true, DATA \\<08010000 010101010101 020202020202 030303030303 0000 68>)
             -> e :: WepEncap(first, ACTIVE true) -> d :: WepDecap -> c :: Counter -> Discard";
        let mut router = build(config, 1, 1).expect("a router");
        for element in ["e", "d"] {
            router.call(Call::write(format!("{element}.key"), "\\<0102030405>")).expect("written");
            router.call(Call::read(format!("{element}.key"), "")).expect_err("write-only");
            for handler in ["config", "handlers", "keyid"] {
                let said = router.call(Call::read(format!("{element}.{handler}"), "")).expect("readable");
                assert!(!said.contains("0102030405"), "{element}.{handler}: {said}");
            }
        }
        router.run();
        assert_eq!(router.call(Call::read("c.count", "")).as_deref(), Ok("1"));
    }

    #[test]
    fn bad_keys_and_key_ids_are_refused() {
        for (config, error) in [
            ("Idle -> WepEncap(12345678901234567) -> Discard", "KEY must have at most 16 bytes"),
            ("Idle -> WepDecap(1, KEYID 4) -> Discard", "KEYID must be below 4"),
        ] {
            assert!(errors(config).contains(error), "{}", errors(config));
        }
        let mut flow = send("Inject -> w :: WepEncap -> Collect(0)", [vec![1]]);
        assert_eq!(flow.write("w.key", "\\<01ff>") + &flow.write("w.keyid", "3"), "");
        assert_eq!(flow.read("w.keyid"), "3");
        assert!(flow.write("w.keyid", "4").contains("KEYID must be below 4"));
    }
}
