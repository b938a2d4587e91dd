//! `rcu-read`: what a read costs, unprotected, under the production core, and under its peers.

use crate::callgrind;
use crate::machine::Machine;
use crate::rcu::{Bound, Spread, peers, peers::Scheme, print_json, print_table, urcu::Urcu};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const UNPROTECTED: &str = "unprotected";
const LIBURCU: &str = "liburcu-qsbr";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many rounds; in each round every reader is measured once.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Milliseconds a measurement.
    #[arg(long, default_value_t = 60)]
    ms: u64,
    /// Count instructions a read, under callgrind.
    #[arg(long)]
    instructions: bool,
    /// Everything once, briefly.
    #[arg(long)]
    tiny: bool,
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Only the reads of one scheme, this many: what callgrind runs.
    #[arg(long, hide = true, requires = "reads")]
    only: Option<String>,
    #[arg(long, hide = true)]
    reads: Option<u64>,
    #[arg(long, hide = true, default_value_t = 32)]
    every: u64,
}

/// How often the reader is quiescent, and whether an updater is at work meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Situation {
    reads_a_section: u64,
    updater: bool,
}

const SITUATIONS: [Situation; 4] = [
    Situation { reads_a_section: 1024, updater: false },
    Situation { reads_a_section: 32, updater: false },
    Situation { reads_a_section: 1024, updater: true },
    Situation { reads_a_section: 32, updater: true },
];

/// One scheme in one situation, round by round.
#[derive(Serialize)]
struct Figure {
    scheme: String,
    #[serde(flatten)]
    situation: Situation,
    ns_a_read: Spread,
    to_unprotected: Option<Spread>,
    to_liburcu: Option<Spread>,
    updates_per_s: Option<Spread>,
    instructions_a_read: Option<f64>,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    rounds: usize,
    skipped: Vec<String>,
    figures: Vec<Figure>,
}

/// A scheme of this process, or the program over liburcu.
enum Subject {
    Here(Box<dyn Scheme>),
    Urcu(Urcu),
}

impl Subject {
    /// Nanoseconds a read and updates a second.
    fn measure(&self, situation: Situation, ms: u64) -> Result<(f64, f64), String> {
        match self {
            Subject::Here(scheme) => Ok(measure(&**scheme, situation, Duration::from_millis(ms))),
            Subject::Urcu(urcu) => {
                let updater = if situation.updater { "callbacks" } else { "none" };
                let outcome = urcu.run(ms, situation.reads_a_section, updater)?;
                Ok((outcome.ns, outcome.updates_per_s))
            }
        }
    }

    fn instructions(&self, name: &str, every: u64) -> Result<f64, String> {
        callgrind::per_unit(100_000, 500_000, |reads| match self {
            Subject::Here(_) => {
                let program = std::env::current_exe().map_err(|e| format!("this program's own path: {e}"))?;
                let (reads, every) = (reads.to_string(), every.to_string());
                let words = ["rcu-read", "--only", name, "--reads", &reads, "--every", &every];
                callgrind::count(&program, &words)
            }
            Subject::Urcu(urcu) => {
                callgrind::count(urcu.path(), &[&reads.to_string(), "0", &every.to_string(), "none"])
            }
        })
    }
}

/// Reads on the first processor, and updates, if at all, on the last.
fn measure(scheme: &dyn Scheme, situation: Situation, long: Duration) -> (f64, f64) {
    let (stop, every) = (AtomicBool::new(false), situation.reads_a_section);
    let read = || {
        let _bound = Bound::to(0);
        let few = 20_000;
        let count = long.as_nanos() as f64 / scheme.read(few, every).max(0.01);
        scheme.read(count as u64, every)
    };
    if !situation.updater {
        return (read(), 0.0);
    }
    thread::scope(|scope| {
        let updater = scope.spawn(|| {
            let _bound = Bound::to(super::processors() - 1);
            let begin = Instant::now();
            scheme.update(&stop) as f64 / begin.elapsed().as_secs_f64()
        });
        thread::sleep(Duration::from_millis(1)); // the updater is at work when the reading begins
        let ns = read();
        stop.store(true, Relaxed);
        (ns, updater.join().unwrap_or(0.0))
    })
}

