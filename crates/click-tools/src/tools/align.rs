//! `click-align`: a configuration for machines that cannot access unaligned data.
//!
//! Elements read headers byte by byte where they must, so none here needs an Align; other programs' may.

use super::line::{BSD, CLICKPATH, EXPRESSION, FILE, HELP, Id, LINUX, Line, OUTPUT, VERSION};
use super::load::{load, write};
use super::tool::{End, Tool};
use crate::clp::{Spec, Takes};
use crate::transform::{align, assert_alignment};
use crate::wiring;

pub(super) const TOOL: Tool = Tool {
    name: "click-align",
    usage: "[OPTION]... [ROUTERFILE]",
    about: "\
Prints a configuration with an element Align before each input whose packets need
not begin where an element wants them to on a machine that cannot access unaligned
data, and with an element AlignmentInfo. Clique's elements need neither.
",
    help: "      --assertions              Add elements CheckAlign instead.
  -V, --verbose                 Say what is added, and why.
",
    options: &[
        Spec::new("assertions", None, Id::Assertions, Takes::Nothing).negatable(),
        BSD,
        CLICKPATH,
        EXPRESSION,
        FILE,
        HELP,
        LINUX,
        OUTPUT,
        Spec::new("userlevel", Some('u'), Id::Userlevel, Takes::Nothing),
        Spec::new("verbose", Some('V'), Id::Verbose, Takes::Nothing),
        VERSION,
    ],
    run,
};

fn run(line: &Line<'_>) -> Result<(), End> {
    let loaded = load(line, &line.source()?)?;
    let classes = wiring::classes(&loaded.expanded, line.classes());
    let flows = |element: usize, input: u32, output: u32| {
        let class = classes.get(element).copied().flatten();
        class.is_none_or(|class| router::flows(class, input as usize, output as usize))
    };
    if line.has(Id::Assertions) {
        let graph = assert_alignment(&loaded.graph, &loaded.expanded, &flows);
        return write(line, &graph, &loaded.archive);
    }
    let aligned = align(&loaded.graph, &loaded.expanded, &flows);
    if line.has(Id::Verbose) {
        aligned.steps.iter().for_each(|step| line.complain(step));
    }
    match aligned.added {
        0 => {}
        1 => line.complain("warning: added 1 Align element"),
        added => line.complain(&format!("warning: added {added} Align elements")),
    }
    write(line, &aligned.graph, &loaded.archive)
}
