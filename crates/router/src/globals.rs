//! Global handlers, and the handlers that every element has.

use crate::account::Account;
use crate::class::Residency;
use crate::control::{Access, Call};
use crate::cx::Cx;
use crate::handler::{Flags, HandlerResult, Merge};
use crate::info::Info;
use std::fmt::Write;

/// The names of the global handlers: (name, readable, writable).
const GLOBAL: &[(&str, bool, bool)] = &[
    ("version", true, false),
    ("driver", true, false),
    ("config", true, false),
    ("flatconfig", true, false),
    ("requirements", true, false),
    ("handlers", true, false),
    ("list", true, false),
    ("stop", false, true),
    ("classes", true, false),
    ("packages", true, false),
    (HOTCONFIG, false, true),
    ("timewarp", true, false),
    ("workers", true, false),
    ("rcu", true, false),
    ("load", true, false),
    ("useful_kcycles", true, false),
];

/// The global handlers that each worker answers for itself. They take a worker's number.
const OF_WORKERS: [&str; 2] = ["load", "useful_kcycles"];

/// The name, if each worker answers for itself.
pub(crate) fn of_workers(name: &str) -> Option<&'static str> {
    OF_WORKERS.into_iter().find(|known| *known == name)
}

/// What a worker answers. A cycle counts as a nanosecond, as TSCClock has it.
pub(crate) fn of_worker(account: &Account, name: &str) -> String {
    match name {
        // No more digits than there is sense in.
        "load" => ((account.load * 1e6).round() / 1e6).to_string(),
        _ => (account.busy_ns / 1000).to_string(),
    }
}

/// The global handler that takes a new configuration. There is none unless the program allows it.
pub(crate) const HOTCONFIG: &str = "hotconfig";

/// What the handler `version` says: scripts compare it with versions of Click, so it is that of the Click whose
/// language and elements these are.
pub(crate) const CLICK_VERSION: &str = "2.1";

/// The global handlers of a router.
fn globals(info: &Info) -> impl Iterator<Item = &'static (&'static str, bool, bool)> {
    GLOBAL.iter().filter(|(name, ..)| info.reconfigurable || *name != HOTCONFIG)
}

/// The handlers that every element has, unless it has its own of the same name.
const COMMON: &[&str] = &["drop_reasons", "workers", "handlers", "ports", "config", "class", "name"];
/// Those that elements with a task have in addition: (name, writable). Before elements are initialised, when calls
/// that are meant for later are checked, any may come to have one.
const TASK: &[(&str, bool)] =
    &[("home_thread", false), ("runs", false), ("tickets", true), ("scheduled", true)];

/// The handler that all elements have and some can be written to.
const CONFIG: &str = "config";

/// Whether an element's arguments can be changed by writing them to its handler `config`.
fn is_live(info: &Info, element: usize) -> bool {
    let own = info.handlers(element).and_then(|handlers| Some(&handlers.list()[handlers.find(CONFIG)?]));
    info.nodes[element].class.live && own.is_none_or(|own| !own.writable())
}

