//! One connection: commands in, responses out.

use super::handler_access::HandlerAccess;
use super::input::Input;
use super::observing::{self, Stream};
use super::patient::Flowing;
use super::shared::{Occupation, Shared};
use crate::limits::DATA_MAX;
use crate::metrics::Format;
use router::{Call, HandlerError, HandlerErrorKind, Info, Response};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::sync::Arc;
use std::time::Duration;

/// The line that greets a client.
const GREETING: &str = "Click::ControlSocket/1.3\r\n";

/// Response codes.
mod code {
    pub(super) const OK: u32 = 200;
    pub(super) const OK_WITH_WARNINGS: u32 = 220;
    pub(super) const SYNTAX: u32 = 500;
    pub(super) const UNIMPLEMENTED: u32 = 501;
    pub(super) const NO_SUCH_ELEMENT: u32 = 510;
    pub(super) const NO_SUCH_HANDLER: u32 = 511;
    pub(super) const HANDLER_ERROR: u32 = 520;
    pub(super) const DATA_TOO_BIG: u32 = 521;
    pub(super) const PERMISSION: u32 = 530;
    pub(super) const NO_ROUTER: u32 = 540;
    pub(super) const UNSPECIFIED: u32 = 590;
}

const HELP: &[&str] = &[
    "Commands supported:",
    "READ handler [arg...]   call read handler, return DATA",
    "READDATA handler len    call read handler with len data bytes, return DATA",
    "READUNTIL handler term  call read handler, take data until term, return DATA",
    "WRITE handler [arg...]  call write handler",
    "WRITEDATA handler len   call write handler, pass len data bytes",
    "WRITEUNTIL handler term call write handler, take data until term",
    "CHECKREAD handler       check if read handler is valid",
    "CHECKWRITE handler      check if write handler is valid",
    "LLRPC elt#number [len]  call LLRPC, pass len data bytes, return DATA",
    "WATCH [topic...]        report events line by line, until anything is sent",
    "METRICS                 report what the router does, return DATA",
    "RELOAD len              replace the configuration as len data bytes say, return DATA",
    "DROPS                   report drops with an example of each, return DATA",
    "RUNTIME                 report the time that elements take, return DATA",
    "EXPLAIN packet          say what would become of a packet, return DATA",
    "TRACE n seconds [filter]  report the ways of packets line by line, until anything is sent",
    "CAPTURE edge n seconds snaplen [filter]  report the packets of an edge, likewise",
    "QUIT                    close connection",
];

/// How long a client may take nothing of what it watches: the router has one trace at a time, and others wait for it.
const STALLED: Duration = Duration::from_secs(30);

/// A command that was refused: the code, and the message's lines.
type Refusal = (u32, Vec<String>);

fn refuse<T>(code: u32, message: impl Into<String>) -> Result<T, Refusal> {
    Err((code, vec![message.into()]))
}

/// What a command came to.
type Answered = Result<String, Refusal>;

/// Serves a connection until it ends.
///
/// `number` is the connection's, and `has_sent` says whether the client has sent anything, its end included, that was not read yet.
pub(super) fn serve(
    shared: &Shared,
    number: i32,
    input: BufReader<impl Read>,
    mut output: &File,
    has_sent: impl Fn() -> bool,
) -> io::Result<()> {
    shared.occupy(number, Occupation::Waits);
    output.write_all(GREETING.as_bytes())?;
    let mut session = Session { shared, number, input: Input::new(input), over: false };
    while !session.over && !shared.is_closed() {
        let Some(line) = session.input.line()? else { break };
        if let Some(topics) = watched(&line) {
            let sent = || session.input.holds_more() || has_sent();
            shared.occupy(number, Occupation::Watches);
            watch(shared, &topics, &mut Flowing::new(output, STALLED), sent)?;
            shared.occupy(number, Occupation::Waits);
            continue;
        }
        if let Some(stream) = Stream::parse(&line) {
            let sent = || session.input.holds_more() || has_sent();
            shared.occupy(number, Occupation::Watches);
            run_stream(shared, stream, &mut Flowing::new(output, STALLED), sent)?;
            shared.occupy(number, Occupation::Waits);
            continue;
        }
        let answer = match session.command(&line)? {
            Ok(text) => text,
            Err((code, messages)) => lines(code, &messages),
        };
        // For the client to read the answer, and to send the next command.
        shared.occupy(number, Occupation::Waits);
        output.write_all(&lang::bytes::of_text(&answer))?;
        output.flush()?;
    }
    Ok(())
}

