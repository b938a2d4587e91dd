//! `clique routes replay`.

use super::file::{self, Reading};
use super::trouble::Trouble;
use crate::console;
use crate::status::Status;
use clap::ValueHint;
use lpm::import::mrt::{self, Event, Route};
use lpm::import::{AnyPrefix, Choice, List, NextHops};
use lpm::{Key, Naive, Prefix, Table, TableError};
use rcu::Domain;
use serde_json::json;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Arguments of `clique routes replay`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The routes before the updates ('-': standard input).
    #[arg(value_name = "ROUTES", value_hint = ValueHint::FilePath)]
    routes: String,

    /// MRT files with updates, in order.
    #[arg(value_name = "UPDATES", required = true, value_hint = ValueHint::FilePath)]
    updates: Vec<String>,
}

/// What was seen and done.
#[derive(Default)]
struct Count {
    announcements: u64,
    withdrawals: u64,
    changes: u64,
    took: Duration,
    longest: Duration,
}

pub(super) fn run(args: &Args, reading: &Reading, json: bool) -> Result<Status, Trouble> {
    let full = |error: TableError| Trouble(Status::Failure, error.to_string());
    let mut tables = Tables::new(&file::read(&args.routes, reading)?.list).map_err(full)?;
    let before = tables.len();
    let (mut choice, mut count) = (Choice::new(), Count::default());
    for name in &args.updates {
        let bytes = file::read(name, reading)?.bytes;
        let wrong =
            |error: &dyn std::fmt::Display| Trouble(Status::Configuration, format!("{name}: {error}"));
        if !mrt::is_mrt(&bytes) {
            return Err(wrong(&"not an MRT file"));
        }
        let mut fault = None;
        // What cannot be read has been reported before.
        mrt::read(&bytes, &mut |event| {
            match event {
                Event::Route(Route { path: Some(_), .. }) => count.announcements += 1,
                Event::Route(_) => count.withdrawals += 1,
                Event::Down { .. } => {}
            }
            choice.enter(&event, &mut |(prefix, gateway)| {
                if let Err(error) = tables.change(prefix, gateway.map(Next::Gateway), &mut count) {
                    fault = Some(error);
                }
            });
        });
        if let Some(error) = fault {
            return Err(full(error));
        }
    }
    let wrong = tables.wrong();
    let rate = count.changes as f64 / count.took.as_secs_f64().max(1e-9);
    let status = if wrong == 0 { Status::Fine } else { Status::Failure };
    let text = if json {
        let report = json!({
            "prefixes_before": before,
            "prefixes_after": tables.len(),
            "announcements": count.announcements,
            "withdrawals": count.withdrawals,
            "changes": count.changes,
            "seconds": count.took.as_secs_f64(),
            "longest_us": count.longest.as_secs_f64() * 1e6,
            "changes_per_s": rate,
            "wrong": wrong,
        });
        format!("{report:#}\n")
    } else {
        let verdict = match wrong {
            0 => "as a slow table says".to_owned(),
            wrong => format!("WRONG for {wrong} addresses"),
        };
        format!(
            "{before} prefixes before, {} after, looked up {verdict}\n{} announcements and {} withdrawals made {} changes in {:.6} s: \
             {rate:.0} a second, the longest {:.1} us\n",
            tables.len(),
            count.announcements,
            count.withdrawals,
            count.changes,
            count.took.as_secs_f64(),
            count.longest.as_secs_f64() * 1e6,
        )
    };
    match console::write_result(None, &text) {
        Status::Fine => Ok(status),
        failed => Ok(failed),
    }
}

/// Where a route leads: as the table said, or to a gateway of the updates.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Next {
    Before(NextHops),
    Gateway(Option<std::net::IpAddr>),
}

/// A table, and the slow one.
struct Pair<K: Key> {
    fast: Table<K>,
    naive: Naive<K>,
}

impl<K: Key> Pair<K> {
    fn new(routes: &[(Prefix<K>, NextHops)], ids: &mut Ids) -> Result<Self, TableError> {
        let (fast, mut naive) = (Table::new(Domain::global()), Naive::new());
        let routes: Vec<_> =
            routes.iter().map(|&(prefix, next_hops)| (prefix, ids.of(Next::Before(next_hops)))).collect();
        fast.apply(routes.iter().map(|&(prefix, id)| (prefix, Some(id))))?;
        for (prefix, id) in routes {
            naive.insert(prefix, id);
        }
        Ok(Pair { fast, naive })
    }

    fn change(&mut self, prefix: Prefix<K>, id: Option<u32>, count: &mut Count) -> Result<(), TableError> {
        let start = Instant::now();
        match id {
            Some(id) => self.fast.insert(prefix, id)?,
            None => self.fast.remove(prefix)?,
        };
        let took = start.elapsed();
        count.changes += 1;
        count.took += took;
        count.longest = count.longest.max(took);
        match id {
            Some(id) => self.naive.insert(prefix, id),
            None => self.naive.remove(prefix),
        };
        Ok(())
    }

    /// How many first and last addresses of prefixes are looked up otherwise than in the slow table.
    fn wrong(&self) -> usize {
        let guard = Domain::global().guard();
        let ends = self.naive.sorted().into_iter().flat_map(|(prefix, _)| [prefix.addr(), prefix.last()]);
        ends.filter(|&addr| self.fast.lookup(addr, guard.turn()) != self.naive.lookup(addr)).count()
    }
}

/// The ids of next hops, small ones first.
#[derive(Default)]
struct Ids(HashMap<Next, u32>);

impl Ids {
    fn of(&mut self, next: Next) -> u32 {
        let fresh = self.0.len() as u32;
        *self.0.entry(next).or_insert(fresh)
    }
}

/// The tables of both families.
struct Tables {
    ids: Ids,
    v4: Pair<u32>,
    v6: Pair<u128>,
}

impl Tables {
    fn new(list: &List) -> Result<Tables, TableError> {
        let mut ids = Ids::default();
        let (v4, v6) = (Pair::new(&list.v4, &mut ids)?, Pair::new(&list.v6, &mut ids)?);
        Ok(Tables { ids, v4, v6 })
    }

    fn change(&mut self, prefix: AnyPrefix, next: Option<Next>, count: &mut Count) -> Result<(), TableError> {
        let id = next.map(|next| self.ids.of(next));
        match prefix {
            AnyPrefix::V4(prefix) => self.v4.change(prefix, id, count),
            AnyPrefix::V6(prefix) => self.v6.change(prefix, id, count),
        }
    }

    fn len(&self) -> usize {
        self.v4.fast.len() + self.v6.fast.len()
    }

    fn wrong(&self) -> usize {
        self.v4.wrong() + self.v6.wrong()
    }
}
