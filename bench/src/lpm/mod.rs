//! Route tables: nanoseconds a lookup, beside the tables of others; changes a second.
//!
//! Each round looks up a piece of a trace in every table in turn, after another piece that warms the caches, and counts
//! processor time; figures are medians of the rounds.

mod arguments;
mod beside;
mod changes;
mod family;
mod load;
mod replay;
mod steps;
mod subjects;
mod traces;

use crate::machine::Machine;
use crate::rcu::{Spread, print_json, print_table};
use beside::{BART, Beside, DPDK};
use family::{Family, next_hop};
use lpm::{Prefix, Table, import};
use rcu::Domain;
use serde::Serialize;
use subjects::{Lookup, Packets, Subject, Timed, TreeBitmap, Trie, Workload};

pub(crate) use arguments::Arguments;

/// Tables and their names.
type Subjects<K> = Vec<(&'static str, Box<dyn Subject<K>>)>;

/// A family with tables of others.
trait Compared: Family {
    /// Other crates' tables.
    fn peers(routes: &[(Prefix<Self>, u32)]) -> Result<Subjects<Self>, String>;
}

impl Compared for u32 {
    fn peers(routes: &[(Prefix<Self>, u32)]) -> Result<Subjects<Self>, String> {
        peers(Trie::new(routes), TreeBitmap::new(routes)?)
    }
}

impl Compared for u128 {
    fn peers(routes: &[(Prefix<Self>, u32)]) -> Result<Subjects<Self>, String> {
        peers(Trie::new(routes), TreeBitmap::new(routes)?)
    }
}

fn peers<K: Family>(
    trie: impl Lookup<K> + 'static,
    bitmap: impl Lookup<K> + 'static,
) -> Result<Subjects<K>, String> {
    Ok(vec![("prefix-trie", Box::new(Timed(trie))), ("ip_network_table", Box::new(Timed(bitmap)))])
}

/// One line of the report.
#[derive(Serialize)]
struct Figure {
    family: &'static str,
    trace: &'static str,
    /// Addresses at a time; 0: one at a time, each after the one before.
    batch: usize,
    /// Cache lines of packets written for each address.
    packet_lines: usize,
    table: String,
    ns_a_lookup: Spread,
    mlookups_per_s: f64,
    /// How many times faster the table of this project is, round by round.
    clique_is_faster: Option<Spread>,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    next_hops: u32,
    notes: Vec<String>,
    figures: Vec<Figure>,
    steps: Vec<steps::Figure>,
    changes: Vec<changes::Figure>,
    load: Option<load::Figure>,
    updates: Vec<replay::Figure>,
}

/// Measures, and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let list = import::read_file(&arguments.routes, import::Options::default())
        .map_err(|e| format!("{}: {e}", arguments.routes.display()))?;
    if arguments.count {
        return steps::run_all(&list, arguments.next_hops);
    }
    let mut report = Report {
        machine: Machine::here(),
        next_hops: arguments.next_hops,
        notes: vec![load_average()],
        figures: Vec::new(),
        steps: Vec::new(),
        changes: Vec::new(),
        load: None,
        updates: Vec::new(),
    };
    let v4: Vec<_> = list.v4.iter().map(|&(prefix, _)| prefix).collect();
    let v6: Vec<_> = list.v6.iter().map(|&(prefix, _)| prefix).collect();
    family(arguments, &v4, &mut report)?;
    family(arguments, &v6, &mut report)?;
    if arguments.wants("lookups") {
        report.steps = steps::measure(arguments, &list)?;
    }
    if arguments.wants("load") && !arguments.tiny {
        report.load =
            Some(load::measure(&arguments.routes, arguments.rounds.clamp(1, 7), arguments.next_hops)?);
    }
    for file in &arguments.updates {
        report.updates.push(replay::measure(file, &list)?);
    }
    report.print(arguments.json);
    Ok(())
}

/// How much else ran when this began, which says what figures are worth.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!("load average before: {}", text.split(' ').take(3).collect::<Vec<_>>().join(" "))
}

