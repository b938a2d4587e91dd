//! Nanoseconds and instructions a packet for each element class.
//!
//! Each figure is a difference: packets run through a configuration with the element (often eight of them, one behind the
//! other) and through the same without it, in batches of 32.

mod kinds;
mod rows;
mod sample;

use crate::assembly;
use crate::callgrind;
use crate::machine::Machine;
use crate::rcu::processor_time_of_all;
use router::{Log, Options};
pub(crate) use rows::{Row, rows};
use sample::Sample;
use serde::Serialize;
use std::sync::Mutex;

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Runs of each configuration.
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Packets a run.
    #[arg(long, default_value_t = 400_000)]
    packets: u64,
    /// Only these classes, separated by commas.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Count instructions a packet too, with valgrind's callgrind.
    #[arg(long)]
    instructions: bool,
    /// One short run of each, to see that it works.
    #[arg(long)]
    tiny: bool,
    /// Machine-readable output.
    #[arg(long)]
    json: bool,
    /// A table as Markdown has it.
    #[arg(long)]
    markdown: bool,
    /// Runs everything once, for callgrind.
    #[arg(long, hide = true)]
    count: bool,
}

/// Where an element stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Position {
    /// Between the source and Discard.
    Push,
    /// Between a Queue and an Unqueue.
    Pull,
    /// In the source's place; nothing is subtracted.
    Source,
    /// In Discard's place, which is what is subtracted.
    Sink,
}

/// A configuration in which some stage, possibly an empty one, is passed by `packets` packets.
fn configuration(
    sample: Sample,
    position: Position,
    stage: Option<&str>,
    packets: u64,
) -> Result<String, String> {
    let data = sample.data().map_err(|e| e.to_string())?;
    let source = format!(
        "InfiniteSource(DATA {data}, BURST 32, LIMIT $LIMIT, STOP true, TIMESTAMP false) -> {}",
        sample.preparation()
    );
    let between = stage.map_or(String::new(), |stage| format!("{stage} ->"));
    let path = match position {
        Position::Push => format!("{source} -> {between} Discard"),
        Position::Pull => format!("{source} -> Queue(1024) -> {between} Unqueue(BURST 32) -> Discard"),
        Position::Source => format!("{between} Discard"),
        Position::Sink => format!("{source} -> {}", stage.unwrap_or("Discard")),
    };
    Ok(format!("define($LIMIT {packets}); {path};"))
}

/// Where callgrind divides its counts: before and after the packets run.
#[inline(never)]
fn boundary() {
    // Its own text, so that it is not merged with others that do nothing.
    std::hint::black_box("classes");
}

/// Nanoseconds of processor time that a configuration runs.
fn time(config: &str) -> Result<f64, String> {
    // What elements have to say is no part of the table.
    let options = Options { pin: Some(0), log: Log::Memory(Mutex::default()), ..Options::default() };
    let mut router = assembly::build(("classes", config), &[], &elements::classes(), options)?;
    boundary();
    let start = processor_time_of_all();
    router.run();
    let elapsed = (processor_time_of_all() - start).as_nanos() as f64;
    boundary();
    router.finish();
    Ok(elapsed)
}

/// The configuration with a row's elements and the one without, if there is anything to subtract.
pub(crate) fn pair(row: &Row, packets: u64) -> Result<(String, Option<String>), String> {
    let stages = vec![row.stage; row.times].join(" -> ");
    let with = configuration(row.sample, row.position, Some(&stages), packets)?;
    let without = configuration(row.sample, row.position, None, packets)?;
    Ok((with, (row.position != Position::Source).then_some(without)))
}

/// A class's figures.
#[derive(Serialize)]
struct Figure {
    class: &'static str,
    stage: &'static str,
    /// Why it is not simple; `None` if it is.
    not_simple: Option<&'static str>,
    ns_median: f64,
    ns_min: f64,
    ns_max: f64,
    /// The quickest run with the element less the quickest without: what it takes where nothing else disturbs.
    ns_undisturbed: f64,
    runs: usize,
    packets: u64,
    instructions_per_packet: Option<f64>,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    figures: Vec<Figure>,
    unmeasured: Vec<&'static str>,
}

/// Measures all classes, interleaved, and prints the table.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let known = rows()?;
    let rows: Vec<&Row> = known.iter().filter(|row| chosen(row, &arguments.only)).collect();
    if arguments.count {
        return rows.iter().try_for_each(|row| run_once(row, arguments.packets));
    }
    let (runs, packets) =
        if arguments.tiny { (1, 1_000) } else { (arguments.runs.max(1), arguments.packets) };
    let machine = Machine::here(); // before the worker is bound to a processor
    let counts = if arguments.instructions { count_instructions(&rows)? } else { Vec::new() };
    let mut times = vec![Vec::new(); rows.len()];
    for _ in 0..runs {
        for (row, times) in rows.iter().zip(&mut times) {
            times.push(measure(row, packets)?);
        }
    }
    let figures = rows.iter().zip(times).enumerate().map(|(i, (row, times))| {
        let mut ns: Vec<f64> = times.iter().map(|[with, without]| with - without).collect();
        ns.sort_by(f64::total_cmp);
        let [with, without] = [0, 1].map(|side| times.iter().map(|pair| pair[side]).fold(f64::MAX, f64::min));
        Figure {
            class: row.class,
            stage: row.stage,
            not_simple: kinds::not_simple(row),
            ns_median: ns[runs / 2],
            ns_min: ns[0],
            ns_max: ns[runs - 1],
            ns_undisturbed: with - without,
            runs,
            packets,
            instructions_per_packet: counts.get(i).copied(),
        }
    });
    let mut figures: Vec<Figure> = figures.collect();
    // Simple ones first, then the others by reason; the slowest of each first.
    figures.sort_by(|a, b| a.not_simple.cmp(&b.not_simple).then(b.ns_median.total_cmp(&a.ns_median)));
    // An operator who asks for some does not miss the others.
    let unmeasured = if arguments.only.is_empty() { unmeasured(&known) } else { Vec::new() };
    let report = Report { machine, figures, unmeasured };
    match arguments {
        Arguments { json: true, .. } => {
            println!("{}", serde_json::to_string_pretty(&report).unwrap_or_default())
        }
        Arguments { markdown: true, .. } => print_markdown(&report),
        _ => print(&report),
    }
    Ok(())
}

