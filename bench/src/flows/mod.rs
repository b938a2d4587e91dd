//! Nanoseconds a packet in tables of flows: the product's, the standard library's hash map, and an index of half-empty cells as FlowIPManager has it.
//!
//! Each figure is the time of look-ups or insertions in memory, in batches of 32, hash included, divided by their number. Each worker has a table
//! of its own. All tables take part in each round, one after the other. `flood` is what a packet costs that begins a new flow while the table
//! is half full of established ones; `off` what it costs to hash it alone. `--cache` compares what a packet costs whose route, next
//! hop and neighbour are looked up each, and one for which a table by destination has all of them.

mod cache;
mod subjects;

use crate::machine::Machine;
use crate::rcu::Spread;
use serde::Serialize;
use std::sync::Barrier;
use std::time::Instant;
use subjects::{Cells, Map, Off, Ours, OursPairs, Subject};

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Rounds.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Look-ups in a round, for each table.
    #[arg(long, default_value_t = 4_000_000)]
    packets: usize,
    /// Flows, or destinations.
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000, 1_000_000, 16_000_000])]
    flows: Vec<usize>,
    /// Workers, each with its own table of all flows.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    workers: Vec<usize>,
    /// Routes, next hops and neighbours, looked up or remembered.
    #[arg(long)]
    cache: bool,
    /// The file of routes for that.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/internet-prefixes.txt.xz"))]
    routes: std::path::PathBuf,
    /// One short run of each, to see that it works.
    #[arg(long)]
    tiny: bool,
    /// Machine-readable output.
    #[arg(long)]
    json: bool,
}

/// A result.
#[derive(Serialize)]
struct Figure {
    table: &'static str,
    what: &'static str,
    flows: usize,
    workers: usize,
    ns_median: f64,
    ns_min: f64,
    ns_max: f64,
    runs: usize,
    /// Bytes for each flow, where they are known.
    bytes_a_flow: Option<f64>,
    /// Of established flows, how many a flood displaced.
    lost: usize,
    /// Look-ups that found something, of all.
    hits: Option<f64>,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    figures: Vec<Figure>,
}

/// What was measured of one table.
#[derive(Default)]
struct Series {
    key: (&'static str, &'static str, usize, usize),
    ns: Vec<f64>,
    bytes: Option<f64>,
    lost: usize,
    hits: Option<f64>,
}

impl Series {
    fn figure(self) -> Figure {
        let Spread { median, min, max } = Spread::of(&self.ns);
        let (table, what, flows, workers) = self.key;
        Figure {
            table,
            what,
            flows,
            workers,
            ns_median: median,
            ns_min: min,
            ns_max: max,
            runs: self.ns.len(),
            bytes_a_flow: self.bytes,
            lost: self.lost,
            hits: self.hits,
        }
    }
}

/// All figures, in the order in which they came first.
#[derive(Default)]
struct Book(Vec<Series>);

impl Book {
    fn of(&mut self, key: (&'static str, &'static str, usize, usize)) -> &mut Series {
        let at = self.0.iter().position(|series| series.key == key).unwrap_or_else(|| {
            self.0.push(Series { key, ..Series::default() });
            self.0.len() - 1
        });
        &mut self.0[at]
    }
}

/// What one worker measured, in nanoseconds an operation.
struct Times {
    new: f64,
    hit: f64,
    miss: f64,
    flood: f64,
    bytes: Option<f64>,
    lost: usize,
}

