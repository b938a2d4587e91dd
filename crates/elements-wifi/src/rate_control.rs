//! Elements that choose at which rates wireless frames are sent to each station, by what became of those before.
//!
//! Frames that are to be sent go through input 0, where rates are noted in their annotations; what became of frames
//! comes back at input 1.

use super::extra::{self, Extra, flag};
use super::print_tx_feedback::address;
use super::responder::Known;
use packet::{Batch, Packet};
use router::{ConfigError, Cx, Element, Handlers, Pull};
use std::any::Any;
use std::collections::HashMap;
use wire::MacAddr;

/// Most stations that are kept; frames to further ones are sent as frames to groups are.
const MOST: usize = 4096;
/// The rate of which it is not known that a station has others: 1 Mbit/s.
const SLOWEST: i8 = 2;
/// Most rates of a station.
pub(super) const RATES: usize = 16;

/// What such an element does.
pub(super) trait Algorithm: Any + Send {
    /// What is known of a station.
    type Station;

    /// What all have.
    fn settings(&mut self) -> &mut Settings;

    /// The stations.
    fn stations(&mut self) -> &mut Stations<Self::Station>;

    /// The lines of the handler `rates` about a station.
    fn lines(address: MacAddr, station: &Self::Station) -> String;

    /// Notes at which rates a frame to a station is to be sent; `None` if there is no room for a new one, and nothing was noted.
    fn assign(&mut self, cx: &mut Cx<'_>, extra: &mut Extra, station: MacAddr) -> Option<()>;

    /// Learns what became of a frame.
    fn learn(&mut self, cx: &mut Cx<'_>, station: MacAddr, outcome: Outcome);

    /// See [`Element::initialize`].
    fn initialize(&mut self, cx: &mut Cx<'_>) {
        let _ = cx;
    }

    /// See [`Element::timer`].
    fn timer(&mut self, cx: &mut Cx<'_>) {
        let _ = cx;
    }

    /// Declares the handlers that are its own.
    fn handlers(&self, handlers: &mut Handlers) {
        let _ = handlers;
    }
}

/// Arguments that all have.
pub(super) struct Settings {
    pub(super) known: Known,
    pub(super) offset: u32,
    pub(super) threshold: u32,
    pub(super) active: bool,
    pub(super) debug: bool,
    /// At which rate frames to groups are sent, and as of which change of the table.
    group: (u64, i8),
}

impl Default for Settings {
    fn default() -> Settings {
        let group = (u64::MAX, SLOWEST);
        Settings { known: Known::default(), offset: 0, threshold: 0, active: true, debug: false, group }
    }
}

impl Settings {
    /// The rate of frames to groups.
    fn group_rate(&mut self) -> i8 {
        let changes = self.known.rates.changes();
        if self.group.0 != changes {
            self.group = (changes, self.rates_of(MacAddr::BROADCAST).all()[0]);
        }
        self.group.1
    }

    /// The rates of a station.
    pub(super) fn rates_of(&self, station: MacAddr) -> RateSet {
        RateSet::new(&self.known.rates.of(station))
    }

    /// Says something, if that is wanted.
    pub(super) fn say(&self, cx: &Cx<'_>, text: impl FnOnce() -> String) {
        if self.debug {
            cx.log(&format!("{} {}", cx.name(), text()));
        }
    }

    /// Says that a station has come from one of its rates to another one, if that is so.
    pub(super) fn say_step(&self, cx: &Cx<'_>, address: MacAddr, rates: &RateSet, from: usize, to: usize) {
        let way = if to > from { "up" } else { "down" };
        if to != from {
            let (from, to) = (rates.at(from), rates.at(to));
            self.say(cx, || format!("stepping {way} for {address} from {from} to {to}"));
        }
    }

    /// What became of a frame, and of whose, if it is known and counts. What is short gets through more easily.
    fn outcome(&self, packet: &Packet) -> Option<(MacAddr, Outcome)> {
        let (station, extra) = (address(packet, self.offset)?, extra::of(packet));
        let failed = extra.flags() & flag::TX_FAIL != 0;
        let short = packet.len() < self.threshold as usize;
        let counts = !station.is_group() && extra.rate(0) > 0 && (failed || !short);
        let alternate = extra.flags() & flag::ALTERNATE != 0;
        let outcome = Outcome { rate: extra.rate(0), failed, alternate, tries: extra.tries(0).max(1) };
        counts.then_some((station, outcome))
    }
}

/// What became of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// The rate at which it was to be sent first.
    pub(super) rate: i8,
    pub(super) failed: bool,
    /// Whether it was sent at one of the other rates.
    pub(super) alternate: bool,
    /// How often it was sent.
    pub(super) tries: u8,
}

/// The rates of a station, from slow to fast; one at least.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateSet {
    rates: [i8; RATES],
    len: u8,
}

