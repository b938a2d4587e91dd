//! `rcu-thesis`: Tables 7 to 14 of the thesis on RCU in Click: readers and writers of a route table, without protection, under
//! a reader-writer lock, and under RCU.
//!
//! A reader's task is 100,000 look-ups, a writer's the replacement of 1,000 routes; each thread does 128 tasks, bound to a processor, and is
//! quiescent after each. Protections take turns, and figures are medians of several repetitions. The large table has 167,000 routes, here a random cut of the shipped one; the small set is 16
//! routes with one address each.

use crate::machine::Machine;
use crate::rcu::attempts::Word;
use crate::rcu::{
    Bound, Spread, chart::Chart, element, from_first_to_last, print_json, print_table, processor_time_of_all,
    processors, read_json,
};
use rcu_flavours::structures::{RouteSession, RouteTable};
use rcu_flavours::{ClickEpoch, Flavour, Qsbr, RwLock, Unprotected};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Tasks of each thread.
    #[arg(long, default_value_t = 128)]
    tasks: u64,
    /// Repetitions of each run.
    #[arg(long, default_value_t = 7)]
    repetitions: usize,
    /// Packets through each element.
    #[arg(long, default_value_t = 2_000_000)]
    packets: u64,
    /// Threads at most.
    #[arg(long, default_value_t = 8)]
    threads: usize,
    /// Which of the thesis' tables.
    #[arg(long, value_delimiter = ',', default_values_t = 7..=14)]
    tables: Vec<u32>,
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

const LARGE: usize = 167_000;
const SMALL: usize = 16;
const LOOKUPS: usize = 100_000;
const REPLACEMENTS: usize = 1_000;

/// A prefix and its length.
pub(super) type Prefix = (u32, u32);

struct Input {
    routes: Vec<Prefix>,
    /// Addresses that a reader's task looks up.
    addresses: Vec<u32>,
}

impl Input {
    fn new(mut routes: Vec<Prefix>, size: usize, lookups: usize) -> Input {
        let mut random = fastrand::Rng::with_seed(size as u64);
        random.shuffle(&mut routes);
        routes.truncate(size);
        let inside = |(prefix, len): Prefix, bits: u32| prefix | bits.checked_shr(len).unwrap_or(0);
        let addresses = if size == SMALL {
            // The same few addresses over and over.
            (0..lookups).map(|at| inside(routes[at % SMALL], 1)).collect()
        } else {
            (0..lookups).map(|_| inside(routes[random.usize(..routes.len())], random.u32(..))).collect()
        };
        Input { routes, addresses }
    }
}

/// What a run took, in seconds: medians, and the least and the most.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Took {
    wall_s: f64,
    processor_s: f64,
    /// (Not in runs that were made once.)
    #[serde(default)]
    processor_s_min: f64,
    #[serde(default)]
    processor_s_max: f64,
}

impl Took {
    fn of(runs: &[(f64, f64)]) -> Took {
        let [wall, processor] = [0, 1].map(|which| {
            Spread::of(&runs.iter().map(|run| if which == 0 { run.0 } else { run.1 }).collect::<Vec<_>>())
        });
        Took {
            wall_s: wall.median,
            processor_s: processor.median,
            processor_s_min: processor.min,
            processor_s_max: processor.max,
        }
    }
}

#[derive(Clone, Copy)]
struct Case {
    readers: usize,
    writers: usize,
    tasks: u64,
}

