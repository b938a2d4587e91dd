//! `rcu-update`: how fast updates go, how long the longest waits, and how much memory waits for its grace period.
//!
//! One reader on the first processor, one updater on the last. The updater replaces a number, over this crate and over
//! liburcu, and then:
//!
//! | row | here | liburcu |
//! |---|---|---|
//! | callbacks | an allocated box; freed by the reclaimer's thread (`Updater`) | an allocated node; freed by `call_rcu`'s thread |
//! | local | an allocated box; freed by the updater itself (`LocalUpdater`) | the same as before |
//! | recycled | a box whose grace period is over (`Recycler`) | a node from a list that `call_rcu`'s thread puts nodes on |
//! | synchronize | waits for the grace period, then frees | the same |
//!
//! Both allocate with the C library's `malloc`, and both callback rows free with its `free`.
#![allow(unsafe_code)] // One place is a plain pointer, as in the program over liburcu.

use crate::machine::Machine;
use crate::rcu::{Bound, Spread, print_json, print_table, processor_time, processor_time_of_all, urcu::Urcu};
use rcu::{Cell, Config, Domain, Turn};
use serde::Serialize;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};
use std::thread;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many rounds; in each round every case is measured once.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Milliseconds a measurement.
    #[arg(long, default_value_t = 500)]
    ms: u64,
    /// Everything once, briefly.
    #[arg(long)]
    tiny: bool,
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// What one run found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UpdateMeasurement {
    /// Updates begun a second.
    pub(crate) begun: f64,
    /// Of those, old values that were freed a second while the updater ran.
    pub(crate) freed: f64,
    /// The longest wait for a grace period.
    pub(crate) longest_ns: f64,
    /// Processor time for each update and its callback, of all threads but the reader.
    pub(crate) processor_ns: f64,
    /// Bytes that had been replaced and not freed, at their most.
    pub(crate) waiting_bytes_max: f64,
}

/// How the updater has old values freed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Reclamation {
    Callbacks,
    /// By callbacks that the updater runs itself.
    Local,
    /// Not at all: their boxes are used again.
    Recycled,
    Synchronize,
}

/// What the reader does between quiescent states.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Reads {
    Few,
    Many,
    /// A turn of `SLOW`.
    Slow,
}

/// A turn so long that what is replaced meanwhile is more than the limit allows.
const SLOW: Duration = Duration::from_millis(250);

const CASES: [(Reclamation, Reads); 11] = [
    (Reclamation::Local, Reads::Many),
    (Reclamation::Local, Reads::Few),
    (Reclamation::Local, Reads::Slow),
    (Reclamation::Recycled, Reads::Many),
    (Reclamation::Recycled, Reads::Few),
    (Reclamation::Recycled, Reads::Slow),
    (Reclamation::Callbacks, Reads::Many),
    (Reclamation::Callbacks, Reads::Few),
    (Reclamation::Callbacks, Reads::Slow),
    (Reclamation::Synchronize, Reads::Many),
    (Reclamation::Synchronize, Reads::Few),
];

impl Reads {
    /// Reads a section; 0 stands for a slow one.
    fn every(self) -> u64 {
        match self {
            Reads::Few => 32,
            Reads::Many => 1024,
            Reads::Slow => 0,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Reads::Few => "quiescent every 32 reads",
            Reads::Many => "quiescent every 1,024 reads",
            Reads::Slow => "quiescent every 250 ms",
        }
    }
}

#[derive(Serialize)]
struct Figure {
    updates: Reclamation,
    reader: Reads,
    library: &'static str,
    begun_per_s: Spread,
    freed_per_s: Spread,
    freed_to_liburcu: Option<Spread>,
    processor_ns_an_update: Option<Spread>,
    processor_ns_to_liburcu: Option<Spread>,
    longest_wait_ns: Option<Spread>,
    waiting_bytes_max: Option<Spread>,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    rounds: usize,
    limit_bytes: usize,
    skipped: Vec<String>,
    figures: Vec<Figure>,
}

