//! `clique reload`, `confirm`, `rollback` and `history`: another configuration for a router that runs, and the way back.

mod diff;
mod history;
mod keeper;
mod rehearse;
mod request;
mod shadow;

pub(crate) use history::Entry;
pub(crate) use keeper::{Checked, Keeper, Start};
pub(crate) use request::{Answer, Upgraded};

use crate::address::Address;
use crate::console;
use crate::input;
use crate::report;
use crate::status::Status;
use clap::ValueHint;
use click_tools::{Input, Parameter, parameter};
use request::{Listed, Load, Request};
use router::Classes;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Arguments of `clique reload`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,

    /// The configuration ('-': standard input), and parameters that take the place of those that the router was started with.
    #[arg(value_name = "FILE | KEY=VALUE", required = true, value_hint = ValueHint::FilePath)]
    words: Vec<String>,

    /// Only say what would change: elements, arguments, connections, and state that would be lost.
    #[arg(short = 'n', long, conflicts_with = "confirm")]
    dry_run: bool,

    /// Go back to the configuration before unless 'clique confirm' comes within SECONDS. The router sees to it itself.
    #[arg(short, long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=keeper::CONFIRM_MAX_S))]
    confirm: Option<u64>,

    /// First record the packets that come for TIME, 30s for instance, and have copies of the running configuration and of the new one
    /// treat them. Only if packets come, and both send and drop the same, the new one is loaded; otherwise the differences are told, and the
    /// status is 1.
    #[arg(long, value_name = "TIME", value_parser = rehearse::span)]
    shadow: Option<Duration>,

    /// With --shadow: tell differences, or that no packets came, and load the new configuration all the same.
    #[arg(long, requires = "shadow")]
    accept_differences: bool,

    /// Do not print warnings.
    #[arg(short = 'w', long)]
    no_warnings: bool,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Arguments of `clique confirm`.
#[derive(clap::Args, Debug)]
pub(crate) struct ConfirmArgs {
    #[command(flatten)]
    address: Address,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Arguments of `clique rollback` and `clique history`.
#[derive(clap::Args, Debug)]
pub(crate) struct NumberArgs {
    #[command(flatten)]
    address: Address,

    /// The number of a configuration, as 'clique history' lists them.
    #[arg(value_name = "N")]
    number: Option<u64>,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Arguments of `clique upgrade`.
#[derive(clap::Args, Debug)]
pub(crate) struct UpgradeArgs {
    #[command(flatten)]
    address: Address,

    /// The new program [default: what is now at the path that the router was started from].
    #[arg(value_name = "PROGRAM", value_hint = ValueHint::FilePath)]
    program: Option<PathBuf>,

