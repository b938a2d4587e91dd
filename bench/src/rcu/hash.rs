//! `rcu-hash`: the hash-table mini-benchmark: searches, and deletions followed by reinsertion, in random runs, over locks
//! and RCU.

use crate::machine::Machine;
use crate::rcu::chains::{Chains, Session};
use crate::rcu::chart::Chart;
use crate::rcu::{Bound, Spread, print_json, print_table, processor_time, processors};
use rcu_flavours::{BrLock, Flavour, Lock, Qsbr, RwLock, Unprotected};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many rounds; in each round every case is measured once.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Milliseconds a measurement.
    #[arg(long, default_value_t = 50)]
    ms: u64,
    /// Buckets, a power of two; each has one element.
    #[arg(long, default_value_t = 1024)]
    buckets: usize,
    /// Write charts into this folder, one for each number of threads.
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Everything once, briefly.
    #[arg(long)]
    tiny: bool,
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Of a million operations so many are updates.
const UPDATES: [u32; 6] = [0, 1_000, 10_000, 100_000, 500_000, 1_000_000];

#[derive(Clone, Copy)]
struct Case {
    updates: u32,
    threads: usize,
    long: Duration,
}

/// What one run found: operations a second, and processor time an operation.
#[derive(Clone, Copy, Debug)]
struct Throughput {
    per_s: f64,
    processor_ns: f64,
}

#[derive(Serialize)]
struct Figure {
    protection: &'static str,
    updates_a_million: u32,
    threads: usize,
    oversubscribed: bool,
    operations_per_s: Spread,
    to_ideal: Option<Spread>,
    processor_ns: Spread,
    processor_ns_to_ideal: Option<Spread>,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    rounds: usize,
    buckets: usize,
    figures: Vec<Figure>,
}

type Scheme = (&'static str, fn(usize, Case) -> Throughput);

const IDEAL: &str = "ideal";
const SCHEMES: [Scheme; 6] = [
    (IDEAL, ideal),
    ("global lock", |buckets, case| measure(&Chains::new(buckets, Lock::new()), case)),
    ("reader-writer lock", |buckets, case| measure(&Chains::new(buckets, RwLock::new()), case)),
    ("per-bucket lock", |buckets, case| measure(&Chains::<Lock>::per_bucket(buckets), case)),
    ("brlock", |buckets, case| measure(&Chains::new(buckets, BrLock::new()), case)),
    ("RCU", |buckets, case| measure(&Chains::new(buckets, Qsbr::new()), case)),
];

/// Without protection, on one thread, and as if others did as well beside it.
fn ideal(buckets: usize, case: Case) -> Throughput {
    // SAFETY: one thread only.
    #[allow(unsafe_code)]
    let instance = unsafe { Unprotected::new() };
    let alone = measure(&Chains::new(buckets, instance), Case { threads: 1, ..case });
    Throughput { per_s: alone.per_s * case.threads.min(processors()) as f64, ..alone }
}

fn measure<F: Flavour>(table: &Chains<F>, case: Case) -> Throughput {
    let (stop, ready) = (AtomicBool::new(false), Barrier::new(case.threads + 1));
    thread::scope(|scope| {
        let work = |at: usize| {
            let (stop, ready) = (&stop, &ready);
            move || {
                let _bound = Bound::to(at);
                let mut session = table.session();
                ready.wait();
                let begin = processor_time();
                let operations = operate(&mut session, table.len(), at, case.updates, stop);
                let spent = processor_time() - begin;
                session.finish();
                (operations, spent)
            }
        };
        let threads: Vec<_> = (0..case.threads).map(|at| scope.spawn(work(at))).collect();
        ready.wait();
        let begin = Instant::now();
        thread::sleep(case.long);
        stop.store(true, Relaxed);
        let seconds = begin.elapsed().as_secs_f64();
        let results = threads.into_iter().filter_map(|thread| thread.join().ok());
        let (operations, spent) =
            results.fold((0, Duration::ZERO), |(operations, spent), (o, s)| (operations + o, spent + s));
        Throughput {
            per_s: operations as f64 / seconds,
            processor_ns: spent.as_nanos() as f64 / operations.max(1) as f64,
        }
    })
}

/// Runs of searches of random length, and an update after each, so that the mix is as asked; one at least, however short the time.
fn operate<F: Flavour>(
    session: &mut Session<'_, F>,
    keys: usize,
    seed: usize,
    updates: u32,
    stop: &AtomicBool,
) -> u64 {
    const LONGEST: u64 = 4096;
    let mut random = fastrand::Rng::with_seed(seed as u64);
    let searches_an_update = (1_000_000 - u64::from(updates)) as f64 / f64::from(updates.max(1));
    let mut operations = 0;
    loop {
        // Uniform between none and twice the mean.
        let run =
            if updates == 0 { LONGEST } else { (random.f64() * 2.0 * searches_an_update).round() as u64 };
        for _ in 0..run {
            std::hint::black_box(session.search(random.u64(..keys as u64)));
            session.quiescent();
        }
        if updates > 0 {
            session.delete_and_reinsert(random.u64(..keys as u64));
            session.quiescent();
        }
        operations += run + u64::from(updates > 0);
        if stop.load(Relaxed) {
            return operations;
        }
    }
}

/// Measures everything, interleaved, and prints it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    if !arguments.buckets.is_power_of_two() {
        return Err(format!("--buckets {}: not a power of two", arguments.buckets));
    }
    let machine = Machine::here();
    let (rounds, ms) = if arguments.tiny { (1, 2) } else { (arguments.rounds.max(1), arguments.ms) };
    let cases: Vec<Case> = [1, processors(), 2 * processors()]
        .into_iter()
        .flat_map(|threads| UPDATES.map(|updates| Case { updates, threads, long: Duration::from_millis(ms) }))
        .collect();
    let mut found = vec![vec![Vec::new(); SCHEMES.len()]; cases.len()];
    for _ in 0..rounds {
        for (case, found) in cases.iter().zip(&mut found) {
            for ((_, scheme), found) in SCHEMES.iter().zip(found) {
                found.push(scheme(arguments.buckets, *case));
            }
        }
    }
    let mut figures = Vec::new();
    for (case, found) in cases.iter().zip(&found) {
        for ((name, _), one) in SCHEMES.iter().zip(found) {
            figures.push(Figure::new(name, *case, one, &found[0]));
        }
    }
    let report = Report { machine, rounds, buckets: arguments.buckets, figures };
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

