//! Click's companion programs, under their names or as `clique click-flatten ...`.
//!
//! They read a configuration, transform it, and print it as Click's tools print theirs. Each tool is a module with its options,
//! its help and what it does; what they have in common is in `line` and `load`.

mod align;
mod buildtool;
mod check;
mod combine;
mod flatten;
mod from_xml;
mod line;
mod load;
mod markup;
mod nest;
mod pass;
mod pretty;
mod refuse;
mod reverse;
mod uncombine;
mod undead;
mod xform;
mod xml;

use crate::clp::Spec;
use crate::host::Host;
use line::{Id, Line};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// A tool.
pub struct Tool {
    name: &'static str,
    /// What the short usage message says after the name.
    usage: &'static str,
    /// What it does.
    about: &'static str,
    /// The options that others do not have, a line each.
    help: &'static str,
    options: &'static [Spec<Id>],
    run: fn(&Line<'_>) -> Result<(), End>,
}

/// Why a tool ends early.
enum End {
    /// Only a text was asked for.
    Printed(String),
    /// The command line is wrong.
    Usage(String),
    /// Something else is wrong, and was said.
    Failed,
}

const TOOLS: &[&Tool] = &[
    &flatten::TOOL,
    &check::TOOL,
    &pretty::TOOL,
    &undead::TOOL,
    &align::TOOL,
    &xform::TOOL,
    &combine::TOOL,
    &uncombine::TOOL,
    &xml::TOOL,
    &from_xml::TOOL,
    &buildtool::TOOL,
    &pass::FASTCLASSIFIER,
    &pass::DEVIRTUALIZE,
    &refuse::MKMINDRIVER,
    &refuse::INSTALL,
    &refuse::UNINSTALL,
];

/// Where tools read from and write to, for their help.
const FILE_HELP: &str = "  -f, --file FILE               Read the configuration from FILE.
  -e, --expression EXPR         Take EXPR itself as the configuration.
  -o, --output FILE             Write to FILE instead of standard output.
  -C, --clickpath PATH          Search PATH for libraries, not $CLICKPATH.
";

/// What all tools have, for their help.
const COMMON_HELP: &str = "      --help                    Print this help.
  -v, --version                 Print the version.
";

/// The tool of this name, which may be that of a link to the program.
pub fn find(name: &OsStr) -> Option<&'static Tool> {
    let name = Path::new(name).file_name()?;
    TOOLS.iter().copied().find(|tool| name == tool.name)
}

/// Runs a tool of the host with these arguments, without its name.
pub fn run(tool: &Tool, arguments: impl IntoIterator<Item = OsString>, host: &dyn Host) -> ExitCode {
    let succeeds = match Line::read(tool, arguments, host).and_then(|line| (tool.run)(&line)) {
        Ok(()) => true,
        Err(End::Printed(text)) => host.write(None, text.as_bytes()),
        Err(End::Usage(message)) => {
            let Tool { name, usage, .. } = tool;
            host.complain(&format!(
                "{name}: {message}\nUsage: {name} {usage}\nTry '{name} --help' for more information.\n"
            ));
            false
        }
        Err(End::Failed) => false,
    };
    if succeeds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Tool {
    fn long_help(&self) -> String {
        let Tool { name, usage, about, help, options, .. } = self;
        let files = if options.iter().any(|option| option.is(Id::File)) { FILE_HELP } else { "" };
        format!("Usage: {name} {usage}\n\n{about}\n{help}{files}{COMMON_HELP}")
    }

    fn version(&self) -> String {
        let (name, version) = (self.name, env!("CARGO_PKG_VERSION"));
        format!("{name} (Clique {version}, compatible with Click) 2.1\n")
    }
}
