//! `click-undead`: a configuration without what no packet passes on its way from a source to a sink.

use super::line::{CLICKPATH, EXPRESSION, FILE, HELP, Id, Line, OUTPUT, VERSION};
use super::load::{Loaded, load, write, write_text};
use super::{End, Tool};
use crate::clp::{Spec, Takes};
use crate::console;
use crate::report::{Reporter, Style};
use lang::Graph;
use lang::transform::{Role, undead};
use router::{Activity, Class, Classes};

pub(super) const TOOL: Tool = Tool {
    name: "click-undead",
    usage: "[OPTION]... [ROUTERFILE]",
    about: "\
Prints a configuration without compound elements and without dead code: elements
that are not on a way from a source of packets to a sink, ports of schedulers and
tees that are not used then, and elements that change nothing, Null for instance.
A Discard that packets are pushed into is no sink.
",
    help: "\
  -c, --config                  Print the configuration only, not an archive.
  -k, --kernel                  Refused: there is no kernel module.
  -u, --user                    The configuration is for the user-level driver.
  -V, --verbose                 Say what is removed.
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

fn run(line: &Line, known: &Classes) -> Result<(), End> {
    if line.has(Id::Linux) && !line.has(Id::Userlevel) {
        line.say("there is no kernel module here");
        return Err(End::Failed);
    }
    let loaded = load(line, line.source()?, Some(known))?;
    let roles = roles(&loaded, known)?;
    let graph = undead(&loaded.graph, &loaded.expanded, &roles);
    if line.has(Id::Verbose) {
        console::complain(&removed(&loaded.graph, &graph));
    }
    match line.has(Id::Config) {
        true => write_text(line, lang::tool_text(&graph)),
        false => write(line, &graph, &loaded.archive),
    }
}

/// What each element does with packets.
fn roles(loaded: &Loaded, known: &Classes) -> Result<Vec<Role>, End> {
    match router::layout(loaded.expanded.clone(), known, 1) {
        Ok(layout) => {
            let pulls = layout.ports.iter().map(|[inputs, _]| inputs.first().is_some_and(|port| !port.push));
            Ok(layout.classes.iter().zip(pulls).map(|(class, pulls)| role(class, pulls)).collect())
        }
        Err(errors) => {
            Reporter::new(Style::Click, true).take(errors);
            Err(End::Failed)
        }
    }
}

/// What an element of a class does with packets: its ports say it. Who can do without inputs and yet emits packets is a
/// source, who can do without outputs is a sink.
fn role(class: &Class, pulls: bool) -> Role {
    let (inputs, outputs) = class.ports.split_once('/').unwrap_or((class.ports, ""));
    let drops = matches!(class.name, "Discard" | "DiscardNoFree") && !pulls;
    let works = matches!(class.activity, Activity::Always | Activity::PerWorker);
    let optional = |side: &str| side.starts_with('0');
    let source = optional(inputs) && outputs != "0" && (works || inputs == "0");
    Role {
        source,
        sink: !drops && inputs != "0" && (optional(outputs) || source),
        blocks: matches!(class.name, "Idle" | "SimpleIdle"),
    }
}

/// Says which elements went, a line each.
fn removed(before: &Graph, after: &Graph) -> String {
    let gone = before.elements.iter().filter(|element| after.find(&element.name).is_none());
    gone.map(|e| format!("{}: removing '{} :: {}'\n", e.landmark, e.name, e.class)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_of_classes() {
        let known = crate::classes();
        let is = |name: &str, pulls: bool| {
            let Role { source, sink, blocks } = role(known.get(name).unwrap(), pulls);
            [(source, "source"), (sink, "sink"), (blocks, "blocks")]
                .into_iter()
                .filter_map(|(is, what)| is.then_some(what))
                .collect::<Vec<_>>()
                .join(" ")
        };
        for (class, pulls, expected) in [
            ("InfiniteSource", false, "source"),
            ("FromDevice", false, "source"),
            ("FromDump", false, "source"),
            ("ToDevice", true, "sink"),
            ("ToDump", false, "sink"),
            ("ToIPSummaryDump", false, "sink"),
            ("KernelTun", false, "source sink"),
            ("Socket", false, "source sink"),
            ("ICMPPingSource", false, "source sink"),
            ("Discard", false, ""),
            ("Discard", true, "sink"),
            ("TimedSink", true, "sink"),
            ("Idle", false, "blocks"),
            ("Queue", false, ""),
            ("Unqueue", true, ""),
            ("RoundRobinUnqueue", true, ""),
            ("PrioSched", true, ""),
            ("Tee", false, ""),
            ("AddressInfo", false, ""),
        ] {
            assert_eq!(is(class, pulls), expected, "{class}");
        }
    }
}