/// One case over this crate, through the process's domain.
fn measure(reclamation: Reclamation, reads: Reads, long: Duration) -> UpdateMeasurement {
    let domain = Domain::global();
    let (place, stop, most) = (SharedNumber::default(), AtomicBool::new(false), AtomicU64::new(0));
    drop(domain.updater()); // the reclaimer's thread starts while this one is bound to no processor
    let before = processor_time_of_all();
    let (found, reading) = thread::scope(|scope| {
        let reader = match reclamation {
            Reclamation::Callbacks | Reclamation::Local | Reclamation::Recycled => {
                scope.spawn(|| read(domain, reads, &stop, |turn| *place.cell.read(turn)))
            }
            Reclamation::Synchronize => scope.spawn(|| read(domain, reads, &stop, |_| place.number())),
        };
        if reclamation != Reclamation::Synchronize {
            scope.spawn(|| watch(domain, &stop, &most)); // one thread more than liburcu's program has
        }
        let updater = scope.spawn(|| match reclamation {
            Reclamation::Callbacks => {
                let updater = domain.updater();
                update(domain, &stop, |number| place.cell.replace(Box::new(number), &updater).is_ok())
            }
            Reclamation::Local => {
                let mut updater = domain.local_updater();
                update(domain, &stop, |number| place.cell.replace(Box::new(number), &mut updater).is_ok())
            }
            Reclamation::Recycled => {
                let mut recycler = domain.recycler();
                update(domain, &stop, |number| recycler.replace(&place.cell, number).is_ok())
            }
            Reclamation::Synchronize => update_and_wait(domain, &place, &stop),
        });
        thread::sleep(long);
        stop.store(true, Relaxed);
        (updater.join().unwrap_or_default(), reader.join().unwrap_or_default())
    });
    domain.barrier();
    let (updates, found) = found;
    let updating = processor_time_of_all().saturating_sub(before).saturating_sub(reading);
    UpdateMeasurement {
        processor_ns: updating.as_nanos() as f64 / updates.max(1) as f64,
        waiting_bytes_max: most.into_inner() as f64,
        ..found
    }
}

/// Where the number is: for callbacks a cell; for waiting a plain pointer, whose updater frees what it replaced.
struct SharedNumber {
    cell: Cell<u64>,
    pointer: AtomicPtr<u64>,
}

impl Default for SharedNumber {
    fn default() -> Self {
        Self { cell: Cell::new(0), pointer: AtomicPtr::new(Box::into_raw(Box::new(0))) }
    }
}

impl Drop for SharedNumber {
    fn drop(&mut self) {
        // SAFETY: from a box, and no thread reads it any more.
        drop(unsafe { Box::from_raw(*self.pointer.get_mut()) });
    }
}

impl SharedNumber {
    /// The number behind the plain pointer: for readers in a turn.
    fn number(&self) -> u64 {
        // SAFETY: never null, and freed a grace period after it is replaced.
        unsafe { *self.pointer.load(Acquire) }
    }

    fn replace(&self, number: u64, domain: &Domain) {
        let old = self.pointer.swap(Box::into_raw(Box::new(number)), AcqRel);
        domain.synchronize();
        // SAFETY: from a box; unlinked by this swap only, and a grace period ago.
        drop(unsafe { Box::from_raw(old) });
    }
}

