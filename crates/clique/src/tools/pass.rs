//! `click-fastclassifier` and `click-devirtualize`, which make nothing but speed: the configuration goes through them as
//! it is. Classifiers are compiled to decision trees when a configuration starts, and elements run on vectors of packets.

use super::line::{CLICKPATH, EXPRESSION, FILE, HELP, Id, Line, OUTPUT, VERSION};
use super::load::{load, write, write_text};
use super::{End, Tool};
use crate::clp::{Spec, Takes};
use router::Classes;

pub(super) const FASTCLASSIFIER: Tool = Tool {
    name: "click-fastclassifier",
    usage: "[OPTION]... [ROUTERFILE]",
    about: "\
Prints a configuration without compound elements, otherwise as it is: classifiers
are compiled when it starts.
",
    help: "",
    options: &[
        CLICKPATH,
        Spec::new("config", Some('c'), Id::Config, Takes::Nothing),
        EXPRESSION,
        FILE,
        HELP,
        Spec::new("kernel", Some('k'), Id::Linux, Takes::Nothing),
        OUTPUT,
        Spec::new("quiet", Some('q'), Id::Quiet, Takes::Nothing).negatable(),
        Spec::new("reverse", Some('r'), Id::Reverse, Takes::Nothing),
        Spec::new("source", Some('s'), Id::Source, Takes::Nothing),
        Spec::new("user", Some('u'), Id::Userlevel, Takes::Nothing),
        Spec::new("verbose", Some('V'), Id::Verbose, Takes::Nothing),
        VERSION,
    ],
    run,
};

pub(super) const DEVIRTUALIZE: Tool = Tool {
    name: "click-devirtualize",
    about: "\
Prints a configuration without compound elements, otherwise as it is: there are no
virtual functions to remove.
",
    options: &[
        CLICKPATH,
        Spec::new("config", Some('c'), Id::Config, Takes::Nothing),
        Spec::new("devirtualize", None, Id::Ignored, Takes::Text),
        EXPRESSION,
        FILE,
        HELP,
        Spec::new("instructions", Some('i'), Id::Ignored, Takes::Text),
        Spec::new("kernel", Some('k'), Id::Linux, Takes::Nothing),
        Spec::new("no-devirtualize", Some('n'), Id::Ignored, Takes::Text),
        OUTPUT,
        Spec::new("reverse", Some('r'), Id::Reverse, Takes::Nothing),
        Spec::new("source", Some('s'), Id::Source, Takes::Nothing),
        Spec::new("user", Some('u'), Id::Userlevel, Takes::Nothing),
        Spec::new("verbose", Some('V'), Id::Verbose, Takes::Nothing),
        VERSION,
    ],
    ..FASTCLASSIFIER
};

fn run(line: &Line, _: &Classes) -> Result<(), End> {
    if line.has(Id::Source) {
        line.say("there is no source code to print: elements are compiled into the program");
        return Err(End::Failed);
    }
    if line.has(Id::Linux) {
        line.say("there is no kernel module here: run the configuration with 'click'");
        return Err(End::Failed);
    }
    let loaded = load(line, line.source()?, None)?;
    if !line.has(Id::Quiet) && !line.has(Id::Reverse) {
        line.say("note: nothing to do, the configuration is written as it is");
    }
    match line.has(Id::Config) {
        true => write_text(line, lang::tool_text(&loaded.graph)),
        false => write(line, &loaded.graph, &loaded.archive),
    }
}
