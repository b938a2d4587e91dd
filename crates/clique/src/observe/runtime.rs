//! `clique runtime`: where the time goes, element by element.

use super::{ended, number, object, print, text};
use crate::address::Address;
use crate::reply;
use crate::status::Status;
use serde_json::Value;

/// Arguments of `clique runtime`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,

    /// Print an object of JSON.
    #[arg(long)]
    json: bool,
}

/// Runs `clique runtime`.
pub(crate) fn run(args: &Args) -> Status {
    ended("runtime", runtime(args))
}

fn runtime(args: &Args) -> Result<(), String> {
    let answer = reply::data(args.address.connect()?.runtime())?;
    if args.json {
        return print(&format!("{answer}\n")).map(drop);
    }
    print(&table(&object(&answer)?)).map(drop)
}

fn table(answer: &Value) -> String {
    let none = Vec::new();
    let mut rows: Vec<&Value> = answer["elements"].as_array().unwrap_or(&none).iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(number(row, "ns")));
    let total: u64 = rows.iter().map(|row| number(row, "ns")).sum();
    let width = rows.iter().map(|row| text(row, "element").len()).max().unwrap_or(0).clamp(7, 40);
    let mut shown = format!(
        "{:width$}  {:>6} {:>10} {:>10} {:>10} {:>10}\n",
        "ELEMENT", "SHARE", "NS/PACKET", "CYCLES", "PACKETS", "BATCH"
    );
    let figure =
        |row: &Value, name: &str| row[name].as_f64().map_or("-".to_owned(), |value| format!("{value:.1}"));
    for row in rows {
        let share = number(row, "ns") as f64 * 100.0 / total.max(1) as f64;
        shown += &format!(
            "{:width$}  {share:>5.1}% {:>10} {:>10} {:>10} {:>10}\n",
            text(row, "element"),
            figure(row, "ns_per_packet"),
            figure(row, "cycles_per_packet"),
            number(row, "packets"),
            figure(row, "packets_per_batch"),
        );
    }
    let (turns, every) = (number(answer, "turns"), number(answer, "one_turn_in"));
    shown + &format!("from {turns} turns, one in {every}\n")
}