fn read(domain: &Domain, reads: Reads, stop: &AtomicBool, number: impl Fn(Turn<'_>) -> u64) -> Duration {
    let _bound = Bound::to(0);
    let mut reader = domain.register("bench");
    let mut sum = 0u64;
    while !stop.load(Relaxed) {
        let turn = reader.turn();
        if reads == Reads::Slow {
            let begin = Instant::now();
            while begin.elapsed() < SLOW && !stop.load(Relaxed) {
                sum = sum.wrapping_add(number(turn));
            }
        }
        for _ in 0..reads.every() {
            sum = sum.wrapping_add(number(turn));
        }
        reader.quiescent();
    }
    std::hint::black_box(sum);
    processor_time()
}

/// Notes how much waits, a thousand times a second.
fn watch(domain: &Domain, stop: &AtomicBool, most: &AtomicU64) {
    while !stop.load(Relaxed) {
        most.fetch_max(domain.stats().bytes_waiting as u64, Relaxed);
        thread::sleep(Duration::from_millis(1));
    }
}

fn update(
    domain: &Domain,
    stop: &AtomicBool,
    mut replace: impl FnMut(u64) -> bool,
) -> (u64, UpdateMeasurement) {
    let _bound = Bound::to(super::processors() - 1);
    let (mut begun, before, begin) = (0u64, domain.stats().callbacks_run, Instant::now());
    while !stop.load(Relaxed) {
        if replace(begun) {
            begun += 1;
        } else {
            thread::yield_now();
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let freed = domain.stats().callbacks_run.saturating_sub(before);
    (
        begun,
        UpdateMeasurement {
            begun: begun as f64 / seconds,
            freed: freed as f64 / seconds,
            ..UpdateMeasurement::default()
        },
    )
}

fn update_and_wait(domain: &Domain, place: &SharedNumber, stop: &AtomicBool) -> (u64, UpdateMeasurement) {
    let _bound = Bound::to(super::processors() - 1);
    let (mut begun, mut longest, begin) = (0u64, Duration::ZERO, Instant::now());
    while !stop.load(Relaxed) {
        let waiting = Instant::now();
        place.replace(begun, domain);
        longest = longest.max(waiting.elapsed());
        begun += 1;
    }
    let per_s = begun as f64 / begin.elapsed().as_secs_f64();
    (
        begun,
        UpdateMeasurement {
            begun: per_s,
            freed: per_s,
            longest_ns: longest.as_nanos() as f64,
            ..UpdateMeasurement::default()
        },
    )
}

/// The same over liburcu.
fn measure_urcu(
    urcu: &Urcu,
    reclamation: Reclamation,
    reads: Reads,
    ms: u64,
) -> Result<UpdateMeasurement, String> {
    let reclamation = match reclamation {
        Reclamation::Callbacks | Reclamation::Local => "callbacks",
        Reclamation::Recycled => "recycle",
        Reclamation::Synchronize => "synchronize",
    };
    let outcome = urcu.run(ms, reads.every(), reclamation)?;
    Ok(UpdateMeasurement {
        begun: outcome.updates_per_s,
        freed: outcome.reclaimed_per_s,
        longest_ns: outcome.longest_ns,
        processor_ns: outcome.processor_ns,
        waiting_bytes_max: (outcome.grown_kib.max(0) * 1024) as f64,
    })
}

/// Measures everything, interleaved, and prints it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let machine = Machine::here();
    let (rounds, ms) = if arguments.tiny { (1, 20) } else { (arguments.rounds.max(1), arguments.ms) };
    let (urcu, skipped) = match Urcu::build() {
        Ok(urcu) => (Some(urcu), Vec::new()),
        Err(why) => (None, vec![format!("liburcu-qsbr: {why}")]),
    };
    let mut ours = vec![Vec::new(); CASES.len()];
    let mut theirs = ours.clone();
    for _ in 0..rounds {
        for (at, (reclamation, reads)) in CASES.into_iter().enumerate() {
            ours[at].push(measure(reclamation, reads, Duration::from_millis(ms)));
            if let Some(urcu) = &urcu {
                theirs[at].push(measure_urcu(urcu, reclamation, reads, ms)?);
            }
        }
    }
    let mut figures = Vec::new();
    for (at, case) in CASES.into_iter().enumerate() {
        figures.push(Figure::new(case, "clique rcu", &ours[at], &theirs[at]));
        if urcu.is_some() {
            figures.push(Figure::new(case, "liburcu-qsbr", &theirs[at], &theirs[at]));
        }
    }
    let limit_bytes = Config::default().limit_bytes;
    Report { machine, rounds, limit_bytes, skipped, figures }.print(arguments.json);
    Ok(())
}

impl Figure {
    fn new(
        (updates, reader): (Reclamation, Reads),
        library: &'static str,
        found: &[UpdateMeasurement],
        to: &[UpdateMeasurement],
    ) -> Figure {
        let of = |field: fn(&UpdateMeasurement) -> f64, found: &[UpdateMeasurement]| {
            found.iter().map(field).collect::<Vec<_>>()
        };
        let waits = updates == Reclamation::Synchronize;
        let spread = |field: fn(&UpdateMeasurement) -> f64| Spread::of(&of(field, found));
        Figure {
            updates,
            reader,
            library,
            begun_per_s: spread(|found| found.begun),
            freed_per_s: spread(|found| found.freed),
            freed_to_liburcu: Spread::of_ratios(
                &of(|found| found.freed, found),
                &of(|found| found.freed, to),
            ),
            processor_ns_an_update: (!waits).then(|| spread(|found| found.processor_ns)),
            processor_ns_to_liburcu: Spread::of_ratios(
                &of(|found| found.processor_ns, found),
                &of(|found| found.processor_ns, to),
            )
            .filter(|_| !waits),
            longest_wait_ns: waits.then(|| spread(|found| found.longest_ns)),
            waiting_bytes_max: (!waits).then(|| spread(|found| found.waiting_bytes_max)),
        }
    }
}

impl Report {
    fn print(&self, json: bool) {
        if json {
            return print_json(self);
        }
        println!("{}", self.machine.line());
        self.skipped.iter().for_each(|why| println!("skipped: {why}"));
        println!("the limit here is {} MiB; medians of {} rounds\n", self.limit_bytes >> 20, self.rounds);
        let heads = [
            "updates", "reader", "library", "begun/s", "freed/s", "min", "max", "/liburcu", "cpu ns",
            "/liburcu", "peak", "longest",
        ];
        let million = |per_s: f64| format!("{:.2} M", per_s / 1e6);
        let rows = self.figures.iter().map(|figure| {
            vec![
                format!("{:?}", figure.updates).to_lowercase(),
                figure.reader.title().to_owned(),
                figure.library.to_owned(),
                million(figure.begun_per_s.median),
                million(figure.freed_per_s.median),
                million(figure.freed_per_s.min),
                million(figure.freed_per_s.max),
                figure.freed_to_liburcu.map_or(String::new(), |of| format!("{:.2}", of.median)),
                figure.processor_ns_an_update.map_or(String::new(), |of| format!("{:.0}", of.median)),
                figure.processor_ns_to_liburcu.map_or(String::new(), |of| format!("{:.2}", of.median)),
                figure.waiting_bytes_max.map_or(String::new(), |of| format!("{:.1} MiB", of.max / 1048576.0)),
                figure.longest_wait_ns.map_or(String::new(), |of| format!("{:.2} ms", of.max / 1e6)),
            ]
        });
        print_table(&heads, &rows.collect::<Vec<_>>());
    }
}
