//! One flow over several workers: what a packet of it takes on one worker, and on several that share its work by Spray and have it leave in order.
//!
//! Two workers are two threads, in real time. As many as a machine has no cores for take turns on one of them, each with a clock of its own that
//! goes on by what its turns really take: virtual time, in which nothing is said of what it costs to get a packet out of another core's cache.

use super::arguments::Arguments;
use super::rb4::rounds::Rounds;
use crate::assembly;
use packet::Batch;
use router::{Call, Class, Classes, Clock, Config, ConfigError, Cx, Element, Log, Options, Router, Standing};
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const FLOOD: Class =
    Class::new("Flood", flood).ports("0/1").processing("/h").activity(router::Activity::Always);
const TOIL: Class = Class::new("Toil", toil).processing("h/h");
const IN_ORDER: Class = Class::new("InOrder", in_order).ports("1/0").processing("h/").absorbs("all packets");

/// Packets of a batch.
const BURST: usize = 32;
/// Work of a fixed time, in nanoseconds.
const TOILS: [u64; 7] = [0, 50, 100, 200, 300, 600, 1_200];
/// A turn that takes longer was not the router's: another program had the processor.
const INTERRUPTED_NS: u64 = 200_000;
/// By how much simulated time goes on when something is done, so that a turn ends with it.
const END_OF_TURN_NS: i64 = 2_000_000;
/// How often nothing happens before it is said that nothing will.
const IN_VAIN: usize = 10_000;
/// When packets that have not arrived are taken for lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ends the turn, where workers take turns on one thread.
fn end_turn(cx: &Cx<'_>) {
    let clock = &cx.info().clock;
    clock.jump(clock.now_ns() + END_OF_TURN_NS);
}

/// Makes numbered packets as fast as there is room for them.
struct Flood {
    sample: Vec<u8>,
    made: i64,
    limit: i64,
}

fn flood(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut octets, mut limit) = (0u32, 0);
    config.args().required("OCTETS", &mut octets).required("LIMIT", &mut limit).finish()?;
    let mut sample = vec![0; octets as usize];
    sample[..4].copy_from_slice(&[0x45, 0, (octets >> 8) as u8, octets as u8]);
    (sample[8], sample[9]) = (64, 17);
    sample[12..20].copy_from_slice(&[10, 0, 1, 9, 10, 0, 2, 8]);
    Ok(Box::new(Flood { sample, made: 0, limit }))
}

impl Element for Flood {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().listen_room(0);
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if !cx.signals().has_room(0) {
            return;
        }
        let mut batch = cx.batch();
        for _ in 0..(self.limit - self.made).min(BURST as i64) {
            let Some(mut packet) = cx.pool().packet(&self.sample) else { break };
            self.made += 1;
            packet.set_timestamp_ns(self.made);
            packet.set_network(0, 20);
            batch.push(packet);
        }
        cx.emit(0, batch);
        end_turn(cx);
        if self.made < self.limit {
            cx.tasks().schedule();
        } else if !cx.info().clock.is_simulated() {
            cx.timers().after(0, PATIENCE);
        }
    }

    /// Some are lost.
    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.info().please_stop();
    }
}

/// Takes so long for each packet.
struct Toil {
    steps: u64,
}

/// Multiplications, each of which waits for the one before.
#[inline(never)]
fn toil_away(steps: u64, mut value: u64) -> u64 {
    for _ in 0..steps {
        value = black_box(value.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    }
    value
}

/// How many of them take a nanosecond.
fn steps_a_ns() -> f64 {
    static STEPS: OnceLock<f64> = OnceLock::new();
    *STEPS.get_or_init(|| {
        let steps = 300_000;
        let took = |_| {
            let start = Instant::now();
            black_box(toil_away(steps, 1));
            start.elapsed().as_nanos() as f64
        };
        steps as f64 / (0..50).map(took).fold(f64::INFINITY, f64::min)
    })
}

fn toil(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut ns = 0u32;
    config.args().required("NS", &mut ns).finish()?;
    Ok(Box::new(Toil { steps: (f64::from(ns) * steps_a_ns()).round() as u64 }))
}

impl Element for Toil {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        for packet in batch.iter_mut() {
            let first = packet.data_mut().first_mut();
            first.into_iter().for_each(|byte| *byte = toil_away(self.steps, (*byte).into()) as u8);
        }
        cx.emit(0, batch);
        end_turn(cx);
    }
}