impl Figure {
    fn new(protection: &'static str, case: Case, found: &[Throughput], ideal: &[Throughput]) -> Figure {
        let rate = |found: &[Throughput]| found.iter().map(|found| found.per_s).collect::<Vec<_>>();
        let time = |found: &[Throughput]| found.iter().map(|found| found.processor_ns).collect::<Vec<_>>();
        Figure {
            protection,
            updates_a_million: case.updates,
            threads: case.threads,
            oversubscribed: case.threads > processors(),
            operations_per_s: Spread::of(&rate(found)),
            to_ideal: Spread::of_ratios(&rate(found), &rate(ideal)),
            processor_ns: Spread::of(&time(found)),
            processor_ns_to_ideal: Spread::of_ratios(&time(found), &time(ideal)),
        }
    }
}

impl Report {
    fn draw(&self, folder: &Path) -> Result<(), String> {
        for of_threads in self.figures.chunk_by(|a, b| a.threads == b.threads) {
            let threads = of_threads[0].threads;
            let note = if of_threads[0].oversubscribed { " (oversubscribed)" } else { "" };
            let point = |figure: &Figure| {
                // A logarithmic axis has no zero: it stands where one in ten thousand would.
                (f64::from(figure.updates_a_million.max(100)) / 10_000.0, figure.processor_ns.median)
            };
            let line = |(name, _): &Scheme| {
                let of_scheme = of_threads.iter().filter(|figure| figure.protection == *name);
                ((*name).to_owned(), of_scheme.map(point).collect())
            };
            let chart = Chart {
                file: &format!("rcu-hash-{threads}-threads.svg"),
                title: &format!("The hash-table mini-benchmark, {threads} threads{note}"),
                x: "updates, % (none at the left edge)",
                y: "ns of processor time an operation",
                lines: SCHEMES.iter().map(line).collect(),
            };
            chart.draw(folder)?;
        }
        Ok(())
    }

    fn print(&self) {
        println!("{}", self.machine.line());
        println!("{} buckets of one element; medians of {} rounds", self.buckets, self.rounds);
        for of_threads in self.figures.chunk_by(|a, b| a.threads == b.threads) {
            let threads = of_threads[0].threads;
            let note =
                if of_threads[0].oversubscribed { " (oversubscribed: preempted lock holders)" } else { "" };
            println!("\n{threads} threads{note}: M operations/s, / ideal; processor ns an operation");
            let updates = UPDATES.map(|updates| format!("{} % updates", f64::from(updates) / 10_000.0));
            let mut heads = vec![""];
            heads.extend(updates.iter().map(String::as_str));
            let rows = SCHEMES.map(|(name, _)| {
                let of_scheme = of_threads.iter().filter(|figure| figure.protection == name);
                let cell = |figure: &Figure| {
                    let (rate, ns) = (figure.operations_per_s.median / 1e6, figure.processor_ns.median);
                    let ratio = figure.to_ideal.map_or(1.0, |ratio| ratio.median);
                    format!("{rate:.1} ({ratio:.2}) {ns:.0} ns")
                };
                [name.to_owned()].into_iter().chain(of_scheme.map(cell)).collect::<Vec<_>>()
            });
            print_table(&heads, &rows);
        }
    }
}