/// Measures everything, interleaved, and prints it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    if let (Some(only), Some(reads)) = (&arguments.only, arguments.reads) {
        return read_only(only, reads, arguments.every);
    }
    let machine = Machine::here();
    // Starts the reclaimer while this thread is bound to no processor, which it would inherit.
    drop(rcu::Domain::global().updater());
    let (rounds, ms) = if arguments.tiny { (1, 1) } else { (arguments.rounds.max(1), arguments.ms) };
    let (subjects, skipped) = subjects();
    let mut found = vec![vec![(Vec::new(), Vec::new()); SITUATIONS.len()]; subjects.len()];
    for _ in 0..rounds {
        for (at, situation) in SITUATIONS.into_iter().enumerate() {
            for ((_, subject), found) in subjects.iter().zip(&mut found) {
                let (ns, updates) = subject.measure(situation, ms)?;
                found[at].0.push(ns);
                found[at].1.push(updates);
            }
        }
    }
    let mut figures = Vec::new();
    let index = |name: &str| subjects.iter().position(|(subject, _)| subject == name);
    let ratio = |ns: &[f64], to: &str, at: usize| {
        index(to).and_then(|to: usize| Spread::of_ratios(ns, &found[to][at].0))
    };
    for (at, situation) in SITUATIONS.into_iter().enumerate() {
        for ((name, subject), found) in subjects.iter().zip(&found) {
            let (ns, updates) = &found[at];
            let count = arguments.instructions && !situation.updater;
            figures.push(Figure {
                scheme: name.clone(),
                situation,
                ns_a_read: Spread::of(ns),
                to_unprotected: ratio(ns, UNPROTECTED, at),
                to_liburcu: ratio(ns, LIBURCU, at),
                updates_per_s: situation.updater.then(|| Spread::of(updates)),
                instructions_a_read: count
                    .then(|| subject.instructions(name, situation.reads_a_section))
                    .transpose()?,
            });
        }
    }
    Report { machine, rounds, skipped, figures }.print(arguments.json);
    Ok(())
}

/// The schemes here and liburcu, if it can be had; and why not.
fn subjects() -> (Vec<(String, Subject)>, Vec<String>) {
    let here = peers::all().into_iter().map(|(name, scheme)| (name.to_owned(), Subject::Here(scheme)));
    let mut subjects: Vec<_> = here.collect();
    match Urcu::build() {
        Ok(urcu) => {
            // Next to the two it is compared with.
            subjects.insert(2, (LIBURCU.to_owned(), Subject::Urcu(urcu)));
            (subjects, Vec::new())
        }
        Err(why) => (subjects, vec![format!("{LIBURCU}: {why}")]),
    }
}

fn read_only(only: &str, reads: u64, every: u64) -> Result<(), String> {
    let scheme = peers::all().into_iter().find(|(name, _)| *name == only);
    let (_, scheme) = scheme.ok_or_else(|| format!("no scheme called {only}"))?;
    scheme.read(reads, every);
    Ok(())
}

impl Report {
    fn print(&self, json: bool) {
        if json {
            return print_json(self);
        }
        println!("{}", self.machine.line());
        self.skipped.iter().for_each(|why| println!("skipped: {why}"));
        for situation in SITUATIONS {
            let updater = if situation.updater { "an updater at full speed" } else { "no updater" };
            println!();
            self.print_situation(
                situation,
                &format!("quiescent every {} reads, {updater}", situation.reads_a_section),
            );
        }
    }

    fn print_situation(&self, situation: Situation, title: &str) {
        let heads = [title, "ns/read", "min", "max", "/unprotected", "/liburcu", "updates/s", "instr/read"];
        let ratio = |of: Option<Spread>| of.map_or(String::new(), |of| format!("{:.3}", of.median));
        let row = |figure: &Figure| {
            let Spread { median, min, max } = figure.ns_a_read;
            vec![
                figure.scheme.clone(),
                format!("{median:.3}"),
                format!("{min:.3}"),
                format!("{max:.3}"),
                ratio(figure.to_unprotected),
                ratio(figure.to_liburcu),
                figure.updates_per_s.map_or(String::new(), |of| format!("{:.2} M", of.median / 1e6)),
                figure.instructions_a_read.map_or(String::new(), |of| format!("{of:.2}")),
            ]
        };
        let here = self.figures.iter().filter(|figure| figure.situation == situation);
        print_table(&heads, &here.map(row).collect::<Vec<_>>());
    }
}