    /// Only try the program: whether it knows the configuration, and could take over.
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// A subcommand's name, and how its answer is shown.
struct Manner {
    name: &'static str,
    json: bool,
    warnings: bool,
}

/// Has this program's own router replace its configuration, or say what would change: what `clique reload --json` prints.
///
/// # Errors
/// What is wrong; what ran goes on then.
#[cfg(feature = "http")]
pub(crate) fn ask_to_load(
    reloads: &control::ReloadService,
    text: String,
    dry_run: bool,
    confirm_s: Option<u64>,
) -> Result<Value, String> {
    let confirm_s = confirm_s.map(|seconds| seconds.clamp(1, keeper::CONFIRM_MAX_S));
    let load =
        Load { name: "config".to_owned(), text, parameters: Vec::new(), dry_run, confirm_s, color: false };
    let request = serde_json::to_string(&Request::Load(load)).map_err(|error| error.to_string())?;
    let answer = reloads.0.serve(&request);
    match serde_json::from_str(&answer) {
        Ok(Answer::Refused { message, .. }) => Err(message),
        Ok(_) => serde_json::from_str(&answer).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs `clique reload`.
pub(crate) fn run(args: &Args, known: &Classes) -> Status {
    let manner = Manner { name: "reload", json: args.json, warnings: !args.no_warnings };
    let (input, parameters) = match meant(&args.words) {
        Ok(found) => found,
        Err(message) => return complain(&manner, &message, Status::Usage),
    };
    let text = match input::read(&input) {
        Ok(text) => text,
        Err(message) => return complain(&manner, &message, Status::Configuration),
    };
    let load = Load {
        name: whole_name(&text.name),
        text: text.text,
        parameters,
        dry_run: args.dry_run,
        confirm_s: args.confirm,
        color: console::color() && !args.json,
    };
    match args.shadow {
        Some(span) => rehearse::run(args, &manner, load, span, known),
        None => ask(&args.address, &manner, &Request::Load(load)),
    }
}

/// Runs `clique confirm`.
pub(crate) fn confirm(args: &ConfirmArgs) -> Status {
    ask(&args.address, &Manner { name: "confirm", json: args.json, warnings: true }, &Request::Confirm)
}

/// Runs `clique rollback`.
pub(crate) fn roll_back(args: &NumberArgs) -> Status {
    let manner = Manner { name: "rollback", json: args.json, warnings: true };
    ask(&args.address, &manner, &Request::RollBack { number: args.number })
}

/// Runs `clique history`.
pub(crate) fn history(args: &NumberArgs) -> Status {
    let manner = Manner { name: "history", json: args.json, warnings: true };
    ask(&args.address, &manner, &Request::History { number: args.number })
}

/// Runs `clique upgrade`.
pub(crate) fn upgrade(args: &UpgradeArgs) -> Status {
    let manner = Manner { name: "upgrade", json: args.json, warnings: true };
    // The router's directory may be another one.
    let program = args.program.as_ref().map(std::path::absolute).transpose();
    match program {
        Ok(program) => ask(&args.address, &manner, &Request::Upgrade { program, dry_run: args.dry_run }),
        Err(error) => complain(&manner, &console::reason(&error), Status::Failure),
    }
}

/// The configuration and its parameters.
fn meant(words: &[String]) -> Result<(Input, Vec<Parameter>), String> {
    let (mut file, mut parameters) = (None, Vec::<Parameter>::new());
    for word in words {
        match parameter(word) {
            Some((name, _)) if parameters.iter().any(|(known, _)| *known == name) => {
                return Err(format!("parameter '{name}' is given twice"));
            }
            Some(parameter) => parameters.push(parameter),
            None if file.is_some() => return Err("more than one configuration is given".to_owned()),
            None => file = Some(Input::named(word.clone())),
        }
    }
    Ok((file.ok_or("no configuration is given")?, parameters))
}

/// A file's name that means the same to the router, whose directory may be another one: libraries are searched for beside the file.
fn whole_name(name: &str) -> String {
    let path = Path::new(name);
    if !path.exists() {
        return name.to_owned();
    }
    std::path::absolute(path)
        .ok()
        .and_then(|path| path.to_str().map(str::to_owned))
        .unwrap_or_else(|| name.to_owned())
}

fn complain(manner: &Manner, message: &str, status: Status) -> Status {
    console::complain(&format!("clique {}: {}\n", manner.name, message.trim_end()));
    status
}

/// Sends a request to the router, and shows the answer.
fn ask(address: &Address, manner: &Manner, request: &Request) -> Status {
    match send(address, request) {
        Ok(answer) => show(manner, &answer),
        Err(message) => complain(manner, &message, Status::Failure),
    }
}

/// Sends a request to the router: the answer, as it is written.
fn send(address: &Address, request: &Request) -> Result<String, String> {
    let mut client = address.connect()?;
    let request = serde_json::to_string(request).map_err(|error| error.to_string())?;
    crate::reply::data(client.reload(&request))
}

fn show(manner: &Manner, text: &str) -> Status {
    let answer: Answer = match serde_json::from_str(text) {
        Ok(answer) => answer,
        Err(error) => {
            return complain(manner, &format!("the answer is not understood: {error}"), Status::Failure);
        }
    };
    let refused = match &answer {
        Answer::Refused { diagnostics, .. }
            if diagnostics.as_array().is_some_and(|list| !list.is_empty()) =>
        {
            Some(Status::Configuration)
        }
        Answer::Refused { .. } => Some(Status::Failure),
        _ => None,
    };
    let printed = if manner.json {
        let object: Value = serde_json::from_str(text).unwrap_or_default();
        report::print_json(&object)
    } else {
        show_text(manner, answer)
    };
    refused.unwrap_or(printed)
}

fn show_text(manner: &Manner, answer: Answer) -> Status {
    let warn = |warnings: &[String]| {
        let shown = warnings.iter().filter(|_| manner.warnings);
        shown.for_each(|warning| console::complain(&format!("{}\n", lang::bytes::without_bytes(warning))));
    };
    let text = match answer {
        Answer::Refused { message, .. } => {
            // What `check` would say stands for itself.
            let message = lang::bytes::without_bytes(&message).into_owned();
            let lines = message.trim_end();
            let name = if lines.contains('\n') { String::new() } else { format!("clique {}: ", manner.name) };
            console::complain(&format!("{name}{lines}\n"));
            return Status::Failure;
        }
        Answer::Planned { difference, warnings, .. } => {
            warn(&warnings);
            difference.text()
        }
        Answer::Loaded { number, difference, warnings, confirm_s } => {
            warn(&warnings);
            let confirm = confirm_s.map_or_else(String::new, |seconds| {
                format!(
                    "It is taken back in {seconds} seconds unless 'clique confirm' says that it works; 'clique rollback' takes it back now.\n"
                )
            });
            format!("{}configuration {number} runs\n{confirm}", difference.text())
        }
        Answer::Confirmed { number } => format!("configuration {number} is kept\n"),
        Answer::RolledBack { from, number, warnings } => {
            warn(&warnings);
            format!("configuration {number} runs again, in the place of {from}\n")
        }
        Answer::Upgraded(upgraded) => upgrade_text(&upgraded),
        Answer::Text { text, .. } => text,
        Answer::History { configurations, confirm_within_s } => table(&configurations, confirm_within_s),
    };
    console::write_result(None, &text)
}

/// What became of an upgrade, for people.
fn upgrade_text(upgraded: &Upgraded) -> String {
    let Upgraded { from, to, dry_run, gap_ms, carried, lost } = upgraded;
    if *dry_run {
        return format!("version {to} could take over from {from}\n");
    }
    let lost: String = lost.iter().map(|lost| format!("  lost: {lost}\n")).collect();
    format!(
        "version {to} goes on in the place of {from}, with what {carried} elements had; nothing was forwarded for {gap_ms:.1} ms\n{lost}"
    )
}

/// The configurations that have run, a line each.
fn table(configurations: &[Listed], confirm_within_s: Option<u64>) -> String {
    let width = configurations.last().map_or(1, |last| last.number.to_string().len());
    let line = |listed: &Listed| {
        let mark = if listed.runs { '*' } else { ' ' };
        let by = match listed.by {
            history::By::Start => "start",
            history::By::Reload => "reload",
            history::By::Hotconfig => "hotconfig",
        };
        let waits = confirm_within_s.filter(|_| listed.runs);
        let note = waits.map(|seconds| format!("to be confirmed within {seconds} s")).or(listed.note.clone());
        let line = format!(
            "{mark} {:width$}  {:>14}  {by:9}  {}  {}",
            listed.number,
            ago(listed.loaded_s),
            listed.name,
            note.unwrap_or_default()
        );
        line.trim_end().to_owned() + "\n"
    };
    configurations.iter().map(line).collect()
}

/// How long ago a moment is, for people.
fn ago(moment_s: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    match now.saturating_sub(moment_s) {
        seconds @ 0..=119 => format!("{seconds} s ago"),
        seconds @ 120..=7199 => format!("{} min ago", seconds / 60),
        seconds @ 7200..=172_799 => format!("{} h ago", seconds / 3600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}
