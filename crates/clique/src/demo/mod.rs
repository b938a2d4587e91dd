//! `clique demo`: an IP router forwards through the full Internet table, on all cores, while routes change.
//!
//! Everything happens in this process: interfaces in memory replay frames made from a seed (or from a capture), the
//! configuration `conf/ip-router.click` forwards them, a thread changes routes, another checks a sample of what comes
//! out against a naive table. The figures are those of a machine talking to itself: no network card is involved.

mod changes;
mod check;
mod figures;
mod look;
mod shares;
mod table;
mod traffic;

use crate::console;
use crate::job::WORKERS_MAX;
use changes::Changes;
use check::Checker;
use device::memory::{Config, Interface, Interfaces, TapConfig};
use figures::{Figures, Sample};
use look::Look;
use router::{Call, Classes, Log, Observer, Options, Resources, Router};
use shares::Shares;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use table::Table;

/// The configuration that is run.
const CONFIG: &str = include_str!("../../../../conf/ip-router.click");
/// The interfaces that it uses.
const INTERFACES: [&str; 4] = ["eth0", "eth1", "eth2", "eth3"];
/// One in this many transmitted frames is checked, on each queue: a prime, so that the sample walks through the frames.
const SAMPLE_EVERY: u32 = 1_009;
/// Frames that wait to be checked, on each interface, at most.
const SAMPLES_WAITING: usize = 4_096;

/// Arguments of `clique demo`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Workers [default: one for each processor].
    #[arg(short = 'j', long, value_name = "N",
          value_parser = clap::value_parser!(u16).range(1..=i64::from(WORKERS_MAX)))]
    threads: Option<u16>,

    /// How long to forward.
    #[arg(long, value_name = "N", default_value_t = 10)]
    seconds: u64,

    /// Sizes of the packets made.
    #[arg(long, value_enum, default_value = "64")]
    size: traffic::Size,

    /// Replay the frames of this capture instead of made-up ones.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,

    /// Frames in memory, replayed over and over.
    #[arg(long, value_name = "N", default_value_t = 131_072, value_parser = frames)]
    frames: usize,

    /// Route changes a second; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    updates: u64,

    /// Prefixes, one a line, perhaps compressed, instead of the table that comes with the program.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,

    /// Where all random choices start.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Print one JSON object at the end instead of text.
    #[arg(long)]
    json: bool,
}

fn frames(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=10_000_000).contains(number));
    number.ok_or_else(|| "a number from 1 to 10000000 is expected".to_owned())
}

/// Runs `clique demo`.
pub(crate) fn run(args: &Args, known: &Classes) -> ExitCode {
    match demonstrate(args, known) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(message) => {
            console::complain(&format!("clique demo: {message}\n"));
            ExitCode::from(1)
        }
    }
}

/// Runs it all; whether every check agreed.
fn demonstrate(args: &Args, known: &Classes) -> Result<bool, String> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = args.threads.map_or(processors, usize::from);
    let interrupted =
        console::interrupts().map_err(|error| format!("signals: {}", console::reason(&error)))?;
    let table = Table::load(args.table.as_deref(), !args.json)?;
    let frames = Arc::new(traffic::frames(args, &table)?);
    let interfaces = INTERFACES.map(|name| {
        let tap = Some(TapConfig { every: SAMPLE_EVERY, capacity: SAMPLES_WAITING });
        Interface::new(name, Config { tap, ..Config::looped(&frames, workers) })
    });
    let mut router = build(known, workers, &interfaces)?;
    let started = Instant::now();
    table.install(&mut router)?;
    let installed = started.elapsed();
    if !args.json {
        say(&look().fold(&table.summary(installed)));
        say(&look().fold(&format!(
            "{} frames of traffic, {workers} workers, {} route changes a second wanted",
            frames.len(),
            args.updates
        )));
    }
    let checker = Checker::new(&table, &frames, args.pcap.is_none());
    let figures = forward(args, &mut router, &table, &interfaces, checker, workers, &interrupted)?;
    let good = figures.disagreements.is_empty();
    say(&if args.json { figures.json(&table, installed) } else { figures.text() });
    Ok(good)
}

