//! The paper of Li, Qing and Macy ("Optimizing the BSD routing system for parallel processing", PRESTO 2009), Figures 7, 9 and 10, in memory: threads that
//! send UDP packets as fast as they can find out where to, over the designs that it compares and over this product's.
//!
//! All destinations are behind one default router, the case that the paper calls the worst (section 1.2). Each packet has its header written and its
//! checksum made; no device is behind it, so that locks are a larger part of a packet's time than in the paper. Of every 64th packet the time in lock
//! operations is taken, and the clock's own taken off: their part of its time is Figure 10's. With more threads than processors, those that hold
//! a lock are preempted: such rows are marked.

mod designs;
mod model;

use crate::machine::Machine;
use designs::{Design, FlowTable, Legacy, Ours, Split};
use serde::Serialize;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Runs a design: threads, destinations, how long, a parameter; a rate and a share of time.
type Measure = fn(usize, u32, Duration, f64) -> (f64, f64);

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Samples of each figure.
    #[arg(long, default_value_t = 5)]
    samples: usize,
    /// Seconds a sample; the paper's are 15.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Threads that send.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 3, 4, 5, 6, 7, 8])]
    threads: Vec<usize>,
    /// Destinations.
    #[arg(long, default_value_t = 64)]
    destinations: u32,
    /// One short sample of each, to see that it works.
    #[arg(long)]
    tiny: bool,
    /// Machine-readable output.
    #[arg(long)]
    json: bool,
}

/// A result.
#[derive(Serialize)]
struct Figure {
    design: &'static str,
    threads: usize,
    mpps_median: f64,
    mpps_min: f64,
    mpps_max: f64,
    /// The part of a packet's time that lock operations take.
    lock_share: f64,
    /// Whether there are more threads than processors.
    preempted: bool,
    samples: usize,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    figures: Vec<Figure>,
    /// On more processors, where one thread and two were measured on processors of their own.
    modelled: Vec<model::Modelled>,
}

/// Packets between two looks at whether to stop; of each such run one is timed.
const RUN: usize = 64;

/// Takes the time of lock operations, if it is to.
#[derive(Default)]
pub(crate) struct LockClock {
    timed: bool,
    ns: u64,
    readings: u64,
}

impl LockClock {
    /// A lock operation.
    #[inline]
    fn during<T>(&mut self, operation: impl FnOnce() -> T) -> T {
        if !self.timed {
            return operation();
        }
        let start = Instant::now();
        let done = operation();
        self.ns += start.elapsed().as_nanos() as u64;
        self.readings += 1;
        done
    }
}

/// What a thread did.
#[derive(Default)]
struct Sent {
    packets: u64,
    timed_ns: u64,
    lock_ns: u64,
    readings: u64,
}

/// Sends until it is to stop.
fn send<D: Design>(design: &D, thread: u32, destinations: u32, stop: &AtomicBool) -> Sent {
    let (mut local, mut sent, mut clock) = (design.local(), Sent::default(), LockClock::default());
    let mut frame = [0u8; 60];
    let mut next = thread;
    while !stop.load(Ordering::Relaxed) {
        for number in 0..RUN {
            next = next.wrapping_add(1);
            let destination = 0xc633_0000 + next % destinations;
            clock.timed = number == 0;
            let start = clock.timed.then(Instant::now);
            let way = design.output(&mut local, destination, &mut clock);
            designs::write(&mut frame, destination, way);
            if let Some(start) = start {
                sent.timed_ns += start.elapsed().as_nanos() as u64;
            }
        }
        std::hint::black_box(&frame);
        design.between(&mut local);
        sent.packets += RUN as u64;
    }
    (sent.lock_ns, sent.readings) = (clock.ns, clock.readings);
    sent
}

/// Nanoseconds that reading the clock adds to what is timed.
fn clock_ns() -> f64 {
    const READINGS: u32 = 100_000;
    let mut sum = 0u64;
    for _ in 0..READINGS {
        let start = Instant::now();
        sum += start.elapsed().as_nanos() as u64;
    }
    sum as f64 / f64::from(READINGS)
}

