//! Drops packets at random to keep queues at a target length.
//!
//! ```click
//! PI(W, A, B, TARGET [, QUEUES, KEYWORDS])
//! ```
//!
//! A proportional-integral controller (Hollot, Misra, Towsley and Gong, 2001). Every W seconds it samples the length
//! q of some queues, and changes the drop probability by A (q - TARGET) - B (q' - TARGET), where q' is the previous
//! sample. So the probability settles where the queues hold TARGET packets, whatever the load. Packets chosen to be
//! dropped leave by output 1 if it is connected.
//!
//! By default it watches the nearest queues downstream if it is on a push path, and the nearest upstream on a pull
//! path. Click's source contains the class, but its programs are built without it.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: exclusive.
//!
//! # Arguments
//! - `W` (number, more than 0): the sampling interval, in seconds. The authors use 1/160 for a link of 15 Mbps.
//! - `A`, `B` (numbers, not negative): gains. Queues are stable if A is a little greater than B; the authors use
//!   1.822e-5 and 1.816e-5.
//! - `TARGET` (integer up to 65535): the desired queue length. `QREF` is another name.
//! - `QUEUES` (names of queues separated by spaces): the queues to watch, instead of the nearest.
//! - `STABILITY` (integer from 1 to 16, default 4): how slowly the average in `avg_queue_size` follows the queue
//!   length; nothing else depends on it.
//!
//! # Handlers
//! - `w`, `a`, `b`, `target` (read, write): the arguments.
//! - `p` (read): the drop probability.
//! - `drops` (read): packets dropped.
//! - `queues` (read): the names of the queues, one per line.
//! - `avg_queue_size` (read): the average length.
//! - `stats` (read): current length, average and drops, as text.
//!
//! # Example
//! ```click
//! RatedSource(RATE 1200) -> PI(0.01, 0.0005, 0.00045, 50) -> Queue(200) -> RatedUnqueue(1000) -> Discard
//! ```
//!
//! # See also
//! RED, CoDel, Queue

use super::red::{Average, shown};
use super::refill::Refill;
use super::storage::Watched;
use elements_shared::verdict::fail;
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull, Raw, Residency, Verdict};
use std::any::Any;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("PI", create)
    .ports("1/1-2")
    .processing("a/ah")
    .residency(Residency::Exclusive)
    .doc(router::manual!("pi.rs"));

/// The greatest length to aim at.
const LONGEST: u32 = 0xffff;

struct Pi {
    /// Seconds between two looks.
    w: f64,
    a: f64,
    b: f64,
    target: u32,
    /// The length at the last look.
    before: usize,
    probability: f64,
    average: Average,
    drops: u64,
    queue_names: Vec<String>,
    queues: Watched,
    downstream: bool,
    outputs: usize,
    refill: Refill,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut w, mut a, mut b, mut target) = (0.0, 0.0, 0.0, 0u32);
    let (mut stability, mut queues, mut qref) = (4u32, Raw::default(), None::<u32>);
    config
        .args()
        .required("W", &mut w)
        .required("A", &mut a)
        .required("B", &mut b)
        .required("TARGET", &mut target)
        .positional("QUEUES", &mut queues)
        .keyword("QREF", &mut qref)
        .keyword("STABILITY", &mut stability)
        .finish()?;
    if !(1..=16).contains(&stability) {
        return Err("STABILITY parameter must be between 1 and 16".into());
    }
    Ok(Box::new(Pi {
        w: interval(w)?,
        a: gain(a, "a")?,
        b: gain(b, "b")?,
        target: length(qref.unwrap_or(target))?,
        before: 0,
        probability: 0.0,
        average: Average::new(stability),
        drops: 0,
        queue_names: lang::conf::split_spaces(&queues.0),
        queues: Watched::default(),
        downstream: config.output_is_push(0),
        outputs: config.outputs(),
        refill: Refill::default(),
    }))
}

/// Checks W. A worker that looks all the time would do nothing else.
fn interval(w: f64) -> Result<f64, String> {
    if (1e-6..1e6).contains(&w) { Ok(w) } else { Err("w must be positive".to_owned()) }
}

fn gain(gain: f64, name: &str) -> Result<f64, String> {
    if gain >= 0.0 { Ok(gain) } else { Err(format!("{name} must be positive")) }
}

fn length(target: u32) -> Result<u32, String> {
    if target <= LONGEST { Ok(target) } else { Err(format!("'target_q' too large (max {LONGEST})")) }
}

impl Pi {
    fn verdict(&mut self, cx: &mut Cx<'_>) -> Verdict {
        if self.probability <= 0.0 || cx.rng().f64() >= self.probability {
            return Verdict::Pass;
        }
        self.drops += 1;
        fail(self.outputs, "queues would become too long")
    }
}