impl RateSet {
    fn new(rates: &[i32]) -> RateSet {
        let mut set = RateSet { rates: [SLOWEST; RATES], len: 0 };
        let rates = rates.iter().filter_map(|rate| i8::try_from(*rate).ok()).filter(|rate| *rate > 0);
        for (place, rate) in set.rates.iter_mut().zip(rates) {
            *place = rate;
            set.len += 1;
        }
        set.len = set.len.max(1);
        set
    }

    /// All of them.
    pub(super) fn all(&self) -> &[i8] {
        &self.rates[..usize::from(self.len)]
    }

    /// One of them; the fastest, if there are not so many.
    pub(super) fn at(&self, which: usize) -> i8 {
        self.rates[which.min(self.last())]
    }

    /// Which is the fastest.
    pub(super) fn last(&self) -> usize {
        usize::from(self.len) - 1
    }

    /// Which has a value.
    pub(super) fn find(&self, rate: i8) -> Option<usize> {
        self.all().iter().position(|own| *own == rate)
    }

    /// Notes one of the rates and the three below it.
    pub(super) fn note_from(&self, which: usize, extra: &mut Extra) {
        const TRIES: [u8; 4] = [4, 2, 2, 2];
        for (place, tries) in TRIES.into_iter().enumerate() {
            match which.checked_sub(place) {
                Some(which) => note(extra, place, self.at(which), tries),
                None => note(extra, place, -1, 0),
            }
        }
    }
}

/// Notes one of the four rates.
pub(super) fn note(extra: &mut Extra, place: usize, rate: i8, tries: u8) {
    extra.set_rate(place, rate);
    extra.set_tries(place, tries);
}

/// What is known of stations.
pub(super) struct Stations<S> {
    known: HashMap<[u8; 6], S>,
    most: usize,
}

impl<S> Stations<S> {
    /// With room for all from the beginning.
    pub(super) fn new() -> Stations<S> {
        Stations::at_most(MOST)
    }

    /// With room for so many.
    pub(super) fn at_most(most: usize) -> Stations<S> {
        Stations { known: HashMap::with_capacity(most), most }
    }

    /// A station that is known.
    pub(super) fn get(&mut self, station: MacAddr) -> Option<&mut S> {
        self.known.get_mut(&station.octets())
    }

    /// A station, which may be new; `None` if there is no room.
    pub(super) fn enter(&mut self, station: MacAddr, new: impl FnOnce() -> S) -> Option<&mut S> {
        let key = station.octets();
        let room = self.known.len() < self.most || self.known.contains_key(&key);
        room.then(|| self.known.entry(key).or_insert_with(new))
    }

    /// All, in no order.
    pub(super) fn all(&mut self) -> impl Iterator<Item = (MacAddr, &mut S)> {
        self.known.iter_mut().map(|(address, station)| (MacAddr(*address), station))
    }

    /// What is to be said of each, in the order of their addresses.
    pub(super) fn lines(&self, line: impl Fn(MacAddr, &S) -> String) -> String {
        let mut all: Vec<_> = self.known.iter().collect();
        all.sort_unstable_by_key(|(address, _)| **address);
        all.into_iter().map(|(address, station)| line(MacAddr(*address), station)).collect()
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }
}

/// Makes an [`Element`] of one.
pub(super) struct Controller<A> {
    pub(super) algorithm: A,
    pub(super) outputs: usize,
}

impl<A: Algorithm> Controller<A> {
    fn assign(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) {
        let settings = self.algorithm.settings();
        let Some(station) = settings.active.then(|| address(packet, settings.offset)).flatten() else {
            return;
        };
        let is_group = station.is_group() || station == MacAddr::ZERO;
        extra::set(packet, |extra| {
            if is_group || self.algorithm.assign(cx, extra, station).is_none() {
                let settings = self.algorithm.settings();
                let rate = if is_group { settings.group_rate() } else { settings.rates_of(station).at(0) };
                note_only(extra, rate);
            }
        });
    }

    fn learn(&mut self, cx: &mut Cx<'_>, packet: &Packet) {
        let settings = self.algorithm.settings();
        if let Some((station, outcome)) = settings.active.then(|| settings.outcome(packet)).flatten() {
            self.algorithm.learn(cx, station, outcome);
        }
    }
}

/// Notes one rate and no others; how often, the encapsulation decides.
pub(super) fn note_only(extra: &mut Extra, rate: i8) {
    for place in 0..4 {
        note(extra, place, if place == 0 { rate } else { -1 }, 0);
    }
}

