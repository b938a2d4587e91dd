//! Random early detection: drops more packets the longer the queues are.
//!
//! ```click
//! RED(MIN_THRESH, MAX_THRESH, MAX_P [, KEYWORDS])
//! ```
//!
//! Random early detection (Floyd and Jacobson, 1993), in its gentle variant. It keeps a running average of the length
//! of some queues. Up to MIN_THRESH packets nothing is dropped; from MIN_THRESH to MAX_THRESH the drop probability
//! grows from 0 to MAX_P, and from MAX_THRESH to twice MAX_THRESH it grows to 1. Packets chosen to be dropped leave
//! by output 1 if it is connected.
//!
//! By default it watches the nearest queues downstream if it is on a push path, and the nearest upstream on a pull
//! path.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: exclusive.
//!
//! # Arguments
//! - `MIN_THRESH`, `MAX_THRESH` (integers up to 65535): queue lengths.
//! - `MAX_P` (number from 0 to 1): the drop probability at MAX_THRESH.
//! - `QUEUES` (names of queues separated by spaces): the queues to watch, instead of the nearest.
//! - `STABILITY` (integer from 0 to 16, default 4): how slowly the average follows the queue length: the weight of
//!   the current length is two to the power of minus STABILITY. With 0 the current length itself is used.
//! - `GENTLE` (boolean, default true): if false, everything is dropped from MAX_THRESH on.
//!
//! # Handlers
//! - `min_thresh`, `max_thresh`, `max_p` (read, write): the arguments. `config` (read): all of them.
//! - `drops` (read): packets dropped.
//! - `queues` (read): the names of the queues, one per line.
//! - `avg_queue_size` (read): the average length.
//! - `stats` (read): current length, average and drops, as text.
//!
//! # Example
//! ```click
//! RatedSource(RATE 1000) -> RED(5, 50, 0.02) -> Queue(200) -> RatedUnqueue(900) -> Discard
//! ```
//!
//! # See also
//! AdaptiveRED, CoDel, Queue

use super::refill::Refill;
use super::storage::Watched;
use elements_shared::fraction::Fraction;
use elements_shared::verdict::fail;
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency, Verdict};
use std::any::Any;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("RED", create)
    .ports("1/1-2")
    .processing("a/ah")
    .residency(Residency::Exclusive)
    .live()
    .doc(router::manual!("red.rs"));

pub(super) type Probability = Fraction<16>;

/// Bits behind the point that the average has.
const SCALE: u32 = 10;
/// The most that a threshold can be.
const LONGEST: u32 = 0xffff;
/// The greatest probability stays between these, and decreases by this factor (Floyd, Gummadi and Shenker, 2001).
const LEAST_P: f64 = 0.01;
const GREATEST_P: f64 = 0.5;
const DECREASE: f64 = 0.9;
/// How often the greatest probability is adapted.
const ADAPTATION: Duration = Duration::from_millis(500);
/// An epoch, which counts as the passing of one packet while queues are empty.
const EPOCH_NS: i64 = 20_000_000;
/// After so many of them nothing is left of what was before, however slowly the average follows; as in Click.
const FORGOTTEN: i64 = 100;

/// The running average of a length.
#[derive(Clone, Copy, Default)]
pub(super) struct Average {
    scaled: i64,
    stability: u32,
    /// Until which epoch an empty queue has been taken into account; none if it was not empty.
    empty: Option<i64>,
}

impl Average {
    /// One that follows as slowly as STABILITY says.
    pub(super) fn new(stability: u32) -> Average {
        Average { stability, ..Average::default() }
    }

    /// Goes on where another one was, as slowly as this one does.
    pub(super) fn adopt(&mut self, old: Average) {
        *self = Average { stability: self.stability, ..old };
    }

    fn update(&mut self, length: usize) {
        let rounding = if self.stability > 0 { 1 << (self.stability - 1) } else { 0 };
        self.scaled += (((length as i64) << SCALE) + rounding - self.scaled) >> self.stability;
    }

    /// Takes the present length into account.
    pub(super) fn see(&mut self, length: usize, now_ns: i64) {
        if self.stability == 0 {
            self.scaled = (length as i64) << SCALE;
        } else if length > 0 {
            self.update(length);
            self.empty = None;
        } else {
            let epoch = now_ns / EPOCH_NS;
            match self.empty.map_or(1, |before| epoch - before) {
                FORGOTTEN.. => self.scaled = 0,
                steps => (0..steps).for_each(|_| self.update(0)),
            }
            self.empty = Some(epoch);
        }
    }

