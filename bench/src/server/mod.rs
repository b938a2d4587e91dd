//! RouteBricks, sections 4, 5 and 8: what one server does.
//!
//! Frames come from a ring in memory and go to a sink, so that this measures processors and memory and nothing of network cards: each frame is
//! copied from the ring, which stands in for a card's transfer. The batches of Table 1 need an interface; `devices` measures them.

mod applications;
mod checksum;
pub(crate) mod frames;
mod load;
mod memory;
mod parallel;
mod projection;
mod run;

use crate::machine::Machine;
use run::Effort;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Rounds; in each of them everything is measured once.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Packets a measurement; those of minimal forwarding in Figure 6 get eight times as many.
    #[arg(long, default_value_t = 5_000_000)]
    packets: u64,
    /// Seconds for which each load is kept up.
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    /// MiB that random writes go to.
    #[arg(long, default_value_t = 512)]
    memory: usize,
    /// Only this part; may be repeated.
    #[arg(long, value_enum)]
    only: Vec<Part>,
    /// The routes: a list of prefixes, packed or not.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/internet-prefixes.txt.xz"))]
    routes: PathBuf,
    /// Count instructions a 64-byte packet of the applications too, with valgrind's callgrind.
    #[arg(long)]
    instructions: bool,
    /// Of the applications only this one, with 64-byte packets.
    #[arg(long, hide = true)]
    application: Option<String>,
    /// One short measurement of each, to see that it works.
    #[arg(long)]
    tiny: bool,
    /// Machine-readable output.
    #[arg(long)]
    json: bool,
}

/// What is measured apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Figures 6 and 7: who touches a packet and a queue, and batches.
    Parallel,
    /// Figure 8: sizes and applications.
    Applications,
    /// Figure 9 and section 8: processor time against load.
    Load,
    /// Table 2: how much memory takes; and how fast checksums are beside it.
    Memory,
    /// Section 5.3 and Figure 3, by arithmetic.
    Projection,
}

/// Measures and prints.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let machine = Machine::here(); // before workers are bound to processors
    let effort = match arguments.tiny {
        true => Effort {
            rounds: 1,
            packets: 4_000,
            seconds: 0.02,
            memory: 1 << 20,
            routes: arguments.routes.clone(),
            application: arguments.application.clone(),
            instructions: arguments.instructions,
        },
        false => Effort {
            rounds: arguments.rounds.max(1),
            packets: arguments.packets,
            seconds: arguments.seconds,
            memory: arguments.memory << 20,
            routes: arguments.routes.clone(),
            application: arguments.application.clone(),
            instructions: arguments.instructions,
        },
    };
    let wanted = |part: Part| arguments.only.is_empty() || arguments.only.contains(&part);
    let mut figures: Vec<Value> = Vec::new();
    if wanted(Part::Parallel) {
        figures.extend(parallel::figures(&effort)?);
    }
    if wanted(Part::Applications) || wanted(Part::Projection) {
        let measured = applications::figures(&effort)?;
        let projected = if wanted(Part::Projection) { projection::figures(&measured) } else { Vec::new() };
        figures.extend(measured.into_iter().filter(|_| wanted(Part::Applications)));
        figures.extend(projected);
    }
    if wanted(Part::Load) {
        figures.extend(load::figures(&effort)?);
    }
    if wanted(Part::Memory) {
        figures.extend(memory::figures(&effort));
        figures.extend(checksum::figures(&effort));
    }
    if arguments.json {
        crate::rcu::print_json(&json!({ "machine": machine, "figures": figures }));
    } else {
        println!("{}", machine.line());
        figures.iter().for_each(print);
    }
    Ok(())
}

/// A line for each figure: its name, and what is known of it.
fn print(figure: &Value) {
    let number =
        |value: &Value| value.as_f64().map_or_else(|| value.to_string(), |number| format!("{number:.2}"));
    let cell = |value: &Value| match value["median"].as_f64() {
        Some(median) => format!("{median:.2} ({}-{})", number(&value["min"]), number(&value["max"])),
        None => value.as_str().map_or_else(|| number(value), str::to_owned),
    };
    let fields = figure.as_object().into_iter().flatten().filter(|(name, _)| *name != "name");
    let cells: Vec<String> = fields.map(|(name, value)| format!("{name} {}", cell(value))).collect();
    println!("{:44} {}", figure["name"].as_str().unwrap_or_default(), cells.join(", "));
}