/// Reports what a trace or a capture sees, until it is over or the client sends something.
fn run_stream(
    shared: &Shared,
    stream: Result<Stream, &'static str>,
    output: &mut Flowing<'_>,
    has_sent: impl Fn() -> bool,
) -> io::Result<()> {
    let done = match stream {
        _ if shared.target().proxy.is_some() => {
            Err((code::PERMISSION, "Permission denied for packets".to_owned()))
        }
        Err(message) => Err((code::SYNTAX, message.to_owned())),
        Ok(stream) => {
            let begun = lines(code::OK, &["Watching".into()]);
            stream.run(shared, output, &begun, has_sent)?.map_err(|error| (code::UNSPECIFIED, error.message))
        }
    };
    if let Err((code, message)) = done {
        output.write_all(lines(code, &[message]).as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

/// The topics that a command `WATCH` names; `None` of another command.
fn watched(line: &str) -> Option<Vec<String>> {
    let mut words = line.split_ascii_whitespace();
    let watches = words.next().is_some_and(|verb| verb.eq_ignore_ascii_case("WATCH"));
    watches.then(|| words.map(str::to_owned).collect())
}

/// How often the thread of a client that watches looks whether it is to go on.
const LOOK_AROUND: Duration = Duration::from_millis(100);

/// Reports events until the client sends something or the server is closed.
fn watch(
    shared: &Shared,
    topics: &[String],
    output: &mut impl Write,
    has_sent: impl Fn() -> bool,
) -> io::Result<()> {
    let mut target = shared.target();
    let mut events = target.handle.info().events.subscribe(topics.to_vec());
    output.write_all(lines(code::OK, &["Watching".into()]).as_bytes())?;
    while !shared.is_closed() && !has_sent() {
        let first = events.recv_timeout(LOOK_AROUND).ok();
        for event in first.into_iter().chain(events.try_iter()) {
            write!(output, "EVENT {}\r\n", printable(&event))?;
        }
        output.flush()?;
        let now = shared.target();
        if !Arc::ptr_eq(&now, &target) {
            target = now;
            events = target.handle.info().events.subscribe(topics.to_vec());
            output.write_all(b"EVENT router replaced\r\n")?;
        }
    }
    Ok(())
}

/// Message lines: all but the last with a hyphen behind the code.
fn lines(code: u32, messages: &[String]) -> String {
    let mut text = String::new();
    for (i, message) in messages.iter().enumerate() {
        let mark = if i + 1 == messages.len() { ' ' } else { '-' };
        let _ = write!(text, "{code}{mark}{}\r\n", printable(message));
    }
    text
}

/// A text that fits in a line and does nothing to a terminal.
fn printable(text: &str) -> String {
    let mut printed = String::with_capacity(text.len());
    for c in text.chars() {
        if let Some(byte) = lang::bytes::byte_of(c) {
            let _ = write!(printed, "\\{byte:03o}");
        } else if c.is_control() {
            let _ = write!(printed, "\\{:03o}", u32::from(c));
        } else {
            printed.push(c);
        }
    }
    printed
}

/// A message, and below it what a handler said, line by line.
fn with_details(message: String, details: &str) -> Vec<String> {
    let details: Vec<String> = details.lines().map(str::to_owned).collect();
    let colon = if details.is_empty() { "" } else { ":" };
    std::iter::once(message + colon).chain(details).collect()
}

/// What a client is told of a call that failed, with what the handler warned of.
fn failed(code: u32, message: String, warnings: &[String], error: HandlerError) -> Answered {
    match error.kind {
        // The call was not made, so that nothing was warned of.
        HandlerErrorKind::Stopped => refuse(code::NO_ROUTER, "No router installed"),
        _ => {
            let mut details = warnings.to_vec();
            details.push(error.message);
            Err((code, with_details(message, &details.join("\n"))))
        }
    }
}

struct Session<'s, R> {
    shared: &'s Shared,
    /// The connection's number.
    number: i32,
    input: Input<R>,
    over: bool,
}

impl<R: Read> Session<'_, BufReader<R>> {
    /// Carries out a command.
    fn command(&mut self, line: &str) -> io::Result<Answered> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let Some(&verb) = words.first() else { return Ok(Ok(String::new())) };
        // What follows the handler's name, as it was written.
        let rest = || words.get(2).map_or("", |word| line[offset(line, word)..].trim_end());
        let verb = verb.to_ascii_uppercase();
        Ok(match (verb.as_str(), words.len()) {
            ("READ" | "GET", 2..) => self.read(words[1], rest().to_owned()),
            ("WRITE" | "SET", 2..) => self.write(words[1], rest().to_owned()),
            ("READDATA" | "WRITEDATA" | "SETDATA", 3) => match self.data(&verb, words[2])? {
                Ok(data) if verb == "READDATA" => self.read(words[1], data),
                Ok(data) => self.write(words[1], data),
                Err(refusal) => Err(refusal),
            },
            ("READUNTIL" | "WRITEUNTIL", 2..) => match self.input.until(rest(), self.keeps(&verb))? {
                Some(data) if verb == "READUNTIL" => self.read(words[1], data),
                Some(data) => self.write(words[1], data),
                None => refuse(code::SYNTAX, "Not enough data"),
            },
            ("CHECKREAD" | "CHECKWRITE", 2) => self.check(words[1], verb == "CHECKWRITE"),
            ("LLRPC", 2..=3) => match words.get(2).map(|length| self.data("llrpc", length)).transpose()? {
                Some(Err(refusal)) => Err(refusal),
                _ => self.llrpc(words[1]),
            },
            ("METRICS", 1) => self.metrics(),
            ("RELOAD", 2) => match self.data(&verb, words[1])? {
                Ok(request) => self.reload(&request),
                Err(refusal) => Err(refusal),
            },
            ("DROPS" | "RUNTIME", 1) | ("EXPLAIN", 2..) => {
                let question = words.get(1).map_or("", |word| line[offset(line, word)..].trim_end());
                self.observe(&verb, question)
            }
            ("CLOSE" | "QUIT", number) => {
                self.over = true;
                let complaint = if number > 1 {
                    lines(code::SYNTAX, &["Bad command syntax".into()])
                } else {
                    String::new()
                };
                Ok(complaint + &lines(code::OK, &["Goodbye!".into()]))
            }
            // A web page can have a browser send this, with commands of its own behind it.
            ("POST" | "HOST:", _) => {
                self.over = true;
                refuse(code::UNIMPLEMENTED, "This is no HTTP server")
            }
            ("HELP", _) => Ok(lines(code::OK, &HELP.iter().map(|&line| line.into()).collect::<Vec<_>>())),
            (
                "READ" | "GET" | "WRITE" | "SET" | "READDATA" | "WRITEDATA" | "SETDATA" | "READUNTIL"
                | "WRITEUNTIL" | "CHECKREAD" | "CHECKWRITE" | "LLRPC" | "METRICS" | "RELOAD" | "DROPS"
                | "RUNTIME" | "EXPLAIN",
                _,
            ) => refuse(code::SYNTAX, "Wrong number of arguments"),
            _ => refuse(code::UNIMPLEMENTED, format!("Command '{verb}' unimplemented")),
        })
    }

    /// Whether what a command brings is of use: a socket that is only read refuses what it writes.
    fn keeps(&self, verb: &str) -> bool {
        verb.starts_with("READ") || !self.shared.target().read_only
    }

    /// Takes the data that a command announces.
    fn data(&mut self, verb: &str, length: &str) -> io::Result<Result<String, Refusal>> {
        let Some(length) = router::parse_integer(length).and_then(|length| usize::try_from(length).ok())
        else {
            return Ok(refuse(code::SYNTAX, format!("Syntax error in '{verb}'")));
        };
        if length > DATA_MAX {
            // Where the next command begins is not known then.
            self.over = true;
            return Ok(refuse(code::DATA_TOO_BIG, format!("More than {DATA_MAX} bytes of data")));
        }
        Ok(self.input.data(length)?.map_or_else(|| refuse(code::SYNTAX, "Not enough data"), Ok))
    }

    /// Notes that a command has come as a whole, and is under way.
    fn works(&self) {
        self.shared.occupy(self.number, Occupation::Works);
    }

    fn read(&self, name: &str, argument: String) -> Answered {
        self.works();
        let found = self.find(name)?;
        if !found.readable {
            return refuse(code::PERMISSION, format!("Handler '{name}' write-only"));
        }
        match self.shared.call(&Call::read(found.path, argument)) {
            Ok(value) => {
                let said = lines(code::OK, &[format!("Read handler '{name}' OK")]);
                Ok(format!("{said}DATA {}\r\n{value}", lang::bytes::of_text(&value).len()))
            }
            Err(error) => failed(code::UNSPECIFIED, format!("Read handler '{name}' error"), &[], error),
        }
    }

    fn write(&self, name: &str, value: String) -> Answered {
        self.works();
        let found = self.find(name)?;
        if !found.writable {
            return refuse(code::PERMISSION, format!("Handler '{name}' read-only"));
        }
        if self.shared.target().read_only {
            return refuse(code::PERMISSION, format!("Permission denied for '{name}'"));
        }
        let Response { result, warnings, .. } = self.shared.ask(&Call::write(found.path, value));
        match result {
            Ok(_) if warnings.is_empty() => Ok(lines(code::OK, &[format!("Write handler '{name}' OK")])),
            Ok(_) => {
                let said =
                    with_details(format!("Write handler '{name}' OK with warnings"), &warnings.join("\n"));
                Ok(lines(code::OK_WITH_WARNINGS, &said))
            }
            Err(error) => {
                failed(code::HANDLER_ERROR, format!("Write handler '{name}' error"), &warnings, error)
            }
        }
    }

    fn metrics(&self) -> Answered {
        self.works();
        if self.shared.target().proxy.is_some() {
            return refuse(code::PERMISSION, "Permission denied for metrics");
        }
        match self.shared.metrics(Format::Prometheus) {
            Ok(text) => {
                let said = lines(code::OK, &["Metrics OK".to_owned()]);
                Ok(format!("{said}DATA {}\r\n{text}", text.len()))
            }
            Err(error) => failed(code::UNSPECIFIED, "Metrics error".to_owned(), &[], error),
        }
    }

    /// Has the program carry out what concerns the configuration as a whole.
    fn reload(&self, request: &str) -> Answered {
        self.works();
        let target = self.shared.target();
        if target.read_only || target.proxy.is_some() {
            return refuse(code::PERMISSION, "Permission denied for reload");
        }
        let Some(service) = &target.reloads else {
            return refuse(code::PERMISSION, "Permission denied for reload: the router runs without '-R'");
        };
        let copy = {
            let state = self.shared.lock();
            let connection = state.connections.iter().find(|known| known.number == self.number);
            connection.and_then(|connection| connection.socket.try_clone().ok())
        };
        let answer = match copy {
            Some(connection) => service.0.serve_client(request, connection.into()),
            None => service.0.serve(request),
        };
        let said = lines(code::OK, &["Reload answered".to_owned()]);
        Ok(format!("{said}DATA {}\r\n{answer}", lang::bytes::of_text(&answer).len()))
    }

    /// Answers a question about packets.
    fn observe(&self, verb: &str, question: &str) -> Answered {
        self.works();
        let target = self.shared.target();
        if target.proxy.is_some() {
            return refuse(code::PERMISSION, "Permission denied for packets");
        }
        match observing::answer(&target.handle, verb, question) {
            Ok(text) => {
                let said = lines(code::OK, &[format!("{verb} OK")]);
                Ok(format!("{said}DATA {}\r\n{text}", text.len()))
            }
            Err(error) => failed(code::UNSPECIFIED, format!("{verb} error"), &[], error),
        }
    }

    fn check(&self, name: &str, write: bool) -> Answered {
        let found = self.find(name)?;
        let (able, verb) = if write { (found.writable, "Write") } else { (found.readable, "Read") };
        if able && write && self.shared.target().read_only {
            return refuse(code::PERMISSION, format!("Permission denied for '{name}'"));
        }
        if able {
            return Ok(lines(code::OK, &[format!("{verb} handler '{name}' OK")]));
        }
        let adjective = if write { "writable" } else { "readable" };
        refuse(code::NO_SUCH_HANDLER, format!("Handler '{name}' not {adjective}"))
    }

    /// No element has low-level calls here, so the answer is what Click's elements without them give.
    fn llrpc(&self, name: &str) -> Answered {
        let (element, number) = name.split_once('#').unwrap_or((name, name));
        if u32::from_str_radix(number.trim_start_matches("0x"), 16).is_err() {
            return refuse(code::SYNTAX, format!("Syntax error in LLRPC name '{name}'"));
        }
        self.find(&format!("{element}.name"))?;
        refuse(code::UNIMPLEMENTED, format!("Cannot call LLRPC '{name}' remotely"))
    }

    /// Looks a handler up.
    fn find(&self, name: &str) -> Result<HandlerAccess, Refusal> {
        let target = self.shared.target();
        let info = target.handle.info();
        let local = match name.split_once('.') {
            Some(("" | "0", global)) => global,
            _ => name,
        };
        if let Some(proxy) = &target.proxy {
            let found = HandlerAccess::new(info, format!("{proxy}.{local}"));
            return found.ok_or_else(|| (511, vec![format!("No proxied handler named '{name}'")]));
        }
        let path = match local.split_once('.') {
            None => format!(".{local}"),
            Some((element, handler)) => {
                let Some(index) = element_index(info, element) else {
                    return refuse(code::NO_SUCH_ELEMENT, format!("No element named '{element}'"));
                };
                format!("{}.{handler}", info.nodes[index].name)
            }
        };
        let found = HandlerAccess::new(info, path).filter(|found| !found.private);
        found.ok_or_else(|| (code::NO_SUCH_HANDLER, vec![format!("No handler named '{name}'")]))
    }
}

/// Where a part of a text begins in it.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// The element with a name, or with a number that counts from 1.
fn element_index(info: &Info, name: &str) -> Option<usize> {
    let numbered = || {
        let number = router::parse_integer(name).and_then(|number| usize::try_from(number).ok())?;
        number.checked_sub(1).filter(|index| *index < info.nodes.len())
    };
    info.find(name, None).or_else(numbered)
}