/// What a path leads to.
#[derive(Clone, Copy)]
pub(crate) enum Target<'a> {
    Global(&'a str),
    /// A handler of an element; with the name that was asked for if it answers to all names.
    Element(usize, Of, Option<&'a str>),
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

/// Splits a path into element and handler name: `ELEMENT.HANDLER`, `.HANDLER` for a global one, and `HANDLER` for one of
/// the element that asks or else a global one.
fn locate<'a>(info: &Info, call: &'a Call) -> Result<(Option<usize>, &'a str), String> {
    let path = call.path.as_str();
    let dot = path.find('.');
    if path.is_empty() || dot.is_some_and(|dot| dot > 0 && dot + 1 == path.len()) {
        return Err("syntax error".to_owned());
    }
    if dot == Some(0) {
        return Ok((None, &path[1..]));
    }
    if let Some(dot) = dot
        && let Some(element) = info.find(&path[..dot], call.scope)
    {
        return Ok((Some(element), &path[dot + 1..]));
    }
    let is_own = |element: &usize| known(info, *element, path).is_some();
    if let Some(element) = call.scope.filter(is_own) {
        return Ok((Some(element), path));
    }
    match dot {
        Some(dot) if !GLOBAL.iter().any(|(name, ..)| *name == path) => {
            Err(format!("no element named '{}'", &path[..dot]))
        }
        _ => Ok((None, path)),
    }
}

/// An element's handler with this name, if it has one.
fn known(info: &Info, element: usize, name: &str) -> Option<Of> {
    let own = info.handlers(element).and_then(|handlers| handlers.find(name));
    let task = if info.may_have_task(element) { TASK } else { &[] };
    let mut others = COMMON.iter().chain(task.iter().map(|(name, _)| name));
    own.map(Of::Own).or_else(|| others.find(|known| **known == name).map(|name| Of::Common(name)))
}

/// Finds what a call is meant for.
pub(crate) fn resolve<'a>(info: &Info, call: &'a Call) -> Result<Target<'a>, String> {
    let (element, name) = locate(info, call)?;
    let reads = call.access == Access::Read;
    let full = || full_name(info, element, name);
    let target = match element {
        Some(element) if !reads && name == CONFIG && is_live(info, element) => {
            Some(Target::Element(element, Of::Common(CONFIG), None))
        }
        None => globals(info).find(|(known, ..)| *known == name).map(|_| Target::Global(name)),
        Some(element) => {
            known(info, element, name).map(|of| Target::Element(element, of, None)).or_else(|| {
                let any = info.handlers(element)?.find(crate::handler::ANY)?;
                Some(Target::Element(element, Of::Own(any), Some(name)))
            })
        }
    };
    let (fits, parameter) = target.map_or((false, false), |target| able(info, target, reads));
    match target {
        Some(_) if fits && reads && !parameter && !call.argument.is_empty() => {
            Err(format!("read handler '{}' does not take parameters", full()))
        }
        Some(target) if fits => Ok(target),
        _ => Err(format!("no '{}' {} handler", full(), if reads { "read" } else { "write" })),
    }
}

/// Whether a handler can be read, or else written, and whether a read takes a parameter.
fn able(info: &Info, target: Target<'_>, reads: bool) -> (bool, bool) {
    match target {
        Target::Global(name) => {
            let fits = GLOBAL.iter().any(|&(known, r, w)| known == name && if reads { r } else { w });
            (fits, of_workers(name).is_some())
        }
        Target::Element(element, Of::Common(name), _) => {
            let writable = TASK.iter().any(|&(known, write)| known == name && write);
            (reads || writable || (name == CONFIG && is_live(info, element)), false)
        }
        Target::Element(element, Of::Own(at), _) => info.handlers(element).map_or((false, false), |all| {
            let own = &all.list()[at];
            (if reads { own.readable() } else { own.writable() }, own.parameter)
        }),
    }
}

fn full_name(info: &Info, element: Option<usize>, name: &str) -> String {
    match element {
        Some(element) => format!("{}.{name}", info.nodes[element].name),
        None => name.to_owned(),
    }
}

/// The full name of the handler that a call is meant for.
pub(crate) fn check(info: &Info, call: &Call) -> Result<String, String> {
    resolve(info, call)?;
    locate(info, call).map(|(element, name)| full_name(info, element, name))
}

