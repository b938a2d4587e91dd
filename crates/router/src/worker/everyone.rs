//! The handlers that every element has: what they answer.

use crate::calls::globals::line;
use crate::calls::resolve::{COMMON, CONFIG, TASK, is_live};
use crate::configuration::ports::is_agnostic;
use crate::context::cx::Cx;
use crate::error::HandlerError;
use crate::handlers::call::Access;
use crate::handlers::declaration::Flags;
use crate::handlers::response::HandlerResult;
use crate::schedule::sched::MAX_TICKETS;
use crate::shared::info::Info;
use crate::text::values::{parse_boolean, parse_integer};
use std::fmt::Write;

/// Performs a call of a handler that every element has, on a worker that owns the element; `cx` is that element's.
pub(crate) fn call(
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
        (Access::Read, "config") => Ok(node.class.shown(&info.config(element), &info.key_names)),
        (Access::Read, "ports") => Ok(ports(&info, element)),
        (Access::Read, "handlers") => Ok(list(&info, element)),
        (Access::Read, "workers") => {
            Ok(node.workers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        }
        (Access::Read, "drop_reasons") => {
            Ok(cx.drops().iter().map(|(reason, count)| format!("{count}\t{reason}\n")).collect())
        }
        (Access::Read, "scheduled") => Ok(cx.tasks().is_scheduled().to_string()),
        (Access::Read, "tickets") => Ok(cx.tasks().tickets().to_string()),
        (Access::Read, "runs") => Ok(cx.tasks().runs().to_string()),
        (Access::Read, "home_thread") => Ok(cx.worker().to_string()),
        (Access::Write, "scheduled") => {
            match parse_boolean(argument.trim()) {
                Some(true) => cx.tasks().schedule(),
                Some(false) => cx.tasks().unschedule(),
                None => return Err("syntax error".into()),
            }
            Ok(String::new())
        }
        (Access::Write, "tickets") => {
            let wanted = parse_integer(argument.trim()).ok_or("syntax error")?;
            let tickets = wanted.clamp(1, MAX_TICKETS.into()) as u32;
            if i128::from(tickets) != wanted {
                cx.warn(&format!("tickets pinned at {tickets}"));
            }
            cx.tasks().set_tickets(tickets);
            Ok(String::new())
        }
        _ => Err(HandlerError::not_found(format!("no '{name}' handler"))),
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
            let agnostic = if is_agnostic(node.class, input, number) { "~" } else { "" };
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
