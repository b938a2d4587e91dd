//! `clique routes stats`.

use super::file::{self, Reading, RouteFile};
use super::trouble::Trouble;
use crate::console;
use crate::report;
use crate::status::Status;
use clap::ValueHint;
use lpm::import::NextHops;
use lpm::import::mrt::{self, Event};
use lpm::{Key, Prefix, Table, TableStats};
use rcu::Domain;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

/// Arguments of `clique routes stats`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The file of routes ('-': standard input).
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: String,
}

pub(super) fn run(args: &Args, reading: &Reading, json: bool) -> Result<Status, Trouble> {
    let file = file::read(&args.file, reading)?;
    let full = |error: lpm::TableError| Trouble(Status::Failure, error.to_string());
    let v4 = Family::of(&file.list.v4).map_err(full)?;
    let v6 = Family::of(&file.list.v6).map_err(full)?;
    let events = Events::of(&file);
    if json {
        let mut report = json!({ "ipv4": v4.json(), "ipv6": v6.json(), "skipped": file.list.skipped, "faults": file.list.faults.count() });
        if let Some(events) = events {
            report["mrt"] = events.json();
        }
        return Ok(report::print_json(&report));
    }
    let mut text = String::new();
    for (name, family) in [("IPv4", &v4), ("IPv6", &v6)] {
        text.push_str(&family.text(name));
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "left out: {}, unusable: {}", file.list.skipped, file.list.faults.count());
    if let Some(events) = events {
        let _ = writeln!(
            text,
            "MRT: {} routes in dumps, {} announced, {} withdrawn, {} sessions ended or begun, {} peers",
            events.dumped, events.announced, events.withdrawn, events.sessions, events.peers
        );
    }
    text.push_str(&lengths(&v4, &v6));
    Ok(console::write_result(None, &text))
}

/// The routes of one family.
struct Family {
    lengths: BTreeMap<u8, u64>,
    hops: usize,
    nowhere: u64,
    table: TableStats,
}

impl Family {
    fn of<K: Key>(routes: &[(Prefix<K>, NextHops)]) -> Result<Family, lpm::TableError> {
        let table = Table::<K>::new(Domain::global());
        // As many ids as different next hops, as in a router: neighbours that lead the same way share memory.
        let mut ids = std::collections::HashMap::new();
        let changes: Vec<_> = routes
            .iter()
            .map(|&(prefix, next_hops)| {
                let fresh = ids.len() as u32;
                (prefix, Some(*ids.entry(next_hops).or_insert(fresh)))
            })
            .collect();
        table.apply(changes)?;
        let (mut lengths, mut nowhere) = (BTreeMap::new(), 0);
        let no_way = ids.remove(&NextHops::Nowhere);
        table.for_each(|prefix, id| {
            *lengths.entry(prefix.len()).or_default() += 1;
            nowhere += u64::from(Some(id) == no_way);
        });
        Ok(Family { lengths, hops: ids.len(), nowhere, table: table.stats() })
    }

    fn lookup_bytes(&self) -> usize {
        self.table.root_bytes + self.table.block_bytes
    }

    fn each(&self) -> String {
        match self.table.prefixes {
            0 => String::new(),
            prefixes => format!(" ({:.1} a prefix)", self.lookup_bytes() as f64 / prefixes as f64),
        }
    }

    fn text(&self, name: &str) -> String {
        format!(
            "{name}: {} prefixes, {} to nowhere; {} next hops; table {} bytes{}, routes of record {} bytes\n",
            self.table.prefixes,
            self.nowhere,
            self.hops,
            self.lookup_bytes(),
            self.each(),
            self.table.rib_bytes
        )
    }

    fn json(&self) -> Value {
        let lengths: Map<String, Value> =
            self.lengths.iter().map(|(len, count)| (len.to_string(), json!(count))).collect();
        json!({
            "prefixes": self.table.prefixes,
            "nowhere": self.nowhere,
            "next_hops": self.hops,
            "lengths": lengths,
            "table_bytes": self.lookup_bytes(),
            "record_bytes": self.table.rib_bytes,
        })
    }
}

fn lengths(v4: &Family, v6: &Family) -> String {
    let all: std::collections::BTreeSet<u8> = v4.lengths.keys().chain(v6.lengths.keys()).copied().collect();
    let mut text = "length      IPv4      IPv6\n".to_owned();
    for len in all {
        let count = |family: &Family| family.lengths.get(&len).copied().unwrap_or(0);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:>6}{:>10}{:>10}", format!("/{len}"), count(v4), count(v6));
    }
    text
}

/// What an MRT file holds besides the routes that are in force at its end.
#[derive(Default)]
struct Events {
    dumped: u64,
    announced: u64,
    withdrawn: u64,
    /// Sessions that ended or began.
    sessions: u64,
    peers: usize,
}

impl Events {
    fn of(file: &RouteFile) -> Option<Events> {
        if !mrt::is_mrt(&file.bytes) {
            return None;
        }
        let (mut events, mut peers) = (Events::default(), HashSet::new());
        // What cannot be read has been reported before.
        mrt::read(&file.bytes, &mut |event| match event {
            Event::Route(route) => {
                peers.insert(route.peer);
                match (route.dump, route.path) {
                    (true, _) => events.dumped += 1,
                    (false, Some(_)) => events.announced += 1,
                    (false, None) => events.withdrawn += 1,
                }
            }
            Event::Down { peer, .. } => {
                peers.insert(peer);
                events.sessions += 1;
            }
        });
        events.peers = peers.len();
        Some(events)
    }

    fn json(&self) -> Value {
        json!({
            "dumped": self.dumped,
            "announced": self.announced,
            "withdrawn": self.withdrawn,
            "sessions": self.sessions,
            "peers": self.peers,
        })
    }
}
