//! How long it takes until a file's routes can be looked up.

use super::family::{Family, next_hop};
use crate::rcu::{Spread, processor_time};
use lpm::{Prefix, Table, import};
use rcu::Domain;
use serde::Serialize;
use std::path::Path;

/// Seconds of processor time for a file with routes of both families.
#[derive(Serialize)]
pub(super) struct Figure {
    routes: usize,
    /// Reading and decompressing.
    unpack_s: Spread,
    /// Understanding the text.
    parse_s: Spread,
    /// Putting all routes into two empty tables.
    build_s: Spread,
    /// Without decompression: the two before.
    load_s: Spread,
    /// All of it.
    whole_s: Spread,
}

pub(super) fn measure(file: &Path, rounds: usize, next_hops: u32) -> Result<Figure, String> {
    let wrong = |e: import::ImportError| format!("{}: {e}", file.display());
    let (mut unpack, mut parse, mut build) = (Vec::new(), Vec::new(), Vec::new());
    let mut routes = 0;
    for _ in 0..rounds {
        let start = processor_time();
        let source = std::fs::File::open(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let bytes = import::unpack(source, &mut import::Options::default()).map_err(wrong)?;
        let unpacked = processor_time();
        let list = import::parse_any(&bytes, import::MAIN_TABLE).map_err(wrong)?;
        let parsed = processor_time();
        let tables = (table(&list.v4, next_hops)?, table(&list.v6, next_hops)?);
        let built = processor_time();
        routes = tables.0.len() + tables.1.len();
        unpack.push((unpacked - start).as_secs_f64());
        parse.push((parsed - unpacked).as_secs_f64());
        build.push((built - parsed).as_secs_f64());
    }
    let sum = |parts: &[&Vec<f64>]| -> Spread {
        let sums: Vec<f64> = (0..rounds).map(|round| parts.iter().map(|part| part[round]).sum()).collect();
        Spread::of(&sums)
    };
    Ok(Figure {
        routes,
        unpack_s: Spread::of(&unpack),
        parse_s: Spread::of(&parse),
        build_s: Spread::of(&build),
        load_s: sum(&[&parse, &build]),
        whole_s: sum(&[&unpack, &parse, &build]),
    })
}

fn table<K: Family>(routes: &[(Prefix<K>, import::NextHops)], next_hops: u32) -> Result<Table<K>, String> {
    let table = Table::new(Domain::global());
    table
        .apply(routes.iter().map(|&(prefix, _)| (prefix, Some(next_hop(prefix, next_hops)))))
        .map_err(|e| e.to_string())?;
    Ok(table)
}

impl Figure {
    pub(super) fn print(&self) {
        println!(
            "load: {} routes: {:.3} s unpacking, {:.3} s reading the text, {:.3} s building both tables; {:.3} s without unpacking, \
             {:.3} s with it",
            self.routes,
            self.unpack_s.median,
            self.parse_s.median,
            self.build_s.median,
            self.load_s.median,
            self.whole_s.median
        );
    }
}