/// Counts packets and sees whether each has a higher number than the one before. The last one stops the driver.
struct InOrder {
    last: i64,
    count: u64,
    wrong: u64,
    limit: i64,
}

fn in_order(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut limit = 0;
    config.args().required("LIMIT", &mut limit).finish()?;
    Ok(Box::new(InOrder { last: 0, count: 0, wrong: 0, limit }))
}

impl Element for InOrder {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        for packet in batch.iter() {
            let number = packet.timestamp_ns();
            self.wrong += u64::from(number <= self.last);
            self.last = self.last.max(number);
        }
        if !batch.is_empty() {
            end_turn(cx);
        }
        self.count += batch.len() as u64;
        cx.consume(batch);
        if self.last == self.limit {
            cx.info().please_stop();
        }
    }

    fn handlers(&self, h: &mut router::Handlers) {
        h.read("count", |e: &mut InOrder, _| e.count);
        h.read("wrong", |e: &mut InOrder, _| e.wrong);
    }
}

/// What is done with a packet.
struct Work {
    name: String,
    octets: usize,
    elements: String,
    /// If it is of a fixed time.
    toil_ns: Option<u64>,
}

impl Work {
    fn all() -> Vec<Work> {
        let toil = |ns: u64| Work {
            name: format!("{ns} ns"),
            octets: 64,
            elements: format!("Toil({ns})"),
            toil_ns: Some(ns),
        };
        let key = "5a".repeat(16) + "01020304";
        let esp = |octets: usize| Work {
            name: format!("ESP, {octets} octets"),
            octets,
            elements: format!("ESPEncap(0x1001, \\<{key}>) -> Toil(0) -> IPEncap(esp, 192.0.2.1, 192.0.2.2)"),
            toil_ns: None,
        };
        TOILS.into_iter().map(toil).chain([64, 1_450].map(esp)).collect()
    }

    /// The work on one worker, or spread over several, the last of which has packets leave.
    fn config(&self, workers: usize, packets: u64) -> String {
        let Work { octets, elements, .. } = self;
        let (source, sink) = (format!("Flood({octets}, {packets})"), format!("d :: InOrder({packets})"));
        if workers == 1 {
            return format!("{source} -> {elements} -> {sink};");
        }
        format!(
            "{source} -> s :: Spray; s[1] -> {elements} -> [1]s; s -> out :: Unqueue({BURST}) -> {sink};
             StaticThreadSched(out {});",
            workers - 1
        )
    }
}

fn build(work: &Work, workers: usize, packets: u64, clock: Clock) -> Result<Router, String> {
    let library = elements::classes();
    let known = Classes::new(library.iter().chain([&FLOOD, &TOIL, &IN_ORDER]));
    let pin = (!clock.is_simulated()).then_some(0);
    let options = Options {
        workers,
        vector: BURST,
        clock,
        pin,
        log: Log::Memory(Default::default()),
        ..Options::default()
    };
    assembly::build(("elephant", &work.config(workers, packets)), &[], &known, options)
}

/// All have arrived, in order: nothing else is worth a figure.
fn check(router: &mut Router, packets: u64) -> Result<(), String> {
    let mut read = |path: &str| Ok::<_, String>(router.call(Call::read(path, ""))?.trim().to_owned());
    let (count, wrong) = (read("d.count")?, read("d.wrong")?);
    if count != packets.to_string() || wrong != "0" {
        return Err(format!(
            "{count} of {packets} packets arrived, {wrong} out of order: {:?}",
            router.drops()
        ));
    }
    router.finish();
    Ok(())
}

/// Nanoseconds a packet, with each worker on a core of its own.
fn real(work: &Work, workers: usize, packets: u64) -> Result<f64, String> {
    let mut router = build(work, workers, packets, Clock::real())?;
    let start = Instant::now();
    router.run();
    let took = start.elapsed().as_nanos() as f64;
    check(&mut router, packets)?;
    Ok(took / packets as f64)
}

