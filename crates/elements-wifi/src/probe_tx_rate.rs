//! Chooses rates of wireless frames by the time that frames took, and tries others now and then.
//!
//! ```click
//! ProbeTXRate(RT RATES, WINDOW WINDOW [, KEYWORDS])
//! ```
//!
//! Notes in the annotations of frames at input 0 at which rates they are to be sent, as SetTXRate does: four times at
//! the best rate of their station, then twice more. Every tenth is sent at another rate first, by chance one that
//! could be better. Input 1 takes frames that were sent, with annotations that say what became of them, as
//! RadiotapDecap and FilterTX make them. The best rate is the one at which a frame that gets through takes least
//! time, all that did not included, reckoned for 1500 bytes with waiting times and acknowledgements; while no frame
//! has got through, the fastest at which fewer than three were lost. What counts is the last WINDOW, and of it the
//! last 256 frames. After J. Bicket's SampleRate of 2005. Of 1024 stations there is room. Frames to groups go at
//! their first rate. Packets leave at the output of their input's number; where there is none they end.
//!
//! Ports: 2 inputs, up to 2 outputs. Processing: input 0 and the outputs agnostic, input 1 push. Workers: exclusive.
//!
//! # Arguments
//! - `RT` (name of an AvailableRates): which rates stations have.
//! - `WINDOW` (integer): how many milliseconds to look back; above 0.
//! - `OFFSET` (integer, default 0): where in frames the address is that they are for: 4 in IEEE 802.11 frames.
//! - `THRESHOLD` (integer, default 0): successes of frames shorter than this do not count.
//! - `ACTIVE` (boolean, default true): whether rates are noted.
//! - `DEBUG` (boolean, default false): whether to say what became of frames.
//!
//! # Handlers
//! - `rates` (read): for each station a line with its address, and one for each of its rates: frames that got through
//!   and were lost, how often they were sent, how many microseconds one takes at best and all took, one that gets
//!   through, and how often it was sent on average.
//! - `reset` (write): forgets all stations.
//! - `offset`, `threshold`, `active`, `debug` (read, write): the arguments.
//!
//! # Example
//! ```click
//! rates :: AvailableRates(DEFAULT 2 4 11 22);
//! w :: WirelessInfo(SSID lab, BSSID 2:0:0:0:0:1);
//! FromHost(radio) -> WifiEncap(1, WIRELESS_INFO w) -> [0] control :: ProbeTXRate(OFFSET 4, WINDOW 5000, RT rates);
//! control -> RadiotapEncap -> Queue -> ToDevice(mon0);
//! FromDevice(mon0) -> RadiotapDecap -> sent :: FilterTX -> WifiDecap -> ToHost(radio);
//! sent[1] -> [1] control;
//! ```
//!
//! # See also
//! AutoRateFallback, MadwifiRate, SetTXRate, AvailableRates, FilterTX

use super::extra::Extra;
use super::rate_control::{
    Algorithm, Controller, Outcome, RATES, RateSet, Settings, Stations, note, note_only,
};
use elements_shared::label::write_time;
use router::{Class, Config, ConfigError, Cx, Element, Residency};
use std::collections::VecDeque;
use std::fmt::Write as _;
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("ProbeTXRate", create)
    .ports("2/0-2")
    .processing("ah/a")
    .flow("#/#")
    .residency(Residency::Exclusive)
    .doc(router::manual!("probe_tx_rate.rs"));

/// Most stations that are kept.
const MOST: usize = 1024;
/// Most frames of a station of which it is known what became of them; there is room for them from the beginning.
const REMEMBERED: usize = 256;
/// One frame of so many tries another rate.
const EVERY: u32 = 10;
/// How often frames are sent at the best rate, at one that is tried, and then at the best.
const TRIES: [u8; 3] = [4, 2, 2];
/// The length that times are reckoned for.
const LENGTH: u64 = 1500;

/// How many microseconds a frame takes that is sent so often: it waits for its turn, twice as long each time, is sent, and acknowledged.
fn microseconds(rate: i8, times: u8) -> u64 {
    const LONGEST_WAIT: u64 = 1023;
    /// The rates with direct sequences and complementary codes; others are of orthogonal frequencies.
    const CODED: [i8; 4] = [2, 4, 11, 22];
    let (preamble, slot, mut wait, gap, acknowledgement) = match rate {
        2 => (192, 20, 31, 10, 304),
        _ if CODED.contains(&rate) => (96, 20, 31, 10, 304),
        _ => (25, 9, 15, 16, 44),
    };
    let once = 2 * 8 * LENGTH / u64::from(rate.max(1).unsigned_abs()) + preamble + gap + acknowledgement;
    let mut all = 0;
    for _ in 0..times {
        all += once + slot * wait / 2;
        wait = (2 * (wait + 1)).min(LONGEST_WAIT);
    }
    all
}

/// What became of a frame.
#[derive(Clone, Copy)]
struct Fate {
    at_ns: i64,
    which: usize,
    success: bool,
    tries: u8,
    time: u64,
}

