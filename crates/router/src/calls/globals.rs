//! Global handlers: what they answer.

use crate::calls::resolve::{globals, of_workers};
use crate::error::HandlerError;
use crate::handlers::call::{Access, Call};
use crate::handlers::response::HandlerResult;
use crate::shared::account::Account;
use crate::shared::info::Info;
use crate::text::values::parse_integer;
use std::borrow::Cow;

/// What the handler `version` says: scripts compare it with versions of Click, so it is that of the Click whose
/// language and elements these are.
pub(crate) const CLICK_VERSION: &str = "2.1";

/// What a worker answers. A cycle counts as a nanosecond, as TSCClock has it.
pub(crate) fn of_worker(account: &Account, name: &str) -> String {
    match name {
        // No more digits than there is sense in.
        "load" => ((account.load * 1e6).round() / 1e6).to_string(),
        _ => (account.busy_ns / 1000).to_string(),
    }
}

/// Whether the configuration has keys in it, in arguments or elsewhere in its text.
fn has_keys(info: &Info) -> bool {
    matches!(lang::secrets::behind_key(&info.source), Cow::Owned(_))
        || info.nodes.iter().any(|node| node.class.shown(&node.config, &info.key_names) != node.config)
}

/// The configuration as it is now, without keys.
fn shown(info: &Info) -> lang::Graph {
    let mut graph = info.made.current.graph(&info.graph);
    for (element, node) in graph.elements.iter_mut().zip(&info.nodes) {
        element.config = node.class.shown(&element.config, &info.key_names);
    }
    graph
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
        // What requires that gives its text up, and memory with it. A text with keys in it is not shown.
        (Access::Read, "config")
            if !info.graph.requirements.iter().any(|r| r.kind == "compact_config") && !has_keys(info) =>
        {
            Ok(info.source.clone())
        }
        (Access::Read, "config" | "flatconfig") => Ok(lang::flatten(&shown(info))),
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
            info.adjust_run_count(-stops(&call.argument));
            Ok(String::new())
        }
        _ => Err(HandlerError::not_found(format!("no '{name}' handler"))),
    }
}

/// How often a write to `stop` asks the driver to stop.
fn stops(argument: &str) -> i64 {
    parse_integer(argument.trim()).and_then(|n| i64::try_from(n).ok()).unwrap_or(1)
}

impl Call {
    /// How often the call asks the driver to stop, if it is a write to the global handler `stop`.
    pub fn stops(&self) -> Option<i64> {
        let is_stop = matches!(self.access, Access::Write) && self.path == "stop";
        is_stop.then(|| stops(&self.argument))
    }
}

/// A line of a list of handlers: name and, after a tab, what it can do.
pub(crate) fn line(name: &str, read: bool, write: bool, flags: &str) -> String {
    format!("{name}\t{}{}{flags}\n", if read { "r" } else { "" }, if write { "w" } else { "" })
}