/// Nanoseconds a packet in virtual time.
fn simulated(work: &Work, workers: usize, packets: u64) -> Result<f64, String> {
    let clock = Clock::simulated();
    let mut router = build(work, workers, packets, clock.clone())?;
    // When each is free, and whether it has found nothing to do since another one did something.
    let (mut at_ns, mut rests) = (vec![0u64; workers], vec![false; workers]);
    let (mut usual_ns, mut in_vain) = (1_000, 0);
    loop {
        let awake = at_ns.iter().enumerate().filter(|(worker, _)| !rests[*worker]);
        let Some((worker, &began_ns)) = awake.min_by_key(|(_, at)| **at) else {
            in_vain += 1;
            if in_vain > IN_VAIN {
                let count = router.call(Call::read("d.count", ""))?;
                return Err(format!("{}: {workers} workers stop at {count} of {packets}", work.name));
            }
            // Each may have a message by now.
            rests.fill(false);
            continue;
        };
        (0..workers).for_each(|other| router.stall(other, i64::MAX));
        let before = clock.now_ns();
        router.stall(worker, before);
        let start = Instant::now();
        let standing = router.run_rounds(1);
        let took = start.elapsed().as_nanos() as u64;
        if matches!(standing, Standing::Halted) {
            break;
        }
        if clock.now_ns() == before {
            rests[worker] = true;
            continue;
        }
        in_vain = 0;
        for (other, rests) in rests.iter_mut().enumerate() {
            if std::mem::take(rests) {
                at_ns[other] = at_ns[other].max(began_ns);
            }
        }
        let took = if took > INTERRUPTED_NS { usual_ns } else { took };
        usual_ns = (15 * usual_ns + took) / 16;
        at_ns[worker] += took.max(1);
    }
    check(&mut router, packets)?;
    Ok(at_ns.into_iter().max().unwrap_or(0) as f64 / packets as f64)
}

/// What time of work has two workers do as much as one; between rows, in a straight line.
fn break_even(rows: &[(u64, f64, f64)]) -> Option<f64> {
    let gain = |(_, one, two): &(u64, f64, f64)| one - two;
    let after = rows.iter().position(|row| gain(row) > 0.0)?;
    let Some(before) = after.checked_sub(1) else { return Some(rows[after].0 as f64) };
    let (low, high) = (&rows[before], &rows[after]);
    Some(low.0 as f64 + (high.0 - low.0) as f64 * -gain(low) / (gain(high) - gain(low)))
}

/// All rows.
pub(super) fn figures(arguments: &Arguments) -> Result<Vec<Value>, String> {
    let (runs, packets, slow) = match arguments.tiny {
        true => (1, 3_000, 1_000),
        false => (arguments.runs.max(1), 1_000_000, 100_000),
    };
    let (works, mut rounds) = (Work::all(), Rounds::default());
    for _ in 0..runs {
        for work in &works {
            for (column, workers) in [("one_ns", 1), ("two_ns", 2)] {
                rounds.add(&work.name, column, real(work, workers, packets)?);
            }
            for (column, workers) in [("virtual_one_ns", 1), ("virtual_two_ns", 2), ("virtual_four_ns", 4)] {
                rounds.add(&work.name, column, simulated(work, workers, slow)?);
            }
        }
    }
    let median = |work: &Work, column| rounds.median(&work.name, column);
    let row = |work: &Work| {
        json!({
            "name": format!("elephant: {}", work.name),
            "one_ns": rounds.spread(&work.name, "one_ns"),
            "two_ns": rounds.spread(&work.name, "two_ns"),
            "times": median(work, "one_ns") / median(work, "two_ns"),
            "virtual_one_ns": rounds.spread(&work.name, "virtual_one_ns"),
            "virtual_two_times": median(work, "virtual_one_ns") / median(work, "virtual_two_ns"),
            "virtual_four_times": median(work, "virtual_one_ns") / median(work, "virtual_four_ns"),
        })
    };
    let mut figures: Vec<Value> = works.iter().map(row).collect();
    let toils: Vec<_> = works
        .iter()
        .filter_map(|work| Some((work.toil_ns?, median(work, "one_ns"), median(work, "two_ns"))))
        .collect();
    figures
        .push(json!({ "name": "elephant: work from which two workers do more", "ns": break_even(&toils) }));
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::break_even;

    #[test]
    fn the_cost_that_pays_lies_between_rows() {
        assert_eq!(break_even(&[(0, 10.0, 30.0), (50, 60.0, 60.0), (100, 110.0, 80.0)]), Some(50.0));
        assert_eq!(break_even(&[(0, 10.0, 30.0), (100, 110.0, 90.0)]), Some(50.0));
        assert_eq!(break_even(&[(0, 30.0, 10.0)]), Some(0.0));
        assert_eq!(break_even(&[(0, 10.0, 30.0)]), None);
    }
}
