//! Table 2: how much memory takes, by writes to random places of a large array as in the paper, and by writes one behind the other.

use super::run::Effort;
use crate::rcu::{Bound, Spread, from_first_to_last, processors};
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

/// Octets of a cache line; a write to one moves all of it, there and back.
const LINE: usize = 64;
const WORDS: usize = LINE / size_of::<u64>();

#[derive(Clone, Copy, Debug)]
enum Order {
    Random,
    Straight,
}

/// Rows for one processor and for all.
pub(super) fn figures(effort: &Effort) -> Vec<Value> {
    let mut counts = vec![1, processors()];
    counts.dedup();
    let rows: Vec<(Order, usize)> = [Order::Random, Order::Straight]
        .into_iter()
        .flat_map(|order| counts.iter().map(move |&count| (order, count)))
        .collect();
    let mut rates = vec![Vec::new(); rows.len()];
    for _ in 0..effort.rounds {
        for (&(order, threads), rates) in rows.iter().zip(&mut rates) {
            rates.push(gbps(order, threads, effort.memory));
        }
    }
    let figure = |((order, threads), rates): (&(Order, usize), &Vec<f64>)| {
        let order = match order {
            Order::Random => "random places",
            Order::Straight => "one behind the other",
        };
        json!({ "name": format!("memory: {order}, {threads} threads"), "threads": threads, "lines_gbps": Spread::of(rates) })
    };
    rows.iter().zip(&rates).map(figure).collect()
}

/// Gigabits a second of the lines that are written to, all threads together.
fn gbps(order: Order, threads: usize, memory: usize) -> f64 {
    let lines = (memory / LINE / threads).next_power_of_two();
    let start = Barrier::new(threads);
    let ran: Vec<(Instant, Instant)> = std::thread::scope(|scope| {
        let work = |processor: usize| {
            let start = &start;
            scope.spawn(move || {
                let _bound = Bound::to(processor);
                let mut array = vec![1u64; lines * WORDS];
                start.wait();
                let begin = Instant::now();
                write(order, &mut array, lines);
                let end = Instant::now();
                black_box(&array);
                (begin, end)
            })
        };
        let running: Vec<_> = (0..threads).map(work).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    (threads * lines * LINE * 8) as f64 / from_first_to_last(&ran).as_nanos() as f64
}

/// Writes to as many lines as there are.
fn write(order: Order, array: &mut [u64], lines: usize) {
    match order {
        Order::Straight => array.fill(7),
        Order::Random => {
            let mut random = 0x9e37_79b9_7f4a_7c15u64;
            for _ in 0..lines {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                array[((random >> 20) as usize & (lines - 1)) * WORDS] = 7;
            }
        }
    }
}