/// Seconds of the clock and of processors.
fn measure<F: Flavour>(instance: F, input: &Input, case: Case) -> (f64, f64) {
    let table = RouteTable::<u32, F>::new(instance);
    let mut session = table.session();
    for (at, (prefix, len)) in input.routes.iter().enumerate() {
        session.insert(*prefix, *len, at as u32);
    }
    session.barrier();
    session.offline();
    let ready = Barrier::new(case.readers + case.writers);
    let spent = processor_time_of_all();
    let ran = thread::scope(|scope| {
        let threads: Vec<_> = (0..case.readers + case.writers)
            .map(|at| {
                let (table, ready) = (&table, &ready);
                scope.spawn(move || {
                    let _bound = Bound::to(at);
                    let mut session = table.session();
                    ready.wait();
                    let begin = Instant::now();
                    for task in 0..case.tasks {
                        if at < case.readers {
                            read(&mut session, input);
                        } else {
                            write(&mut session, input, at as u64 * case.tasks + task);
                        }
                        session.quiescent();
                    }
                    session.offline();
                    (begin, Instant::now())
                })
            })
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect::<Vec<_>>()
    });
    (from_first_to_last(&ran).as_secs_f64(), (processor_time_of_all() - spent).as_secs_f64())
}

/// Attempts to take a reader-writer lock for each section of a thread, a look-up or a replacement of one route.
fn attempts(input: &Input, case: Case) -> f64 {
    let table = RouteTable::<u32, Qsbr>::new(Qsbr::new());
    let mut session = table.session();
    input.routes.iter().enumerate().for_each(|(at, (prefix, len))| {
        session.insert(*prefix, *len, at as u32);
    });
    session.barrier();
    session.offline();
    let (word, ready) = (Word::default(), Barrier::new(case.readers + case.writers));
    let counts: Vec<(u64, u64)> = thread::scope(|scope| {
        let work = |at: usize| {
            let (table, ready, word) = (&table, &ready, &word);
            scope.spawn(move || {
                let _bound = Bound::to(at);
                let (mut session, mut random) = (table.session(), fastrand::Rng::with_seed(at as u64));
                ready.wait();
                let (mut made, mut sections) = (0, 0);
                for _ in 0..case.tasks {
                    if at < case.readers {
                        for address in &input.addresses {
                            made += word.read();
                            std::hint::black_box(session.lookup(*address));
                            word.end_read();
                        }
                        sections += input.addresses.len() as u64;
                    } else {
                        let count = REPLACEMENTS.min(input.addresses.len());
                        for number in 0..count {
                            let (prefix, len) = input.routes[random.usize(..input.routes.len())];
                            made += word.write();
                            session.insert(prefix, len, number as u32);
                            word.end_write();
                        }
                        sections += count as u64;
                    }
                    session.quiescent();
                }
                session.offline();
                (made, sections)
            })
        };
        let threads: Vec<_> = (0..case.readers + case.writers).map(work).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let (made, sections) = counts.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    made as f64 / sections.max(1) as f64
}

fn read<F: Flavour>(session: &mut RouteSession<u32, F>, input: &Input) {
    let found = input.addresses.iter().filter(|address| session.lookup(**address).is_some()).count();
    assert_eq!(found, input.addresses.len(), "each address has a route, also while routes are replaced");
}

fn write<F: Flavour>(session: &mut RouteSession<u32, F>, input: &Input, task: u64) {
    let mut random = fastrand::Rng::with_seed(task);
    let count = REPLACEMENTS.min(input.addresses.len());
    for number in 0..count {
        let (prefix, len) = input.routes[random.usize(..input.routes.len())];
        session.insert(prefix, len, number as u32);
    }
}

#[derive(Deserialize, Serialize)]
struct Row {
    table: u32,
    routes: usize,
    readers: usize,
    writers: usize,
    oversubscribed: bool,
    /// Of the runs without writers only.
    none: Option<Took>,
    rwlock: Took,
    /// The thesis' own algorithm.
    click_epoch: Took,
    /// The product's.
    qsbr: Took,
    /// Attempts to take a reader-writer lock for each section (Figures 12 and 14).
    #[serde(default)]
    attempts: Option<f64>,
}

#[derive(Deserialize, Serialize)]
struct Report {
    machine: Machine,
    tasks_a_thread: u64,
    #[serde(default)]
    repetitions: usize,
    lookups_a_task: usize,
    replacements_a_task: usize,
    rows: Vec<Row>,
    /// Nanoseconds a packet of an element with the large table in a router's path.
    #[serde(default)]
    elements: Vec<serde_json::Value>,
}

/// The threads of a table's rows, and whether it is over the small set.
fn cases(table: u32, threads: usize) -> (bool, Vec<(usize, usize)>) {
    let small = table >= 11;
    // The small set's tables come in the same order: readers; one writer; writers; one reader.
    let rows = match if small { table - 4 } else { table } {
        7 => (1..=threads).map(|readers| (readers, 0)).collect(),
        8 => (1..threads).map(|readers| (readers, 1)).collect(),
        9 => (1..=threads).map(|writers| (0, writers)).collect(),
        _ => (1..threads).map(|writers| (1, writers)).collect(),
    };
    (small, rows)
}

fn row(table: u32, input: &Input, (readers, writers): (usize, usize), tasks: u64, repetitions: usize) -> Row {
    let case = Case { readers, writers, tasks };
    let mut runs: [Vec<(f64, f64)>; 4] = Default::default();
    for _ in 0..repetitions {
        let [none, rwlock, click_epoch, qsbr] = &mut runs;
        if writers == 0 {
            // SAFETY: there is no updater while there are readers.
            #[allow(unsafe_code)]
            let instance = unsafe { Unprotected::new() };
            none.push(measure(instance, input, case));
        }
        rwlock.push(measure(RwLock::new(), input, case));
        click_epoch.push(measure(ClickEpoch::new(), input, case));
        qsbr.push(measure(Qsbr::new(), input, case));
    }
    let [none, rwlock, click_epoch, qsbr] = runs;
    Row {
        table,
        routes: input.routes.len(),
        readers,
        writers,
        oversubscribed: readers + writers > processors(),
        none: (!none.is_empty()).then(|| Took::of(&none)),
        rwlock: Took::of(&rwlock),
        click_epoch: Took::of(&click_epoch),
        qsbr: Took::of(&qsbr),
        // The thesis counts where there are readers, and at most one writer.
        attempts: (readers > 0 && writers < 2).then(|| attempts(input, case)),
    }
}

/// The shipped table's IPv4 prefixes.
fn shipped() -> Result<Vec<Prefix>, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/internet-prefixes.txt.xz");
    let name = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let file = std::fs::File::open(&path).map_err(|e| name(&e))?;
    let text = lpm::import::unpack(file, &mut lpm::import::Options::default()).map_err(|e| name(&e))?;
    let list = lpm::import::parse(&text).map_err(|e| name(&e))?;
    Ok(list.v4.iter().map(|(prefix, _)| (prefix.addr(), u32::from(prefix.len()))).collect())
}

/// Measures everything and prints it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    if let (Some(file), Some(folder)) = (&arguments.from, &arguments.svg) {
        return read_json::<Report>(file)?.draw(folder);
    }
    let machine = Machine::here();
    let (tasks, threads, lookups, repetitions) = match arguments.tiny {
        true => (2, 2, 1_000, 1),
        false => (arguments.tasks.max(1), arguments.threads.max(2), LOOKUPS, arguments.repetitions.max(1)),
    };
    let all = if arguments.tiny { (0..4096).map(|at| (at << 16, 16)).collect() } else { shipped()? };
    let small = Input::new(all.clone(), SMALL, lookups);
    let large = Input::new(all, LARGE, lookups);
    let mut rows = Vec::new();
    for &table in arguments.tables.iter().filter(|table| (7..=14).contains(*table)) {
        let (is_small, threads) = cases(table, threads);
        let input = if is_small { &small } else { &large };
        rows.extend(threads.into_iter().map(|threads| row(table, input, threads, tasks, repetitions)));
    }
    let packets = if arguments.tiny { 4_000 } else { arguments.packets };
    let elements = element::figures(&large.routes, packets, repetitions)?;
    let report = Report {
        machine,
        tasks_a_thread: tasks,
        repetitions,
        lookups_a_task: lookups,
        replacements_a_task: REPLACEMENTS.min(lookups),
        rows,
        elements,
    };
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

