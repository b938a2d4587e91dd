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
mod tool;
mod uncombine;
mod undead;
mod xform;
mod xml;

use crate::host::Host;
use line::Line;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;
use tool::End;
pub use tool::Tool;

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
