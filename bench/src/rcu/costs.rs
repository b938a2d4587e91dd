//! `rcu-costs`: what single operations cost on this machine: the table that explains why locks are slow also when
//! no other thread wants them.

use crate::machine::Machine;
use crate::rcu::{Bound, Spread, print_json, print_table, processor_time, processors};
use crossbeam_utils::CachePadded;
use rcu::Domain;
use serde::Serialize;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::thread;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many rounds; in each round every operation is measured once.
    #[arg(long, default_value_t = 11)]
    rounds: usize,
    /// Everything once, briefly.
    #[arg(long)]
    tiny: bool,
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
pub(crate) struct Figure {
    pub(crate) operation: &'static str,
    pub(crate) ns: Spread,
    /// Published for a four-processor 700 MHz Pentium III.
    pub(crate) ns_pentium_iii: Option<f64>,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    rounds: usize,
    figures: Vec<Figure>,
}

/// How many lines are handed from one processor to the other at once.
const LINES: usize = 2048;

/// What is measured, and where.
struct Bench {
    repeats: u64,
    /// Each entry says which is next: in the second-level cache, and in memory.
    near: Vec<Line>,
    far: Vec<Line>,
    lines: Vec<CachePadded<AtomicU64>>,
    own: CachePadded<AtomicU64>,
    lock: CachePadded<AtomicBool>,
    /// Whose turn it is with the lines: even, this thread's; odd, the other's.
    baton: CachePadded<AtomicUsize>,
    stop: AtomicBool,
}

/// An index alone in its cache line.
#[repr(align(64))]
#[derive(Clone, Copy, Default)]
struct Line(u32);

/// A random cycle through as many lines.
fn cycle(lines: usize) -> Vec<Line> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut cycle: Vec<Line> = (0..lines as u32).map(Line).collect();
    // Sattolo's shuffle: one cycle through all.
    for at in (1..lines).rev() {
        cycle.swap(at, random.usize(..at));
    }
    cycle
}

type Operation = (&'static str, Option<f64>, fn(&Bench) -> f64);

pub(crate) const INSTRUCTION: &str = "instruction";
pub(crate) const MEMORY: &str = "main memory";
pub(crate) const TRANSFER: &str = "cmpxchg cache transfer and invalidate";
pub(crate) const LOCAL_LOCK: &str = "CPU-local lock";
pub(crate) const QUIESCENT: &str = "RCU turn and quiescent state";
pub(crate) const RETIRE: &str = "RCU retirement (allocate, queue, free)";

pub(crate) const ALLOCATE: &str = "allocation and free";

const OPERATIONS: [Operation; 13] = [
    (INSTRUCTION, Some(0.7), |bench| bench.alu(4) / 24.0),
    ("clock cycle", Some(1.4), |bench| bench.alu(1) / 6.0),
    ("second-level cache hit", Some(12.9), |bench| bench.chase(&bench.near)),
    ("atomic increment", Some(58.2), Bench::increment),
    ("cmpxchg atomic increment", Some(107.3), Bench::cmpxchg_increment),
    ("atomic increment, cache transfer", Some(113.2), |bench| {
        bench.on_remote_lines(|line| {
            line.fetch_add(1, AcqRel);
        })
    }),
    (MEMORY, Some(162.4), |bench| bench.chase(&bench.far)),
    (LOCAL_LOCK, Some(163.7), Bench::local_lock),
    ("cmpxchg blind cache transfer", Some(170.4), |bench| {
        // Blind: what the line holds is known, for the other side left it so.
        bench.on_remote_lines(|line| {
            let _ = line.compare_exchange(1, 2, AcqRel, Acquire);
        })
    }),
    (TRANSFER, Some(360.9), |bench| {
        bench.on_remote_lines(|line| {
            let seen = line.load(Acquire);
            let _ = line.compare_exchange(seen, 2, AcqRel, Acquire);
        })
    }),
    (QUIESCENT, None, Bench::quiescent),
    (ALLOCATE, None, |bench| bench.timed(|| drop(black_box(Box::new([0u64; 4]))))),
    (RETIRE, None, Bench::retire),
];

impl Bench {
    fn new(tiny: bool) -> Bench {
        let (near, far) = if tiny { (1 << 10, 1 << 14) } else { (1 << 13, 1 << 24) };
        Bench {
            repeats: if tiny { 1_000 } else { 1_000_000 },
            near: cycle(near),
            far: cycle(far),
            lines: (0..LINES).map(|_| CachePadded::default()).collect(),
            own: CachePadded::default(),
            lock: CachePadded::default(),
            baton: CachePadded::default(),
            stop: AtomicBool::new(false),
        }
    }

    fn timed(&self, mut operation: impl FnMut()) -> f64 {
        let begin = processor_time();
        (0..self.repeats).for_each(|_| operation());
        (processor_time() - begin).as_nanos() as f64 / self.repeats as f64
    }

    /// A step of six instructions, each of which waits for the one before, in so many independent chains.
    fn alu(&self, chains: usize) -> f64 {
        let mut states = [1u64, 2, 3, 4];
        let begin = processor_time();
        match chains {
            1 => (0..self.repeats).for_each(|_| step(&mut states[0])),
            _ => (0..self.repeats).for_each(|_| states.iter_mut().for_each(step)),
        }
        black_box(states);
        (processor_time() - begin).as_nanos() as f64 / self.repeats as f64
    }

    fn chase(&self, cycle: &[Line]) -> f64 {
        let mut at = 0;
        // A round to warm up if the cycle fits a cache, and then from where it stopped.
        for _ in 0..cycle.len().min(1 << 14) {
            at = cycle[at as usize].0;
        }
        let ns = self.timed(|| at = cycle[at as usize].0);
        black_box(at);
        ns
    }

    fn increment(&self) -> f64 {
        self.timed(|| {
            self.own.fetch_add(1, AcqRel);
        })
    }

    fn cmpxchg_increment(&self) -> f64 {
        self.timed(|| {
            let _ = self.own.fetch_update(AcqRel, Acquire, |value| Some(black_box(value) + 1));
        })
    }

    fn local_lock(&self) -> f64 {
        self.timed(|| {
            while self.lock.compare_exchange(false, true, Acquire, Relaxed).is_err() {
                spin_loop();
            }
            // As on the machine of the published table, where the release was atomic, too.
            self.lock.swap(false, Release);
        })
    }

    fn quiescent(&self) -> f64 {
        let mut reader = Domain::global().register("bench");
        self.timed(|| {
            black_box(reader.turn());
            reader.quiescent();
        })
    }

    fn retire(&self) -> f64 {
        let mut updater = Domain::global().local_updater();
        self.timed(|| drop(updater.retire(Box::new([0u64; 4]))))
    }

    /// An operation on lines that the other processor has just written.
    fn on_remote_lines(&self, operation: impl Fn(&AtomicU64)) -> f64 {
        let mut spent = 0.0;
        let passes = (self.repeats as usize / LINES / 4).max(1);
        for _ in 0..passes {
            self.baton.fetch_add(1, AcqRel);
            while self.baton.load(Acquire) % 2 == 1 {
                spin_loop();
            }
            let begin = processor_time();
            // Out of order, so that nothing is fetched ahead.
            (0..LINES).for_each(|at| operation(&self.lines[at * 677 % LINES]));
            spent += (processor_time() - begin).as_nanos() as f64;
        }
        spent / (passes * LINES) as f64
    }

    /// The other processor: writes all lines whenever it is asked to.
    fn write_lines(&self) {
        while !self.stop.load(Relaxed) {
            if self.baton.load(Acquire) % 2 == 1 {
                for line in &self.lines {
                    line.swap(1, AcqRel);
                }
                self.baton.fetch_add(1, AcqRel);
            }
            spin_loop();
        }
    }
}

fn step(state: &mut u64) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
}