fn chosen(row: &Row, only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|class| class == row.class)
}

/// Nanoseconds of a run with a row's elements and of one without, for each packet and element.
pub(crate) fn measure(row: &Row, packets: u64) -> Result<[f64; 2], String> {
    let (with, without) = pair(row, packets)?;
    let explain = |e| format!("{}: {e}", row.class);
    let with = time(&with).map_err(explain)?;
    let without = without.map_or(Ok(0.0), |without| time(&without)).map_err(explain)?;
    Ok([with, without].map(|ns| ns / (packets * row.times as u64) as f64))
}

fn run_once(row: &Row, packets: u64) -> Result<(), String> {
    let (with, without) = pair(row, packets)?;
    time(&with)?;
    without.map_or(Ok(()), |without| time(&without).map(|_| ()))
}

/// Packets of a run whose instructions are counted.
const COUNTED: u64 = 6_400;

/// Instructions a packet of each row: this program's own, under callgrind.
fn count_instructions(rows: &[&Row]) -> Result<Vec<f64>, String> {
    let mut only: Vec<&str> = rows.iter().map(|row| row.class).collect();
    only.dedup();
    let (packets, only) = (COUNTED.to_string(), only.join(","));
    let arguments = ["classes", "--count", "--packets", &packets, "--only", &only];
    let runs: usize = rows.iter().map(|row| if row.position == Position::Source { 1 } else { 2 }).sum();
    let mut counts = callgrind::between("*classes*boundary*", &arguments, runs)?.into_iter();
    let each = rows.iter().map(|row| {
        // Each row ran with its elements; those with something to subtract, then without.
        let with = counts.next().unwrap_or(0.0);
        let without = if row.position == Position::Source { 0.0 } else { counts.next().unwrap_or(0.0) };
        (with - without) / (COUNTED * row.times as u64) as f64
    });
    Ok(each.collect())
}

/// What a simple element may take, in nanoseconds.
const SIMPLE_MAX: f64 = 3.0;

impl Figure {
    fn kind(&self) -> &'static str {
        self.not_simple.unwrap_or("simple")
    }

    fn instructions(&self) -> String {
        self.instructions_per_packet.map_or("-".to_owned(), |count| format!("{count:.1}"))
    }
}

impl Report {
    /// How many of the simple ones keep within what they may take.
    fn summary(&self) -> String {
        let simple = || self.figures.iter().filter(|figure| figure.not_simple.is_none());
        let within = |ns: fn(&Figure) -> f64| simple().filter(|figure| ns(figure) <= SIMPLE_MAX).count();
        format!(
            "{} of {} simple stages take at most {SIMPLE_MAX} ns by the median, {} undisturbed; {} others are measured",
            within(|figure| figure.ns_median),
            simple().count(),
            within(|figure| figure.ns_undisturbed),
            self.figures.len() - simple().count()
        )
    }
}

fn print(report: &Report) {
    println!("{}", report.machine.line());
    println!(
        "{:24} {:>7} {:>7} {:>7} {:>11} {:>9}  {:16}",
        "ns a packet", "median", "min", "max", "undisturbed", "instr", "kind"
    );
    for f in &report.figures {
        println!(
            "{:24} {:7.1} {:7.1} {:7.1} {:11.1} {:>9}  {:16}  {}",
            f.class,
            f.ns_median,
            f.ns_min,
            f.ns_max,
            f.ns_undisturbed,
            f.instructions(),
            f.kind(),
            f.stage
        );
    }
    println!("\n{}", report.summary());
    if !report.unmeasured.is_empty() {
        println!("\nnot measured: {}", report.unmeasured.join(" "));
    }
}

fn print_markdown(report: &Report) {
    println!("{}. {}.\n", report.machine.line(), report.summary());
    println!(
        "| class | ns | least | most | undisturbed | instructions | kind | stage |\n|---|--:|--:|--:|--:|--:|---|---|"
    );
    for f in &report.figures {
        println!(
            "| {} | {:.1} | {:.1} | {:.1} | {:.1} | {} | {} | `{}` |",
            f.class,
            f.ns_median,
            f.ns_min,
            f.ns_max,
            f.ns_undisturbed,
            f.instructions(),
            f.kind(),
            f.stage.replace('|', "\\|")
        );
    }
    if !report.unmeasured.is_empty() {
        println!("\nNot measured: {}.", report.unmeasured.join(", "));
    }
}

/// Classes of the library that have no row: information, control, schedulers of time, and what needs a device or a file.
fn unmeasured(rows: &[Row]) -> Vec<&'static str> {
    let known = elements::classes();
    let names = known.iter().map(|class| class.name);
    names.filter(|name| rows.iter().all(|row| row.class != *name)).collect()
}
