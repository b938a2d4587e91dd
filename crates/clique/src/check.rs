//! `clique check`: what is wrong with a configuration, and which worker would run what. Initialises nothing, so
//! that no interface is opened and no file written.

use crate::advice::Advice;
use crate::input::InputArgs;
use crate::pinpoint::Arguments;
use crate::report::{Reporter, Style};
use crate::status::Status;
use crate::{console, job, load, memory, offline, report};
use click_tools::{Input, Parameter, Text};
use lang::Diagnostic;
use router::{Class, Classes, Clock, Layout, Options, Port, Queues, Residency};
use serde_json::{Value, json};
use std::fmt::Write;

/// Arguments of `clique check`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Show the placement on N workers.
    #[arg(short = 'j', long, value_name = "N", default_value = "1",
          value_parser = clap::value_parser!(u16).range(1..=i64::from(job::WORKERS_MAX)))]
    threads: u16,

    /// Do not print warnings.
    #[arg(short = 'w', long)]
    no_warnings: bool,

    /// The configuration is for this machine: an interface that is not here is an error.
    #[arg(long)]
    here: bool,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Runs `clique check`.
pub(crate) fn run(args: &Args, known: &Classes) -> Status {
    let style = if args.json { Style::Json } else { Style::Excerpts };
    let mut reporter = Reporter::new(style, !args.no_warnings);
    let (input, params) = match args.input.resolve() {
        Ok(found) => found,
        Err(message) => {
            console::complain(&format!("clique check: {message}\n"));
            return Status::Usage;
        }
    };
    let checked = if args.here {
        check(args, &input, &params, &mut reporter, known)
    } else {
        check(args, &input, &params, &mut reporter, &known.clone().with_interfaces(offline::INTERFACES))
    };
    let status = if checked.is_some() { Status::Fine } else { Status::Configuration };
    let printed = match &checked {
        _ if args.json => {
            let mut report = checked.as_ref().map_or_else(|| json!({}), Placement::json);
            report["diagnostics"] = reporter.json();
            report::print_json(&report)
        }
        Some(placement) => {
            let verdict = verdict(input.name(), &reporter);
            console::write_result(None, &format!("{verdict}\n{}", placement.table()))
        }
        None => console::write_result(None, &verdict(input.name(), &reporter)),
    };
    status.max(printed)
}

/// Finds all errors that can be found without opening anything; the placement if there are none.
fn check(
    args: &Args,
    input: &Input,
    params: &[Parameter],
    reporter: &mut Reporter,
    known: &Classes,
) -> Option<Placement> {
    let text = job::read(input, reporter).ok()?;
    let parsed = read(&text, params, &args.input.clickpath(), reporter, known);
    let absent = if args.here { absent(&parsed) } else { Vec::new() };
    let placement = placement(parsed, &text, params, usize::from(args.threads), reporter, known);
    // An address of one that is not here is an error of its own.
    let are_absent =
        reporter.take(absent.into_iter().filter(|error| !reporter.says(&error.message)).collect());
    placement.filter(|_| !are_absent)
}

/// The placement of a configuration in which no errors are found.
fn placement(
    parsed: lang::Parsed,
    text: &Text,
    params: &[Parameter],
    workers: usize,
    reporter: &mut Reporter,
    known: &Classes,
) -> Option<Placement> {
    let parsed = without_errors(parsed, text, workers, reporter, known)?;
    reporter.take(load::unused_parameters(params, &parsed.sources));
    let (placement, found) = place(parsed.graph, &parsed.sources, &text.text, workers, known);
    reporter.take(found);
    placement
}

/// Errors for interfaces that are not here, pointing at their names.
fn absent(parsed: &lang::Parsed) -> Vec<Diagnostic> {
    let mut found = offline::absent(&parsed.graph);
    Arguments::new(&parsed.graph, &parsed.sources).pinpoint(&mut found);
    found
}

