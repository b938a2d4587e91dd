//! `rcu-ap`: the benchmark of the AP-RCU paper's Table I: the non-blocking hash table over many flavours of RCU.
//!
//! Twice as many threads as processors; each inserts and removes a set of keys that overlaps its neighbours', and after
//! each of these does so many retrievals. The paper counts kernel threads on a processor; here each thread is a
//! reader, quiescent between operations. Items are buffers of a pattern that is checked and overwritten by the thread that
//! has them: a reader must never meet the pattern that the item's last owner leaves.

use crate::machine::Machine;
use crate::rcu::{chart::Chart, from_first_to_last, print_json, print_table, processors, read_json};
use rcu_flavours::structures::{HashSession, HashTable};
use rcu_flavours::{ApRcu, ClickEpoch, Drcu, Flavour, Garbage, Qrcu, Qsbr, Thread};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Operations of each thread.
    #[arg(long, default_value_t = 262_144)]
    operations: u64,
    /// A run that takes longer, in milliseconds, is too slow.
    #[arg(long, default_value_t = 5_000)]
    patience: u64,
    /// Runs with one instance, and with an instance for each bucket.
    #[arg(long, num_args = 2, default_values_t = [17, 7])]
    runs: Vec<usize>,
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

const RATIOS: [u64; 6] = [1, 7, 31, 127, 511, 2047];
const BUCKETS: usize = 256;
/// Keys of a thread, of which half are its neighbour's, too.
const KEYS: u64 = 128;

/// Of runs: median, and an interval that holds the true median with at least 95 %, by order statistics.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Median {
    median: f64,
    from: f64,
    to: f64,
}

impl Median {
    fn of(figures: &[f64]) -> Median {
        let mut sorted = figures.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let left_out = left_out(n);
        let median = f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]);
        Median { median, from: sorted[left_out], to: sorted[n - 1 - left_out] }
    }
}

/// How many of `n` sorted figures may be left out at either end: as many as there are below the true median with a
/// probability of at most 2.5 %.
fn left_out(n: usize) -> usize {
    let (mut term, mut sum, mut count) = (0.5f64.powi(n as i32), 0.0, 0);
    while count < n && sum + term <= 0.025 {
        sum += term;
        count += 1;
        term *= (n + 1 - count) as f64 / count as f64;
    }
    // One more is the last for which the probability counts: its own rank is the interval's end.
    count.saturating_sub(1)
}

#[derive(Deserialize, Serialize)]
struct Figure {
    scenario: Cow<'static, str>,
    reads_a_write: u64,
    flavour: Cow<'static, str>,
    runs: usize,
    /// Milliseconds of a run; none if it was too slow.
    ms: Option<Median>,
    /// Of the medians, to the smallest of the same ratio and scenario.
    to_best: Option<f64>,
}

#[derive(Deserialize, Serialize)]
struct Report {
    machine: Machine,
    threads: usize,
    oversubscribed: bool,
    operations_a_thread: u64,
    pattern_errors: u64,
    figures: Vec<Figure>,
}

/// What live items hold, and what the thread that drops one leaves.
const ALIVE: u64 = 0x5555_5555_5555_5555;
const DEAD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
static ERRORS: AtomicU64 = AtomicU64::new(0);

/// A buffer of a pattern.
struct Item([AtomicU64; 8]);

impl Item {
    fn new() -> Item {
        Item([const { AtomicU64::new(ALIVE) }; 8])
    }

    /// Expects one pattern and leaves another, several times.
    fn turn(&self, from: u64, to: u64) {
        let mut expected = from;
        for _ in 0..3 {
            let wrong = self.0.iter().filter(|word| word.load(Relaxed) != expected).count();
            ERRORS.fetch_add(wrong as u64, Relaxed);
            self.0.iter().for_each(|word| word.store(to, Relaxed));
            expected = to;
        }
    }

    /// As a reader, among other readers.
    fn read(&self) {
        self.turn(ALIVE, ALIVE);
    }
}

impl Drop for Item {
    /// As the only owner.
    fn drop(&mut self) {
        self.turn(ALIVE, DEAD);
    }
}

/// A flavour whose threads wait for the grace period of each removal themselves.
#[derive(Clone, Default)]
struct Blocking<F>(F);

struct BlockingThread<T>(T);

// SAFETY: the same guarantees as `F`, without its callbacks.
#[allow(unsafe_code)]
unsafe impl<F: Flavour> Flavour for Blocking<F> {
    const NAME: &'static str = F::NAME;
    const EXCLUSIVE: bool = F::EXCLUSIVE;
    type Thread = BlockingThread<F::Thread>;

    fn register(&self) -> Self::Thread {
        BlockingThread(self.0.register())
    }
}

