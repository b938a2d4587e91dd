//! What reading, quiescent states and updates cost here. Run with `cargo run --release -p clique-rcu --example cost`.
//!
//! Prints the median and the range of several interleaved runs. Not a test: figures depend on the machine.

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use rcu::{Cell, Domain, Reader};

const READS: u64 = 100_000_000;
const ROUNDS: usize = 5;

fn main() {
    let domain = Domain::global();
    let cell = Arc::new(Cell::new(1u64));
    let mut reader = domain.register("bench");
    let mut plain = [const { Vec::new() }; 3];
    let mut busy = [const { Vec::new() }; 2];
    let mut rates = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        for (every, results) in [1024, 32, 1].into_iter().zip(&mut plain) {
            results.push(read(&cell, &mut reader, every));
        }
        for (way, (results, rates)) in busy.iter_mut().zip(&mut rates).enumerate() {
            let (ns, rate) = while_updating(domain, &cell, &mut reader, way == 0);
            results.push(ns);
            rates.push(rate);
        }
    }
    for (every, results) in [1024, 32, 1].into_iter().zip(&mut plain) {
        print("read, ns", &format!("quiescent every {every}, updater idle"), results);
    }
    for (way, (results, rates)) in ["synchronize", "replace"].into_iter().zip(busy.iter_mut().zip(&mut rates))
    {
        print("read, ns", &format!("quiescent every 32, updater in {way}"), results);
        print("updates, k/s", way, rates);
    }
    let latency = domain.stats().latency;
    println!(
        "grace periods: {} p50 {:?} p99 {:?} p99.9 {:?} max {:?}",
        latency.count,
        latency.quantile(0.5),
        latency.quantile(0.99),
        latency.quantile(0.999),
        latency.max
    );
}

/// Nanoseconds a read, with a quiescent state after each `every` reads.
fn read(cell: &Cell<u64>, reader: &mut Reader, every: u64) -> f64 {
    let begin = Instant::now();
    let mut sum = 0;
    for _ in 0..READS / every {
        let turn = reader.turn();
        for _ in 0..every {
            sum += black_box(cell).read(turn);
        }
        reader.quiescent();
    }
    black_box(sum);
    let spent = begin.elapsed();
    reader.offline();
    spent.as_nanos() as f64 / READS as f64
}

/// The same while another thread updates as fast as it can; and its thousands of updates a second.
fn while_updating(
    domain: &'static Domain,
    cell: &Arc<Cell<u64>>,
    reader: &mut Reader,
    wait: bool,
) -> (f64, f64) {
    let stop = Arc::new(AtomicBool::new(false));
    let (cell_too, stop_too) = (cell.clone(), stop.clone());
    let updater = thread::spawn(move || {
        let (queue, begin, mut updates) = (domain.updater(), Instant::now(), 0);
        while !stop_too.load(Relaxed) {
            if cell_too.replace(Box::new(updates), &queue).is_ok() {
                updates += 1;
            } else {
                thread::yield_now();
            }
            if wait {
                domain.synchronize();
            }
        }
        updates as f64 / begin.elapsed().max(Duration::from_nanos(1)).as_secs_f64() / 1e3
    });
    let ns = read(cell, reader, 32);
    stop.store(true, Relaxed);
    let rate = updater.join().expect("the updater does not panic");
    domain.barrier();
    (ns, rate)
}

fn print(unit: &str, what: &str, results: &mut [f64]) {
    results.sort_by(f64::total_cmp);
    let (low, median, high) = (results[0], results[results.len() / 2], results[results.len() - 1]);
    println!("{unit:13} {what:40} {median:9.2}  ({low:.2} to {high:.2})");
}