impl Element for Pi {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.queues = Watched::find(cx, &self.queue_names, self.downstream)?;
        cx.timers().after(0, Duration::from_secs_f64(self.w));
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let length = self.queues.len();
        let error = |length: usize| length as f64 - f64::from(self.target);
        let change = self.a * error(length) - self.b * error(self.before);
        self.probability = (self.probability + change).clamp(0.0, 1.0);
        self.before = length;
        self.average.see(length, cx.now_ns());
        cx.timers().after(0, Duration::from_secs_f64(self.w));
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        cx.scatter(batch, |cx, _| self.verdict(cx));
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        self.refill.start(want)
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        let got = batch.len();
        let left = cx.sift(batch, |cx, _| self.verdict(cx));
        self.refill.take(cx, got, left)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.before, self.probability, self.average, self.drops)))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(usize, f64, Average, u64)>() {
            let (before, probability, average, drops) = *state;
            (self.before, self.probability, self.drops) = (before, probability, drops);
            self.average.adopt(average);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("w", |e: &mut Pi, _| e.w);
        h.read("a", |e: &mut Pi, _| e.a);
        h.read("b", |e: &mut Pi, _| e.b);
        h.read("target", |e: &mut Pi, _| e.target);
        h.write("w", |e: &mut Pi, cx, text| {
            e.w = interval(router::value(cx, text)?)?;
            Ok(())
        });
        h.write("a", |e: &mut Pi, cx, text| {
            e.a = gain(router::value(cx, text)?, "a")?;
            Ok(())
        });
        h.write("b", |e: &mut Pi, cx, text| {
            e.b = gain(router::value(cx, text)?, "b")?;
            Ok(())
        });
        h.write("target", |e: &mut Pi, cx, text| {
            e.target = length(router::value(cx, text)?)?;
            Ok(())
        });
        h.read("p", |e: &mut Pi, _| e.probability);
        h.read("drops", |e: &mut Pi, _| e.drops);
        h.read("queues", |e: &mut Pi, _| e.queues.lines());
        h.read("avg_queue_size", |e: &mut Pi, _| shown(&e.average));
        h.read("stats", |e: &mut Pi, _| {
            let (length, average) = (e.queues.len(), shown(&e.average));
            format!("{length} current queue\n{average} avg queue\n{} drops\n", e.drops)
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors, run_and_read};
    use elements_testing::run_to_end;
    use router::Call;

    /// Queue length and probability with `load` packets a second for a link of 1,000, after some seconds.
    fn after(load: u32) -> (u32, f64) {
        let config = format!(
            "RatedSource(RATE {load}) -> p :: PI(0.01, 0.0025, 0.0024, 50) -> q :: Queue(500) -> RatedUnqueue(1000) -> Discard;
             Script(wait 40, stop)"
        );
        let mut router = build(&config, 1, 1).unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut router);
        let mut read = |path| router.call(Call::read(path, "")).unwrap_or_default();
        (read("q.length").parse().expect("a length"), read("p.p").parse().expect("a probability"))
    }

    /// What is dropped is what is too much.
    #[test]
    fn the_length_is_the_same_at_any_load() {
        for (load, part) in [(1250, 0.2), (2000, 0.5)] {
            let (length, probability) = after(load);
            assert!((20..90).contains(&length), "{length} of {load}");
            assert!((probability - part).abs() < 0.12, "{probability} of {load}");
        }
        assert_eq!(after(900).1, 0.0, "nothing is dropped while queues are short");
    }

    #[test]
    fn dropped_packets_are_counted_and_leave_at_output_1() {
        let config = "InfiniteSource(LIMIT 100) -> SimpleQueue(100) -> u :: Unqueue(ACTIVE false)
                      -> p :: PI(0.001, 1, 1, 0, QUEUES w) -> Discard; p[1] -> d :: Counter -> Discard;
                      InfiniteSource(LIMIT 5) -> w :: SimpleQueue -> Idle;
                      Script(wait 0.1, write u.active true, wait 0.1, stop)";
        assert_eq!(
            run_and_read(config, &["p.p", "p.drops", "d.count", "p.queues"]),
            ["1", "100", "100", "w\n"]
        );
        let config = "InfiniteSource(LIMIT 5) -> w :: SimpleQueue -> Idle; InfiniteSource(LIMIT 100) -> SimpleQueue(100)
                      -> p :: PI(0.001, 1, 1, 0, w) -> u :: Unqueue(ACTIVE false) -> c :: Counter -> Discard;
                      Script(wait 0.1, write u.active true, wait 0.1, stop)";
        assert_eq!(run_and_read(config, &["p.drops", "c.count"]), ["100", "0"]);
    }

    #[test]
    fn wrong_parameters_are_refused() {
        for (arguments, message) in [
            ("0, 1, 1, 5", "w must be positive"),
            ("1, -1, 1, 5", "a must be positive"),
            ("1, 1, -1, 5", "b must be positive"),
            ("1, 1, 1, 65536", "'target_q' too large (max 65535)"),
            ("1, 1, 1, 5, STABILITY 0", "STABILITY parameter must be between 1 and 16"),
            ("1, 1, 1, 5", "no nearby Queues"),
        ] {
            let said = errors(&format!("Idle -> PI({arguments}) -> Discard"));
            assert!(said.contains(message), "{arguments}: {said}");
        }
    }
}