/// What became of frames of one rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    successes: u64,
    failures: u64,
    tries: u64,
    time: u64,
}

impl Sum {
    fn add(&mut self, fate: &Fate) {
        self.successes += u64::from(fate.success);
        self.failures += u64::from(!fate.success);
        self.tries += u64::from(fate.tries);
        self.time += fate.time;
    }

    fn subtract(&mut self, fate: &Fate) {
        self.successes -= u64::from(fate.success);
        self.failures -= u64::from(!fate.success);
        self.tries -= u64::from(fate.tries);
        self.time -= fate.time;
    }

    /// The time of a frame that gets through, with what is lost before it.
    fn average(&self) -> Option<u64> {
        self.time.checked_div(self.successes)
    }
}

struct Station {
    rates: RateSet,
    fates: VecDeque<Fate>,
    sums: [Sum; RATES],
    /// Frames that were given rates.
    count: u32,
}

impl Station {
    fn new(rates: RateSet) -> Station {
        Station { rates, fates: VecDeque::with_capacity(REMEMBERED), sums: [Sum::default(); RATES], count: 0 }
    }

    fn add(&mut self, fate: Fate) {
        if self.fates.len() == REMEMBERED {
            self.forget_first();
        }
        self.sums[fate.which].add(&fate);
        self.fates.push_back(fate);
    }

    fn forget_first(&mut self) {
        if let Some(fate) = self.fates.pop_front() {
            self.sums[fate.which].subtract(&fate);
        }
    }

    /// Forgets what came before a moment.
    fn trim(&mut self, earliest_ns: i64) {
        while self.fates.front().is_some_and(|fate| fate.at_ns < earliest_ns) {
            self.forget_first();
        }
    }

    fn sums(&self) -> &[Sum] {
        &self.sums[..=self.rates.last()]
    }

    /// Which rate is the best.
    fn best(&self) -> usize {
        const FEW: u64 = 3;
        let times = self.sums().iter().enumerate().filter_map(|(at, sum)| Some((sum.average()?, at)));
        let untried = || (1..=self.rates.last()).rev().find(|at| self.sums[*at].failures < FEW);
        times.min().map(|(_, at)| at).or_else(untried).unwrap_or(0)
    }

    /// A rate by chance of those that could be as good as the best; `None` if there is none.
    fn another(&self, best: usize, rng: &mut fastrand::Rng) -> Option<usize> {
        const MANY: u64 = 3;
        let time = self.sums[best].average().unwrap_or(0);
        let could = |at: &usize| {
            let hopeless = self.sums[*at].failures > MANY && self.sums[*at].successes == 0;
            microseconds(self.rates.at(*at), 1) <= time && !hopeless
        };
        let count = (0..=self.rates.last()).filter(could).count();
        let chosen = if count == 0 { return None } else { rng.usize(..count) };
        (0..=self.rates.last()).filter(could).nth(chosen)
    }

    /// The rate to try first, how often, and the best.
    fn choose(&mut self, rng: &mut fastrand::Rng) -> (i8, u8, i8) {
        let [often, tried, _] = TRIES;
        let best = self.best();
        let another = if self.count.is_multiple_of(EVERY) { self.another(best, rng) } else { None };
        self.count = self.count.wrapping_add(1);
        let first = another.map_or((best, often), |another| (another, tried));
        (self.rates.at(first.0), first.1, self.rates.at(best))
    }

    fn lines(&self, address: MacAddr) -> String {
        let mut text = format!("{address}\n");
        for (rate, sum) in self.rates.all().iter().zip(self.sums()) {
            let Sum { successes, failures, tries, time } = sum;
            let (perfect, average) = (microseconds(*rate, 1), sum.average().unwrap_or(0));
            // Writing to a string does not fail.
            let _ = write!(
                text,
                " {rate} success {successes} fail {failures} tries {tries} perfect_usecs {perfect} \
                 total_usecs {time} average_usecs {average} average_tries "
            );
            match (tries * 1000).checked_div(successes + failures) {
                Some(thousandths) => write_time(&mut text, thousandths as i64 * 1_000_000),
                None => text.push('0'),
            }
            text.push('\n');
        }
        text
    }
}

struct ProbeTxRate {
    settings: Settings,
    window_ms: u32,
    stations: Stations<Station>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let stations = Stations::at_most(MOST);
    let mut e = ProbeTxRate { settings: Settings::default(), window_ms: 0, stations };
    config
        .args()
        .keyword("OFFSET", &mut e.settings.offset)
        .keyword("WINDOW", &mut e.window_ms)
        .keyword("THRESHOLD", &mut e.settings.threshold)
        .keyword("DEBUG", &mut e.settings.debug)
        .required_keyword("RT", &mut e.settings.known.table)
        .keyword("ACTIVE", &mut e.settings.active)
        .finish()?;
    if e.window_ms == 0 {
        return Err("WINDOW must be > 0".into());
    }
    Ok(Box::new(Controller { algorithm: e, outputs: config.outputs() }))
}

impl Algorithm for ProbeTxRate {
    type Station = Station;

