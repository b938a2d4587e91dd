//! What a lookup takes that does not depend on who else uses the machine: cache lines, and instructions.

use super::arguments::Arguments;
use super::family::{Family, next_hop};
use super::traces;
use crate::callgrind;
use lpm::import::List;
use lpm::{Key, Prefix, Table};
use rcu::Domain;
use serde::Serialize;
use std::hint::black_box;

/// Figures of one family and trace.
#[derive(Serialize)]
pub(super) struct Figure {
    family: &'static str,
    trace: &'static str,
    /// Different cache lines that a lookup reads, on average.
    lines: f64,
    /// The most that any lookup reads.
    most_lines: usize,
    /// Instructions a lookup, one at a time.
    instructions: Option<f64>,
    /// The same in batches of 32, as far as this processor's instructions are known to valgrind.
    instructions_in_batches: Option<f64>,
}

/// Lookups that are counted of each kind.
const COUNTED: usize = 1 << 14;
/// Addresses at a time.
const BATCH: usize = 32;

pub(super) fn measure(arguments: &Arguments, list: &List) -> Result<Vec<Figure>, String> {
    let mut figures = of(&prefixes(&list.v4, arguments.tiny), arguments.next_hops)?;
    figures.extend(of(&prefixes(&list.v6, arguments.tiny), arguments.next_hops)?);
    if arguments.instructions {
        let (hops, routes) = (arguments.next_hops.to_string(), arguments.routes.display().to_string());
        let words = ["lpm", "--count", "--next-hops", &hops, "--routes", &routes];
        let counts = callgrind::between("*lpm*boundary*", &words, 2 * figures.len())?;
        for (figure, counts) in figures.iter_mut().zip(counts.chunks_exact(2)) {
            figure.instructions = Some(counts[0] / COUNTED as f64);
            figure.instructions_in_batches = Some(counts[1] / COUNTED as f64);
        }
    }
    Ok(figures)
}

fn prefixes<K: Key, W>(routes: &[(Prefix<K>, W)], tiny: bool) -> Vec<Prefix<K>> {
    routes.iter().map(|(prefix, _)| *prefix).step_by(if tiny { 101 } else { 1 }).collect()
}

fn build<K: Family>(prefixes: &[Prefix<K>], next_hops: u32) -> Result<Table<K>, String> {
    let table = Table::new(Domain::global());
    let routes = prefixes.iter().map(|&prefix| (prefix, Some(next_hop(prefix, next_hops))));
    table.apply(routes).map_err(|e| e.to_string())?;
    Ok(table)
}

fn of<K: Family>(prefixes: &[Prefix<K>], next_hops: u32) -> Result<Vec<Figure>, String> {
    let table = build(prefixes, next_hops)?;
    let guard = Domain::global().guard();
    let traces = traces::draw(prefixes, 1);
    let figures = traces.iter().zip(traces::NAMES).map(|(trace, name)| {
        let lines: Vec<usize> =
            trace[..COUNTED].iter().map(|&addr| table.lines(addr, guard.turn())).collect();
        Figure {
            family: K::NAME,
            trace: name,
            lines: lines.iter().sum::<usize>() as f64 / COUNTED as f64,
            most_lines: lines.iter().copied().max().unwrap_or(0),
            instructions: None,
            instructions_in_batches: None,
        }
    });
    Ok(figures.collect())
}

/// Where callgrind divides its counts: before and after the lookups of a kind.
#[inline(never)]
fn boundary() {
    black_box(());
}

/// All lookups that are counted, in the order of the figures: one by one, then in batches.
pub(super) fn run_all(list: &List, next_hops: u32) -> Result<(), String> {
    run(&prefixes(&list.v4, false), next_hops)?;
    run(&prefixes(&list.v6, false), next_hops)
}

fn run<K: Family>(prefixes: &[Prefix<K>], next_hops: u32) -> Result<(), String> {
    let table = build(prefixes, next_hops)?;
    let guard = Domain::global().guard();
    for trace in traces::draw(prefixes, 1) {
        boundary();
        for &addr in &trace[..COUNTED] {
            black_box(table.lookup(addr, guard.turn()));
        }
        boundary();
        boundary();
        let mut out = [0; BATCH];
        for addrs in trace[..COUNTED].chunks_exact(BATCH) {
            table.lookup_batch(addrs, &mut out, guard.turn());
            black_box(&out);
        }
        boundary();
    }
    Ok(())
}

impl Figure {
    pub(super) fn print(&self) {
        let count = |count: Option<f64>| count.map_or("-".to_owned(), |count| format!("{count:.1}"));
        println!(
            "{} {}: {:.2} cache lines a lookup, {} at most; {} instructions, {} in batches of {BATCH}",
            self.family,
            self.trace,
            self.lines,
            self.most_lines,
            count(self.instructions),
            count(self.instructions_in_batches)
        );
    }
}
