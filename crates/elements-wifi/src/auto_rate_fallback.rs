//! Chooses rates of wireless frames: faster after successes, slower after failures.
//!
//! ```click
//! AutoRateFallback([KEYWORDS])
//! ```
//!
//! Notes in the annotations of frames at input 0 at which rates they are to be sent, as SetTXRate does: four times at
//! the rate that their station is at, then twice at each of the three below. It begins with the station's fastest.
//! Input 1 takes frames that were sent, with annotations that say what became of them, as RadiotapDecap and FilterTX
//! make them: after more than STEPUP frames in a row that were sent once the station is at the next rate. Where a
//! frame got lost, or needed another rate, it is at a rate below: half as many below as the frame was sent times,
//! less one. If that was the next rate just now, the station needs twice as many successes next time
//! (ADAPTIVE_STEPUP). After A. Kamerman and L. Monteban's ARF of 1997. Frames to groups go at their first rate.
//! Packets leave at the output of their input's number; where there is none they end.
//!
//! Ports: 2 inputs, up to 2 outputs. Processing: input 0 and the outputs agnostic, input 1 push. Workers: exclusive.
//!
//! # Arguments
//! - `RT` (name of an AvailableRates): which rates stations have; without it, 1 Mbit/s.
//! - `OFFSET` (integer, default 0): where in frames the address is that they are for: 4 in IEEE 802.11 frames.
//! - `STEPUP` (integer, default 10): successes after which the next rate is tried.
//! - `ADAPTIVE_STEPUP` (boolean, default true): whether it takes more after one in vain.
//! - `THRESHOLD` (integer, default 0): successes of frames shorter than this do not count.
//! - `ACTIVE` (boolean, default true): whether rates are noted.
//! - `STEPDOWN` (integer, default 1): without effect, as in Click.
//!
//! # Handlers
//! - `rates` (read): a line for each station: its address, its rate, successes in a row.
//! - `reset` (write): forgets all stations.
//! - `debug` (read, write): a boolean: whether to say when rates change.
//! - `offset`, `stepup`, `stepdown`, `threshold`, `active` (read, write): the arguments.
//!
//! # Example
//! ```click
//! rates :: AvailableRates(DEFAULT 2 4 11 22);
//! w :: WirelessInfo(SSID lab, BSSID 2:0:0:0:0:1);
//! FromHost(radio) -> WifiEncap(1, WIRELESS_INFO w) -> [0] control :: AutoRateFallback(OFFSET 4, RT rates);
//! control -> RadiotapEncap -> Queue -> ToDevice(mon0);
//! FromDevice(mon0) -> RadiotapDecap -> sent :: FilterTX -> WifiDecap -> ToHost(radio);
//! sent[1] -> [1] control;
//! ```
//!
//! # See also
//! MadwifiRate, ProbeTXRate, SetTXRate, AvailableRates, FilterTX

use super::extra::Extra;
use super::rate_control::{Algorithm, Controller, Outcome, RateSet, Settings, Stations};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("AutoRateFallback", create)
    .ports("2/0-2")
    .processing("ah/a")
    .flow("#/#")
    .residency(Residency::Exclusive)
    .doc(router::manual!("auto_rate_fallback.rs"));

struct Station {
    rates: RateSet,
    current: usize,
    /// In a row.
    successes: u32,
    step_up: u32,
    /// Whether the last change was to a faster rate, and nothing has been heard of it yet.
    went_up: bool,
}

struct AutoRateFallback {
    settings: Settings,
    step_up: u32,
    step_down: u32,
    adaptive: bool,
    stations: Stations<Station>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = AutoRateFallback {
        settings: Settings::default(),
        step_up: 10,
        step_down: 1,
        adaptive: true,
        stations: Stations::new(),
    };
    config
        .args()
        .keyword("OFFSET", &mut e.settings.offset)
        .keyword("ADAPTIVE_STEPUP", &mut e.adaptive)
        .keyword("STEPUP", &mut e.step_up)
        .keyword("STEPDOWN", &mut e.step_down)
        .keyword("RT", &mut e.settings.known.table)
        .keyword("THRESHOLD", &mut e.settings.threshold)
        .keyword("ACTIVE", &mut e.settings.active)
        .finish()?;
    Ok(Box::new(Controller { algorithm: e, outputs: config.outputs() }))
}

impl Station {
    /// Takes a success, after which the rate may be the next.
    fn succeed(&mut self, once: bool, step_up: u32) {
        if self.went_up {
            self.step_up = step_up;
        }
        self.went_up = false;
        self.successes = if once { self.successes + 1 } else { 0 };
        if self.successes > self.step_up && self.current < self.rates.last() {
            self.current += 1;
            self.successes = 0;
            self.went_up = true;
        }
    }

    /// Takes a failure of a frame that was sent so often.
    fn fail(&mut self, tries: u8, step_up: u32, adaptive: bool) {
        if self.went_up && adaptive {
            self.step_up = self.step_up.saturating_mul(2);
            self.went_up = false;
        } else {
            self.step_up = step_up;
        }
        self.successes = 0;
        self.current = self.current.saturating_sub(usize::from(tries / 2).saturating_sub(1));
    }

    fn rate(&self) -> i8 {
        self.rates.at(self.current)
    }
}

