//! `click-align`: a configuration for machines that cannot access unaligned data.
//!
//! Elements read headers byte by byte where they must, so none here needs an Align; other programs' may.

use super::line::{CLICKPATH, EXPRESSION, FILE, HELP, Id, Line, OUTPUT, VERSION};
use super::load::{load, write};
use super::{End, Tool};
use crate::clp::{Spec, Takes};
use crate::console;
use lang::transform::{align, assert_alignment};
use router::Classes;

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
        Spec::new("bsdmodule", Some('b'), Id::Bsd, Takes::Nothing),
        CLICKPATH,
        EXPRESSION,
        FILE,
        HELP,
        Spec::new("linuxmodule", Some('l'), Id::Linux, Takes::Nothing),
        OUTPUT,
        Spec::new("userlevel", Some('u'), Id::Userlevel, Takes::Nothing),
        Spec::new("verbose", Some('V'), Id::Verbose, Takes::Nothing),
        VERSION,
    ],
    run,
};

fn run(line: &Line, known: &Classes) -> Result<(), End> {
    let loaded = load(line, line.source()?, None)?;
    let classes: Vec<_> = loaded.expanded.elements.iter().map(|element| known.get(&element.class)).collect();
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
        console::complain(&aligned.steps.iter().map(|step| format!("{step}\n")).collect::<String>());
    }
    match aligned.added {
        0 => {}
        1 => console::complain("warning: added 1 Align element\n"),
        added => console::complain(&format!("warning: added {added} Align elements\n")),
    }
    write(line, &aligned.graph, &loaded.archive)
}
