//! `clique drops`: what is dropped, where, why, and an example. What ICMP errors tell senders of counts, too.

use super::events::{Interrupts, LOOK_AROUND};
use super::pcapng::Pcapng;
use super::{bytes, ended, number, object, print, text};
use crate::address::Address;
use crate::reply;
use crate::status::Status;
use control::Client;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Arguments of `clique drops`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,

    /// Print an object of JSON for each reading, one a line.
    #[arg(long)]
    json: bool,

    /// Print what has been dropped since the reading before, again and again.
    #[arg(long)]
    follow: bool,

    /// Seconds from one reading to the next.
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = crate::job::start_s)]
    interval: f64,

    /// Write the examples to FILE as pcapng ('-': standard output), with element and reason as comments.
    #[arg(short, long, value_name = "FILE")]
    write: Option<String>,
}

/// Runs `clique drops`.
pub(crate) fn run(args: &Args) -> Status {
    ended("drops", drops(args))
}

/// A reading: drops, and when.
struct Reading {
    at: Instant,
    drops: Vec<Value>,
}

impl Reading {
    fn take(client: &mut Client) -> Result<Reading, String> {
        let answer = object(&reply::data(client.drops())?)?;
        let drops = answer["drops"].as_array().cloned().unwrap_or_default();
        Ok(Reading { at: Instant::now(), drops })
    }

    fn counts(&self) -> HashMap<(String, String), u64> {
        let entry = |drop: &Value| {
            ((text(drop, "element").to_owned(), text(drop, "reason").to_owned()), number(drop, "packets"))
        };
        self.drops.iter().map(entry).collect()
    }
}

fn drops(args: &Args) -> Result<(), String> {
    let mut client = args.address.connect()?;
    let interrupts = Interrupts::catch()?;
    let interval = Duration::from_secs_f64(args.interval.clamp(0.1, 3600.0));
    let mut before = Reading::take(&mut client)?;
    loop {
        // An interrupted reading is the last one: what was dropped meanwhile is told, and the file is whole.
        while before.at.elapsed() < interval && !interrupts.have_come() {
            std::thread::sleep(LOOK_AROUND.min(interval.saturating_sub(before.at.elapsed())));
        }
        let now = Reading::take(&mut client)?;
        let (counts, seconds) = (before.counts(), (now.at - before.at).as_secs_f64().max(0.001));
        let mut rows: Vec<(Value, u64)> = Vec::new();
        for drop in &now.drops {
            let key = (text(drop, "element").to_owned(), text(drop, "reason").to_owned());
            let more = number(drop, "packets").saturating_sub(counts.get(&key).copied().unwrap_or(0));
            let mut row = drop.clone();
            row["per_second"] = json!((more as f64 / seconds * 10.0).round() / 10.0);
            rows.push((row, more));
        }
        rows.sort_by_key(|(row, more)| std::cmp::Reverse((*more, number(row, "packets"))));
        // The file has an example of each reason so far, not only of those of the last reading.
        if let Some(name) = &args.write {
            write(name, rows.iter().map(|(row, _)| row))?;
        }
        if args.follow {
            rows.retain(|(_, more)| *more > 0);
        }
        let rows: Vec<Value> = rows.into_iter().map(|(row, _)| row).collect();
        let shown = match args.write.as_deref() {
            Some("-") => String::new(),
            _ if args.json => format!("{}\n", json!({ "drops": rows })),
            _ => table(&rows, args.follow),
        };
        if !print(&shown)? || !args.follow || interrupts.have_come() {
            return Ok(());
        }
        before = now;
    }
}

/// A row for each element and reason, and below it the example.
fn table(rows: &[Value], follows: bool) -> String {
    if rows.is_empty() {
        return if follows { String::new() } else { "nothing has been dropped\n".to_owned() };
    }
    let width = rows.iter().map(|row| text(row, "element").len()).max().unwrap_or(0).clamp(7, 40);
    let mut shown = format!("{:>10} {:>10}  {:width$}  REASON\n", "PACKETS", "A SECOND", "ELEMENT");
    for row in rows {
        let (packets, rate) = (number(row, "packets"), row["per_second"].as_f64().unwrap_or(0.0));
        shown += &format!("{packets:>10} {rate:>10.1}  {:width$}  {}\n", text(row, "element"), why(row));
        if row["sample"].is_object() {
            shown += &format!("{:>23}for instance: {}\n", "", text(&row["sample"], "summary"));
        }
    }
    shown
}

/// Why packets of a row were dropped, and whether their senders were told.
fn why(row: &Value) -> String {
    let told = if row["told"].as_bool() == Some(true) { " (senders told by ICMP)" } else { "" };
    format!("{}{told}", text(row, "reason"))
}

fn write<'r>(name: &str, rows: impl Iterator<Item = &'r Value>) -> Result<(), String> {
    let mut file = Pcapng::create(name)?;
    for row in rows.filter(|row| row["sample"].is_object()) {
        let sample = &row["sample"];
        let comment = format!("{}: {}", text(row, "element"), why(row));
        let ethernet = text(sample, "link") == "ethernet";
        file.packet(ethernet, number(sample, "at_ns"), number(sample, "len"), &bytes(sample), &comment)?;
    }
    file.flush().map(drop)
}
