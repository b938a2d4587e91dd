//! What a call's path means: which handlers there are, global ones and those that every element has included.

use crate::configuration::class::Residency;
use crate::error::HandlerError;
use crate::handlers::call::{Access, Call};
use crate::handlers::declaration::{ANY, Of};
use crate::handlers::response::{HandlerResult, Merge};
use crate::shared::info::Info;

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
    (LOAD, true, false),
    ("useful_kcycles", true, false),
];

/// How busy a worker is.
pub(crate) const LOAD: &str = "load";

/// The global handlers that each worker answers for itself. They take a worker's number.
const OF_WORKERS: [&str; 2] = [LOAD, "useful_kcycles"];

/// The name, if each worker answers for itself.
pub(crate) fn of_workers(name: &str) -> Option<&'static str> {
    OF_WORKERS.into_iter().find(|known| *known == name)
}

/// The global handler that takes a new configuration. There is none unless the program allows it.
pub(crate) const HOTCONFIG: &str = "hotconfig";

/// The global handlers of a router.
pub(crate) fn globals(info: &Info) -> impl Iterator<Item = &'static (&'static str, bool, bool)> {
    GLOBAL.iter().filter(|(name, ..)| info.reconfigurable || *name != HOTCONFIG)
}

/// The handlers that every element has, unless it has its own of the same name.
pub(crate) const COMMON: &[&str] =
    &["drop_reasons", "workers", "handlers", "ports", "config", "class", "name"];
/// Those that elements with a task have in addition: (name, writable). Before elements are initialised, when calls
/// that are meant for later are checked, any may come to have one.
pub(crate) const TASK: &[(&str, bool)] =
    &[("home_thread", false), ("runs", false), ("tickets", true), ("scheduled", true)];

/// The handler that all elements have and some can be written to.
pub(crate) const CONFIG: &str = "config";

/// Whether an element's arguments can be changed by writing them to its handler `config`.
pub(crate) fn is_live(info: &Info, element: usize) -> bool {
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
fn locate<'a>(info: &Info, call: &'a Call) -> Result<(Option<usize>, &'a str), HandlerError> {
    let path = call.path.as_str();
    let dot = path.find('.');
    if path.is_empty() || dot.is_some_and(|dot| dot > 0 && dot + 1 == path.len()) {
        return Err(HandlerError::invalid("syntax error"));
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
            Err(HandlerError::not_found(format!("no element named '{}'", &path[..dot])))
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
pub(crate) fn resolve<'a>(info: &Info, call: &'a Call) -> Result<Target<'a>, HandlerError> {
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
                let any = info.handlers(element)?.find(ANY)?;
                Some(Target::Element(element, Of::Own(any), Some(name)))
            })
        }
    };
    let (fits, parameter) = target.map_or((false, false), |target| able(info, target, reads));
    match target {
        Some(_) if fits && reads && !parameter && !call.argument.is_empty() => {
            Err(HandlerError::invalid(format!("read handler '{}' does not take parameters", full())))
        }
        Some(target) if fits => Ok(target),
        _ => {
            let side = if reads { "read" } else { "write" };
            Err(HandlerError::not_found(format!("no '{}' {side} handler", full())))
        }
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

impl Call {
    /// The full name of the handler that is called.
    ///
    /// # Errors
    /// Why the call cannot be made, in Click's words: no such element or handler, or a parameter where none is taken.
    pub fn check(&self, info: &Info) -> HandlerResult {
        resolve(info, self)?;
        locate(info, self).map(|(element, name)| full_name(info, element, name))
    }
}