    fn settings(&mut self) -> &mut Settings {
        &mut self.settings
    }

    fn stations(&mut self) -> &mut Stations<Station> {
        &mut self.stations
    }

    fn lines(address: MacAddr, station: &Station) -> String {
        station.lines(address)
    }

    fn assign(&mut self, cx: &mut Cx<'_>, extra: &mut Extra, address: MacAddr) -> Option<()> {
        let settings = &self.settings;
        let station = self.stations.enter(address, || Station::new(settings.rates_of(address)))?;
        station.trim(cx.now_ns() - i64::from(self.window_ms) * 1_000_000);
        let (first, tries, best) = station.choose(cx.rng());
        note_only(extra, first);
        note(extra, 0, first, tries);
        note(extra, 1, best, TRIES[2]);
        Some(())
    }

    fn learn(&mut self, cx: &mut Cx<'_>, address: MacAddr, outcome: Outcome) {
        let Outcome { rate, failed, tries, .. } = outcome;
        let Some(station) = self.stations.get(address) else { return };
        let Some(which) = station.rates.find(rate) else { return };
        let time = microseconds(rate, tries);
        let what = if failed { "failed" } else { "arrived" };
        self.settings.say(cx, || format!("packet {what} {address} rate {rate} tries {tries} time {time}"));
        station.add(Fate { at_ns: cx.now_ns(), which, success: !failed, tries, time });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn station() -> Station {
        let settings = Settings::default();
        settings.known.rates.enter("DEFAULT 2 4 11 22 108").unwrap();
        Station::new(settings.rates_of(MacAddr::ZERO))
    }

    fn fate(at_ns: i64, which: usize, success: bool, tries: u8) -> Fate {
        Fate { at_ns, which, success, tries, time: microseconds([2, 4, 11, 22, 108][which], tries) }
    }

    /// By hand: 1500 bytes at 1, 11 and 54 Mbit/s, and the second time with twice the wait.
    #[test]
    fn times_are_those_computed_by_hand() {
        let once = [2, 22, 108].map(|rate| microseconds(rate, 1));
        assert_eq!(once, [12000 + 192 + 314 + 310, 1090 + 96 + 314 + 310, 222 + 25 + 60 + 67]);
        assert_eq!(microseconds(108, 2), 2 * (222 + 25 + 60) + 67 + 9 * 32 / 2);
        assert_eq!(microseconds(108, 0), 0);
        assert!(microseconds(2, 255) < 255 * 25_000);
    }

    /// Without successes the fastest that is not often lost; with them the one that takes least time, retries and losses included.
    #[test]
    fn best_rate() {
        let mut s = station();
        assert_eq!(s.best(), 4);
        (0..3).for_each(|_| s.add(fate(0, 4, false, 4)));
        assert_eq!(s.best(), 3);
        s.add(fate(0, 1, true, 1));
        assert_eq!(s.best(), 1);
        s.add(fate(0, 3, true, 2));
        assert_eq!(s.best(), 3);
        (0..9).for_each(|_| s.add(fate(0, 3, false, 4)));
        assert_eq!(s.best(), 1);
    }

    /// Every tenth frame tries what could be better: not what is slower at best, nor what is only lost.
    #[test]
    fn every_tenth_frame_tries_another_rate() {
        let (mut s, mut rng) = (station(), fastrand::Rng::with_seed(1));
        assert_eq!(s.choose(&mut rng), (108, 4, 108)); // nothing is known yet
        s.add(fate(0, 2, true, 1));
        let chosen: Vec<_> = (0..400).map(|_| s.choose(&mut rng)).collect();
        let others: Vec<i8> =
            chosen.iter().filter(|(_, tries, _)| *tries == 2).map(|(first, _, _)| *first).collect();
        assert!(others.len() == 40 && [11, 22, 108].iter().all(|rate| others.contains(rate)), "{others:?}");
        assert!(others.iter().all(|rate| *rate >= 11), "{others:?}");
        assert!(chosen.iter().all(|(first, tries, best)| *best == 11 && (*tries == 2 || *first == 11)));
        (0..4).for_each(|_| s.add(fate(0, 4, false, 4)));
        let others = (0..400).map(|_| s.choose(&mut rng).0);
        assert!(others.into_iter().all(|rate| rate == 11 || rate == 22));
    }

    /// Sums are those of what is remembered: the last of a window, at most so many.
    #[test]
    fn sums_cover_only_what_is_remembered() {
        let mut s = station();
        (0..1000).for_each(|n| s.add(fate(n, n as usize % 5, n % 3 == 0, 1 + n as u8 % 4)));
        assert_eq!((s.fates.len(), s.fates.capacity()), (REMEMBERED, REMEMBERED));
        s.trim(990);
        let mut sums = [Sum::default(); RATES];
        s.fates.iter().for_each(|fate| sums[fate.which].add(fate));
        assert_eq!((s.fates.len(), s.sums), (10, sums));
        s.trim(1000);
        assert_eq!(s.sums, [Sum::default(); RATES]);
    }
}
