//! Drops wireless frames that came already.
//!
//! ```click
//! WifiDupeFilter([DEBUG])
//! ```
//!
//! A station that hears no acknowledgement sends its frame again, with the same number. Of each sender the last
//! number is kept; frames that are sent again with it are dropped. Control frames, frames to groups and what ends
//! before a frame's header does pass. Of 4096 senders there is room; frames of further ones pass.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `DEBUG` (boolean, default false): whether to say what is dropped.
//!
//! # Handlers
//! - `dupes`, `drops` (read): frames dropped.
//! - `stats` (read): a line for each sender: address, frames that passed, frames dropped, last number and fragment.
//! - `debug` (read, write): the argument.
//! - `reset` (write): forgets all senders.
//!
//! # Example
//! ```click
//! FromDevice(mon0) -> RadiotapDecap -> FilterTX -> WifiDupeFilter -> PrintWifi -> Discard;
//! ```
//!
//! # See also
//! FilterTX, FilterPhyErr

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};
use std::collections::HashMap;
use std::fmt::Write as _;
use wire::MacAddr;
use wire::ieee80211::{Header, flag, kind};

/// The class.
pub(crate) const CLASS: Class = Class::new("WifiDupeFilter", create)
    .residency(Residency::Exclusive)
    .live()
    .keeps("senders", "", 4096, 96)
    .doc(router::manual!("wifi_dupe_filter.rs"));

/// Most senders that are kept; the table has room for them from the beginning.
const MOST: usize = 4096;

#[derive(Clone, Copy, Debug, Default)]
struct Sender {
    sequence: u16,
    fragment: u8,
    packets: u64,
    dupes: u64,
}

struct WifiDupeFilter {
    debug: bool,
    dupes: u64,
    senders: HashMap<[u8; 6], Sender>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = WifiDupeFilter { debug: false, dupes: 0, senders: HashMap::with_capacity(MOST) };
    config.args().keyword("DEBUG", &mut e.debug).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl WifiDupeFilter {
    fn lines(&self) -> String {
        let mut senders: Vec<_> = self.senders.iter().collect();
        senders.sort_unstable_by_key(|(address, _)| **address);
        let mut text = String::new();
        for (address, Sender { sequence, fragment, packets, dupes }) in senders {
            let address = MacAddr(*address);
            // Writing to a string does not fail.
            let _ =
                writeln!(text, "{address} packets {packets} dupes {dupes} seq {sequence} frag {fragment}");
        }
        text
    }
}

impl Simple for WifiDupeFilter {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Ok(header) = Header::new_checked(packet.data()) else { return Verdict::Pass };
        let [to, from, _] = header.addresses();
        let key = from.octets();
        let room = self.senders.len() < MOST || self.senders.contains_key(&key);
        if header.kind() & kind::CONTROL != 0 || to.is_group() || !room {
            return Verdict::Pass;
        }
        let (sequence, fragment, flags) = (header.sequence(), header.fragment(), header.flags());
        let sender = self.senders.entry(key).or_default();
        let fragmented = fragment != 0 || flags & flag::MORE_FRAGMENTS != 0;
        let again = flags & flag::RETRY != 0 && sequence == sender.sequence;
        if again && (!fragmented || fragment <= sender.fragment) {
            sender.dupes += 1;
            self.dupes += 1;
            if self.debug {
                cx.debug(format_args!("{}: dup seq {sequence} frag {fragment} src {from}", cx.name()));
            }
            return Verdict::Drop("came already");
        }
        sender.packets += 1;
        (sender.sequence, sender.fragment) = (sequence, fragment);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = WifiDupeFilter;
        for name in ["dupes", "drops"] {
            h.read(name, |e: &mut E, _| e.dupes);
        }
        h.read("stats", |e: &mut E, _| e.lines());
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
        h.write("reset", |e: &mut E, _, _| {
            e.senders.clear();
            e.dupes = 0;
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    /// A frame of a sender, with flags and a number (sequence and fragment).
    fn frame(kind: u8, flags: u8, to: u8, from: u8, number: u16) -> Vec<u8> {
        [&[kind, flags, 0, 0][..], &[to; 6], &[from; 6], &[0; 6], &number.to_le_bytes()].concat()
    }

    #[test]
    fn drops_what_came() {
        const RETRY: u8 = 8;
        let frames = [
            (frame(8, 0, 2, 4, 0x10), true),
            (frame(8, RETRY, 2, 4, 0x10), false),
            (frame(8, RETRY, 2, 6, 0x10), true),      // of another
            (frame(8, RETRY, 2, 4, 0x20), true),      // another number
            (frame(8, 4, 2, 4, 0x30), true),          // a first fragment
            (frame(8, RETRY, 2, 4, 0x31), true),      // the second
            (frame(8, RETRY | 4, 2, 4, 0x30), false), // the first again
            (frame(8, 0, 2, 4, 0x31), true),          // not sent again, so it says
            (frame(8, RETRY, 0xff, 4, 0x31), true),   // to all
            (frame(0xb4, RETRY, 2, 4, 0x31), true),   // control
            (vec![8; 23], true),
        ];
        let mut flow = send(
            "Inject -> f :: WifiDupeFilter(DEBUG true) -> Collect(0)",
            frames.clone().map(|(frame, _)| frame),
        );
        let passed: Vec<_> =
            frames.into_iter().filter(|(_, passes)| *passes).map(|(frame, _)| frame).collect();
        assert_eq!(flow.data(0), passed);
        assert_eq!((flow.read("f.dupes"), flow.read("f.drops")), ("2".to_owned(), "2".to_owned()));
        let stats = "04-04-04-04-04-04 packets 5 dupes 2 seq 3 frag 1\n06-06-06-06-06-06 packets 1 dupes 0 seq 1 frag 0\n";
        assert_eq!(flow.read("f.stats"), stats);
        assert!(flow.log().contains("f: dup seq 1 frag 0 src 04-04-04-04-04-04\n"), "{}", flow.log());
        assert_eq!((flow.write("f.reset", ""), flow.read("f.stats")), (String::new(), String::new()));
    }
}
