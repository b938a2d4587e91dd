//! `click-align`: a configuration for machines that cannot access unaligned data.
//!
//! Elements read headers byte by byte where they must, so none needs an Align. What other programs look for, the
//! element AlignmentInfo, is there, with nothing to say.

use super::line::{CLICKPATH, EXPRESSION, FILE, HELP, Id, Line, OUTPUT, VERSION};
use super::load::{load, write};
use super::{End, Tool};
use crate::clp::{Spec, Takes};
use lang::{Element, Landmark, Span};
use router::Classes;

pub(super) const TOOL: Tool = Tool {
    name: "click-align",
    usage: "[OPTION]... [ROUTERFILE]",
    about: "\
Prints a configuration with an element AlignmentInfo. Elements need no alignment
here, so no Align is added.
",
    help: "\
  -V, --verbose                 Say what is not done.
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

fn run(line: &Line, _: &Classes) -> Result<(), End> {
    let mut loaded = load(line, line.source()?, None)?;
    if line.has(Id::Verbose) {
        line.say("note: elements need no alignment here, nothing to align");
    }
    if !line.has(Id::Assertions) {
        let name = (loaded.graph.elements.len() + 1..)
            .map(|number| format!("AlignmentInfo@click_align@{number}"))
            .find(|name| loaded.graph.find(name).is_none())
            .unwrap_or_default();
        loaded.graph.push(Element {
            name,
            class: "AlignmentInfo".to_owned(),
            config: String::new(),
            landmark: Landmark::new("<click-align>", 0),
            span: Span::default(),
        });
    }
    write(line, &loaded.graph, &loaded.archive)
}