impl Algorithm for AutoRateFallback {
    type Station = Station;

    fn settings(&mut self) -> &mut Settings {
        &mut self.settings
    }

    fn stations(&mut self) -> &mut Stations<Station> {
        &mut self.stations
    }

    fn lines(address: MacAddr, station: &Station) -> String {
        format!("{address} {} {}\n", station.rate(), station.successes)
    }

    fn assign(&mut self, cx: &mut Cx<'_>, extra: &mut Extra, address: MacAddr) -> Option<()> {
        let (settings, step_up) = (&self.settings, self.step_up);
        let new = || {
            let rates = settings.rates_of(address);
            settings.say(cx, || format!("initial rate for {address} is {}", rates.at(rates.last())));
            Station { rates, current: rates.last(), successes: 0, step_up, went_up: false }
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
        let before = station.current;
        if outcome.failed || outcome.alternate {
            station.fail(outcome.tries, self.step_up, self.adaptive);
        } else {
            station.succeed(outcome.tries == 1, self.step_up);
        }
        self.settings.say_step(cx, address, &station.rates, before, station.current);
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = AutoRateFallback;
        h.read("stepup", |e: &mut E, _| e.step_up);
        h.write("stepup", |e: &mut E, cx, text| router::value(cx, text).map(|step| e.step_up = step));
        h.read("stepdown", |e: &mut E, _| e.step_down);
        h.write("stepdown", |e: &mut E, cx, text| router::value(cx, text).map(|step| e.step_down = step));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_control::tests::{fate, frame, noted};
    use crate::testing::send_singly;

    const RATES: &str = "r :: AvailableRates(DEFAULT 2 4 11 22 48);";

    fn station() -> Station {
        let settings = Settings::default();
        settings.known.rates.enter("DEFAULT 2 4 11").unwrap();
        Station {
            rates: settings.rates_of(MacAddr::ZERO),
            current: 0,
            successes: 0,
            step_up: 2,
            went_up: false,
        }
    }

    /// Up after more than so many; each time that the faster rate fails at once, after twice as many, until one is of use.
    #[test]
    fn steps_up() {
        let mut s = station();
        let rises = |s: &mut Station, times: u32| {
            (0..times).for_each(|_| s.succeed(true, 2));
            (s.current, s.step_up)
        };
        assert_eq!((rises(&mut s, 2), rises(&mut s, 1)), ((0, 2), (1, 2)));
        s.fail(4, 2, true);
        assert_eq!((rises(&mut s, 4), rises(&mut s, 1)), ((0, 4), (1, 4)));
        s.fail(4, 2, true);
        assert_eq!((rises(&mut s, 8), rises(&mut s, 1)), ((0, 8), (1, 8)));
        s.succeed(true, 2);
        assert_eq!(s.step_up, 2);
        s.succeed(false, 2);
        assert_eq!(
            (s.successes, rises(&mut s, 2), rises(&mut s, 1), rises(&mut s, 9)),
            (0, (1, 2), (2, 2), (2, 2))
        );
        s.fail(10, 2, false);
        assert_eq!((s.current, s.step_up), (0, 2));
    }

    #[test]
    fn steps_down() {
        for (tries, current) in [(1, 2), (3, 2), (4, 1), (6, 0), (255, 0)] {
            let mut s = Station { current: 2, ..station() };
            s.fail(tries, 2, true);
            assert_eq!(s.current, current, "{tries}");
        }
    }

    /// Begins at the fastest; only what became of frames at the station's rate counts.
    #[test]
    fn only_frames_at_the_rate_of_the_station_change_it() {
        let config = format!(
            "{RATES} Inject -> p :: PaintSwitch(ANNO 44) -> [0] c :: AutoRateFallback(RT r, STEPUP 0); p[1] -> [1] c;
             c[0] -> Collect(0); c[1] -> Collect(1)"
        );
        let back = |mut sent: crate::testing::Sent| {
            sent.annotations.push((packet::Anno::new(44, 1).unwrap(), 1));
            sent
        };
        let frames = [
            frame(4),
            back(fate(4, 2, 48, 4)), // lost
            frame(4),
            back(fate(4, 2, 48, 4)), // late: of another rate than it is at
            back(fate(4, 1, 22, 1)), // gets through
            frame(4),
            back(fate(4, 4, 48, 6)), // at another rate
            frame(4),
            back(fate(6, 2, 48, 4)), // unknown
        ];
        let mut flow = send_singly(&config, frames);
        let noted: Vec<_> =
            flow.seen.iter().filter(|(at, _)| *at == 0).map(|(_, packet)| noted(packet)).collect();
        let tries = [4, 2, 2, 2];
        let full = |rates: [i8; 4]| std::array::from_fn(|at| [rates, tries][at / 4][at % 4]);
        let expected = [full([48, 22, 11, 4]), full([22, 11, 4, 2]), full([48, 22, 11, 4])];
        assert_eq!(noted[..3], expected);
        assert_eq!(noted[3], [11, 4, 2, -1, 4, 2, 2, 0]);
        assert_eq!((flow.data(1).len(), flow.read("c.rates").as_str()), (5, "04-04-04-04-04-04 11 0\n"));
    }
}