/// Performs a global call.
pub(crate) fn call(info: &Info, name: &str, call: &Call) -> HandlerResult {
    match (call.access, name) {
        (Access::Read, "version") => Ok(CLICK_VERSION.to_owned()),
        (Access::Read, "driver") => Ok("userlevel".to_owned()),
        (Access::Read, "list") => {
            let mut text = format!("{}\n", info.nodes.len());
            info.nodes.iter().for_each(|node| text.extend([node.name.as_str(), "\n"]));
            Ok(text)
        }
        (Access::Read, "classes") => Ok(info.class_names.iter().map(|name| format!("{name}\n")).collect()),
        // All element classes are in the program.
        (Access::Read, "packages") => Ok(String::new()),
        // What requires that gives its text up, and memory with it.
        (Access::Read, "config") if !info.graph.requirements.iter().any(|r| r.kind == "compact_config") => {
            Ok(info.source.clone())
        }
        (Access::Read, "config" | "flatconfig") => Ok(lang::flatten(&info.current.graph(info))),
        (Access::Read, "requirements") => {
            Ok(info.graph.requirements.iter().map(|r| format!("{}\n{}\n", r.kind, r.value)).collect())
        }
        (Access::Read, "handlers") => Ok(globals(info)
            .map(|&(name, r, w)| line(name, r, w, if of_workers(name).is_some() { "+" } else { "" }))
            .collect()),
        (Access::Read, "workers") => Ok(format!("{}\n", info.mailboxes.len())),
        (Access::Read, "rcu") => Ok(rcu::Domain::global().stats().to_string()),
        (Access::Read, "timewarp") => {
            Ok(if info.clock.is_simulated() { "simulation" } else { "1" }.to_owned())
        }
        (Access::Write, "stop") => {
            let times = crate::parse_integer(call.argument.trim()).and_then(|n| i64::try_from(n).ok());
            info.adjust_run_count(-times.unwrap_or(1));
            Ok(String::new())
        }
        _ => Err(format!("no '{name}' handler")),
    }
}

/// A line of a list of handlers: name and, after a tab, what it can do.
fn line(name: &str, read: bool, write: bool, flags: &str) -> String {
    format!("{name}\t{}{}{flags}\n", if read { "r" } else { "" }, if write { "w" } else { "" })
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
        (Access::Read, "config") => Ok(info.current.config(&info, element)),
        (Access::Read, "ports") => Ok(ports(&info, element)),
        (Access::Read, "handlers") => Ok(list(&info, element)),
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
        (Access::Write, "scheduled") => {
            match crate::parse_boolean(argument.trim()) {
                Some(true) => cx.schedule(),
                Some(false) => cx.unschedule(),
                None => return Err("syntax error".to_owned()),
            }
            Ok(String::new())
        }
        (Access::Write, "tickets") => {
            const MAX: u32 = crate::sched::MAX_TICKETS;
            let wanted = crate::parse_integer(argument.trim()).ok_or("syntax error")?;
            let tickets = wanted.clamp(1, MAX.into()) as u32;
            if i128::from(tickets) != wanted {
                cx.warn(&format!("tickets pinned at {tickets}"));
            }
            cx.set_tickets(tickets);
            Ok(String::new())
        }
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
        for (number, port) in ports.iter().enumerate() {
            let kind = if port.push { "push" } else { "pull" };
            let agnostic = if crate::ports::is_agnostic(node.class, input, number) { "~" } else { "" };
            let peers: Vec<String> = port
                .peers
                .iter()
                .map(|&(peer, at)| {
                    let name = &info.nodes[peer].name;
                    if input { format!("{name} [{at}]") } else { format!("[{at}] {name}") }
                })
                .collect();
            let _ = writeln!(text, "{kind}{agnostic}\t-\t{}", peers.join(", "));
        }
    }
    text
}

/// The `handlers` handler's text: last declared first, as Click has it.
fn list(info: &Info, element: usize) -> String {
    let mut text = String::new();
    let own = info.handlers(element).map_or(&[][..], |handlers| handlers.list());
    let live = is_live(info, element);
    for handler in own.iter().rev().filter(|handler| !handler.private) {
        let parameter = if handler.readable() && handler.parameter { "+" } else { "" };
        let flags = format!("{parameter}{}", handler.flags);
        let writable = handler.writable() || (handler.name == CONFIG && live);
        text.push_str(&line(&handler.name, handler.readable(), writable, &flags));
    }
    let mut add = |name: &str, write: bool, flags: &str| {
        if !own.iter().any(|handler| handler.name == name) {
            text.push_str(&line(name, true, write, flags));
        }
    };
    if info.has_task(element) {
        TASK.iter().for_each(|&(name, write)| add(name, write, ""));
    }
    COMMON.iter().for_each(|name| {
        let flags = if *name == "drop_reasons" { Flags::default() } else { Flags::CALM };
        add(name, *name == CONFIG && live, &flags.to_string());
    });
    text
}