    /// The nearest whole number.
    fn rounded(&self) -> f64 {
        self.value().round()
    }

    fn value(&self) -> f64 {
        self.scaled as f64 / f64::from(1 << SCALE)
    }
}

pub(super) struct Red {
    min: u32,
    max: u32,
    max_p: Probability,
    gentle: bool,
    average: Average,
    /// Packets since the last drop while drops are possible; none in between.
    count: Option<u32>,
    /// Chosen at random after each drop: the more, the more packets pass until the next.
    chance: f64,
    queue_names: Vec<String>,
    queues: Watched,
    downstream: bool,
    outputs: usize,
    drops: u64,
    refill: Refill,
    /// Whether the greatest probability follows the average.
    adaptive: bool,
}

/// What a configuration says.
pub(super) struct Settings {
    pub(super) min: u32,
    pub(super) max: u32,
    pub(super) max_p: Probability,
    pub(super) stability: u32,
    pub(super) gentle: bool,
    pub(super) queues: String,
    pub(super) adaptive: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut min, mut max, mut max_p) = (0, 0, Probability::default());
    let (mut stability, mut gentle, mut queues) = (4u32, true, router::Raw::default());
    config
        .args()
        .required("MIN_THRESH", &mut min)
        .required("MAX_THRESH", &mut max)
        .required("MAX_P", &mut max_p)
        .keyword("QUEUES", &mut queues)
        .keyword("STABILITY", &mut stability)
        .keyword("GENTLE", &mut gentle)
        .finish()?;
    let queues = queues.0;
    make(config, Settings { min, max, max_p, stability, gentle, queues, adaptive: false })
}

/// Makes an element with these settings.
pub(super) fn make(config: &Config<'_>, settings: Settings) -> Result<Box<dyn Element>, ConfigError> {
    let Settings { min, max, max_p, stability, gentle, queues, adaptive } = settings;
    check(min, max, max_p)?;
    if stability > 16 {
        return Err("STABILITY must be between 0 and 16".into());
    }
    Ok(Box::new(Red {
        min,
        max,
        max_p,
        gentle,
        average: Average::new(stability),
        count: None,
        chance: 0.0,
        queue_names: lang::conf::split_spaces(&queues),
        queues: Watched::default(),
        downstream: config.output_is_push(0),
        outputs: config.outputs(),
        drops: 0,
        refill: Refill::default(),
        adaptive,
    }))
}

fn check(min: u32, max: u32, max_p: Probability) -> Result<(), String> {
    if max > LONGEST {
        return Err(format!("MAX_THRESH must be <= {LONGEST}"));
    }
    if min > max {
        return Err("MIN_THRESH must be <= MAX_THRESH".to_owned());
    }
    max_p.complement().map(|_| ()).ok_or_else(|| "MAX_P must be between 0 and 1".to_owned())
}

impl Red {
    /// The probability of a drop at the present average; none where none are possible, 1 where all are dropped.
    fn probability(&self) -> Option<f64> {
        let (average, max_p) = (self.average.value(), self.max_p.value());
        let [min, max] = [self.min, self.max].map(f64::from);
        match self.average.rounded() {
            rounded if rounded <= min => None,
            rounded if rounded <= max => Some((average - min) / (max - min) * max_p),
            rounded if self.gentle && rounded <= 2.0 * max => {
                Some((average - max) / max * (1.0 - max_p) + max_p)
            }
            _ => Some(1.0),
        }
    }

    /// Whether the next packet is dropped, given how many there are in the queues.
    fn drops_next(&mut self, cx: &mut Cx<'_>, length: usize) -> bool {
        self.average.see(length, cx.now_ns());
        let Some(probability) = self.probability() else {
            self.count = None;
            return false;
        };
        if probability >= 1.0 {
            self.count = None;
            return true;
        }
        // Drops are spread evenly: the number of packets between them is uniform up to 1 / probability.
        let count = self.count.map_or(0, |count| count + 1);
        let drop = count > 0 && f64::from(count) * probability > self.chance;
        self.count = Some(if drop { 0 } else { count });
        if drop || count == 0 {
            self.chance = cx.rng().f64();
        }
        drop
    }

