//! `clique cluster reordering`: the paper's experiment on order.

use super::output::{complain, json};
use super::units::{amount, count, rate};
use crate::console;
use crate::status::Status;
use cluster::choice::{OrderPolicy, Scheme};
use cluster::sim::trace::{self, Arrival};
use cluster::sim::{Config, Report, Traffic, run as simulate};
use cluster::topology::Topology;
use device::capture::Reader;
use elements::cluster::HashKey;
use elements::cluster::flow_hash::{Fields, Flows};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Arguments of `clique cluster reordering`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Servers.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = count::<65_535>)]
    nodes: usize,

    /// Rate of the external ports; links have 2R/N.
    #[arg(long, value_name = "RATE", default_value = "10G", value_parser = rate)]
    line_rate: u64,

    /// The share of the line rate that comes in.
    #[arg(long, value_name = "X", default_value_t = 0.85)]
    load: f64,

    /// Milliseconds of made-up trace.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = count::<1_000_000>)]
    milliseconds: usize,

    /// Take packets, flows and sizes from this capture; it is replayed faster or slower, so that the load is as given.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,

    /// Microseconds for which each server keeps a packet.
    #[arg(long, value_name = "N", default_value_t = 24.0, value_parser = amount)]
    latency: f64,

    /// Milliseconds within which packets of a flow belong to one flowlet.
    #[arg(long, value_name = "N", default_value_t = 100.0, value_parser = amount)]
    gap: f64,

    /// The seed of all chance.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What is compared.
const MODES: [(&str, Scheme, OrderPolicy); 6] = [
    ("Valiant, packet by packet", Scheme::Valiant, OrderPolicy::None),
    ("Direct, packet by packet", Scheme::Direct, OrderPolicy::None),
    ("Direct, flowlets", Scheme::Direct, OrderPolicy::Flowlet),
    ("Direct, pinned", Scheme::Direct, OrderPolicy::Pinned),
    ("Direct, strict by rest", Scheme::Direct, OrderPolicy::Quiet),
    ("Direct, strict by number", Scheme::Direct, OrderPolicy::Sequence),
];

/// Runs `clique cluster reordering`.
pub(super) fn run(args: &Args) -> Status {
    match compare(args) {
        Ok(rows) if args.json => {
            let row = |(name, report): &(&str, Report)| serde_json::json!({ "mode": name, "report": report });
            json(&rows.iter().map(row).collect::<Vec<_>>())
        }
        Ok(rows) => console::write_result(None, &table(&rows)),
        Err(error) => complain("reordering", &error, Status::Configuration),
    }
}

fn compare(args: &Args) -> Result<Vec<(&'static str, Report)>, String> {
    if args.nodes < 2 || !(args.load > 0.0 && args.load <= 1.0) {
        return Err("two servers are needed, and a load above 0 and at most 1".to_owned());
    }
    let rate = (args.load * args.line_rate as f64) as u64;
    let trace = match &args.pcap {
        Some(file) => captured(file, rate)?,
        None => {
            let duration_ns = args.milliseconds as u64 * 1_000_000;
            trace::make(&trace::Settings { duration_ns, rate, seed: args.seed })
        }
    };
    let end = trace.last().map_or(1, |arrival| arrival.at_ns + 1);
    let run = |&(name, scheme, order): &(&'static str, Scheme, OrderPolicy)| {
        let mut config =
            Config::new(Topology::Mesh { nodes: args.nodes }, args.line_rate).with(scheme, order);
        config.traffic = Traffic::Trace(trace.clone());
        config.latency_ns = (args.latency * 1e3) as u64;
        config.choice.flowlet_gap_ns = (args.gap * 1e6) as u64;
        (config.duration_ns, config.warmup_ns, config.seed) = (end, 0, args.seed);
        Ok((name, simulate(&config)?))
    };
    MODES.iter().map(run).collect()
}

/// The packets of a capture, replayed at a rate.
fn captured(file: &Path, rate: u64) -> Result<Vec<Arrival>, String> {
    let shown = file.display();
    let wrong = |error: device::capture::Error| format!("{shown}: {error}");
    let mut reader = Reader::open(&file.to_string_lossy()).map_err(wrong)?;
    let (mut flows, mut packets, mut frame) = (HashMap::new(), Vec::new(), Vec::new());
    let hash = Flows { key: HashKey::new(0), fields: Fields::Ports };
    while let Some(record) = reader.next(&mut frame).map_err(wrong)? {
        let Some(at) = record.linktype.ip_offset(&frame) else { continue };
        let next = flows.len() as u32;
        let flow = *flows.entry(hash.of(&frame[at..])).or_insert(next);
        packets.push((record.time_ns, flow, record.orig_len.clamp(60, 9_216) as u16));
    }
    if let Some(complaint) = reader.complaint() {
        eprintln!("{complaint}; {} are skipped in all", reader.skipped());
    }
    let first = packets.first().map_or(0, |packet| packet.0);
    let bytes: u64 = packets.iter().map(|packet| u64::from(packet.2)).sum();
    let span = packets.last().map_or(0, |packet| packet.0 - first).max(1);
    if packets.is_empty() {
        return Err(format!("{shown}: no packets"));
    }
    let stretch = bytes as f64 * 8e9 / rate as f64 / span as f64;
    let arrival = |(at, flow, bytes)| Arrival { at_ns: ((at - first) as f64 * stretch) as u64, flow, bytes };
    let mut trace: Vec<_> = packets.into_iter().map(arrival).collect();
    trace.sort_by_key(|arrival| arrival.at_ns);
    Ok(trace)
}

fn table(rows: &[(&str, Report)]) -> String {
    let mut text = format!(
        "{:<27}{:>12}{:>12}{:>10}{:>10}{:>11}{:>11}{:>9}\n",
        "", "reordered", "per 100", "straight", "dropped", "p50 us", "p99 us", "waiting"
    );
    for (name, report) in rows {
        let straight = 100.0 * report.direct as f64 / (report.direct + report.balanced).max(1) as f64;
        let _ = writeln!(
            text,
            "{name:<27}{:>12}{:>12.5}{:>9.1}%{:>9.3}%{:>11.1}{:>11.1}{:>9}",
            report.reordering.sequences,
            report.reordered_percent,
            straight,
            100.0 * report.drops.total() as f64 / report.packets.max(1) as f64,
            report.latency.p50_us,
            report.latency.p99_us,
            report.most_waiting
        );
    }
    let _ = writeln!(
        text,
        "\n{} packets, all from one port to another. 'reordered': runs of packets that left after a later one of their \
         flow;\n'waiting': most packets held back at once.",
        rows.first().map_or(0, |(_, report)| report.packets)
    );
    text
}
