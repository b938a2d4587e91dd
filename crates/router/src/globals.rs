//! Handlers that belong to no element, and those that every element has.

use crate::class::Residency;
use crate::control::{Access, Call};
use crate::cx::Cx;
use crate::handler::{HandlerResult, Merge};
use crate::info::Info;
use std::fmt::Write;

/// The names of the global handlers: (name, readable, writable).
pub const GLOBAL: &[(&str, bool, bool)] = &[
    ("version", true, false),
    ("list", true, false),
    ("classes", true, false),
    ("config", true, false),
    ("flatconfig", true, false),
    ("requirements", true, false),
    ("handlers", true, false),
    ("workers", true, false),
    ("stop", false, true),
];

/// The handlers that every element has, unless it has its own of the same name.
const COMMON: &[&str] = &["class", "name", "config", "ports", "handlers", "workers", "drop_reasons"];
/// Those that elements with a task have in addition: (name, writable).
const TASK: &[(&str, bool)] =
    &[("scheduled", true), ("tickets", true), ("runs", false), ("home_thread", false)];

/// What a path leads to.
pub(crate) enum Target<'a> {
    Global(&'a str),
    /// A handler of an element.
    Element(usize, Of),
}

/// A handler of some element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// Its own: the place in its list.
    Own(usize),
    /// One that every element has.
    Common(&'static str),
}

impl Of {
    /// The workers whose instances a call is for.
    pub(crate) fn workers(self, info: &Info, element: usize, access: Access) -> &[usize] {
        let node = &info.nodes[element];
        let one = match (access, self) {
            // A value that the first instance decides is read from that one alone.
            (Access::Read, _) => self.merge(info, element) == Merge::First,
            (Access::Write, Of::Own(at)) => {
                let everywhere = info.handlers(element).is_some_and(|all| all.list()[at].everywhere);
                node.class.residency == Residency::Shared && !everywhere
            }
            (Access::Write, Of::Common(_)) => false,
        };
        if one { &node.workers[..node.workers.len().min(1)] } else { &node.workers }
    }

    /// How the values of several instances become one.
    pub(crate) fn merge(self, info: &Info, element: usize) -> Merge {
        match self {
            Of::Own(at) => info.handlers(element).map_or(Merge::First, |all| all.list()[at].merge),
            Of::Common("drop_reasons") => Merge::Tally,
            Of::Common("runs") => Merge::Sum,
            Of::Common(_) => Merge::First,
        }
    }
}

/// Finds what a call is meant for.
pub(crate) fn resolve<'a>(info: &Info, call: &'a Call) -> Result<Target<'a>, String> {
    let word = if call.access == Access::Read { "read" } else { "write" };
    let missing = || format!("no '{}' {word} handler", call.path);
    let Some((name, handler)) = call.path.split_once('.') else {
        let known = GLOBAL.iter().find(|(name, ..)| *name == call.path).ok_or_else(missing)?;
        let fits = if call.access == Access::Read { known.1 } else { known.2 };
        return if fits { Ok(Target::Global(&call.path)) } else { Err(missing()) };
    };
    if name.is_empty() {
        return resolve_global(&call.path[1..], call.access).ok_or_else(missing);
    }
    let element = info.find(name, call.scope).ok_or_else(|| format!("no element named '{name}'"))?;
    if let Some(handlers) = info.handlers(element)
        && let Some(at) = handlers.find(handler)
    {
        let own = &handlers.list()[at];
        let fits = if call.access == Access::Read { own.readable() } else { own.writable() };
        return if fits { Ok(Target::Element(element, Of::Own(at))) } else { Err(missing()) };
    }
    let common = COMMON.iter().filter(|_| call.access == Access::Read).copied();
    let task =
        TASK.iter().filter(|(_, writable)| call.access == Access::Read || *writable).map(|(name, _)| *name);
    let found = common.chain(task).find(|name| *name == handler).ok_or_else(missing)?;
    Ok(Target::Element(element, Of::Common(found)))
}

fn resolve_global(name: &str, access: Access) -> Option<Target<'_>> {
    let known = GLOBAL.iter().find(|(known, ..)| *known == name)?;
    let fits = if access == Access::Read { known.1 } else { known.2 };
    fits.then_some(Target::Global(name))
}

