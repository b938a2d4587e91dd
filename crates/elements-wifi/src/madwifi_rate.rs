//! Chooses rates of wireless frames, once a second, by how many got through.
//!
//! ```click
//! MadwifiRate([KEYWORDS])
//! ```
//!
//! Notes in the annotations of frames at input 0 at which rates they are to be sent, as SetTXRate does: four times at
//! the rate that their station is at, then twice at each of the three below. It begins with 24 Mbit/s, or with 11
//! Mbit/s, or with the station's slowest. Input 1 takes frames that were sent, with annotations that say what became
//! of them, as RadiotapDecap and FilterTX make them. Every PERIOD each station is at the next lower rate if all its
//! frames got lost, or if of more than ten each was sent again on average. If of more than ten none was lost, and
//! fewer than a tenth was sent again, the station earns a credit; with ten it is at the next rate. Otherwise, of more
//! than ten, it loses one. After the driver MadWifi. Frames to groups go at their first rate. Packets leave at the
//! output of their input's number; where there is none they end.
//!
//! Ports: 2 inputs, up to 2 outputs. Processing: input 0 and the outputs agnostic, input 1 push. Workers: exclusive.
//!
//! # Arguments
//! - `RT` (name of an AvailableRates): which rates stations have; without it, 1 Mbit/s.
//! - `OFFSET` (integer, default 0): where in frames the address is that they are for: 4 in IEEE 802.11 frames.
//! - `THRESHOLD` (integer, default 0): successes of frames shorter than this do not count.
//! - `ALT_RATE` (boolean, default false): whether what got through at another rate than the first counts as lost.
//! - `ACTIVE` (boolean, default true): whether rates are noted.
//! - `PERIOD` (integer, default 1000): milliseconds between changes of rates; above 0.
//!
//! # Handlers
//! - `rates` (read): a line for each station: its address and rate; frames that got through and were lost, how often
//!   frames were sent again, and credits.
//! - `period` (read): the argument.
//! - `reset` (write): forgets all stations.
//! - `debug` (read, write): a boolean: whether to say when rates change.
//! - `stepup`, `stepdown` (read, write): integers, without effect, as in Click.
//! - `offset`, `threshold`, `alt_rate`, `active` (read, write): the arguments.
//!
//! # Example
//! ```click
//! rates :: AvailableRates(DEFAULT 2 4 11 22);
//! w :: WirelessInfo(SSID lab, BSSID 2:0:0:0:0:1);
//! FromHost(radio) -> WifiEncap(1, WIRELESS_INFO w) -> [0] control :: MadwifiRate(OFFSET 4, RT rates);
//! control -> RadiotapEncap -> Queue -> ToDevice(mon0);
//! FromDevice(mon0) -> RadiotapDecap -> sent :: FilterTX -> WifiDecap -> ToHost(radio);
//! sent[1] -> [1] control;
//! ```
//!
//! # See also
//! AutoRateFallback, ProbeTXRate, SetTXRate, AvailableRates, FilterTX

use super::extra::Extra;
use super::rate_control::{Algorithm, Controller, Outcome, RateSet, Settings, Stations};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use std::time::Duration;
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("MadwifiRate", create)
    .ports("2/0-2")
    .processing("ah/a")
    .flow("#/#")
    .activity(Activity::Never)
    .residency(Residency::Exclusive)
    .doc(router::manual!("madwifi_rate.rs"));

/// How many frames tell something.
const ENOUGH: u64 = 10;
/// Credits for the next rate.
const CREDITS: u32 = 10;
/// How many retries a lost frame counts for.
const LOST: u64 = 4;

#[derive(Clone, Copy)]
struct Station {
    rates: RateSet,
    current: usize,
    credits: u32,
    successes: u64,
    failures: u64,
    retries: u64,
}

impl Station {
    fn new(rates: RateSet) -> Station {
        let first = [48, 22].into_iter().find_map(|rate| rates.find(rate)).unwrap_or(0);
        Station { rates, current: first, credits: 0, successes: 0, failures: 0, retries: 0 }
    }

    fn rate(&self) -> i8 {
        self.rates.at(self.current)
    }

    fn learn(&mut self, lost: bool, tries: u8) {
        if lost {
            self.failures += 1;
            self.retries += LOST;
        } else {
            self.successes += 1;
            self.retries += u64::from(tries) - 1;
        }
    }

    /// Changes the rate by what became of frames since the last time.
    fn adjust(&mut self) {
        let Station { successes, failures, retries, .. } = *self;
        let enough = successes + failures > ENOUGH;
        let down = failures > 0 && successes == 0 || enough && successes < retries;
        if down {
            self.current = self.current.saturating_sub(1);
            self.credits = 0;
        } else if enough && failures == 0 && retries < successes / 10 {
            self.credits += 1;
            if self.credits >= CREDITS {
                self.current = (self.current + 1).min(self.rates.last());
                self.credits = 0;
            }
        } else if enough {
            self.credits = self.credits.saturating_sub(1);
        }
        (self.successes, self.failures, self.retries) = (0, 0, 0);
    }
}

