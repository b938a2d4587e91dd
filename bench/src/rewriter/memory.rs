//! Resident memory of flows: the difference between a process that remembers them and one whose packets pass by.

use super::FLOW_SOURCE;
use crate::assembly;
use crate::machine::Machine;
use router::{Classes, Options};
use serde::Serialize;
use std::process::Command;
use std::time::Duration;

/// A table, with room for `{}` flows.
struct Table {
    name: &'static str,
    element: &'static str,
    is_v6: bool,
}

const TABLES: &[Table] = &[
    Table {
        name: "IPRewriter",
        // Ports would run out before; what a flow becomes does not change what it takes.
        element: "IPRewriter(keep 0 0, MAPPING_CAPACITY {}, REAP_INTERVAL 0)",
        is_v6: false,
    },
    Table { name: "ConnTrack, IPv4", element: TRACKER, is_v6: false },
    Table { name: "ConnTrack, IPv6", element: TRACKER, is_v6: true },
];

const TRACKER: &str = "{ ct :: ConnTrack(CAPACITY {}); Idle -> [1]ct[1] -> Discard; input -> ct -> ConnTrackConfirm(ct) -> output }";

/// How long what was replaced while tables grew has to be given back.
const REST: Duration = Duration::from_millis(300);

/// A result.
#[derive(Serialize)]
struct Figure {
    name: &'static str,
    flows: u32,
    bytes_per_flow: f64,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    figures: Vec<Figure>,
}

/// The process's resident bytes.
fn resident() -> Result<u64, String> {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").map_err(|error| error.to_string())?;
    let line = text.lines().find_map(|line| line.strip_prefix("Rss:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()).and_then(|kib| kib.parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| "no Rss in smaps_rollup".to_owned())
}

/// Makes so many flows, each by one packet, in a table or in none; what is resident then.
fn fill(table: usize, flows: u32) -> Result<u64, String> {
    let known = Classes::new(elements::classes().iter().chain([&FLOW_SOURCE]));
    let is_v6 = TABLES.get(table).is_some_and(|table| table.is_v6);
    let element = TABLES.get(table).map_or("Null", |table| table.element);
    let config = format!(
        "s :: FlowSource(0, {flows}, {flows}, IN_TURN true, V6 {is_v6}) -> {} -> Discard; DriverManager(pause, stop);",
        element.replace("{}", &flows.to_string())
    );
    let mut router = assembly::build(("memory", &config), &[], &known, Options::default())?;
    router.run();
    std::thread::sleep(REST);
    let bytes = resident()?;
    router.finish();
    match router.drops().first() {
        Some((_, reason, packets)) => Err(format!("{packets} packets dropped: {reason}")),
        None => Ok(bytes),
    }
}

/// The same in a process of its own.
fn fill_apart(table: usize, flows: u32) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let (flows, table) = (flows.to_string(), table.to_string());
    let output = Command::new(program)
        .args(["rewriter", "--memory", &flows, "--memory-of", &table])
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    text.parse().map_err(|_| format!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Measures all tables with each number of flows; or, as a process that does that, one of them.
pub(super) fn run(numbers: &[u32], table: Option<usize>, json: bool) -> Result<(), String> {
    if let (Some(table), [flows]) = (table, numbers) {
        println!("{}", fill(table, *flows)?);
        return Ok(());
    }
    let (machine, mut figures) = (Machine::here(), Vec::new());
    for &flows in numbers {
        let without = fill_apart(TABLES.len(), flows)?;
        for (at, table) in TABLES.iter().enumerate() {
            let bytes_per_flow = (fill_apart(at, flows)? - without) / f64::from(flows);
            figures.push(Figure { name: table.name, flows, bytes_per_flow });
        }
    }
    let report = Report { machine, figures };
    if json {
        println!("{}", serde_json::to_string_pretty(&report).unwrap_or_default());
        return Ok(());
    }
    println!("{}", report.machine.line());
    println!("{:20} {:>12} {:>14}", "resident memory of", "flows", "bytes a flow");
    for f in &report.figures {
        println!("{:20} {:12} {:14.1}", f.name, f.flows, f.bytes_per_flow);
    }
    Ok(())
}