/// Measures, and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let machine = Machine::here();
    let mut book = Book::default();
    let (runs, packets, sizes, workers) = match arguments.tiny {
        true => (1, 2_000, vec![200], vec![1, 2]),
        false => (
            arguments.runs.max(1),
            arguments.packets.max(1),
            arguments.flows.clone(),
            arguments.workers.clone(),
        ),
    };
    if arguments.cache {
        cache::measure(arguments, runs, packets, &sizes, &mut book)?;
    } else {
        for _ in 0..runs {
            for (&flows, &workers) in
                sizes.iter().flat_map(|flows| workers.iter().map(move |workers| (flows, workers)))
            {
                one::<Ours>(&mut book, flows, workers, packets);
                one::<OursPairs>(&mut book, flows, workers, packets);
                one::<Map>(&mut book, flows, workers, packets);
                one::<Cells>(&mut book, flows, workers, packets);
                one::<Off>(&mut book, flows, workers, packets);
            }
        }
    }
    let report = Report { machine, figures: book.0.into_iter().map(Series::figure).collect() };
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report).unwrap_or_default());
        return Ok(());
    }
    println!("{}", report.machine.line());
    println!(
        "{:12} {:8} {:>10} {:>7} {:>8} {:>8} {:>8}",
        "table", "what", "flows", "workers", "ns", "min", "max"
    );
    for f in &report.figures {
        let bytes = f.bytes_a_flow.map_or(String::new(), |bytes| format!("  {bytes:.0} bytes a flow"));
        let lost = if f.what == "flood" { format!("  {} established lost", f.lost) } else { String::new() };
        let hits = f.hits.map_or(String::new(), |hits| format!("  {hits:.3} found"));
        println!(
            "{:12} {:8} {:10} {:7} {:8.1} {:8.1} {:8.1}{bytes}{lost}{hits}",
            f.table, f.what, f.flows, f.workers, f.ns_median, f.ns_min, f.ns_max
        );
    }
    Ok(())
}

/// One table, one round, on all workers at once.
fn one<S: Subject>(book: &mut Book, flows: usize, workers: usize, packets: usize) {
    let barrier = Barrier::new(workers);
    let times: Vec<Times> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..workers)
            .map(|worker| (worker, &barrier))
            .map(|(worker, barrier)| scope.spawn(move || worker_times::<S>(worker, flows, packets, barrier)))
            .collect();
        started.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    // Of several workers the mean: each has a processor of its own.
    let mean = |of: fn(&Times) -> f64| times.iter().map(of).sum::<f64>() / times.len() as f64;
    let all: [(&'static str, f64); 4] = [
        ("new", mean(|t| t.new)),
        ("hit", mean(|t| t.hit)),
        ("miss", mean(|t| t.miss)),
        ("flood", mean(|t| t.flood)),
    ];
    for (what, ns) in all {
        let series = book.of((S::NAME, what, flows, workers));
        series.ns.push(ns);
        if what == "new" {
            series.bytes = times.first().and_then(|times| times.bytes);
        }
        if what == "flood" {
            series.lost += times.iter().map(|times| times.lost).sum::<usize>();
        }
    }
}

/// Flow numbers in a random order, each as likely as any other.
fn random(seed: u64, flows: usize, packets: usize) -> Vec<u32> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..packets).map(|_| rng.u32(..flows.max(1) as u32)).collect()
}

fn worker_times<S: Subject>(worker: usize, flows: usize, packets: usize, barrier: &Barrier) -> Times {
    let wanted = random(worker as u64, flows, packets);
    let mut table = S::new(2 * flows);
    let timed = |operations: usize, work: &mut dyn FnMut()| {
        barrier.wait();
        let start = Instant::now();
        work();
        start.elapsed().as_nanos() as f64 / operations.max(1) as f64
    };
    let new = timed(flows, &mut || (0..flows as u32).for_each(|flow| table.establish(flow)));
    let bytes = table.bytes().map(|bytes| bytes as f64 / (2 * flows) as f64);
    let mut sum = 0u64;
    let hit = timed(packets, &mut || sum = sum.wrapping_add(table.find_all(&wanted)));
    let others: Vec<u32> = wanted.iter().map(|flow| flow + flows as u32).collect();
    let miss = timed(packets, &mut || sum = sum.wrapping_add(table.find_all(&others)));
    // Each a flow that never came before.
    let flood = timed(packets, &mut || table.flood(2 * flows as u32, packets));
    std::hint::black_box(sum);
    let lost = (0..flows as u32).filter(|&flow| !table.knows(flow)).count();
    Times { new, hit, miss, flood, bytes, lost }
}
