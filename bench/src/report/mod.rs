//! `report`: everything measured by one command, and shown on one page.
//!
//! A *topic* is another command of this program with the options of a quick or a full run. Each is run as a program of its own, so that one cannot
//! disturb the next; what it prints is kept beside the page (`raw/TOPIC.json`), and a report that was broken off goes on where it stopped.
//! [`show`] makes sections of what was kept, [`page`] puts them on a page, with the published figures (`published.json`) beside ours.

mod depth;
mod kept;
mod page;
mod peers;
mod plot;
mod programs;
mod show;
mod stability;
#[cfg(test)]
pub(crate) use topics::commands;
mod topics;

use crate::machine::Machine;
use depth::Depth;
use kept::{Account, Kept, Results, raw};
use serde::Serialize;
pub(crate) use show::PUBLISHED;
use stability::When;
use std::path::{Path, PathBuf};
use std::time::Instant;
use topics::Topic;

/// What to measure, and where to.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Fewer rounds: a quarter of an hour instead of two.
    #[arg(long)]
    quick: bool,
    /// Only this topic; may be repeated. `--list` names them.
    #[arg(long, value_name = "TOPIC")]
    only: Vec<String>,
    /// A program with Click's command line that runs the same configuration in turns with ours; may be repeated.
    ///
    /// It is started as `COMMAND -h d.count -h q.drops conf/fake-iprouter.click BURST=32 LIMIT=5000000`, takes LIMIT packets through the configuration, ends, and
    /// prints both handlers' values: the packets that arrived, which are LIMIT, and those that the queue dropped, which are 0. Names may stand before the
    /// values; no other word of the output is a number. VPP and grout have no such command line: for them COMMAND is a script that starts the program with
    /// the same work, sends LIMIT packets through it from memory, ends it, and prints `d.count: ` and `q.drops: ` with what its counters say.
    #[arg(long, value_name = "NAME=COMMAND")]
    peer: Vec<peers::Peer>,
    /// The folder for the page and the raw results.
    #[arg(long, default_value = "report")]
    out: PathBuf,
    /// Also show the results of another report, from another machine perhaps; may be repeated.
    #[arg(long, value_name = "FOLDER")]
    merge: Vec<PathBuf>,
    /// Measure again what the folder has already.
    #[arg(long)]
    again: bool,
    /// Measure nothing: make the page of what the folder has.
    #[arg(long)]
    page_only: bool,
    /// Print the table of figures of the README, made from the folder.
    #[arg(long)]
    readme: bool,
    /// Name the topics and end.
    #[arg(long)]
    list: bool,
    /// Everything once, briefly.
    #[arg(long)]
    tiny: bool,
    /// Print where everything is, and what was measured, as JSON.
    #[arg(long)]
    json: bool,
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Measures what is missing and writes the page.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    if arguments.list {
        topics::TOPICS.iter().for_each(|topic| println!("{:14} {}", topic.name, topic.title));
        return Ok(());
    }
    let chosen = topics::chosen(&arguments.only)?;
    let folder = &arguments.out;
    if !arguments.page_only && !arguments.readme {
        measure(arguments, &chosen)?;
    }
    let results = Results::read(folder)?;
    if arguments.readme {
        print!("{}", show::readme(&results));
        return Ok(());
    }
    let merged = arguments.merge.iter().map(|folder| Results::read(folder)).collect::<Result<Vec<_>, _>>()?;
    let page = folder.join("index.html");
    write(&page, &page::page(&results, &merged))?;
    let failed: Vec<&str> =
        results.kept.iter().filter(|kept| kept.result.is_err()).map(|kept| kept.topic.as_str()).collect();
    if !failed.is_empty() {
        eprintln!("without figures: {}; the page says why", failed.join(", "));
    }
    if arguments.json {
        let kept: Vec<_> = results.kept.iter().map(|kept| (&kept.topic, kept.result.is_ok())).collect();
        println!(
            "{}",
            to_json(
                &serde_json::json!({ "page": page, "figures": kept, "stability": results.account.stability })
            )
        );
    } else {
        println!("{}", page.display());
    }
    Ok(())
}

fn measure(arguments: &Arguments, chosen: &[&Topic]) -> Result<(), String> {
    let depth = match (arguments.tiny, arguments.quick) {
        (true, _) => Depth::Tiny,
        (_, true) => Depth::Quick,
        _ => Depth::Full,
    };
    let folder = &arguments.out;
    std::fs::create_dir_all(folder.join("raw")).map_err(|e| format!("{}: {e}", folder.display()))?;
    let account = Account { machine: Machine::here(), stability: stability::check(depth, When::First) };
    eprintln!("{}\n{}", account.machine.line(), account.stability.line());
    write(&folder.join("machine.json"), &to_json(&account))?;
    let began = Instant::now();
    for (number, topic) in chosen.iter().enumerate() {
        let path = raw(folder, topic.name);
        let command = topic.command(depth, &arguments.peer);
        let done = crate::rcu::read_json::<Kept>(&path).is_ok_and(|kept| {
            kept.result.is_ok() && kept.command == command && kept.is_of(account.machine.commit())
        });
        let progress = format!(
            "[{}/{}, {:.0} s] {}",
            number + 1,
            chosen.len(),
            began.elapsed().as_secs_f64(),
            topic.name
        );
        if done && !arguments.again {
            eprintln!("{progress}: measured already");
            continue;
        }
        eprintln!("{progress}: {}", command.join(" "));
        let kept = measure_one(topic, depth, command, account.machine.commit(), &arguments.peer);
        if let Err(message) = &kept.result {
            eprintln!("  {}", message.trim_end());
        }
        if let Some(check) = kept.checks.iter().find(|check| !check.holds()) {
            eprintln!("  {}", check.line());
        }
        write(&path, &to_json(&kept))?;
    }
    Ok(())
}

/// Runs a topic's command.
fn measure_one(
    topic: &Topic,
    depth: Depth,
    command: Vec<String>,
    commit: &str,
    peers: &[peers::Peer],
) -> Kept {
    let quiet_before = stability::check(depth, When::Between);
    let (before, began) = (stability::Ticks::now(), Instant::now());
    let result = match topic.command {
        topics::Measured::Peers => peers::run(depth, peers),
        topics::Measured::Command(..) => std::env::current_exe()
            .map_err(|e| format!("this program: {e}"))
            .and_then(|this| programs::run(&this, &command)),
        topics::Measured::Router(..) => programs::router()
            .ok_or("build clique beside this program".to_owned())
            .and_then(|clique| programs::run(&clique, &command)),
    };
    let (seconds, steal_percent) = (began.elapsed().as_secs_f64(), before.steal_percent_since());
    Kept {
        topic: topic.name.to_owned(),
        depth,
        command,
        commit: commit.to_owned(),
        seconds,
        steal_percent,
        checks: vec![quiet_before, stability::check(depth, When::Between)],
        result,
    }
}