/// The graph of a configuration in which no errors are found.
pub(crate) fn graph(
    text: &Text,
    params: &[Parameter],
    clickpath: &str,
    workers: usize,
    reporter: &mut Reporter,
    known: &Classes,
) -> Option<lang::Graph> {
    let parsed = read(text, params, clickpath, reporter, known);
    let parsed = without_errors(parsed, text, workers, reporter, known)?;
    let (placement, found) = place(parsed.graph.clone(), &parsed.sources, &text.text, workers, known);
    reporter.take(found);
    placement.map(|_| parsed.graph)
}

/// Parses a configuration.
fn read(
    text: &Text,
    params: &[Parameter],
    clickpath: &str,
    reporter: &mut Reporter,
    known: &Classes,
) -> lang::Parsed {
    let parsed = load::parse(text, params, clickpath, Some(known), false);
    reporter.sources(parsed.sources.clone());
    reporter.hide(&parsed.graph, known);
    offline::learn(&parsed.graph, known);
    parsed
}

/// What was parsed if that has no errors. Otherwise finds what else is wrong.
fn without_errors(
    mut parsed: lang::Parsed,
    text: &Text,
    workers: usize,
    reporter: &mut Reporter,
    known: &Classes,
) -> Option<lang::Parsed> {
    if parsed.has_errors() {
        let options = options(&parsed.graph, workers);
        reporter.take(load::all_errors(parsed, &text.text, known, options));
        return None;
    }
    reporter.take(std::mem::take(&mut parsed.diagnostics));
    Some(parsed)
}

/// Finds what is wrong with a graph, and odd about it, as far as that can be found without opening anything; the placement if
/// there are no errors.
pub(crate) fn place(
    graph: lang::Graph,
    sources: &[lang::Source],
    text: &str,
    workers: usize,
    known: &Classes,
) -> (Option<Placement>, Vec<Diagnostic>) {
    let (advice, arguments) = (Advice::new(&graph, known), Arguments::new(&graph, sources));
    let options = options(&graph, workers);
    let layout = match router::layout(graph.clone(), known, workers) {
        Ok(layout) => layout,
        Err(mut errors) => {
            load::add_errors(&mut errors, graph, sources, text, known, options);
            return (None, errors);
        }
    };
    let mut placement = Placement::new(&layout, workers);
    let mut found = match router::check(layout, text.to_owned(), known, options) {
        Ok(checked) => {
            placement.queues = checked.queues;
            checked.warnings
        }
        Err(errors) => errors,
    };
    advice.apply(&mut found);
    arguments.pinpoint(&mut found);
    let is_good = !found.iter().any(Diagnostic::is_error);
    (is_good.then_some(placement), found)
}

/// How a graph is checked: with the interfaces in memory that it names.
pub(crate) fn options(graph: &lang::Graph, workers: usize) -> Options {
    let mut options = Options { workers, clock: Clock::simulated(), ..Options::default() };
    options.resources.insert(memory::interfaces(graph, workers));
    options
}

/// The sentence that sums a check up.
fn verdict(name: &str, reporter: &Reporter) -> String {
    let (errors, warnings) = reporter.counts();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    match (errors, warnings) {
        (0, 0) => format!("{name}: no errors\n"),
        (0, _) => format!("{name}: no errors, {}\n", count(warnings, "warning")),
        (_, 0) => format!("{name}: {}\n", count(errors, "error")),
        _ => format!("{name}: {}, {}\n", count(errors, "error"), count(warnings, "warning")),
    }
}

/// An element, as far as its placement is concerned.
struct Row {
    name: String,
    class: &'static Class,
    inputs: String,
    outputs: String,
    workers: Vec<usize>,
}

/// Which worker runs what, and why.
pub(crate) struct Placement {
    workers: usize,
    rows: Vec<Row>,
    /// (element that starts work, exclusive element that it shares with others, worker)
    merged: Vec<(String, String, usize)>,
    /// The queues of interfaces that instances serve: element, worker, queues.
    queues: Vec<(usize, usize, Queues)>,
}

/// A letter for each port: `h` push, `l` pull, as in processing codes.
fn code(ports: &[Port]) -> String {
    ports.iter().map(|port| if port.push { 'h' } else { 'l' }).collect()
}

