//! What a script is asked for, and what it does to the outside: calls, output, packets.

use device::files::Patient;
use packet::Packet;
use router::{Access, Call, Cx, parse_integer};
use std::io::Write;

/// What a script is asked for.
pub(super) enum Request {
    /// The initial values from the instruction with this index on, then the first wait.
    Boot(usize),
    /// Pass so many blocking instructions; for the driver, which wants to stop, or not.
    Step { steps: i64, router: bool },
    /// The time that was waited for has come.
    Timer,
    /// Go on elsewhere.
    Goto(usize),
    /// Start from the beginning, in the name of a handler.
    Run { handler: String, args: String, write: bool },
    /// Treat a packet that came in, by push or pull.
    Packet { port: usize, packet: Option<Packet>, pull: bool },
}

/// A call as scripts write them: a path, and the rest.
pub(super) fn handler_call(cx: &Cx<'_>, access: Access, text: &str, unquote: bool) -> Call {
    let mut rest = text;
    let path = lang::conf::unquote(lang::conf::pop_space(&mut rest));
    let argument = if unquote { lang::conf::unquote(rest) } else { rest.to_owned() };
    Call { path, access, argument, scope: Some(cx.index()) }
}

pub(super) fn print(cx: &Cx<'_>, file: Option<Patient>, mut text: String, newline: bool) {
    if newline && !text.ends_with('\n') {
        text.push('\n');
    }
    match file {
        None => cx.info().log.print(&text),
        // As in Click, a full disk goes unnoticed.
        Some(mut file) => drop(file.write_all(&lang::bytes::of_text(&text))),
    }
}

/// Sends a packet where its script wants it; without a place to go it is dropped.
pub(super) fn emit(cx: &mut Cx<'_>, packet: Option<Packet>, output: Option<usize>, pull: bool) {
    let mut answer = cx.batch();
    match (packet, output) {
        (Some(packet), Some(0)) if pull => answer.push(packet),
        (Some(packet), Some(output)) => cx.emit_packet(output, packet),
        (Some(packet), None) => cx.drop(packet, "script"),
        (None, _) => {}
    }
    if pull {
        cx.answer(answer);
    } else {
        cx.consume(answer);
    }
}

/// Reads a step count.
pub(super) fn step_request(text: &str) -> Result<Request, String> {
    let text = lang::conf::uncomment(text);
    match text.as_str() {
        "" => Ok(Request::Step { steps: 1, router: false }),
        "router" => Ok(Request::Step { steps: 1, router: true }),
        text => match parse_integer(text).and_then(|n| i32::try_from(n).ok()) {
            Some(steps) => Ok(Request::Step { steps: i64::from(steps), router: false }),
            None => Err("syntax error".to_owned()),
        },
    }
}