    /// Makes drops less likely while the average is in the lower half, more likely in the upper one.
    fn adapt(&mut self) {
        let average = match self.average.stability {
            0 => self.queues.len() as f64,
            _ => self.average.rounded(),
        };
        let half = f64::from((self.max - self.min) / 2);
        let max_p = self.max_p.value();
        if average < f64::from(self.min) + half && max_p > LEAST_P {
            self.max_p = Probability::of(max_p * DECREASE);
        } else if average > f64::from(self.max) - half && max_p < GREATEST_P {
            self.max_p = Probability::of(max_p + LEAST_P.min(max_p / 4.0));
        }
    }

    /// The arguments as they are now.
    fn config(&self) -> String {
        let Red { min, max, max_p, average: Average { stability, .. }, queues, .. } = self;
        let gentle = if self.gentle { "" } else { ", GENTLE false" };
        format!("{min}, {max}, {max_p}, {}, STABILITY {stability}{gentle}", queues.argument())
    }

    fn verdict(&mut self, cx: &mut Cx<'_>, length: usize) -> Verdict {
        if !self.drops_next(cx, length) {
            return Verdict::Pass;
        }
        self.drops += 1;
        fail(self.outputs, "random early detection")
    }
}

impl Element for Red {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.queues = Watched::find(cx, &self.queue_names, self.downstream)?;
        if self.adaptive {
            cx.timers().after(0, ADAPTATION);
        }
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        self.adapt();
        cx.timers().after(0, ADAPTATION);
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        // Those of the batch that pass count as if they were in the queue already, if that is where they go.
        let (mut length, near) = (self.queues.len(), self.queue_names.is_empty());
        cx.scatter(batch, |cx, _| {
            let verdict = self.verdict(cx, length);
            length += usize::from(near && verdict == Verdict::Pass);
            verdict
        });
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        self.refill.start(want)
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        // Those behind it in the batch would still be in the queue when a packet is pulled.
        let got = batch.len();
        let mut behind = if self.queue_names.is_empty() { got } else { 0 };
        let left = cx.sift(batch, |cx, _| {
            behind = behind.saturating_sub(1);
            self.verdict(cx, self.queues.len() + behind)
        });
        self.refill.take(cx, got, left)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.average))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(old) = state.downcast::<Average>() {
            self.average.adopt(*old);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("min_thresh", |e: &mut Red, _| e.min);
        h.read("max_thresh", |e: &mut Red, _| e.max);
        h.read("max_p", |e: &mut Red, _| e.max_p);
        h.write("min_thresh", |e: &mut Red, cx, text| {
            let min = router::keyword_value(cx, "MIN_THRESH", text)?;
            check(min, e.max, e.max_p)?;
            e.min = min;
            Ok(())
        });
        h.write("max_thresh", |e: &mut Red, cx, text| {
            let max = router::keyword_value(cx, "MAX_THRESH", text)?;
            check(e.min, max, e.max_p)?;
            e.max = max;
            Ok(())
        });
        h.write("max_p", |e: &mut Red, cx, text| {
            let max_p = router::keyword_value(cx, "MAX_P", text)?;
            check(e.min, e.max, max_p)?;
            e.max_p = max_p;
            Ok(())
        });
        if !self.adaptive {
            h.read("config", |e: &mut Red, _| e.config());
        }
        h.read("drops", |e: &mut Red, _| e.drops);
        h.read("queues", |e: &mut Red, _| e.queues.lines());
        h.read("avg_queue_size", |e: &mut Red, _| shown(&e.average));
        h.read("stats", |e: &mut Red, _| {
            let (length, average) = (e.queues.len(), shown(&e.average));
            format!("{length} current queue\n{average} avg queue\n{} drops\n", e.drops)
        });
    }
}