/// Waits until a moment, or until a signal comes.
fn wait(until: Instant, interrupted: &AtomicBool) {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || interrupted.load(Ordering::Relaxed) {
            return;
        }
        std::thread::sleep(left.min(Duration::from_millis(20)));
    }
}

/// How standard output wants it: as wide as the terminal, in colours if there is one.
fn look() -> Look {
    const WIDTH: usize = 100;
    let is_terminal = std::io::stdout().is_terminal();
    let size = ratatui::crossterm::terminal::size().ok().filter(|_| is_terminal);
    let color = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    Look { width: size.map_or(WIDTH, |(columns, _)| columns.into()), color }
}

/// Prints a line. The demonstration goes on when standard output has no reader any more.
fn say(line: &str) {
    let _ = console::print(&format!("{line}\n"));
}

/// Makes the router, with the interfaces at its disposal.
fn build(known: &Classes, workers: usize, interfaces: &[Arc<Interface>]) -> Result<Router, String> {
    let registry = Interfaces::new();
    for interface in interfaces {
        registry
            .add(interface.clone())
            .map_err(|taken| format!("two interfaces are called '{}'", taken.0))?;
    }
    let mut resources = Resources::default();
    resources.insert(registry);
    let parsed = lang::parse(CONFIG, "conf/ip-router.click", &[]);
    if parsed.has_errors() {
        return Err(parsed.render_click());
    }
    // What elements say about bad packets is in the table of drops.
    let log = Log::Memory(Default::default());
    let options = Options { workers, pin: Some(0), log, resources, ..Options::default() };
    let layout =
        router::layout(parsed.graph, known, workers).map_err(|errors| lang::render_click(&errors))?;
    let built = router::build(layout, CONFIG.to_owned(), known, options);
    built.map(|(router, _)| router).map_err(|errors| lang::render_click(&errors))
}

/// Forwards for the time wanted, with everything else beside it.
fn forward(
    args: &Args,
    router: &mut Router,
    table: &Table,
    interfaces: &[Arc<Interface>],
    mut checker: Checker<'_>,
    workers: usize,
    interrupted: &AtomicBool,
) -> Result<Figures, String> {
    let handle = router.handle();
    let over = AtomicBool::new(false);
    let mut figures = Figures::new(workers, args.pcap.is_none(), look());
    let changes = Changes::new(table, handle.clone(), args.updates, args.seed);
    let start = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| router.run());
        let changing = scope.spawn(|| changes.run(&over));
        let checking = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                if checker.drain(interfaces) == 0 {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            checker.drain(interfaces);
            checker
        });
        if !args.json {
            say(&figures.heading());
        }
        for second in 1..=args.seconds.max(1) {
            wait(start + Duration::from_secs(second), interrupted);
            let sample = Sample::take(&handle, interfaces, changes.made(), start.elapsed());
            let line = figures.add(sample);
            if !args.json {
                say(&line);
            }
            if handle.info().halted() || interrupted.load(Ordering::Relaxed) {
                break;
            }
        }
        over.store(true, Ordering::Relaxed);
        figures.shares = Shares::take(&Observer::new(handle.clone()));
        let errors = changing.join().map_err(|_| "the thread that changes routes failed")?;
        handle.stop();
        let checker = checking.join().map_err(|_| "the thread that checks samples failed")?;
        figures.checked(&checker, errors);
        Ok::<(), String>(())
    })?;
    figures.drops = drops(router);
    router.finish();
    Ok(figures)
}

/// Drops by element and reason, most first.
fn drops(router: &mut Router) -> Vec<(String, String, u64)> {
    let names: Vec<String> = router.info().nodes.iter().map(|node| node.name.clone()).collect();
    let mut drops = Vec::new();
    for name in names {
        let text = router.call(Call::read(format!("{name}.drop_reasons"), "")).unwrap_or_default();
        for (count, reason) in text.lines().filter_map(|line| line.split_once('\t')) {
            drops.push((name.clone(), reason.to_owned(), count.parse().unwrap_or(0)));
        }
    }
    drops.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
    drops
}