/// What a table is about; the small set's come in the same order as the large one's.
fn title(table: u32) -> &'static str {
    match if table >= 11 { table - 4 } else { table } {
        7 => "readers",
        8 => "readers, and a writer",
        9 => "writers",
        _ => "writers, and a reader",
    }
}

impl Report {
    /// Processor time for each table, against the threads there are beside the one that is always there.
    fn draw(&self, folder: &Path) -> Result<(), String> {
        for rows in self.rows.chunk_by(|a, b| a.table == b.table) {
            let (table, routes) = (rows[0].table, rows[0].routes);
            let title = title(table);
            let several = |row: &Row| if title.starts_with("readers") { row.readers } else { row.writers };
            let line = |took: fn(&Row) -> Option<Took>| {
                let points =
                    rows.iter().filter_map(|row| Some((several(row) as f64, took(row)?.processor_s)));
                points.collect::<Vec<_>>()
            };
            let mut lines = vec![
                ("reader-writer lock".to_owned(), line(|row| Some(row.rwlock))),
                ("click-epoch".to_owned(), line(|row| Some(row.click_epoch))),
                ("QSBR".to_owned(), line(|row| Some(row.qsbr))),
                ("no protection".to_owned(), line(|row| row.none)),
            ];
            lines.retain(|(_, points)| !points.is_empty());
            Chart {
                file: &format!("rcu-thesis-{table}.svg"),
                title: &format!("The thesis' Table {table}: {routes} routes, {title}"),
                x: if title.starts_with("readers") { "readers" } else { "writers" },
                y: "seconds of processor time",
                lines,
            }
            .draw(folder)?;
        }
        Ok(())
    }

