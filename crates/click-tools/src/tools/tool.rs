//! What a tool is, and how it can end.

use super::line::{Id, Line};
use crate::clp::Spec;

/// A tool.
pub struct Tool {
    pub(super) name: &'static str,
    /// What the short usage message says after the name.
    pub(super) usage: &'static str,
    /// What it does.
    pub(super) about: &'static str,
    /// The options that others do not have, a line each.
    pub(super) help: &'static str,
    pub(super) options: &'static [Spec<Id>],
    pub(super) run: fn(&Line<'_>) -> Result<(), End>,
}

/// Why a tool ends early.
pub(super) enum End {
    /// Only a text was asked for.
    Printed(String),
    /// The command line is wrong.
    Usage(String),
    /// Something else is wrong, and was said.
    Failed,
}

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

impl Tool {
    pub(super) fn long_help(&self) -> String {
        let Tool { name, usage, about, help, options, .. } = self;
        let files = if options.iter().any(|option| option.is(Id::File)) { FILE_HELP } else { "" };
        format!("Usage: {name} {usage}\n\n{about}\n{help}{files}{COMMON_HELP}")
    }

    pub(super) fn version(&self) -> String {
        let (name, version) = (self.name, env!("CARGO_PKG_VERSION"));
        format!("{name} (Clique {version}, compatible with Click) 2.1\n")
    }
}
