//! `clique trace`: the ways of packets through a running router.

use super::events::{Events, Interrupts, is_end};
use super::pcapng::Pcapng;
use super::{bytes, changes, changes_text, ended, number, print, text};
use crate::address::Address;
use crate::console;
use crate::reply;
use crate::status::Status;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Arguments of `clique trace`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,

    /// Which packets: a pattern of IPClassifier, 'dst 10.0.0.0/8 and tcp' for instance; all if there is none.
    #[arg(default_value = "", hide_default_value = true)]
    filter: String,

    /// Follow N packets.
    #[arg(short = 'n', long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,

    /// Stop after so many seconds.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,

    /// Print an object of JSON for each packet, one a line, and a last one with the ways and their numbers.
    #[arg(long)]
    json: bool,

    /// Print the ways and their numbers only.
    #[arg(short, long)]
    summary: bool,

    /// Write each step's packet to FILE as pcapng ('-': standard output), with a comment.
    #[arg(short, long, value_name = "FILE")]
    write: Option<String>,
}

/// Runs `clique trace`.
pub(crate) fn run(args: &Args) -> Status {
    ended("trace", trace(args))
}

fn trace(args: &Args) -> Result<(), String> {
    let mut client = args.address.connect()?;
    // What cannot be written is said before anything is waited for.
    let mut file = args.write.as_deref().map(Pcapng::create).transpose()?;
    let interrupts = Interrupts::catch()?;
    reply::fine(client.trace(args.count, args.seconds, &args.filter))?;
    let events = Events::of(client);
    let mut packets: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    let end = loop {
        match events.next(&interrupts)? {
            Some(end) if is_end(&end) => break end,
            Some(step) => packets.entry(number(&step, "packet")).or_default().push(step),
            // What has come so far is shown.
            None => break json!({ "end": true, "packets": packets.len(), "lost": 0 }),
        }
    };
    packets.values_mut().for_each(|steps| steps.sort_by_key(|step| number(&step["seen"], "at_ns")));
    if let Some(file) = &mut file {
        write(file, &packets)?;
    }
    let ways = ways(&packets);
    let shown = match args.write.as_deref() {
        Some("-") => String::new(),
        _ if args.json => json_lines(&packets, &ways, &end),
        _ => {
            let each: String = if args.summary {
                String::new()
            } else {
                packets.iter().map(|(n, steps)| packet(*n, steps)).collect()
            };
            each + &summary(&ways)
        }
    };
    print(&shown)?;
    let lost = number(&end, "lost");
    if lost > 0 {
        console::complain(&format!("{lost} steps were lost because there were too many\n"));
    }
    if packets.is_empty() {
        let time = match interrupts.have_come() {
            true => String::new(),
            false => format!(" within {} seconds", args.seconds),
        };
        console::complain(&format!("no packet matched{time}\n"));
    }
    Ok(())
}

/// What a step says, without the packet.
fn words(step: &Value) -> String {
    match text(step, "what") {
        "starts" => "comes in".to_owned(),
        "dropped" => format!("DROPPED: {}", text(step, "reason")),
        "kept" => "kept for a while".to_owned(),
        "ends" => "ends here".to_owned(),
        _ => text(step, "because").to_owned(),
    }
}

/// The place of a step: an element, with the input if it has several.
fn place(step: &Value) -> String {
    match step["input"].as_u64() {
        Some(0) | None => text(step, "element").to_owned(),
        Some(input) => format!("[{input}]{}", text(step, "element")),
    }
}

/// The way of a packet, for people.
fn packet(name: u64, steps: &[Value]) -> String {
    let Some(first) = steps.first() else { return String::new() };
    let began = number(&first["seen"], "at_ns");
    let mut shown = format!("#{} {}\n", name + 1, text(&first["seen"], "summary"));
    let width = steps.iter().map(|step| place(step).len()).max().unwrap_or(0).min(40);
    let mut before = first;
    for step in steps {
        let changed = changes_text(&changes(&before["seen"], &step["seen"]));
        if !changed.is_empty() {
            shown += &format!("{:>14}{changed}\n", "");
        }
        let us = number(&step["seen"], "at_ns").saturating_sub(began) as f64 / 1000.0;
        shown += format!("{us:>9.1}us  {:width$}  {:18} {}", place(step), text(step, "class"), words(step))
            .trim_end();
        shown += "\n";
        before = step;
    }
    shown + "\n"
}

/// Different ways, with the number of packets that took them, the most frequent first.
fn ways(packets: &BTreeMap<u64, Vec<Value>>) -> Vec<(u64, Vec<String>)> {
    let mut counts: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for steps in packets.values() {
        let stop = |step: &Value| match text(step, "what") {
            "arrives" | "starts" => place(step),
            _ => format!("({})", words(step)),
        };
        *counts.entry(steps.iter().map(stop).collect()).or_default() += 1;
    }
    let mut ways: Vec<(u64, Vec<String>)> = counts.into_iter().map(|(way, count)| (count, way)).collect();
    ways.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    ways
}

fn summary(ways: &[(u64, Vec<String>)]) -> String {
    ways.iter().map(|(count, way)| format!("{count:>6} x  {}\n", way.join(" > "))).collect()
}

fn json_lines(packets: &BTreeMap<u64, Vec<Value>>, ways: &[(u64, Vec<String>)], end: &Value) -> String {
    let mut shown = String::new();
    for (name, steps) in packets {
        let mut told = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let mut step = step.clone();
            if let Some(before) = at.checked_sub(1).and_then(|before| steps.get(before)) {
                let changed = changes(&before["seen"], &step["seen"]);
                let pairs = changed.into_iter().map(|(name, old, new)| (name, json!([old, new])));
                step["changes"] = Value::Object(pairs.collect());
            }
            told.push(step);
        }
        shown += &format!("{}\n", json!({ "packet": name, "steps": told }));
    }
    let ways: Vec<Value> = ways.iter().map(|(count, way)| json!({ "packets": count, "way": way })).collect();
    shown + &format!("{}\n", json!({ "ways": ways, "packets": end["packets"], "lost": end["lost"] }))
}

fn write(file: &mut Pcapng, packets: &BTreeMap<u64, Vec<Value>>) -> Result<(), String> {
    for (number_of, steps) in packets {
        for step in steps {
            let seen = &step["seen"];
            let comment = format!("#{} {} {}", number_of + 1, place(step), words(step));
            let ethernet = text(seen, "link") == "ethernet";
            file.packet(
                ethernet,
                number(seen, "at_ns"),
                number(seen, "len"),
                &bytes(seen),
                comment.trim_end(),
            )?;
        }
    }
    file.flush().map(drop)
}