struct MadwifiRate {
    settings: Settings,
    alternate: bool,
    period: u32,
    /// What handlers have written, without effect.
    steps: [u32; 2],
    stations: Stations<Station>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = MadwifiRate {
        settings: Settings::default(),
        alternate: false,
        period: 1000,
        steps: [0; 2],
        stations: Stations::new(),
    };
    config
        .args()
        .keyword("OFFSET", &mut e.settings.offset)
        .keyword("RT", &mut e.settings.known.table)
        .keyword("THRESHOLD", &mut e.settings.threshold)
        .keyword("ALT_RATE", &mut e.alternate)
        .keyword("ACTIVE", &mut e.settings.active)
        .keyword("PERIOD", &mut e.period)
        .finish()?;
    if e.period == 0 {
        return Err("PERIOD must be > 0".into());
    }
    Ok(Box::new(Controller { algorithm: e, outputs: config.outputs() }))
}

impl Algorithm for MadwifiRate {
    type Station = Station;

    fn settings(&mut self) -> &mut Settings {
        &mut self.settings
    }

    fn stations(&mut self) -> &mut Stations<Station> {
        &mut self.stations
    }

    fn lines(address: MacAddr, station: &Station) -> String {
        let Station { successes, failures, retries, credits, .. } = station;
        let rate = station.rate();
        format!(
            "{address} {rate} successes {successes} failures {failures} retries {retries} credits {credits}\n"
        )
    }

    fn assign(&mut self, cx: &mut Cx<'_>, extra: &mut Extra, address: MacAddr) -> Option<()> {
        let settings = &self.settings;
        let new = || {
            let station = Station::new(settings.rates_of(address));
            settings.say(cx, || format!("initial rate for {address} is {}", station.rate()));
            station
        };
        let station = self.stations.enter(address, new)?;
        station.rates.note_from(station.current, extra);
        Some(())
    }

    fn learn(&mut self, cx: &mut Cx<'_>, address: MacAddr, outcome: Outcome) {
        let Some(station) = self.stations.get(address).filter(|station| station.rate() == outcome.rate)
        else {
            return;
        };
        if outcome.failed {
            self.settings.say(cx, || format!("packet failed {address} rate {}", outcome.rate));
        }
        station.learn(outcome.failed || self.alternate && outcome.alternate, outcome.tries);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) {
        cx.timers().after(0, Duration::from_millis(self.period.into()));
    }

    fn timer(&mut self, cx: &mut Cx<'_>) {
        for (address, station) in self.stations.all() {
            let before = station.current;
            station.adjust();
            self.settings.say_step(cx, address, &station.rates, before, station.current);
        }
        self.initialize(cx);
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = MadwifiRate;
        h.read("period", |e: &mut E, _| e.period);
        h.read("alt_rate", |e: &mut E, _| e.alternate);
        h.write("alt_rate", |e: &mut E, cx, text| router::value(cx, text).map(|on| e.alternate = on));
        h.read("stepup", |e: &mut E, _| e.steps[0]);
        h.write("stepup", |e: &mut E, cx, text| router::value(cx, text).map(|step| e.steps[0] = step));
        h.read("stepdown", |e: &mut E, _| e.steps[1]);
        h.write("stepdown", |e: &mut E, cx, text| router::value(cx, text).map(|step| e.steps[1] = step));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn station(rates: &str) -> Station {
        let settings = Settings::default();
        settings.known.rates.enter(&format!("DEFAULT {rates}")).unwrap();
        Station::new(settings.rates_of(MacAddr::ZERO))
    }

    #[test]
    fn a_station_begins_at_24_or_11_mbit_or_the_first_rate() {
        let rates = ["2 4 11 22 48 108", "2 4 11 22", "12 18", "2"].map(|rates| station(rates).rate());
        assert_eq!(rates, [48, 22, 12, 2]);
    }

    /// Successes, failures, retries; where the rate is after one period, and credits, of five before.
    #[test]
    fn counts_of_a_period_adjust_rate_and_credits() {
        for (counts, current, credits) in [
            ([0, 0, 0], 3, 5),
            ([0, 1, 4], 2, 0),
            ([11, 0, 12], 2, 0),
            ([11, 0, 11], 3, 4),
            ([11, 0, 1], 3, 4),
            ([11, 0, 0], 3, 6),
            ([10, 0, 0], 3, 5),
            ([10, 0, 99], 3, 5),
            ([50, 1, 4], 3, 4),
            ([100, 0, 9], 3, 6),
            ([100, 0, 10], 3, 4),
        ] {
            let [successes, failures, retries] = counts;
            let mut s = Station { successes, failures, retries, credits: 5, ..station("2 4 11 22 48") };
            s.current = 3;
            s.adjust();
            assert_eq!(
                (s.current, s.credits, s.successes + s.failures + s.retries),
                (current, credits, 0),
                "{counts:?}"
            );
        }
    }

    /// Ten credits are a step, not above the fastest.
    #[test]
    fn steps_up() {
        let mut s = station("2 4 11 22 36");
        let mut run = |times: u32| {
            for _ in 0..times {
                (0..20).for_each(|_| s.learn(false, 1));
                s.adjust();
            }
            (s.rate(), s.credits)
        };
        assert_eq!([run(9), run(1), run(10)], [(22, 9), (36, 0), (36, 0)]);
        s.learn(true, 10);
        s.learn(false, 3);
        assert_eq!((s.successes, s.failures, s.retries), (1, 1, 6));
    }
}
