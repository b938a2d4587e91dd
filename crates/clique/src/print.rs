//! `clique flatten`, `clique pretty` and `clique graph`: configurations, printed in other forms.

use crate::console;
use crate::input::InputArgs;
use crate::job;
use crate::load;
use crate::report::{Reporter, Style};
use crate::status::Status;
use click_tools::Text;
use lang::Graph;

/// Arguments of `clique flatten` and `clique pretty`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Write to FILE instead of standard output.
    #[arg(short = 'o', long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<String>,
}

/// Arguments of `clique graph`.
#[derive(clap::Args, Debug)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    print: Args,

    /// The form of the graph.
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,
}

/// Forms of a graph.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// The language of Graphviz.
    Dot,
    /// A picture.
    Svg,
    /// Elements and connections as data.
    Json,
}

/// Runs `clique flatten`.
pub(crate) fn flatten(args: &Args) -> Status {
    print(args, "flatten", |_, graph| lang::flatten(graph))
}

/// Runs `clique pretty`.
pub(crate) fn pretty(args: &Args) -> Status {
    print(args, "pretty", |text, _| lang::pretty(&text.text))
}

/// Runs `clique graph`.
pub(crate) fn graph(args: &GraphArgs) -> Status {
    print(&args.print, "graph", |_, graph| match args.format {
        Format::Dot => readable(lang::graph::dot(graph)),
        Format::Svg => readable(lang::graph::svg(graph)),
        Format::Json => readable(lang::graph::json(graph)),
    })
}

/// A text in a format that has no room for bytes.
fn readable(text: String) -> String {
    lang::bytes::without_bytes(&text).into_owned()
}

/// Prints a configuration in another form, if there is no error in it. Its classes need not exist here.
fn print(args: &Args, command: &str, form: impl Fn(&Text, &Graph) -> String) -> Status {
    let (input, params) = match args.input.resolve() {
        Ok(found) => found,
        Err(message) => {
            console::complain(&format!("clique {command}: {message}\n"));
            return Status::Usage;
        }
    };
    let mut reporter = Reporter::new(Style::Excerpts, true);
    let Ok(text) = job::read(&input, &mut reporter) else { return Status::Configuration };
    let parsed = load::parse(&text, &params, &args.input.clickpath(), None, false);
    reporter.sources(parsed.sources);
    if reporter.take(parsed.diagnostics) {
        return Status::Configuration;
    }
    console::write_result(args.output.as_deref(), &form(&text, &parsed.graph))
}
