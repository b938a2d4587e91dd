//! Decrypts packets that come through a tunnel (IPsec).
//!
//! ```click
//! ESPDecap(SPI, KEY [, KEYFILE, ESN, WINDOW])
//! ```
//!
//! Takes packets that start with an ESP header, as ESPEncap and others make them (RFC 4303, tunnel mode, with
//! AES-GCM, RFC 4106), checks that nothing of them was changed and that they come for the first time, decrypts them,
//! and emits the IPv4 or IPv6 packets in them; CheckIPHeader or CheckIP6Header should follow. Packets of another
//! association, changed ones, and those that have come before or are too old for that to be known, leave at output 1
//! as they came if it is in use, and are dropped otherwise. If the outer IP header is still marked, as StripIPHeader
//! leaves it, packets have the congestion mark that RFC 6040 says, or are dropped. Dummy packets (RFC 4303, section 2.6) are dropped.
//!
//! Fragments must be put together before, with IPReassembler.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: exclusive; an association is one
//! stream of packets. Not in Click.
//!
//! # Arguments
//! - `SPI`, `KEY`, `KEYFILE`, `ESN`: as ESPEncap has them at the other end.
//! - `WINDOW` (integer, default 1024): how many sequence numbers a packet may be late; at most 65536. Rounded up.
//!
//! # Handlers
//! - `sequence` (read): the greatest sequence number that has come.
//!
//! # Example
//! ```click
//! ... -> CheckIPHeader -> IPReassembler -> IPClassifier(ip proto esp) -> StripIPHeader
//!   -> ESPDecap(0x1001, KEYFILE here.key) -> CheckIPHeader -> ...
//! ```
//!
//! # See also
//! ESPEncap, StripIPHeader, IPReassembler

use super::association::{Association, ICV_LEN, Settings, shown};
use elements_shared::ecn;
use elements_shared::esp_front::{FRONT, IV_LEN};
use elements_shared::replay_window::{self, Window};
use elements_shared::verdict::fail;
use packet::Packet;
use router::{
    BadState, Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, StateReader,
    StateWriter, Verdict,
};
use std::any::Any;
use wire::{esp, ip_proto};

/// The class.
pub(crate) const CLASS: Class = Class::new("ESPDecap", create)
    .ports("1/1-2")
    .processing("a/ah")
    .residency(Residency::Exclusive)
    .hides(shown)
    .doc(router::manual!("esp_decap.rs"));

/// The most that WINDOW can be.
const MOST: u32 = 1 << 16;

/// The form of what is left to another process.
const FORM: u8 = 1;

struct EspDecap {
    settings: Settings,
    /// There from the start on.
    association: Option<Association>,
    window: Window,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut window = 1024;
    let settings = Settings::read(config, Some(&mut window))?;
    if !(1..=MOST).contains(&window) {
        return Err(format!("WINDOW must be between 1 and {MOST}").into());
    }
    let outputs = config.outputs();
    Ok(Box::new(PerPacket(EspDecap { settings, association: None, window: Window::new(window), outputs })))
}

