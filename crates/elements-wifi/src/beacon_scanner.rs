//! Notes which wireless networks there are.
//!
//! ```click
//! BeaconScanner([KEYWORDS])
//! ```
//!
//! Takes beacons and answers to probes, IEEE 802.11 frames by which access points say that they are there, notes what
//! they say of themselves, and hands them on. What ends before the fixed part of a beacon does is dropped, and so are
//! frames of other kinds. Of 1024 access points there is room.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `CHANNEL` (integer, default 0): notes only access points of this channel; 0: all; negative: none.
//! - `RT` (name of an AvailableRates): where to note their rates, too.
//! - `WIRELESS_INFO` (name of a WirelessInfo): without effect.
//! - `DEBUG` (boolean, default false): without effect.
//!
//! # Handlers
//! - `scan` (read): a line for each access point: address, channel (-1: not said), signal, name, interval of its
//!   beacons, seconds since the last, capabilities, and rates, basic ones in braces.
//! - `channel`, `debug` (read, write): the arguments.
//! - `reset` (write): forgets all.
//!
//! # Example
//! ```click
//! FromDevice(mon0) -> RadiotapDecap -> Classifier(0/80%f0) -> s :: BeaconScanner -> Discard;
//! Script(wait 5, read s.scan, stop);
//! ```
//!
//! # See also
//! AvailableRates, PrintWifi, RadiotapDecap

use super::extra;
use super::management::{BASIC, NAME};
use super::rates::Rates;
use elements_shared::label::write_time;
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, ElementName, Handlers, PerPacket, Residency, Simple, Verdict,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use wire::MacAddr;
use wire::ieee80211::{self, HEADER_LEN, Header, element, kind, management};

/// The class.
pub(crate) const CLASS: Class = Class::new("BeaconScanner", create)
    .residency(Residency::Exclusive)
    .live()
    .keeps("access points", "", 1024, 512)
    .doc(router::manual!("beacon_scanner.rs"));

/// Most access points that are kept.
const MOST: usize = 1024;
/// How many rates of each element of information count.
const RATES: usize = 8;
/// Octets of the fixed part of a beacon: time, interval, capabilities.
pub(super) const FIXED: usize = 12;
/// Why frames are dropped that end before it does.
pub(super) const TRUNCATED: &str = "truncated beacon";

/// What a beacon says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Beacon {
    pub(super) address: [u8; 6],
    pub(super) name: Vec<u8>,
    pub(super) channel: Option<u8>,
    pub(super) interval: u16,
    pub(super) capabilities: u16,
    /// Basic rates, and others.
    pub(super) rates: [Vec<u8>; 2],
}

/// Reads a beacon; `None` if it ends before its fixed part does.
pub(super) fn read(frame: &[u8]) -> Option<Beacon> {
    let header = Header::new_checked(frame).ok()?;
    let [.., i0, i1, c0, c1] = frame.get(HEADER_LEN..)?.first_chunk::<FIXED>()?;
    let information = &frame[HEADER_LEN + FIXED..];
    let mut beacon = Beacon {
        address: header.addresses()[2].octets(),
        interval: u16::from_le_bytes([*i0, *i1]),
        capabilities: u16::from_le_bytes([*c0, *c1]),
        ..Beacon::default()
    };
    for (id, contents) in ieee80211::elements(information) {
        match (id, contents) {
            (element::SSID, name) => beacon.name = name[..name.len().min(NAME)].to_vec(),
            (element::CHANNEL, [channel, ..]) => beacon.channel = Some(*channel),
            (element::RATES | element::MORE_RATES, rates) => {
                for rate in rates.iter().take(RATES) {
                    beacon.rates[usize::from(rate & BASIC == 0)].push(rate & !BASIC);
                }
            }
            _ => {}
        }
    }
    Some(beacon)
}

/// Names of capabilities, by their bits.
const CAPABILITIES: [&str; 5] = ["ESS", "IBSS", "CF_POLLABLE", "CF_POLLREQ", "PRIVACY"];

/// The names of some capabilities.
pub(super) fn capabilities(bits: u16) -> Vec<&'static str> {
    let names = CAPABILITIES.iter().enumerate();
    names.filter(|(bit, _)| bits >> bit & 1 != 0).map(|(_, name)| *name).collect()
}

/// Rates as words.
pub(super) fn words(rates: &[u8]) -> String {
    rates.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
}

/// A name as text.
pub(super) fn name(bytes: &[u8]) -> String {
    if bytes.is_empty() { "(none)".to_owned() } else { String::from_utf8_lossy(bytes).into_owned() }
}

struct Heard {
    beacon: Beacon,
    signal: u8,
    at_ns: i64,
}

struct BeaconScanner {
    channel: i32,
    debug: bool,
    table: Option<ElementName>,
    /// Set by `initialize`.
    rates: Option<Arc<Rates>>,
    heard: BTreeMap<[u8; 6], Heard>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut channel, mut debug) = (0, false);
    let (mut table, mut info) = (None::<ElementName>, None::<ElementName>);
    config
        .args()
        .keyword("CHANNEL", &mut channel)
        .keyword("RT", &mut table)
        .keyword("WIRELESS_INFO", &mut info)
        .keyword("DEBUG", &mut debug)
        .finish()?;
    let e = BeaconScanner { channel, debug, table, rates: None, heard: BTreeMap::new() };
    Ok(Box::new(PerPacket(e)))
}