fn residency(class: &Class) -> &'static str {
    match class.residency {
        Residency::Replicated => "replicated",
        Residency::Shared => "shared",
        Residency::Exclusive => "exclusive",
    }
}

impl Placement {
    fn new(layout: &Layout, workers: usize) -> Placement {
        let name = |element: usize| layout.graph.elements[element].name.clone();
        let row = |element: usize| Row {
            name: name(element),
            class: layout.classes[element],
            inputs: code(&layout.ports[element][0]),
            outputs: code(&layout.ports[element][1]),
            workers: layout.placement.workers[element].clone(),
        };
        let merged =
            layout.placement.merged.iter().map(|&(root, shared, worker)| (name(root), name(shared), worker));
        Placement {
            workers,
            rows: (0..layout.graph.elements.len()).map(row).collect(),
            merged: merged.collect(),
            queues: Vec::new(),
        }
    }

    fn on(&self, worker: usize) -> impl Iterator<Item = (usize, &Row)> {
        self.rows.iter().enumerate().filter(move |(_, row)| row.workers.contains(&worker))
    }

    /// What an element serves on a worker, for people.
    fn serves(&self, element: usize, worker: usize) -> String {
        let found = self.queues.iter().find(|(e, w, _)| (*e, *w) == (element, worker));
        let Some((.., Queues { interface, queues })) = found else { return String::new() };
        let numbers = queues.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        match queues.len() {
            0 => format!("  {interface}"),
            1 => format!("  {interface} queue {numbers}"),
            _ => format!("  {interface} queues {numbers}"),
        }
    }

    /// A table for people: the elements of each worker, and which had to come together.
    fn table(&self) -> String {
        let mut text = String::new();
        let width =
            |of: fn(&Row) -> usize| self.rows.iter().map(of).max().unwrap_or(0).min(console::COLUMN_MAX);
        let (name, class) = (width(|row| row.name.len()), width(|row| row.class.name.len()));
        let ports = width(|row| row.inputs.len() + 1 + row.outputs.len());
        for worker in 0..self.workers {
            let count = self.on(worker).count();
            let plural = if count == 1 { "" } else { "s" };
            let _ = writeln!(text, "worker {worker}: {count} element{plural}");
            for (element, row) in self.on(worker) {
                let code = format!("{}/{}", row.inputs, row.outputs);
                let (kind, serves) = (residency(row.class), self.serves(element, worker));
                let (own, its) = (&row.name, row.class.name);
                let _ = writeln!(text, "  {own:name$}  {its:class$}  {code:ports$}  {kind}{serves}");
            }
        }
        for (root, shared, worker) in &self.merged {
            let _ = writeln!(
                text,
                "{root} runs on worker {worker} with all else that reaches {shared}, of which there is one instance"
            );
        }
        text
    }

    fn json(&self) -> Value {
        let element = |row: &Row| {
            json!({
                "name": row.name,
                "class": row.class.name,
                "inputs": row.inputs,
                "outputs": row.outputs,
                "residency": residency(row.class),
                "workers": row.workers,
            })
        };
        let worker = |worker: usize| {
            let names: Vec<&str> = self.on(worker).map(|(_, row)| row.name.as_str()).collect();
            json!({ "worker": worker, "elements": names })
        };
        let queues = |(element, worker, served): &(usize, usize, Queues)| {
            json!({
                "element": self.rows[*element].name,
                "worker": worker,
                "interface": served.interface,
                "queues": served.queues,
            })
        };
        let merged = |(root, shared, worker): &(String, String, usize)| json!({ "element": root, "exclusive": shared, "worker": worker });
        json!({
            "elements": self.rows.iter().map(element).collect::<Vec<_>>(),
            "workers": (0..self.workers).map(worker).collect::<Vec<_>>(),
            "queues": self.queues.iter().map(queues).collect::<Vec<_>>(),
            "merged": self.merged.iter().map(merged).collect::<Vec<_>>(),
        })
    }
}