/// What a packet turns out to be.
enum Decrypted {
    /// An IP packet, from the initialisation vector on, in front of so many octets.
    Packet { behind: usize },
    /// Not for output 0, and for this reason; as it came.
    Wrong(&'static str),
    /// From the other end, and of no use.
    Useless(&'static str),
}

impl EspDecap {
    fn decrypt(&mut self, packet: &mut Packet) -> Decrypted {
        let Some(association) = &self.association else { return Decrypted::Wrong("no key") };
        let parts = packet.data_mut().split_first_chunk_mut::<{ esp::HEADER_LEN }>();
        let parts = parts.and_then(|(header, rest)| Some((header, rest.split_first_chunk_mut::<IV_LEN>()?)));
        let Some((header, (iv, rest))) = parts else { return Decrypted::Wrong("too short") };
        let Some((text, check)) = rest.split_last_chunk_mut::<ICV_LEN>() else {
            return Decrypted::Wrong("too short");
        };
        let header = esp::Header::new(&*header);
        if header.spi() != association.spi {
            return Decrypted::Wrong("another association");
        }
        let low = header.sequence();
        let number = if self.settings.extended { self.window.whole(low) } else { Some(u64::from(low)) };
        let Some(number) = number else { return Decrypted::Wrong("too old") };
        match self.window.check(number) {
            Ok(()) => {}
            Err(replay_window::Refused::Again) => return Decrypted::Wrong("has come before"),
            Err(replay_window::Refused::Old) => return Decrypted::Wrong("too old"),
        }
        if !association.open(number, *iv, text, *check) {
            return Decrypted::Wrong("was changed");
        }
        self.window.note(number);
        let Some((text, &mut [padding, next_header])) = text.split_last_chunk_mut::<{ esp::TRAILER_LEN }>()
        else {
            return Decrypted::Useless("no trailer");
        };
        match (next_header, text.first().map(|first| first >> 4)) {
            (ip_proto::IPIP, Some(4)) | (ip_proto::IPV6, Some(6)) => {}
            (ip_proto::NO_NEXT_HEADER, _) => return Decrypted::Useless("dummy"),
            _ => return Decrypted::Useless("not in tunnel mode"),
        }
        match esp::payload_len(text, padding) {
            Some(_) => Decrypted::Packet { behind: usize::from(padding) + esp::TRAILER_LEN + ICV_LEN },
            None => Decrypted::Useless("wrong padding"),
        }
    }
}

impl Simple for EspDecap {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.decrypt(packet) {
            Decrypted::Packet { behind } if packet.pull(FRONT) && packet.take(behind) => {
                let outer = ecn::outer_mark(packet);
                packet.clear_network();
                if ecn::leave_tunnel(packet, outer) { Verdict::Pass } else { Verdict::Drop(ecn::CONGESTION) }
            }
            Decrypted::Packet { .. } => Verdict::Drop("too short"),
            Decrypted::Wrong(reason) => fail(self.outputs, reason),
            Decrypted::Useless(reason) => Verdict::Drop(reason),
        }
    }

    fn initialize(&mut self, _cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.association = Some(self.settings.associate(self.outputs > 1)?);
        Ok(())
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let window = std::mem::replace(&mut self.window, Window::new(1));
        Some(Box::new((self.association.take()?, window)))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        // What has come with another key says nothing of what comes with this one.
        if let Ok(state) = state.downcast::<(Association, Window)>()
            && self.association.as_ref().is_some_and(|association| association.is_same(&state.0))
        {
            self.window.go_on(&state.1);
        }
    }

    /// Which numbers have come.
    fn write_state(&mut self, _cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        let (greatest, words) = self.window.left();
        out.form(FORM);
        out.u64(greatest);
        out.u64(words.len() as u64);
        words.iter().for_each(|&word| out.u64(word));
        true
    }

    fn read_state(&mut self, _cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        let (greatest, count) = (state.u64()?, state.u64()?);
        let words = (0..count).map(|_| state.u64()).collect::<Result<Vec<u64>, _>>()?;
        let before = Window::of(greatest, words).ok_or(BadState("no window of numbers"))?;
        self.window.go_on(&before);
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("sequence", |e: &mut Self, _| e.window.greatest());
    }
}

#[cfg(test)]
mod tests {
    use super::super::association::Association;
    use crate::testing::errors;
    use crate::testing::send;
    use elements_testing::samples::udp;
    use proptest::prelude::*;

    const KEY: &str = r"KEY \<00112233 44556677 8899aabb ccddeeff 01020304>";