impl BeaconScanner {
    fn note(&mut self, beacon: Beacon, signal: u8, at_ns: i64) {
        if let Some(rates) = &self.rates {
            let all = beacon.rates.iter().flatten().map(|rate| i32::from(*rate)).collect();
            rates.note(MacAddr(beacon.address), all);
        }
        if self.heard.len() < MOST || self.heard.contains_key(&beacon.address) {
            self.heard.insert(beacon.address, Heard { beacon, signal, at_ns });
        }
    }

    fn lines(&self, now_ns: i64) -> String {
        let mut text = String::new();
        for Heard { beacon, signal, at_ns } in self.heard.values() {
            let channel = beacon.channel.map_or(-1, i32::from);
            // Writing to a string does not fail.
            let _ = write!(
                text,
                "{} channel {channel} rssi {signal} ssid {} beacon_interval {} last_rx ",
                MacAddr(beacon.address),
                name(&beacon.name),
                beacon.interval
            );
            write_time(&mut text, now_ns - at_ns);
            let capable: String =
                capabilities(beacon.capabilities).iter().map(|word| format!("{word} ")).collect();
            let [basic, other] = [&beacon.rates[0], &beacon.rates[1]]
                .map(|rates| rates.iter().map(|rate| format!("{rate} ")).collect::<String>());
            let _ = writeln!(text, " [ {capable}] ( {{ {basic}}} {other})");
        }
        text
    }
}

impl Simple for BeaconScanner {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if let Some(table) = &self.table {
            self.rates = Some(cx.shared_of(&table.name, "AvailableRates")?);
        }
        Ok(())
    }

    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.channel < 0 {
            return Verdict::Pass;
        }
        let Ok(header) = Header::new_checked(packet.data()) else {
            return Verdict::Drop(super::reasons::NO_HEADER);
        };
        let wanted = matches!(header.subtype(), management::BEACON | management::PROBE_RESPONSE);
        if header.kind() != kind::MANAGEMENT || !wanted {
            return Verdict::Drop("no beacon");
        }
        let Some(beacon) = read(packet.data()) else { return Verdict::Drop(TRUNCATED) };
        if self.channel == 0 || beacon.channel.is_none_or(|channel| i32::from(channel) == self.channel) {
            self.note(beacon, extra::of(packet).signal(), cx.now_ns());
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = BeaconScanner;
        h.read("scan", |e: &mut E, cx| e.lines(cx.now_ns()));
        h.read("channel", |e: &mut E, _| e.channel);
        h.write("channel", |e: &mut E, cx, text| router::value(cx, text).map(|channel| e.channel = channel));
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
        h.write("reset", |e: &mut E, _, _| {
            e.heard.clear();
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use proptest::prelude::*;

    /// A beacon with a name and some other elements of information.
    fn beacon(last: u8, channel: u8) -> Vec<u8> {
        let start = [0x80, 0, 0, 0];
        let fixed = [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 100, 0, 0x11, 0];
        let information = [0, 3, b'l', b'a', b'b', 1, 3, 0x82, 0x84, 22, 3, 1, channel, 50, 1, 108, 9];
        [&start[..], &[0xff; 6], &[last; 6], &[last; 6], &fixed, &information].concat()
    }

    #[test]
    fn each_network_is_listed_as_last_heard() {
        let config =
            "rates :: AvailableRates(DEFAULT 2 22); Inject -> s :: BeaconScanner(RT rates) -> Collect(0)";
        let mut flow = send(
            config,
            [beacon(2, 6), beacon(1, 11), beacon(2, 7), beacon(3, 6)[..35].to_vec(), vec![8; 40]],
        );
        assert_eq!(flow.data(0).len(), 3);
        let scan = flow.read("s.scan");
        let lines: Vec<_> = scan.lines().collect();
        let start = "01-01-01-01-01-01 channel 11 rssi 0 ssid lab beacon_interval 100 last_rx 0.";
        assert!(lines.len() == 2 && lines[0].starts_with(start), "{scan}");
        assert!(lines[0].ends_with(" [ ESS PRIVACY ] ( { 2 4 } 22 108 )"), "{scan}");
        assert!(lines[1].starts_with("02-02-02-02-02-02 channel 7 "), "{scan}");
        assert_eq!(
            flow.read("rates.rates"),
            "DEFAULT  2 22\n01-01-01-01-01-01  2 22\n02-02-02-02-02-02  2 22\n"
        );
        assert_eq!((flow.write("s.reset", ""), flow.read("s.scan")), (String::new(), String::new()));
        let mut drops = flow.drops();
        drops.sort_unstable();
        assert_eq!(drops, [("no beacon", 1), ("truncated beacon", 1)]);
    }

    #[test]
    fn one_channel() {
        let mut flow =
            send("Inject -> s :: BeaconScanner(CHANNEL 6) -> Collect(0)", [beacon(1, 6), beacon(2, 7)]);
        assert_eq!((flow.data(0).len(), flow.read("s.scan").lines().count()), (2, 1));
        let mut flow = send("Inject -> s :: BeaconScanner(CHANNEL -1) -> Collect(0)", [beacon(1, 6), vec![]]);
        assert_eq!((flow.data(0).len(), flow.read("s.scan").as_str()), (2, ""));
    }

    proptest! {
        #[test]
        fn whatever_comes(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert_eq!(super::read(&bytes).is_some(), bytes.len() >= 36);
        }
    }
}
