//! `click-fastclassifier` and `click-devirtualize`, which make nothing but speed: apart from Classifiers that become one, the
//! configuration goes through them as it is. Classifiers are compiled to decision trees when a configuration starts, and elements
//! run on vectors of packets.

use super::line::{CLICKPATH, EXPRESSION, FILE, HELP, Id, KERNEL, Line, OUTPUT, VERSION};
use super::load::{load, write, write_wanted};
use super::reverse::{self, Compiler};
use super::tool::{End, Tool};
use crate::clp::{Spec, Takes};
use crate::transform::merge_classifiers;
use lang::Graph;

pub(super) const FASTCLASSIFIER: Tool = Tool {
    name: "click-fastclassifier",
    usage: "[OPTION]... [ROUTERFILE]",
    about: "\
Prints a configuration without compound elements, in which Classifiers that stand one
behind another are one. They are compiled when the configuration starts.
",
    help: "      --no-combine              Leave Classifiers as they are.
  -c, --config                  Print the configuration only, not an archive.
  -r, --reverse                 Undo what Click's click-fastclassifier has done.
  -u, --user, -q, --quiet, -V, --verbose, --no-classes
                                Taken, and ignored.
  -k, --kernel, -s, --source    Refused.
",
    options: &[
        Spec::new("classes", None, Id::Ignored, Takes::Nothing).negatable(),
        CLICKPATH,
        Spec::new("combine", None, Id::Combine, Takes::Nothing).negatable(),
        Spec::new("config", Some('c'), Id::Config, Takes::Nothing).negatable(),
        EXPRESSION,
        FILE,
        HELP,
        KERNEL,
        OUTPUT,
        Spec::new("quiet", Some('q'), Id::Quiet, Takes::Nothing).negatable(),
        Spec::new("reverse", Some('r'), Id::Reverse, Takes::Nothing).negatable(),
        Spec::new("source", Some('s'), Id::Source, Takes::Nothing).negatable(),
        Spec::new("user", Some('u'), Id::Userlevel, Takes::Nothing),
        Spec::new("verbose", Some('V'), Id::Verbose, Takes::Nothing).negatable(),
        VERSION,
    ],
    run: |line| {
        let combine = line.setting(Id::Combine) != Some(false);
        run(line, if combine { merge_classifiers } else { Graph::clone }, &reverse::FASTCLASSIFIER)
    },
};

pub(super) const DEVIRTUALIZE: Tool = Tool {
    name: "click-devirtualize",
    about: "\
Prints a configuration without compound elements, otherwise as it is: there are no
virtual functions to remove.
",
    help: "  -c, --config                  Print the configuration only, not an archive.
  -r, --reverse                 Undo what Click's click-devirtualize has done.
  -u, --userlevel, -n, --no-devirtualize CLASS, -i, --instructions FILE
                                Taken, and ignored.
  -l, --linuxmodule, -s, --source
                                Refused.
",
    options: &[
        CLICKPATH,
        Spec::new("config", Some('c'), Id::Config, Takes::Nothing).negatable(),
        Spec::new("devirtualize", None, Id::Ignored, Takes::Text),
        EXPRESSION,
        FILE,
        HELP,
        Spec::new("instructions", Some('i'), Id::Ignored, Takes::Text),
        Spec::new("kernel", Some('k'), Id::Linux, Takes::Nothing).negatable(),
        Spec::new("linuxmodule", Some('l'), Id::Linux, Takes::Nothing).negatable(),
        Spec::new("no-devirtualize", Some('n'), Id::Ignored, Takes::Text),
        OUTPUT,
        Spec::new("reverse", Some('r'), Id::Reverse, Takes::Nothing).negatable(),
        Spec::new("source", Some('s'), Id::Source, Takes::Nothing).negatable(),
        Spec::new("userlevel", Some('u'), Id::Userlevel, Takes::Nothing).negatable(),
        VERSION,
    ],
    run: |line| run(line, Graph::clone, &reverse::DEVIRTUALIZE),
    ..FASTCLASSIFIER
};

/// Prints what becomes of a configuration.
fn run(line: &Line<'_>, change: fn(&Graph) -> Graph, compiler: &Compiler) -> Result<(), End> {
    if line.has(Id::Reverse) {
        let mut loaded = load(line, &line.source()?)?;
        compiler.reverse(&mut loaded);
        return write(line, &loaded.graph, &loaded.archive);
    }
    if line.has(Id::Source) {
        return Err(line.fail("there is no source code to print: elements are compiled into the program"));
    }
    if line.has(Id::Linux) && !line.has(Id::Config) {
        return Err(line.fail("there is no kernel module here: run the configuration with 'click'"));
    }
    let loaded = load(line, &line.source()?)?;
    write_wanted(line, &change(&loaded.graph), &loaded.archive)
}
