//! `click-undead`: a configuration without what no packet passes on its way from a source to a sink.

use super::line::{CLICKPATH, EXPRESSION, FILE, HELP, Id, Line, OUTPUT, VERSION};
use super::load::{load, write_wanted};
use super::tool::{End, Tool};
use crate::clp::{Spec, Takes};
use crate::transform::{Role, undead};
use crate::wiring::{self, check_wiring};
use router::{Activity, Class};

pub(super) const TOOL: Tool = Tool {
    name: "click-undead",
    usage: "[OPTION]... [ROUTERFILE]",
    about: "\
Prints a configuration without compound elements and without dead code: elements
that are not on a way from a source of packets to a sink, ports of schedulers and
tees that are not used then, and elements that change nothing, Null for instance.
",
    help: "  -c, --config                  Print the configuration only, not an archive.
  -k, --kernel                  Refused: there is no kernel module.
  -u, --user                    The configuration is for the user-level driver.
  -V, --verbose                 Say what are sources and sinks, and what is removed.
",
    options: &[
        CLICKPATH,
        Spec::new("config", Some('c'), Id::Config, Takes::Nothing).negatable(),
        EXPRESSION,
        FILE,
        HELP,
        Spec::new("kernel", Some('k'), Id::Linux, Takes::Nothing).negatable(),
        OUTPUT,
        Spec::new("user", Some('u'), Id::Userlevel, Takes::Nothing).negatable(),
        Spec::new("verbose", Some('V'), Id::Verbose, Takes::Nothing).negatable(),
        VERSION,
    ],
    run,
};

fn run(line: &Line<'_>) -> Result<(), End> {
    if line.has(Id::Linux) && !line.has(Id::Userlevel) {
        return Err(line.fail("there is no kernel module here"));
    }
    let loaded = load(line, &line.source()?)?;
    // It is said, and what is there is looked at all the same.
    line.report(&check_wiring(&loaded.expanded, line.classes()));
    let classes = wiring::classes(&loaded.expanded, line.classes());
    let roles: Vec<Role> = classes.iter().map(|class| class.map_or_else(Role::default, role)).collect();
    let after = undead(&loaded.graph, &loaded.expanded, &roles, &|element, input, output| {
        classes.get(element).copied().flatten().is_none_or(|class| flows(class, input, output))
    });
    if line.has(Id::Verbose) {
        after.steps.iter().for_each(|(place, what)| line.complain(&format!("{place}: {what}")));
    }
    if !after.alive {
        line.complain("warning: no live elements in configuration");
        return Err(End::Failed);
    }
    write_wanted(line, &after.graph, &loaded.archive)
}

/// Whether what enters an element of a class at an input can leave it at an output. What an ARPQuerier is told matters to all
/// that it sends.
fn flows(class: &Class, input: u32, output: u32) -> bool {
    class.name == "ARPQuerier" || router::flows(class, input as usize, output as usize)
}

/// What an element of a class does with packets, as far as its ports say it: one that can do without inputs and yet emits
/// packets is a source, one that can do without outputs is a sink.
fn role(class: &Class) -> Role {
    let (inputs, outputs) = router::sides(class.ports);
    let works = matches!(class.activity, Activity::Always | Activity::PerWorker);
    let optional = |side: &str| side.starts_with("0-");
    let blocks = matches!(class.name, "Idle" | "SimpleIdle");
    let source = class.name == "InfiniteSource" || optional(inputs) && outputs != "0" && works;
    let sink = inputs != "0" && (optional(outputs) || source);
    Role { ends: (source || sink || blocks).then_some((source, sink)), blocks }
}