fn family<K: Compared>(
    arguments: &Arguments,
    prefixes: &[Prefix<K>],
    report: &mut Report,
) -> Result<(), String> {
    let step = if arguments.tiny { 101 } else { 1 };
    let prefixes: Vec<_> = prefixes.iter().copied().step_by(step).collect();
    let routes: Vec<_> =
        prefixes.iter().map(|&prefix| (prefix, next_hop(prefix, arguments.next_hops))).collect();
    let table = Table::new(Domain::global());
    table.apply(routes.iter().map(|&(prefix, id)| (prefix, Some(id)))).map_err(|e| e.to_string())?;
    let stats = table.stats();
    report.notes.push(format!(
        "{}: {} prefixes, {:.2} bytes a prefix for lookups, {:.1} for the routes of record",
        K::NAME,
        routes.len(),
        (stats.root_bytes + stats.block_bytes) as f64 / routes.len() as f64,
        stats.rib_bytes as f64 / routes.len() as f64
    ));
    let rounds = if arguments.tiny { 1 } else { arguments.rounds.max(1) };
    if arguments.wants("lookups") {
        let traces = traces::draw(&prefixes, 1);
        let mut others: Subjects<K> = Vec::new();
        if arguments.peers || arguments.tiny {
            others = K::peers(&routes)?;
        }
        let mut programs = Vec::new();
        for (wanted, recipe) in [(arguments.dpdk, DPDK), (arguments.peers, BART)] {
            if !wanted {
                continue;
            }
            match Beside::start(&recipe, &routes, &traces) {
                Ok(started) => {
                    report.notes.push(format!("{}: {}", K::NAME, started.note));
                    programs.push(started);
                }
                Err(why) => report.notes.push(format!("{}: {} left out: {why}", K::NAME, recipe.name)),
            }
        }
        let mut subjects: Vec<(&'static str, Box<dyn Subject<K>>)> = vec![("clique", Box::new(Timed(table)))];
        subjects.append(&mut others);
        let piece = if arguments.tiny { 1 << 10 } else { 1 << 16 };
        lookups(&mut subjects, &mut programs, &traces, rounds, piece, report)?;
    }
    if arguments.wants("changes") {
        report.changes.push(changes::measure(&routes, rounds.min(5), arguments.tiny)?);
    }
    Ok(())
}

/// So many pieces of a trace warm the caches for the next. With four, a tenth of the blocks that addresses drawn
/// alike lead to are still where the table before has pushed them: in main memory.
const WARM: usize = 12;

/// What is measured of each table.
const WORKLOADS: [Workload; 6] = [
    Workload { batch: 1, cold: 0 },
    Workload { batch: 32, cold: 0 },
    Workload { batch: 256, cold: 0 },
    Workload { batch: 32, cold: 8 },
    Workload { batch: 256, cold: 8 },
    Workload { batch: 0, cold: 0 },
];

fn lookups<K: Family>(
    subjects: &mut [(&'static str, Box<dyn Subject<K>>)],
    programs: &mut [Beside],
    traces: &[Vec<K>; 3],
    rounds: usize,
    piece: usize,
    report: &mut Report,
) -> Result<(), String> {
    let mut packets = Packets::new();
    for (number, (trace, name)) in traces.iter().zip(traces::NAMES).enumerate() {
        for workload in WORKLOADS {
            let mut names: Vec<String> = subjects.iter().map(|(name, _)| (*name).to_owned()).collect();
            names.extend(programs.iter().flat_map(|program| program.tables).map(str::to_owned));
            let mut times = vec![Vec::new(); names.len()];
            for round in 0..rounds {
                let first = (WARM + 1) * round * piece % (traces::LEN - (WARM + 1) * piece);
                let (warm, addrs) = trace[first..first + (WARM + 1) * piece].split_at(WARM * piece);
                let mut ns: Vec<_> = subjects
                    .iter_mut()
                    .map(|(_, subject)| Some(subject.time(warm, addrs, workload, &mut packets)))
                    .collect();
                for program in &mut *programs {
                    for table in 0..program.tables.len() {
                        ns.push(program.time(
                            number,
                            workload,
                            table,
                            [first, first + WARM * piece, piece],
                        )?);
                    }
                }
                times.iter_mut().zip(ns).for_each(|(times, ns)| times.extend(ns));
            }
            for (table, ns) in names.into_iter().zip(&times).filter(|(_, ns)| !ns.is_empty()) {
                let spread = Spread::of(ns);
                let clique_is_faster =
                    (table != "clique").then(|| Spread::of_ratios(ns, &times[0])).flatten();
                report.figures.push(Figure {
                    family: K::NAME,
                    trace: name,
                    batch: workload.batch,
                    packet_lines: workload.cold,
                    table,
                    ns_a_lookup: spread,
                    mlookups_per_s: 1e3 / spread.median,
                    clique_is_faster,
                });
            }
        }
    }
    Ok(())
}

impl Report {
    fn print(&self, json: bool) {
        if json {
            return print_json(self);
        }
        println!("{}, {} next hops", self.machine.line(), self.next_hops);
        self.notes.iter().for_each(|note| println!("{note}"));
        let rows = self.figures.iter().map(|figure| {
            vec![
                format!("{} {}", figure.family, figure.trace),
                if figure.batch == 0 { "dependent".to_owned() } else { figure.batch.to_string() },
                if figure.packet_lines == 0 { "warm" } else { "cold" }.to_owned(),
                figure.table.clone(),
                format!("{:.2}", figure.ns_a_lookup.median),
                format!("{:.2}", figure.ns_a_lookup.min),
                format!("{:.0}", figure.mlookups_per_s),
                figure.clique_is_faster.map_or(String::new(), |of| format!("{:.2}", of.median)),
            ]
        });
        let heads = ["trace", "batch", "caches", "table", "ns", "min", "M/s", "clique faster by"];
        print_table(&heads, &rows.collect::<Vec<_>>());
        self.steps.iter().for_each(steps::Figure::print);
        self.changes.iter().for_each(changes::Figure::print);
        self.load.iter().for_each(load::Figure::print);
        self.updates.iter().for_each(replay::Figure::print);
    }
}