/// Performs a global call.
pub(crate) fn call(info: &Info, name: &str, call: &Call) -> HandlerResult {
    match (call.access, name) {
        (Access::Read, "version") => Ok(env!("CARGO_PKG_VERSION").to_owned()),
        (Access::Read, "list") => {
            let mut text = format!("{}\n", info.nodes.len());
            info.nodes.iter().for_each(|node| text.extend([node.name.as_str(), "\n"]));
            Ok(text)
        }
        (Access::Read, "classes") => Ok(info.class_names.iter().map(|name| format!("{name}\n")).collect()),
        (Access::Read, "config") => Ok(info.source.clone()),
        (Access::Read, "flatconfig") => Ok(lang::flatten(&info.graph)),
        (Access::Read, "requirements") => {
            Ok(info.graph.requirements.iter().map(|r| format!("{}\n", r.value)).collect())
        }
        (Access::Read, "handlers") => Ok(GLOBAL.iter().map(|&(name, r, w)| line(name, r, w)).collect()),
        (Access::Read, "workers") => Ok(format!("{}\n", info.mailboxes.len())),
        (Access::Write, "stop") => {
            info.please_stop();
            Ok(String::new())
        }
        _ => Err(format!("no '{name}' handler")),
    }
}

fn line(name: &str, read: bool, write: bool) -> String {
    format!("{name}\t{}{}\n", if read { "r" } else { "" }, if write { "w" } else { "" })
}

/// Performs a call of a handler that every element has, on a worker that owns the element; `cx` is that element's.
pub(crate) fn call_common(
    cx: &mut Cx<'_>,
    element: usize,
    name: &str,
    access: Access,
    argument: &str,
) -> HandlerResult {
    let info = cx.info().clone();
    let node = &info.nodes[element];
    match (access, name) {
        (Access::Read, "class") => Ok(node.class.name.to_owned()),
        (Access::Read, "name") => Ok(node.name.clone()),
        (Access::Read, "config") => Ok(node.config.clone()),
        (Access::Read, "ports") => Ok(ports(&info, element)),
        (Access::Read, "handlers") => Ok(list(&info, element, cx.core.tasks[element].is_some())),
        (Access::Read, "workers") => {
            Ok(node.workers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        }
        (Access::Read, "drop_reasons") => {
            Ok(cx.drops().iter().map(|(reason, count)| format!("{count}\t{reason}\n")).collect())
        }
        (Access::Read, "scheduled") => Ok(cx.is_scheduled().to_string()),
        (Access::Read, "tickets") => Ok(cx.tickets().to_string()),
        (Access::Read, "runs") => Ok(cx.task_runs().to_string()),
        (Access::Read, "home_thread") => Ok(cx.worker().to_string()),
        (Access::Write, "scheduled") => match argument.trim() {
            "true" | "1" => {
                cx.schedule();
                Ok(String::new())
            }
            "false" | "0" => {
                cx.unschedule();
                Ok(String::new())
            }
            other => Err(format!("'{other}' is no boolean")),
        },
        (Access::Write, "tickets") => match argument.trim().parse::<u32>() {
            Ok(tickets) if (1..=crate::sched::MAX_TICKETS).contains(&tickets) => {
                cx.set_tickets(tickets);
                Ok(String::new())
            }
            _ => Err(format!("tickets must lie between 1 and {}", crate::sched::MAX_TICKETS)),
        },
        _ => Err(format!("no '{name}' handler")),
    }
}

/// The `ports` handler's text: both sides with processing and peers.
fn ports(info: &Info, element: usize) -> String {
    let node = &info.nodes[element];
    let mut text = String::new();
    for (ports, word, input) in [(&node.inputs, "input", true), (&node.outputs, "output", false)] {
        let plural = if ports.len() == 1 { "" } else { "s" };
        let _ = writeln!(text, "{} {word}{plural}", ports.len());
        for port in ports {
            let kind = if port.push { "push" } else { "pull" };
            let peers: Vec<String> = port
                .peers
                .iter()
                .map(|&(peer, at)| {
                    let name = &info.nodes[peer].name;
                    if input { format!("{name} [{at}]") } else { format!("[{at}] {name}") }
                })
                .collect();
            let _ = writeln!(text, "{kind}\t-\t{}", peers.join(", "));
        }
    }
    text
}

/// The `handlers` handler's text.
fn list(info: &Info, element: usize, has_task: bool) -> String {
    let mut text = String::new();
    let own = info.handlers(element).map_or(&[][..], |handlers| handlers.list());
    for handler in own {
        text.push_str(&line(&handler.name, handler.readable(), handler.writable()));
    }
    let mut add = |name: &str, write: bool| {
        if !own.iter().any(|handler| handler.name == name) {
            text.push_str(&line(name, true, write));
        }
    };
    COMMON.iter().for_each(|name| add(name, false));
    if has_task {
        TASK.iter().for_each(|&(name, write)| add(name, write));
    }
    text
}
