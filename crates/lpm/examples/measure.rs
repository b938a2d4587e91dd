//! Loads a list of prefixes and measures the tables with it.
//!
//! `cargo run --release -p clique-lpm --example measure [-- FILE]`; the file defaults to the shipped table.
//! One thread; figures are medians of several runs. Ids are `index % 256`.

use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use lpm::import::{self, Options};
use lpm::{Key, Prefix, Table};
use rcu::Domain;

/// Addresses of a trace.
const TRACE: usize = 1 << 20;
/// Runs of which the median counts.
const RUNS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let shipped = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../data/internet-prefixes.txt.xz");
    let path = std::env::args_os().nth(1).map_or(shipped, PathBuf::from);
    let start = Instant::now();
    let text = import::unpack(std::fs::File::open(path)?, &mut Options::default())?;
    println!("unpack {:.3} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let list = import::parse(&text)?;
    println!("parse  {:.3} s", start.elapsed().as_secs_f64());
    let v4: Vec<_> = list.v4.iter().map(|&(prefix, _)| prefix).collect();
    let v6: Vec<_> = list.v6.iter().map(|&(prefix, _)| prefix).collect();
    let mut rng = fastrand::Rng::with_seed(1);
    let uniform: Vec<_> = (0..TRACE).map(|_| rng.u32(..)).collect();
    measure("IPv4", &v4, &uniform, &mut rng)?;
    // Global unicast, 2000::/3: elsewhere nothing is routed.
    let uniform: Vec<_> = (0..TRACE).map(|_| 1 << 125 | rng.u128(..) >> 3).collect();
    measure("IPv6", &v6, &uniform, &mut rng)
}

fn measure<K: Key>(
    name: &str,
    prefixes: &[Prefix<K>],
    uniform: &[K],
    rng: &mut fastrand::Rng,
) -> Result<(), Box<dyn Error>> {
    let domain = Domain::global();
    let mut build = Vec::new();
    for _ in 0..RUNS {
        let table = Table::new(domain);
        let start = Instant::now();
        table.apply(routes(prefixes, 0))?;
        build.push(start.elapsed().as_secs_f64());
    }
    let table = Table::new(domain);
    table.apply(routes(prefixes, 0))?;
    let stats = table.stats();
    let each = |bytes: usize| bytes as f64 / stats.prefixes as f64;
    println!("{name}: {} prefixes, build {:.3} s", stats.prefixes, median(&mut build));
    println!(
        "  lookup structure {:.2} B a prefix ({:.2} without the root), routes of record {:.1} B a prefix",
        each(stats.root_bytes + stats.block_bytes),
        each(stats.block_bytes),
        each(stats.rib_bytes)
    );
    let weighted: Vec<K> = (0..TRACE)
        .map(|_| {
            let prefix = prefixes[rng.usize(..prefixes.len())];
            let host = rng.u128(..) >> (128 - K::BITS) << (128 - K::BITS);
            let inside = prefix.addr().to_left() ^ prefix.last().to_left();
            K::from_left(prefix.addr().to_left() | host & inside)
        })
        .collect();
    for (trace, addrs) in [("uniform", uniform), ("prefix-weighted", &weighted)] {
        println!(
            "  {trace}: {:.0} Mlookups/s in batches of 32, {:.0} one at a time",
            batches(&table, addrs),
            singles(&table, addrs)
        );
    }
    updates(&table, prefixes, rng)
}

fn routes<K: Key>(prefixes: &[Prefix<K>], add: u32) -> impl Iterator<Item = (Prefix<K>, Option<u32>)> {
    (add..).zip(prefixes).map(|(index, &prefix)| (prefix, Some(index % 256)))
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn batches<K: Key>(table: &Table<K>, addrs: &[K]) -> f64 {
    let guard = Domain::global().guard();
    let mut rates: Vec<_> = (0..RUNS)
        .map(|_| {
            let mut out = [0; 32];
            let start = Instant::now();
            for addrs in addrs.chunks_exact(32) {
                table.lookup_batch(addrs, &mut out, guard.turn());
                black_box(&out);
            }
            addrs.len() as f64 / start.elapsed().as_secs_f64() / 1e6
        })
        .collect();
    median(&mut rates)
}

fn singles<K: Key>(table: &Table<K>, addrs: &[K]) -> f64 {
    let guard = Domain::global().guard();
    let mut rates: Vec<_> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            for &addr in addrs {
                black_box(table.lookup(addr, guard.turn()));
            }
            addrs.len() as f64 / start.elapsed().as_secs_f64() / 1e6
        })
        .collect();
    median(&mut rates)
}

fn updates<K: Key>(
    table: &Table<K>,
    prefixes: &[Prefix<K>],
    rng: &mut fastrand::Rng,
) -> Result<(), Box<dyn Error>> {
    let count = 200_000;
    let picked: Vec<_> = (0..count).map(|_| prefixes[rng.usize(..prefixes.len())]).collect();
    let rate = |start: Instant, changes: usize| changes as f64 / start.elapsed().as_secs_f64() / 1e6;
    let start = Instant::now();
    for (id, &prefix) in (0..).zip(&picked) {
        table.insert(prefix, id % 256)?;
    }
    let hops = rate(start, count);
    let start = Instant::now();
    for (id, &prefix) in (0..).zip(&picked) {
        table.remove(prefix)?;
        table.insert(prefix, id % 256)?;
    }
    println!(
        "  single changes: {hops:.2} M/s next hops, {:.2} M/s withdrawals and announcements",
        rate(start, 2 * count)
    );
    let start = Instant::now();
    table.apply(prefixes.iter().map(|&prefix| (prefix, None)))?;
    table.apply(routes(prefixes, 7))?;
    println!("  session reset (withdraw all, announce all): {:.3} s", start.elapsed().as_secs_f64());
    let stats = table.stats();
    println!(
        "  node memory afterwards: {} KiB in use of {} KiB",
        stats.block_bytes >> 10,
        stats.arena_bytes >> 10
    );
    Ok(())
}