impl<A: Algorithm> Element for Controller<A> {
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        for packet in batch.iter_mut() {
            if port == 0 { self.assign(cx, packet) } else { self.learn(cx, packet) }
        }
        if port < self.outputs { cx.emit(port, batch) } else { cx.consume(batch) }
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        Pull::Ask { input: port, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        batch.iter_mut().for_each(|packet| self.assign(cx, packet));
        Pull::Give(batch)
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.algorithm.settings().known.find(cx)?;
        self.algorithm.initialize(cx);
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        self.algorithm.timer(cx);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("debug", |e: &mut A, _| e.settings().debug);
        h.write("debug", |e: &mut A, cx, text| router::value(cx, text).map(|on| e.settings().debug = on));
        h.read("active", |e: &mut A, _| e.settings().active);
        h.write("active", |e: &mut A, cx, text| router::value(cx, text).map(|on| e.settings().active = on));
        h.read("offset", |e: &mut A, _| e.settings().offset);
        h.write("offset", |e: &mut A, cx, text| router::value(cx, text).map(|at| e.settings().offset = at));
        h.read("threshold", |e: &mut A, _| e.settings().threshold);
        h.write("threshold", |e: &mut A, cx, text| {
            router::value(cx, text).map(|len| e.settings().threshold = len)
        });
        h.read("rates", |e: &mut A, _| e.stations().lines(A::lines));
        h.write("reset", |e: &mut A, _, _| {
            e.stations().clear();
            Ok(())
        })
        .as_button();
        self.algorithm.handlers(h);
    }

    fn target(&mut self) -> Option<&mut dyn Any> {
        Some(&mut self.algorithm)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::testing::Sent;
    use packet::Anno;

    /// A frame to a station.
    pub(in super::super) fn frame(station: u8) -> Sent {
        vec![station; 20].into()
    }

    /// What became of one: its flags, rate, how often it was sent.
    pub(in super::super) fn fate(station: u8, flags: u64, rate: u64, tries: u64) -> Sent {
        let anno = |at: usize| Anno::new(at, 1).unwrap();
        Sent { annotations: vec![(anno(28), flags), (anno(36), rate), (anno(40), tries)], ..frame(station) }
    }

    /// What a packet is to be sent at: rates, and how often.
    pub(in super::super) fn noted(packet: &Packet) -> [i8; 8] {
        std::array::from_fn(|at| packet.annotations()[36 + at] as i8)
    }

    #[test]
    fn rate_sets() {
        let set = RateSet::new(&[2, 0, -4, 300, 11, 22]);
        assert_eq!((set.all(), set.last(), set.at(9), set.find(11)), (&[2, 11, 22][..], 2, 22, Some(1)));
        assert_eq!((RateSet::new(&[]).all(), RateSet::new(&[4; 99]).all().len()), (&[SLOWEST][..], RATES));
    }

    #[test]
    fn a_full_table_takes_no_station() {
        let mut stations = Stations::at_most(2);
        let entered = [1, 2, 3, 2].map(|n| stations.enter(MacAddr([n; 6]), || n).copied());
        assert_eq!(entered, [Some(1), Some(2), None, Some(2)]);
    }

    /// Frames to groups go at the first rate, which is asked for again when the table has changed; what is too short for an address,
    /// or comes while the element is off, is left alone.
    #[test]
    fn group_frames_go_at_the_first_rate() {
        let config = "r :: AvailableRates(DEFAULT 4 11); Inject -> c :: AutoRateFallback(RT r) -> Collect(0); Idle -> [1] c";
        let mut flow = crate::testing::send(config, [frame(0xff), vec![4; 5].into(), frame(0)]);
        let seen: Vec<_> = flow.seen.iter().map(|(_, packet)| noted(packet)).collect();
        let group = [4, -1, -1, -1, 0, 0, 0, 0];
        assert_eq!(seen, [group, [0; 8], group]);
        assert_eq!(flow.write("c.active", "false") + &flow.read("c.active"), "false");
        let config = config.replace("RT r", "RT r, ACTIVE false");
        assert_eq!(noted(crate::testing::send(&config, [frame(0xff)]).only(0)), [0; 8]);
    }

    /// A frame to a station that there is no room for goes at the first rate.
    #[test]
    fn no_room() {
        let config = "r :: AvailableRates(DEFAULT 4 11);
             Inject -> c :: ProbeTXRate(RT r, WINDOW 1000) -> Collect(0); Idle -> [1] c";
        let frame = |n: u16| [&[2, 0, 0, 0][..], &n.to_be_bytes(), &[0; 14]].concat();
        let flow = crate::testing::send(config, (0..1025).map(frame));
        let [first, last] = [0, 1024].map(|at: usize| noted(&flow.seen[at].1));
        assert_eq!([first, last], [[11, 11, -1, -1, 4, 2, 0, 0], [4, -1, -1, -1, 0, 0, 0, 0]]);
    }
}