/// Million packets a second, and the part of locks.
fn sample<D: Design>(threads: usize, destinations: u32, time: Duration, clock_ns: f64) -> (f64, f64) {
    let (design, stop, barrier) = (D::new(), AtomicBool::new(false), Barrier::new(threads + 1));
    let (all, elapsed) = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..threads as u32)
            .map(|thread| {
                let (design, stop, barrier) = (&design, &stop, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    send(design, thread * 7, destinations, stop)
                })
            })
            .collect();
        barrier.wait();
        let start = Instant::now();
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        let all: Vec<Sent> = senders.into_iter().filter_map(|sender| sender.join().ok()).collect();
        (all, start.elapsed())
    });
    let sum = |of: fn(&Sent) -> u64| all.iter().map(of).sum::<u64>() as f64;
    let (readings, runs) = (sum(|sent| sent.readings), sum(|sent| sent.packets) / RUN as f64);
    // Each reading of locks costs the packet two, one of which is in what is timed.
    let locks = (sum(|sent| sent.lock_ns) - readings * clock_ns).max(0.0);
    let whole = sum(|sent| sent.timed_ns) - runs * clock_ns - 2.0 * readings * clock_ns;
    let share = if whole > 0.0 { (locks / whole).min(1.0) } else { 0.0 };
    (sum(|sent| sent.packets) / elapsed.as_secs_f64() / 1e6, share)
}

/// Measures, and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let machine = Machine::here();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (samples, seconds, threads) = match arguments.tiny {
        true => (1, 0.01, vec![1, 2]),
        false => (arguments.samples.max(1), arguments.seconds, arguments.threads.clone()),
    };
    let (time, destinations, clock) =
        (Duration::from_secs_f64(seconds), arguments.destinations.max(1), clock_ns());
    let designs: [(&'static str, Measure); 4] = [
        (Legacy::NAME, sample::<Legacy>),
        (Split::NAME, sample::<Split>),
        (FlowTable::NAME, sample::<FlowTable>),
        (Ours::NAME, sample::<Ours>),
    ];
    let mut taken = vec![Vec::new(); designs.len() * threads.len()];
    for _ in 0..samples {
        for (at, &threads) in threads.iter().enumerate() {
            for (number, (_, sample)) in designs.iter().enumerate() {
                taken[at * designs.len() + number].push(sample(threads, destinations, time, clock));
            }
        }
    }
    let cases = threads.iter().flat_map(|threads| designs.iter().map(move |(design, _)| (*design, *threads)));
    let figures: Vec<Figure> =
        cases.zip(taken).map(|((design, threads), taken)| figure(design, threads, cores, taken)).collect();
    let modelled = modelled(&figures);
    if arguments.json {
        let report = Report { machine, figures, modelled };
        println!("{}", serde_json::to_string_pretty(&report).unwrap_or_default());
        return Ok(());
    }
    println!("{}", machine.line());
    println!("{:12} {:>7} {:>8} {:>8} {:>8} {:>8}", "design", "threads", "Mpps", "min", "max", "in locks");
    for f in &figures {
        let mark = if f.preempted { "  more threads than processors" } else { "" };
        println!(
            "{:12} {:7} {:8.2} {:8.2} {:8.2} {:7.0}%{mark}",
            f.design,
            f.threads,
            f.mpps_median,
            f.mpps_min,
            f.mpps_max,
            f.lock_share * 100.0
        );
    }
    println!("modelled:");
    for m in &modelled {
        println!("{:12} {:3} processors {:8.2} million packets a second", m.design, m.processors, m.mpps);
    }
    Ok(())
}

/// What each design would reach on more processors; nothing of those that were not measured with one thread and with two.
fn modelled(figures: &[Figure]) -> Vec<model::Modelled> {
    let rate = |design, threads| {
        let of = figures.iter().find(|f| f.design == design && f.threads == threads && !f.preempted);
        of.map(|figure| figure.mpps_median)
    };
    let singles = figures.iter().filter(|figure| figure.threads == 1);
    singles
        .filter_map(|f| Some((f.design, rate(f.design, 1)?, rate(f.design, 2)?)))
        .flat_map(|(design, one, two)| model::rates(design, one, two))
        .collect()
}

fn figure(design: &'static str, threads: usize, cores: usize, mut taken: Vec<(f64, f64)>) -> Figure {
    taken.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mpps_median, lock_share) = taken[taken.len() / 2];
    Figure {
        design,
        threads,
        mpps_median,
        mpps_min: taken[0].0,
        mpps_max: taken[taken.len() - 1].0,
        lock_share,
        preempted: threads > cores,
        samples: taken.len(),
    }
}