    /// An IPv6 packet of a header and so many octets.
    fn version_6(len: usize) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0, (len >> 8) as u8, len as u8, 59, 64];
        packet.resize(40 + len, 7);
        packet
    }

    /// What comes out of a tunnel, and what of it was wrong.
    fn through(packets: Vec<Vec<u8>>, between: &str, arguments: &str) -> [Vec<Vec<u8>>; 2] {
        let config = format!(
            "Inject -> ESPEncap(300, {KEY}, {arguments}) {between} -> d :: ESPDecap(300, {KEY}, {arguments}) -> Collect(0);
             d[1] -> Collect(1);"
        );
        let flow = send(&config, packets);
        [0, 1].map(|port| flow.data(port))
    }

    #[test]
    fn there_and_back() {
        let long = r"KEY \<00112233 44556677 8899aabb ccddeeff 00112233 44556677 8899aabb ccddeeff 01020304>";
        for arguments in ["ESN false", "ESN true"] {
            let packets: Vec<_> = (0..200).flat_map(|len| [udp(len), version_6(len)]).collect();
            assert_eq!(through(packets.clone(), "", arguments), [packets, vec![]]);
        }
        let config = format!("Inject -> ESPEncap(256, {long}) -> ESPDecap(256, {long}) -> Collect(0)");
        assert_eq!(send(&config, [udp(9)]).data(0), [udp(9)]);
    }

    #[test]
    fn what_is_sent() {
        let config = format!("Inject -> e :: ESPEncap(0x1001, {KEY}) -> Collect(0)");
        let mut flow = send(&config, [udp(3), b"what".to_vec(), udp(4)]);
        let data = flow.data(0);
        // The payload is a multiple of four; so many octets stand around it. The packet between was none, but had a number.
        assert_eq!((data[0].len(), data[1].len()), (8 + 8 + 36 + 16, 8 + 8 + 36 + 16));
        assert_eq!(
            (&data[0][..8], &data[1][..8]),
            (&[0, 0, 0x10, 1, 0, 0, 0, 1][..], &[0, 0, 0x10, 1, 0, 0, 0, 3][..])
        );
        assert_ne!(data[0][8..16], data[1][8..16]);
        assert!(data[0].windows(8).all(|part| part != &udp(3)[12..20]), "the addresses can be read");
        assert_eq!((flow.read("e.sequence"), flow.drops()), ("3".into(), vec![("no IP packet", 1)]));
    }

    /// No octet can be changed, left out or added, and what is wrong leaves as it came.
    #[test]
    fn changes_show() {
        for at in 0..8 + 8 + 36 + 16 {
            let config = format!(
                "Inject -> ESPEncap(300, {KEY}) -> t :: Tee -> Queue -> Unqueue -> s :: StoreData({at}, \\<a5>) -> Collect(1);
                 t[1] -> Collect(0)"
            );
            let flow = send(&config, [udp(3)]);
            let [sent, changed] = [0, 1].map(|port| flow.data(port));
            let config = format!("Inject -> d :: ESPDecap(300, {KEY}) -> Collect(0); d[1] -> Collect(1);");
            let got = send(&config, [changed[0].clone(), sent[0].clone(), sent[0].clone()]);
            if changed == sent {
                continue;
            }
            assert_eq!(
                (got.data(0), got.data(1)),
                (vec![udp(3)], vec![changed[0].clone(), sent[0].clone()]),
                "{at}"
            );
        }
    }

    #[test]
    fn once_and_in_time() {
        let sent = send(&format!("Inject -> ESPEncap(300, {KEY}) -> Collect(0)"), (0..200).map(udp)).data(0);
        let config = format!("Inject -> d :: ESPDecap(300, {KEY}, WINDOW 64) -> Collect(0)");
        // In pairs the wrong way round, and all again: what is more than 64 numbers old might be new, for all that is known.
        let swapped: Vec<_> = sent.chunks(2).flat_map(|pair| pair.iter().rev().cloned()).collect();
        let mut flow = send(&config, [swapped.clone(), swapped].concat());
        assert_eq!((flow.data(0).len(), flow.read("d.sequence")), (200, "200".into()));
        assert_eq!(flow.drops(), vec![("has come before", 64), ("too old", 136)]);
    }

    /// What the other end sends although it should not, or as a dummy, is dropped.
    #[test]
    fn what_is_of_no_use() {
        let key = [&0x0011_2233_4455_6677_8899_aabb_ccdd_eeff_u128.to_be_bytes()[..], &[1, 2, 3, 4]].concat();
        let association = Association::with(300, &key);
        let texts: [(&[u8], &str); 7] = [
            (b"\x45ello\x01\x02\x02\x04", ""),
            (b"\x65ello\x02\x00\x29", ""),
            (b"\x45ello\x01\x03\x02\x04", "wrong padding"),
            (b"\x45ello\x00\xff\x04", "wrong padding"),
            (b"\x45ello\x00\x00\x11", "not in tunnel mode"),
            (b"anything\x00\x3b", "dummy"),
            (b"\x04", "no trailer"),
        ];
        for (number, (text, reason)) in (1u64..).zip(texts) {
            let mut sealed = text.to_vec();
            let check = association.seal(number, [7; 8], &mut sealed);
            let front = [300u32.to_be_bytes(), (number as u32).to_be_bytes()].concat();
            let packet = [&front[..], &[7; 8], &sealed, &check].concat();
            let flow = send(
                &format!("Inject -> d :: ESPDecap(300, {KEY}) -> Collect(0); d[1] -> Collect(1);"),
                [packet],
            );
            match reason {
                "" => assert_eq!(flow.only(0).data()[1..5], *b"ello"),
                _ => assert_eq!((flow.drops(), flow.data(1).len()), (vec![(reason, 1)], 0)),
            }
        }
    }

    #[test]
    fn wrong_arguments() {
        for (arguments, message) in [
            ("1, KEY short", "at least 256"),
            ("300, KEY short", "20 or 36 octets"),
            ("300", "either KEY or KEYFILE"),
            ("300, KEYFILE /does/not/exist", "/does/not/exist"),
        ] {
            for class in ["ESPEncap", "ESPDecap"] {
                let found = errors(&format!("Idle -> {class}({arguments}) -> Discard"));
                assert!(found.contains(message), "{class}({arguments}): {found}");
            }
        }
        assert!(errors(&format!("Idle -> ESPDecap(300, {KEY}, WINDOW 0) -> Discard")).contains("WINDOW"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..80), 1..20), own in any::<bool>()) {
            let mut packets = packets;
            if own {
                packets.iter_mut().for_each(|packet| packet.splice(..packet.len().min(4), [0, 0, 1, 0x2c]).for_each(drop));
            }
            let config = format!("Inject -> d :: ESPDecap(300, {KEY}) -> Collect(0); d[1] -> Collect(1);");
            let flow = send(&config, packets.clone());
            prop_assert_eq!((flow.data(0).len(), flow.data(1)), (0, packets));
        }
    }
}