    fn print(&self) {
        println!("{}", self.machine.line());
        println!(
            "{} tasks a thread, medians of {}; seconds of wall clock / of processor time; attempts to lock for each section; * more threads than processors",
            self.tasks_a_thread, self.repetitions
        );
        for rows in self.rows.chunk_by(|a, b| a.table == b.table) {
            println!("\nTable {}: {} routes", rows[0].table, rows[0].routes);
            let heads = [
                "readers, writers",
                "no locks",
                "rwlock",
                "click-epoch",
                "qsbr",
                "rwlock/click-epoch",
                "rwlock/qsbr",
                "attempts",
            ];
            let took = |took: Took| format!("{:.3} / {:.3}", took.wall_s, took.processor_s);
            let ratio = |a: Took, b: Took| {
                format!("{:.2} / {:.2}", a.wall_s / b.wall_s, a.processor_s / b.processor_s.max(1e-9))
            };
            let lines = rows.iter().map(|row| {
                let star = if row.oversubscribed { " *" } else { "" };
                vec![
                    format!("{}, {}{star}", row.readers, row.writers),
                    row.none.map_or(String::new(), took),
                    took(row.rwlock),
                    took(row.click_epoch),
                    took(row.qsbr),
                    ratio(row.rwlock, row.click_epoch),
                    ratio(row.rwlock, row.qsbr),
                    row.attempts.map_or(String::new(), |attempts| format!("{attempts:.2}")),
                ]
            });
            print_table(&heads, &lines.collect::<Vec<_>>());
        }
        println!("\nAn element in a router's path, {LARGE} routes");
        let rows = self.elements.iter().map(|row| {
            let text = |name: &str| row[name].as_str().map_or_else(|| row[name].to_string(), str::to_owned);
            let ns = ["median", "min", "max"]
                .map(|end| format!("{:.1}", row["ns"][end].as_f64().unwrap_or(f64::NAN)));
            [["protection", "workers", "routes_change"].map(text), ns].concat()
        });
        let heads = ["protection", "workers", "routes change", "ns a packet", "min", "max"];
        print_table(&heads, &rows.collect::<Vec<_>>());
    }
}