// SAFETY: passes everything on but `retire` and `barrier`, whose defaults wait.
#[allow(unsafe_code)]
unsafe impl<T: Thread> Thread for BlockingThread<T> {
    type Read<'a> = T::Read<'a>;
    type Update<'a> = T::Update<'a>;

    fn read(&mut self) -> T::Read<'_> {
        self.0.read()
    }

    fn update(&mut self) -> T::Update<'_> {
        self.0.update()
    }

    fn quiescent(&mut self) {
        self.0.quiescent();
    }

    fn offline(&mut self) {
        self.0.offline();
    }

    fn asked(&self) -> bool {
        self.0.asked()
    }

    fn synchronize(&mut self) {
        self.0.synchronize();
    }

    fn retire(&mut self, garbage: Garbage) {
        self.0.synchronize();
        drop(garbage);
    }
}

#[derive(Clone, Copy)]
struct Case {
    threads: usize,
    operations: u64,
    reads_a_write: u64,
    patience: Duration,
}

/// Milliseconds of a run, or none if it was stopped.
fn measure<F: Flavour>(table: &HashTable<Arc<Item>, F>, case: Case) -> Option<f64> {
    let (stop, ready) = (AtomicBool::new(false), Barrier::new(case.threads));
    let ran: Vec<_> = thread::scope(|scope| {
        let work = |at: usize| {
            let (stop, ready) = (&stop, &ready);
            move || {
                let mut session = table.session();
                ready.wait();
                let begin = Instant::now();
                operate(&mut session, at as u64, case, stop);
                session.barrier();
                session.offline();
                (begin, Instant::now())
            }
        };
        let threads: Vec<_> = (0..case.threads).map(|at| scope.spawn(work(at))).collect();
        let begin = Instant::now();
        while threads.iter().any(|thread| !thread.is_finished()) {
            thread::sleep(Duration::from_millis(1));
            stop.fetch_or(begin.elapsed() > case.patience, Relaxed);
        }
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    (!stop.load(Relaxed)).then(|| from_first_to_last(&ran).as_secs_f64() * 1e3)
}

/// Cycles of inserting a thread's keys and removing them again; after each of either, retrievals.
fn operate<F: Flavour>(session: &mut HashSession<Arc<Item>, F>, at: u64, case: Case, stop: &AtomicBool) {
    let first = at * KEYS / 2;
    let keys = (case.threads as u64 + 1) * KEYS / 2;
    let mut random = fastrand::Rng::with_seed(at);
    let (mut done, mut write) = (0, 0);
    while done < case.operations && !stop.load(Relaxed) {
        let (cycle, key) = (write / KEYS, first + write % KEYS);
        if cycle % 2 == 0 {
            // Refused if the neighbour has been quicker.
            let _ = session.insert(key, Arc::new(Item::new()));
        } else {
            session.remove(key);
        }
        session.quiescent();
        for _ in 0..case.reads_a_write {
            session.get(random.u64(..keys), |item| item.read());
            session.quiescent();
        }
        write += 1;
        done += 1 + case.reads_a_write;
    }
}

type Scheme = (&'static str, fn(Case) -> Option<f64>);

fn one<F: Flavour>(instance: F, case: Case) -> Option<f64> {
    measure(&HashTable::new(BUCKETS, instance), case)
}

const ONE_INSTANCE: [Scheme; 7] = [
    ("DRCU", |case| one(Drcu::new(), case)),
    ("QRCU", |case| one(Qrcu::new(), case)),
    ("AP-RCUs", |case| one(Blocking(ApRcu::new()), case)),
    ("AP-RCUc", |case| one(ApRcu::new(), case)),
    ("click-epoch", |case| one(ClickEpoch::new(), case)),
    ("QSBR, waiting", |case| one(Blocking(Qsbr::new()), case)),
    ("QSBR", |case| one(Qsbr::new(), case)),
];

/// Only flavours of which there can be many get an instance for each bucket; the others stay as they are.
const PER_BUCKET: [Scheme; 7] = [
    ("DRCU", |case| measure(&HashTable::<_, Drcu>::per_bucket(BUCKETS), case)),
    ("QRCU", |case| measure(&HashTable::<_, Qrcu>::per_bucket(BUCKETS), case)),
    ONE_INSTANCE[2],
    ONE_INSTANCE[3],
    ONE_INSTANCE[4],
    ONE_INSTANCE[5],
    ONE_INSTANCE[6],
];

/// All runs of one ratio, interleaved; who is too slow once is not run again.
fn scenario(name: &'static str, schemes: &[Scheme], runs: usize, case: Case) -> Vec<Figure> {
    let mut found = vec![Some(Vec::new()); schemes.len()];
    for _ in 0..runs {
        for ((_, scheme), found) in schemes.iter().zip(&mut found) {
            *found = found.take().and_then(|mut so_far: Vec<f64>| {
                so_far.push(scheme(case)?);
                Some(so_far)
            });
        }
    }
    let medians: Vec<_> = found.iter().map(|found| found.as_ref().map(|found| Median::of(found))).collect();
    let best = medians.iter().flatten().map(|ms| ms.median).fold(f64::MAX, f64::min);
    let figures = schemes.iter().zip(medians).map(|((flavour, _), ms)| Figure {
        scenario: name.into(),
        reads_a_write: case.reads_a_write,
        flavour: (*flavour).into(),
        runs,
        ms,
        to_best: ms.map(|ms| ms.median / best),
    });
    figures.collect()
}

/// Measures everything, interleaved, and prints it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    if let (Some(file), Some(folder)) = (&arguments.from, &arguments.svg) {
        return read_json::<Report>(file)?.draw(folder);
    }
    let machine = Machine::here();
    let tiny = arguments.tiny;
    let runs = |which: usize| if tiny { 1 } else { arguments.runs.get(which).copied().unwrap_or(1).max(1) };
    let threads = 2 * processors();
    let operations = if tiny { 256 } else { arguments.operations };
    let patience = Duration::from_millis(arguments.patience);
    let mut figures = Vec::new();
    for reads_a_write in RATIOS {
        let case = Case { threads, operations, reads_a_write, patience };
        if reads_a_write != 2047 {
            figures.extend(scenario("one instance", &ONE_INSTANCE, runs(0), case));
        }
        figures.extend(scenario("instance per bucket", &PER_BUCKET, runs(1), case));
    }
    let pattern_errors = ERRORS.load(Relaxed);
    let oversubscribed = threads > processors();
    let report =
        Report { machine, threads, oversubscribed, operations_a_thread: operations, pattern_errors, figures };
    if let Some(folder) = &arguments.svg {
        report.draw(folder)?;
    }
    if arguments.json {
        print_json(&report);
    } else {
        report.print();
    }
    if pattern_errors > 0 {
        return Err(format!("{pattern_errors} words of items were not as their owner left them"));
    }
    Ok(())
}

impl Report {
    /// How many times longer than the best each flavour took, against the reads a write.
    fn draw(&self, folder: &Path) -> Result<(), String> {
        for (scenario, file) in
            [("one instance", "rcu-ap-one.svg"), ("instance per bucket", "rcu-ap-per-bucket.svg")]
        {
            let line = |flavour: &str| {
                let here = self.figures.iter().filter(|figure| figure.scenario == scenario);
                let here = here.filter(|figure| figure.flavour == flavour);
                here.filter_map(|figure| Some((figure.reads_a_write as f64, figure.to_best?))).collect()
            };
            Chart {
                file,
                title: &format!("AP-RCU's Table I, {scenario}"),
                x: "reads a write",
                y: "time, of the best",
                lines: ONE_INSTANCE.iter().map(|(name, _)| ((*name).to_owned(), line(name))).collect(),
            }
            .draw(folder)?;
        }
        Ok(())
    }

    fn print(&self) {
        println!("{}", self.machine.line());
        println!(
            "{} threads (oversubscribed), {} operations each; ms: median, its 95 % interval, to the best",
            self.threads, self.operations_a_thread
        );
        for scenario in ["one instance", "instance per bucket"] {
            println!();
            let here: Vec<_> = self.figures.iter().filter(|figure| figure.scenario == scenario).collect();
            let of_ratios: Vec<_> = here.chunk_by(|a, b| a.reads_a_write == b.reads_a_write).collect();
            let ratios: Vec<_> = of_ratios.iter().map(|of| format!("{}:1", of[0].reads_a_write)).collect();
            let heads: Vec<&str> = [scenario].into_iter().chain(ratios.iter().map(String::as_str)).collect();
            let rows = (0..of_ratios[0].len()).map(|at| {
                let cells = of_ratios.iter().map(|of| match (of[at].ms, of[at].to_best) {
                    (Some(ms), Some(ratio)) => {
                        format!("{:.1} [{:.1}, {:.1}] {:.0} %", ms.median, ms.from, ms.to, 100.0 * ratio)
                    }
                    _ => "too slow".to_owned(),
                });
                [of_ratios[0][at].flavour.to_string()].into_iter().chain(cells).collect::<Vec<_>>()
            });
            print_table(&heads, &rows.collect::<Vec<_>>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Median, left_out};

    #[test]
    fn the_interval_is_that_of_the_sign_test() {
        // As in tables of order statistics: the 5th and 13th of 17, the first and last of 7.
        assert_eq!((left_out(17), left_out(7), left_out(6), left_out(1)), (4, 0, 0, 0));
        let figures: Vec<f64> = (1..=17).map(f64::from).collect();
        let Median { median, from, to } = Median::of(&figures);
        assert_eq!((median, from, to), (9.0, 5.0, 13.0));
    }
}
