//! `rcu-grace`: how long a grace period takes, from the retirement to the last reader's report.
//!
//! Readers do turns of so many packets' work each. An updater starts a grace period at a moment unrelated to their turns,
//! and waits for it. When a reader reports it, it notes the time: the last such note ends the grace period, whenever
//! the updater itself gets a processor to notice.

use crate::machine::Machine;
use crate::rcu::{Bound, chart::Chart, print_json, print_table, processors, read_json};
use crossbeam_utils::CachePadded;
use hdrhistogram::Histogram;
use rcu::Domain;
use serde::{Deserialize, Serialize};
use std::hint::{black_box, spin_loop};
use std::path::{Path, PathBuf};
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Milliseconds a case.
    #[arg(long, default_value_t = 1000)]
    ms: u64,
    /// Draw charts into this folder.
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Measure nothing: draw the charts of a run that was kept.
    #[arg(long, requires = "svg")]
    from: Option<PathBuf>,
    /// Everything once, briefly.
    #[arg(long)]
    tiny: bool,
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
}

const BATCHES: [u64; 5] = [1, 4, 16, 64, 256];
/// Nanoseconds of work a packet: a short reader and a long one.
const PACKETS_NS: [u64; 2] = [50, 500];
/// Threads a processor.
const LOADS: [usize; 3] = [1, 2, 4];

/// Nanoseconds: a distribution.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
struct Quantiles {
    p50: u64,
    p99: u64,
    p999: u64,
    max: u64,
}

impl Quantiles {
    fn of(histogram: &Histogram<u64>) -> Quantiles {
        let at = |quantile| histogram.value_at_quantile(quantile);
        Quantiles { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: histogram.max() }
    }
}

#[derive(Deserialize, Serialize)]
struct Figure {
    threads_a_processor: usize,
    oversubscribed: bool,
    readers: usize,
    batch: u64,
    packet_ns: u64,
    grace_periods: u64,
    /// Until the last reader's report.
    latency_ns: Quantiles,
    /// Until the updater went on.
    updater_ns: Quantiles,
    /// The longest turn that each grace period met.
    turn_ns: Quantiles,
    /// The same as `latency_ns`, of grace periods that met no turn of more than three times the work asked for, and a
    /// microsecond: no reader lost the processor meanwhile.
    undisturbed: u64,
    undisturbed_ns: Option<Quantiles>,
    /// Of grace periods before which the updater kept its processor until readers knew what to note.
    #[serde(default)]
    judged: u64,
    /// How many of these took at most two of the longest turns that they met, and a microsecond.
    within_two_turns: f64,
    /// By how much they took longer than two of the longest turns that they met.
    #[serde(default)]
    beyond_two_turns_ns: Quantiles,
    /// Whether 99 % took at most two of the longest turns, and a microsecond.
    #[serde(default)]
    p99_within_two_turns: bool,
}

#[derive(Deserialize, Serialize)]
struct Report {
    machine: Machine,
    figures: Vec<Figure>,
}

/// What a reader notes when it reports.
#[derive(Default)]
struct Note {
    /// For which of the updater's grace periods.
    number: AtomicU64,
    at_ns: AtomicU64,
    /// The longer of the two last turns.
    turn_ns: AtomicU64,
}

impl Note {
    fn wait_for(&self, number: u64) {
        while self.number.load(Acquire) != number {
            thread::yield_now();
        }
    }
}

struct World {
    birth: Instant,
    /// The newest grace period, by number.
    wanted: CachePadded<AtomicU64>,
    stop: AtomicBool,
    notes: Vec<CachePadded<Note>>,
}

impl World {
    fn now(&self) -> u64 {
        self.birth.elapsed().as_nanos() as u64
    }

    fn read(&self, at: usize, steps: u64) {
        let mut reader = Domain::global().register("bench");
        let (mut noted, mut began, mut former, mut work) = (0, self.now(), 0, at as u64 + 1);
        while !self.stop.load(Relaxed) {
            reader.turn();
            work = black_box(spin(work, steps));
            // Looked at before the report: if it is new, the report is for it.
            let wanted = self.wanted.load(Acquire);
            reader.quiescent();
            let now = self.now();
            if wanted != noted {
                let note = &self.notes[at];
                note.at_ns.store(now, Relaxed);
                note.turn_ns.store((now - began).max(former), Relaxed);
                note.number.store(wanted, Release);
                noted = wanted;
            }
            (former, began) = (now - began, now);
        }
    }

