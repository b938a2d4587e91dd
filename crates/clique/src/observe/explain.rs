//! `clique explain`: what would become of a packet.

use super::{changes, changes_text, ended, object, print, text};
use crate::address::Address;
use crate::check;
use crate::input;
use crate::offline;
use crate::reply;
use crate::report::{self, Reporter, Style};
use crate::status::Status;
use clap::ValueHint;
use click_tools::{Input, default_clickpath, parameter};
use control::observe::{Question, way};
use lang::Diagnostic;
use router::Classes;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Arguments of `clique explain`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,

    /// A configuration that does not run: what its arguments say decides. Nothing is opened.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["port", "unix_socket"])]
    configuration: Option<PathBuf>,

    /// The packet: 'PROTOCOL ADDRESS[:PORT] > ADDRESS[:PORT] in INTERFACE-OR-ELEMENT [WORD]...'. Words: ttl N, len N, df, syn, ack, rst, fin,
    /// vlan N, from MAC, to MAC, and frame or bare for a packet with or without an Ethernet header [default: as packets come to the element].
    packet: String,

    /// Values for the configuration's parameters: KEY=VALUE.
    #[arg(requires = "configuration")]
    parameters: Vec<String>,

    /// Print an object of JSON.
    #[arg(long)]
    json: bool,
}

/// Runs `clique explain`.
pub(crate) fn run(args: &Args, known: &Classes) -> Status {
    ended("explain", explain(args, known))
}

fn explain(args: &Args, known: &Classes) -> Result<(), String> {
    let answer = match &args.configuration {
        Some(file) => of_file(file, args, known)?,
        None => object(&reply::data(args.address.connect()?.explain(&args.packet))?)?,
    };
    let shown = if args.json { format!("{answer}\n") } else { lines(&answer) };
    print(&shown).map(drop)
}

/// What the arguments of a configuration say that becomes of the packet.
fn of_file(file: &Path, args: &Args, known: &Classes) -> Result<Value, String> {
    let text = input::read(&Input::named(file.display().to_string()))?;
    let mut parameters = Vec::new();
    for word in &args.parameters {
        parameters.push(parameter(word).ok_or_else(|| format!("'{word}' is not KEY=VALUE"))?);
    }
    // As `clique check` has it: interfaces need not be here, and all that is wrong is said at once.
    let known = &known.clone().with_interfaces(offline::INTERFACES);
    let mut reporter = Reporter::new(Style::Json, false);
    let graph = check::graph(&text, &parameters, &default_clickpath(), 1, &mut reporter, known);
    let graph = graph.ok_or_else(|| format!("the configuration is wrong\n{}", reporter.refusal().plain))?;
    let secrets = report::secrets(&graph, known);
    let said = |mut found: Vec<Diagnostic>| {
        found.iter_mut().for_each(|diagnostic| secrets.mask_diagnostic(diagnostic));
        lang::render_click(&found)
    };
    let options = check::options(&graph, 1);
    let layout = router::layout(graph, known, 1).map_err(said)?;
    let (mut configured, _) = router::configure(layout, text.text, known, options).map_err(said)?;
    let question = Question::parse(&args.packet).map_err(|wrong| wrong.to_string())?;
    let info = configured.info().clone();
    let place = question.place(&info).map_err(|wrong| wrong.to_string())?;
    let bytes = question.bytes(&info, &place).map_err(|wrong| wrong.to_string())?;
    let found = configured.explain(&bytes, place.element, place.input).map_err(|error| error.message)?;
    Ok(way(&info, &place, &found))
}

/// The way that a packet would take, a line for each element.
fn lines(answer: &Value) -> String {
    let none = Vec::new();
    let steps = answer["steps"].as_array().unwrap_or(&none);
    let mut shown =
        steps.first().map_or(String::new(), |first| format!("{}\n", text(&first["seen"], "summary")));
    if let Some(assumed) = answer["assumed"].as_str() {
        shown += &format!("  ({assumed})\n");
    }
    let width = steps.iter().map(|step| text(step, "element").len()).max().unwrap_or(0).min(40);
    for (number, step) in steps.iter().enumerate() {
        let before = number.checked_sub(1).and_then(|before| steps.get(before));
        let changed =
            before.map_or(String::new(), |before| changes_text(&changes(&before["seen"], &step["seen"])));
        if !changed.is_empty() {
            shown += &format!("{:>8}{changed}\n", "");
        }
        let because = text(step, "because");
        let then = match text(step, "then") {
            "output" => format!("output {}", step["output"]),
            "copies" => format!("copies to outputs {}", step["outputs"]),
            "dropped" => format!("DROPPED: {}", text(step, "reason")),
            "stays" if step["class"] == "Discard" => "discarded".to_owned(),
            "stays" if because.is_empty() => "its way ends here".to_owned(),
            "stays" => String::new(),
            _ => "does not say what it would do".to_owned(),
        };
        let colon = if because.is_empty() || then.is_empty() { "" } else { ": " };
        shown += &format!(
            "  {:width$}  {:18} {because}{colon}{then}\n",
            text(step, "element"),
            text(step, "class")
        );
    }
    if answer["cut"].as_bool() == Some(true) {
        shown += "  ... and so on: there is a loop\n";
    }
    shown
}