/// All operations, measured in rounds.
pub(crate) fn measure(rounds: usize, tiny: bool) -> Vec<Figure> {
    let bench = Bench::new(tiny);
    let mut found = vec![Vec::new(); OPERATIONS.len()];
    thread::scope(|scope| {
        for _ in 0..rounds {
            for ((name, _, operation), found) in OPERATIONS.iter().zip(&mut found) {
                let remote = name.contains("cache transfer") && processors() > 1;
                bench.stop.store(!remote, Relaxed);
                let other = remote.then(|| {
                    scope.spawn(|| {
                        let _bound = Bound::to(processors() - 1);
                        bench.write_lines();
                    })
                });
                let _bound = Bound::to(0);
                if remote || !name.contains("cache transfer") {
                    found.push(operation(&bench));
                }
                bench.stop.store(true, Relaxed);
                drop(other.map(thread::ScopedJoinHandle::join));
            }
        }
    });
    let figures = OPERATIONS.iter().zip(found).filter(|(_, found)| !found.is_empty());
    figures
        .map(|((operation, ns_pentium_iii, _), ns)| Figure {
            operation,
            ns: Spread::of(&ns),
            ns_pentium_iii: *ns_pentium_iii,
        })
        .collect()
}

/// Measures everything, interleaved, and prints it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let machine = Machine::here();
    let rounds = if arguments.tiny { 1 } else { arguments.rounds.max(1) };
    let report = Report { machine, rounds, figures: measure(rounds, arguments.tiny) };
    if arguments.json {
        print_json(&report);
    } else {
        report.print();
    }
    Ok(())
}

impl Report {
    fn print(&self) {
        println!("{}\n", self.machine.line());
        let instruction = self.figures.first().map_or(1.0, |figure| figure.ns.min);
        let heads = ["operation", "ns", "min", "max", "instructions", "P-III ns", "P-III instr."];
        let rows = self.figures.iter().map(|figure| {
            let published = |of: fn(f64) -> String| figure.ns_pentium_iii.map_or(String::new(), of);
            vec![
                figure.operation.to_owned(),
                format!("{:.2}", figure.ns.median),
                format!("{:.2}", figure.ns.min),
                format!("{:.2}", figure.ns.max),
                format!("{:.0}", figure.ns.median / instruction),
                published(|ns| format!("{ns:.1}")),
                published(|ns| format!("{:.0}", ns / 0.7)),
            ]
        });
        print_table(&heads, &rows.collect::<Vec<_>>());
    }
}