    /// Starts grace periods and waits for them; adds what it finds.
    fn update(&self, long: Duration, work_ns: u64, found: &mut GraceTimes) {
        let domain = Domain::global();
        // All readers are at work when it begins.
        self.wanted.store(1, Release);
        self.notes.iter().for_each(|note| note.wait_for(1));
        let end = self.birth.elapsed() + long;
        // One at least, however long the thread waits for its processor.
        while found.latency.is_empty() || self.birth.elapsed() < end {
            let until = self.now() + fastrand::u64(..=work_ns);
            while self.now() < until {
                spin_loop();
            }
            let began = self.now();
            let token = domain.start();
            let number = self.wanted.load(Relaxed) + 1;
            self.wanted.store(number, Release);
            // If the updater loses the processor before this, readers do not know what to note when they report.
            let interrupted = self.now() - began > 2_000;
            domain.wait(token);
            found.updater.saturating_record(self.now() - began);
            let (mut last, mut turn) = (began, 0);
            for note in &self.notes {
                note.wait_for(number);
                last = last.max(note.at_ns.load(Relaxed));
                turn = turn.max(note.turn_ns.load(Relaxed));
            }
            found.latency.saturating_record(last - began);
            found.turn.saturating_record(turn);
            if turn <= 3 * work_ns + 1000 {
                found.undisturbed.saturating_record(last - began);
            }
            if interrupted {
                found.interrupted += 1;
                continue;
            }
            found.beyond.saturating_record((last - began).saturating_sub(2 * turn));
            found.within += u64::from(last - began <= 2 * turn + 1000);
        }
    }
}

struct GraceTimes {
    latency: Histogram<u64>,
    updater: Histogram<u64>,
    turn: Histogram<u64>,
    undisturbed: Histogram<u64>,
    beyond: Histogram<u64>,
    interrupted: u64,
    within: u64,
}

/// Work that a compiler or processor cannot shorten: each step waits for the one before.
fn spin(mut state: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}

/// How many steps of work a nanosecond holds.
fn steps_a_ns() -> f64 {
    let steps = 2_000_000;
    let fastest = (0..5).map(|_| {
        let begin = Instant::now();
        black_box(spin(black_box(1), steps));
        begin.elapsed().as_nanos() as f64
    });
    steps as f64 / fastest.fold(f64::MAX, f64::min)
}

fn measure(
    load: usize,
    batch: u64,
    packet_ns: u64,
    steps_a_ns: f64,
    long: Duration,
) -> Result<Figure, String> {
    let histogram = || Histogram::new_with_max(60_000_000_000, 3).map_err(|e| e.to_string());
    let mut found = GraceTimes {
        latency: histogram()?,
        updater: histogram()?,
        turn: histogram()?,
        undisturbed: histogram()?,
        beyond: histogram()?,
        interrupted: 0,
        within: 0,
    };
    let readers = (load * processors() - 1).max(1); // the updater is a thread, too
    let notes = (0..readers).map(|_| CachePadded::default()).collect();
    let wanted = CachePadded::new(AtomicU64::new(0));
    let world = World { birth: Instant::now(), wanted, stop: AtomicBool::new(false), notes };
    let steps = ((batch * packet_ns) as f64 * steps_a_ns) as u64;
    thread::scope(|scope| {
        for at in 0..readers {
            let world = &world;
            scope.spawn(move || {
                let _bound = Bound::to(at);
                world.read(at, steps);
            });
        }
        let _bound = Bound::to(processors() - 1);
        world.update(long, batch * packet_ns, &mut found);
        world.stop.store(true, Relaxed);
    });
    let grace_periods = found.latency.len();
    let judged = grace_periods - found.interrupted;
    Ok(Figure {
        threads_a_processor: load,
        oversubscribed: readers + 1 > processors(),
        readers,
        batch,
        packet_ns,
        grace_periods,
        latency_ns: Quantiles::of(&found.latency),
        updater_ns: Quantiles::of(&found.updater),
        turn_ns: Quantiles::of(&found.turn),
        undisturbed: found.undisturbed.len(),
        undisturbed_ns: (!found.undisturbed.is_empty()).then(|| Quantiles::of(&found.undisturbed)),
        judged,
        within_two_turns: found.within as f64 / judged.max(1) as f64,
        beyond_two_turns_ns: Quantiles::of(&found.beyond),
        p99_within_two_turns: 100 * found.within >= 99 * judged,
    })
}

