//! Real BGP updates, one after the other.

use super::family::{Family, next_hop};
use crate::rcu::processor_time;
use lpm::import::{self, AnyPrefix, List};
use lpm::{Prefix, Table};
use rcu::Domain;
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;

/// Next hops of the routes that are there before.
const BEFORE: u32 = 256;

/// Figures of one file.
#[derive(Serialize)]
pub(super) struct Figure {
    file: String,
    /// Of the routes that peers announce and withdraw, those that were the best or became it.
    changes: usize,
    withdrawals: usize,
    prefixes_before: usize,
    prefixes_after: usize,
    seconds: f64,
    changes_per_s: f64,
}

pub(super) fn measure(file: &Path, list: &List) -> Result<Figure, String> {
    let wrong = |e: import::ImportError| format!("{}: {e}", file.display());
    let source = std::fs::File::open(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let bytes = import::unpack(source, &mut import::Options::default()).map_err(wrong)?;
    let (changes, faults) = import::changes(&bytes);
    if let Some(first) = faults.first().first() {
        return Err(format!("{}: {first}", file.display()));
    }
    let mut ids = HashMap::new();
    let changes: Vec<(AnyPrefix, Option<u32>)> = changes
        .into_iter()
        .map(|(prefix, gateway)| {
            let fresh = BEFORE + ids.len() as u32;
            (prefix, gateway.map(|gateway| *ids.entry(gateway).or_insert(fresh)))
        })
        .collect();
    let (v4, v6) = (table(&list.v4)?, table(&list.v6)?);
    let before = v4.len() + v6.len();
    let start = processor_time();
    for &(prefix, id) in &changes {
        match prefix {
            AnyPrefix::V4(prefix) => change(&v4, prefix, id),
            AnyPrefix::V6(prefix) => change(&v6, prefix, id),
        }
        .map_err(|e| e.to_string())?;
    }
    let seconds = (processor_time() - start).as_secs_f64();
    Ok(Figure {
        file: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        changes: changes.len(),
        withdrawals: changes.iter().filter(|(_, id)| id.is_none()).count(),
        prefixes_before: before,
        prefixes_after: v4.len() + v6.len(),
        seconds,
        changes_per_s: changes.len() as f64 / seconds,
    })
}

fn table<K: Family>(routes: &[(Prefix<K>, import::NextHops)]) -> Result<Table<K>, String> {
    let table = Table::new(Domain::global());
    let routes = routes.iter().map(|&(prefix, _)| (prefix, Some(next_hop(prefix, BEFORE))));
    table.apply(routes).map_err(|e| e.to_string())?;
    Ok(table)
}

fn change<K: Family>(table: &Table<K>, prefix: Prefix<K>, id: Option<u32>) -> Result<(), lpm::TableError> {
    match id {
        Some(id) => table.insert(prefix, id)?,
        None => table.remove(prefix)?,
    };
    Ok(())
}

impl Figure {
    pub(super) fn print(&self) {
        println!(
            "{}: {} changes, {} of them withdrawals, over {} prefixes in {:.4} s: {:.2} M/s",
            self.file,
            self.changes,
            self.withdrawals,
            self.prefixes_before,
            self.seconds,
            self.changes_per_s / 1e6
        );
    }
}
