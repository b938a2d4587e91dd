//! Watches how many beacons of a wireless network arrive.
//!
//! ```click
//! BeaconTracker(WIRELESS_INFO INFO [, TRACK, DEBUG])
//! ```
//!
//! Passes beacons and answers to probes of the network that INFO has, IEEE 802.11 frames of access points, and notes
//! when they came. Those of other networks are dropped, so is everything else.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `WIRELESS_INFO` (name of a WirelessInfo): the network.
//! - `TRACK` (integer, default 10): how many beacons to look back, up to 4096.
//! - `DEBUG` (boolean, default false): without effect, as in Click.
//!
//! # Handlers
//! - `stats` (read): how much of the last TRACK beacons arrived, in percent; of as many as there can have been since
//!   the beginning, if these are fewer.
//! - `beacon_interval` (read): time between beacons that the last one told of, in units of 1024 microseconds.
//! - `track` (read): the argument.
//! - `debug` (read, write): the argument.
//! - `reset` (write): forgets what came, and begins anew.
//!
//! # Example
//! ```click
//! w :: WirelessInfo(SSID lab, BSSID 2:0:0:0:0:1, CHANNEL 6);
//! FromDevice(mon0) -> RadiotapDecap -> Classifier(0/80%fc) -> t :: BeaconTracker(WIRELESS_INFO w) -> Discard;
//! Script(wait 5, read t.stats, loop);
//! ```
//!
//! # See also
//! BeaconScanner, BeaconSource, WirelessInfo

use super::beacon_scanner as beacon;
use super::management;
use super::responder::{self, Known};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};
use std::collections::VecDeque;
use wire::ieee80211::management as subtype;

/// The class.
pub(crate) const CLASS: Class = Class::new("BeaconTracker", create)
    .residency(Residency::Exclusive)
    .doc(router::manual!("beacon_tracker.rs"));

/// How far it looks back at most; there is room for this from the beginning.
const MOST: u32 = 4096;
/// What the standard counts in.
const UNIT_NS: i64 = 1_024_000;

struct BeaconTracker {
    known: Known,
    track: u32,
    debug: bool,
    interval: u16,
    /// When it began.
    since_ns: i64,
    /// When the last beacons came.
    came_ns: VecDeque<i64>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = BeaconTracker {
        known: Known::default(),
        track: 10,
        debug: false,
        interval: 0,
        since_ns: 0,
        came_ns: VecDeque::new(),
    };
    config
        .args()
        .required_keyword("WIRELESS_INFO", &mut e.known.info)
        .keyword("TRACK", &mut e.track)
        .keyword("DEBUG", &mut e.debug)
        .finish()?;
    if !(1..=MOST).contains(&e.track) {
        return Err(format!("TRACK must be between 1 and {MOST}").into());
    }
    e.came_ns.reserve_exact(e.track as usize);
    Ok(Box::new(PerPacket(e)))
}

impl BeaconTracker {
    fn interval_ns(&self) -> i64 {
        i64::from(self.interval.max(1)) * UNIT_NS
    }

    fn note(&mut self, interval: u16, now_ns: i64) {
        self.interval = interval;
        if self.came_ns.len() >= self.track as usize {
            self.came_ns.pop_front();
        }
        self.came_ns.push_back(now_ns);
    }

    /// How much arrived, in percent.
    fn percent(&self, now_ns: i64) -> i64 {
        let track = i64::from(self.track);
        let expected = ((now_ns - self.since_ns) / self.interval_ns()).min(track);
        let earliest = now_ns - track * self.interval_ns();
        let came = self.came_ns.iter().filter(|came| **came >= earliest).count() as i64;
        (came * 100).checked_div(expected).unwrap_or(0).min(100)
    }

    fn reset(&mut self, now_ns: i64) {
        self.since_ns = now_ns;
        self.came_ns.clear();
    }
}

impl Simple for BeaconTracker {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.reset(cx.now_ns());
        self.known.find(cx)
    }

    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let frame = match management::read(packet.data()) {
            Ok(frame) => frame,
            Err(reason) => return Verdict::Drop(reason),
        };
        if !matches!(frame.subtype, subtype::BEACON | subtype::PROBE_RESPONSE) {
            return Verdict::Drop(responder::OTHER_KIND);
        }
        if frame.network != self.known.network.address() {
            return Verdict::Drop(responder::OTHER_NETWORK);
        }
        let Some([_, _, _, _, _, _, _, _, low, high, ..]) = frame.body.first_chunk::<{ beacon::FIXED }>()
        else {
            return Verdict::Drop(beacon::TRUNCATED);
        };
        self.note(u16::from_le_bytes([*low, *high]), cx.now_ns());
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = BeaconTracker;
        h.read("stats", |e: &mut E, cx| e.percent(cx.now_ns()));
        h.read("beacon_interval", |e: &mut E, _| e.interval);
        h.read("track", |e: &mut E, _| e.track);
        h.read("debug", |e: &mut E, _| e.debug);
        h.write("debug", |e: &mut E, cx, text| router::value(cx, text).map(|debug| e.debug = debug));
        h.write("reset", |e: &mut E, cx, _| {
            e.reset(cx.now_ns());
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use crate::testing::{errors, run_and_read};

    /// All that can have come since the beginning, half of the last ten, none of them; from anew after a reset.
    #[test]
    fn the_share_of_beacons_is_of_the_last_ones() {
        let config = "w :: WirelessInfo(SSID a, BSSID 2:0:0:0:0:1); r :: AvailableRates;
             BeaconSource(WIRELESS_INFO w, RT r) -> s :: Switch -> t :: BeaconTracker(WIRELESS_INFO w) -> Discard;
             Script(wait 0.55, set a $(t.stats), wait 1, set b $(t.stats), write s.switch -1, wait 0.512, set c $(t.stats),
                    wait 0.6, set d $(t.stats), write s.switch 0, write t.reset, wait 0.2, set e $(t.stats),
                    print \"$a $b $c $d $e\", stop)";
        let said = crate::testing::run(config);
        assert_eq!(said, "100 100 50 0 100\n");
        let config = config.replace("print \"$a $b $c $d $e\", ", "");
        let read = run_and_read(&config, &["t.beacon_interval", "t.track"]);
        assert_eq!(read, ["100", "10"]);
    }

    #[test]
    fn drops_others() {
        let frame = |kind: u8, network: u8, len: usize| {
            let head = [&[kind, 0, 0, 0][..], &[9; 12], &[network; 6], &[0, 0]].concat();
            [&head[..], &[7; 12][..len]].concat()
        };
        let config = "w :: WirelessInfo(BSSID 2:2:2:2:2:2); Inject -> t :: BeaconTracker(WIRELESS_INFO w) -> Collect(0)";
        let frames = [frame(0x80, 2, 12), frame(0x50, 2, 12), frame(0x80, 4, 12), frame(0x80, 2, 11)];
        let mut flow =
            send(config, frames.into_iter().chain([frame(0x40, 2, 12), frame(0x88, 2, 12), vec![1]]));
        assert_eq!((flow.data(0).len(), flow.read("t.beacon_interval").as_str()), (2, "1799"));
        assert_eq!(
            flow.drops(),
            [
                ("another kind of management frame", 1),
                ("for another network", 1),
                ("no IEEE 802.11 header", 1),
                ("no management frame", 1),
                ("truncated beacon", 1)
            ]
        );
        let wrong = "w :: WirelessInfo; Idle -> BeaconTracker(WIRELESS_INFO w, TRACK 0) -> Discard";
        assert!(errors(wrong).contains("TRACK must be between 1 and 4096"), "{}", errors(wrong));
    }
}