/// Measures everything and prints it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    if let (Some(file), Some(folder)) = (&arguments.from, &arguments.svg) {
        return read_json::<Report>(file)?.draw(folder);
    }
    let machine = Machine::here();
    let long = Duration::from_millis(if arguments.tiny { 20 } else { arguments.ms });
    let steps_a_ns = steps_a_ns();
    let mut figures = Vec::new();
    for load in LOADS {
        for packet_ns in PACKETS_NS {
            for batch in BATCHES {
                figures.push(measure(load, batch, packet_ns, steps_a_ns, long)?);
            }
        }
    }
    let report = Report { machine, figures };
    if let Some(folder) = &arguments.svg {
        report.draw(folder)?;
    }
    if arguments.json {
        print_json(&report);
    } else {
        report.print();
    }
    Ok(())
}

/// Nanoseconds for people.
fn short(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{} us", ns / 1000),
        _ => format!("{} ms", ns / 1_000_000),
    }
}

impl Report {
    /// Grace periods while all threads run, against the batch.
    fn draw(&self, folder: &Path) -> Result<(), String> {
        for packet_ns in PACKETS_NS {
            let of = |value: fn(&Figure) -> u64| {
                let here = self.figures.iter().filter(|figure| !figure.oversubscribed);
                let here = here.filter(|figure| figure.packet_ns == packet_ns);
                here.map(|figure| (figure.batch as f64, value(figure) as f64 / 1e3)).collect()
            };
            let undisturbed = |figure: &Figure| figure.undisturbed_ns.map_or(0, |ns| ns.p99);
            Chart {
                file: &format!("rcu-grace-{packet_ns}-ns.svg"),
                title: &format!("Grace periods of undisturbed readers, packets of {packet_ns} ns"),
                x: "packets a turn",
                y: "microseconds",
                lines: vec![
                    ("two turns and 1 us".to_owned(), of(|figure| 2 * figure.turn_ns.p50 + 1000)),
                    ("p99".to_owned(), of(undisturbed)),
                    ("p50".to_owned(), of(|figure| figure.latency_ns.p50)),
                    ("a turn".to_owned(), of(|figure| figure.turn_ns.p50)),
                ],
            }
            .draw(folder)?;
        }
        Ok(())
    }

    fn print(&self) {
        println!("{}", self.machine.line());
        println!("from retirement to the last reader's report; in brackets, until the updater went on");
        println!("2/cpu and 4/cpu are oversubscribed: what they show is mostly the scheduler\n");
        let heads = [
            "threads",
            "packet",
            "batch",
            "n",
            "turn",
            "p50",
            "p99",
            "p99.9",
            "max",
            "undisturbed",
            "p99",
            "<= 2 turns + 1 us",
        ];
        let rows = self.figures.iter().map(|figure| {
            let (latency, updater) = (figure.latency_ns, figure.updater_ns);
            let both = |ours: u64, theirs: u64| format!("{} ({})", short(ours), short(theirs));
            vec![
                format!("{}/cpu", figure.threads_a_processor),
                format!("{} ns", figure.packet_ns),
                figure.batch.to_string(),
                figure.grace_periods.to_string(),
                short(figure.turn_ns.p50),
                both(latency.p50, updater.p50),
                both(latency.p99, updater.p99),
                both(latency.p999, updater.p999),
                both(latency.max, updater.max),
                figure.undisturbed.to_string(),
                figure.undisturbed_ns.map_or(String::new(), |of| short(of.p99)),
                format!(
                    "{:.3} %{}",
                    100.0 * figure.within_two_turns,
                    if figure.p99_within_two_turns { "" } else { " !" }
                ),
            ]
        });
        print_table(&heads, &rows.collect::<Vec<_>>());
    }
}