/// The average to three digits, without those that say nothing.
pub(super) fn shown(average: &Average) -> String {
    let text = format!("{:.3}", average.value());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Average, EPOCH_NS};
    use crate::testing::{errors, run_and_read};

    /// While a queue is empty each epoch counts once, whenever packets come in it, and after many nothing is left.
    #[test]
    fn empty_queues() {
        let after = |times: &[i64]| {
            let mut average = Average::new(4);
            (0..200).for_each(|_| average.see(100, 0));
            times.iter().for_each(|&at_ns| average.see(0, at_ns));
            average.value()
        };
        let epochs: Vec<i64> = (1..=20).map(|epoch| epoch * EPOCH_NS).collect();
        let often: Vec<i64> = (1..=40).map(|half| EPOCH_NS + (half - 1) * EPOCH_NS / 2).collect();
        let rarely: Vec<i64> = (1..=11).map(|step| EPOCH_NS + (step - 1) * EPOCH_NS * 19 / 10).collect();
        assert!((20.0..30.0).contains(&after(&epochs)), "{}", after(&epochs));
        assert_eq!((after(&often), after(&rarely)), (after(&epochs), after(&epochs)));
        assert_eq!(after(&[EPOCH_NS, 101 * EPOCH_NS]), 0.0);
    }

    /// An average that is nearly above a threshold is above it.
    #[test]
    fn nearest_whole_number() {
        let config = "q :: Queue -> Idle; RatedSource(RATE 100, LIMIT 5) -> q;
            TimedSource(0.01) -> r :: RED(4, 4, 0.5, GENTLE false, QUEUES q) -> Discard; Script(wait 2, stop)";
        let [average, drops] = &run_and_read(config, &["r.avg_queue_size", "r.drops"])[..] else { panic!() };
        assert_eq!(average, "4.993");
        assert!(drops.parse::<u32>().is_ok_and(|drops| drops > 100), "{drops}");
    }

    /// What is dropped leaves at output 1.
    #[test]
    fn drops_nothing_below_and_everything_above_the_thresholds() {
        let config =
            "InfiniteSource(LIMIT 100, STOP true) -> r :: RED(10, 20, 0.1, STABILITY 0, GENTLE false)
                      -> q :: Queue(100) -> Idle; r[1] -> d :: Discard";
        let read = run_and_read(config, &["q.length", "r.drops", "d.count", "r.queues", "r.avg_queue_size"]);
        let length: u32 = read[0].parse().unwrap_or(0);
        assert_eq!(read[0], "21", "the length that is above the threshold is never exceeded");
        assert_eq!((&read[1], read[1].parse()), (&read[2], Ok(100 - length)));
        assert_eq!((read[3].as_str(), read[4].as_str()), ("q\n", "21"));
    }

    #[test]
    fn drops_the_right_part_between_the_thresholds() {
        // The queue has 30 packets all the time: half way, so that one of ten is dropped, a little more since drops are spread.
        let push = "InfiniteSource(LIMIT 30) -> q :: SimpleQueue(31) -> Idle;
                    RatedSource(RATE 1000, LIMIT 4000, STOP true) -> r :: RED(20, 40, 0.2, QUEUES q, STABILITY 0) -> Discard";
        let part = |config: &str| -> u32 { run_and_read(config, &["r.drops"])[0].parse().unwrap_or(0) };
        let drops = part(push);
        assert!((600..1000).contains(&drops), "{drops}");
        let pull = "InfiniteSource(LIMIT 30) -> q :: SimpleQueue(31) -> Idle; InfiniteSource(LIMIT 4000) -> p :: Queue(5000)
                    -> r :: RED(20, 40, 0.2, QUEUES q, STABILITY 0) -> Unqueue -> Discard; Script(wait 100, stop)";
        let drops = part(pull);
        assert!((600..1000).contains(&drops), "{drops}");
    }

    #[test]
    fn wrong_parameters_are_refused() {
        for (arguments, message) in [
            ("5, 4, 0.1", "MIN_THRESH must be <= MAX_THRESH"),
            ("5, 65536, 0.1", "MAX_THRESH must be <= 65535"),
            ("5, 50, 1.5", "MAX_P must be between 0 and 1"),
            ("5, 50, 0.5, STABILITY 17", "STABILITY must be between 0 and 16"),
            ("5, 50, 0.5", "no nearby Queues"),
            ("5, 50, 0.5, QUEUES d e", "'d' is not a Storage element"),
        ] {
            let said = errors(&format!("Idle -> RED({arguments}) -> d :: Discard"));
            assert!(said.contains(message), "{arguments}: {said}");
        }
    }
}
