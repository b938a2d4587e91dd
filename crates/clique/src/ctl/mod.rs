//! `clique ctl`: talks to a router that runs.

#[cfg(feature = "editor")]
mod editor;
mod flows;
#[cfg(not(feature = "editor"))]
mod prompt;
mod rows;
mod several;
mod shell;

use crate::address::Address;
use crate::console::{self, reason};
use crate::glob;
use crate::job::start_s;
use crate::reply::{data, fine};
use crate::status::Status;
use clap::{Subcommand, ValueHint};
use control::Client;
#[cfg(feature = "editor")]
use editor as prompt;
use router::Classes;
use serde_json::{Value, json};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `clique ctl`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,

    /// Print JSON: an object, or with 'watch' one a line.
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand, Clone, Debug)]
enum Action {
    /// Print the value of a handler.
    Read {
        /// ELEMENT.HANDLER, or HANDLER for a global one. ELEMENT and HANDLER may be patterns ('*', '?', '[...]'), and ELEMENT a class.
        handler: String,
        /// Its parameter; or, if each of these words is a handler, too, further handlers.
        #[arg(allow_hyphen_values = true)]
        argument: Vec<String>,
    },
    /// Write a value to a handler.
    Write {
        /// ELEMENT.HANDLER, or HANDLER for a global one.
        handler: String,
        /// The value.
        #[arg(allow_hyphen_values = true)]
        value: Vec<String>,
        /// Write what FILE contains ('-': standard input), for instance a configuration to 'hotconfig'.
        #[arg(short, long, value_name = "FILE", conflicts_with = "value", value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
    },
    /// List the elements and their classes, or the handlers of some.
    List {
        /// An element, or a pattern ('*', '?', '[...]') of names: list handlers, 'r' readable, 'w' writable.
        element: Option<String>,
    },
    /// Say what an element is for and what its handlers mean.
    Describe {
        /// An element, or ELEMENT.HANDLER.
        name: String,
    },
    /// Print the values of handlers again and again, or events as they happen.
    Watch {
        /// ELEMENT.HANDLER, or HANDLER for a global one; with --events the topics, all if there is none.
        #[arg(required_unless_present = "events")]
        handlers: Vec<String>,
        /// Print events as they happen ('neighbour', for instance) instead of values.
        #[arg(short, long, conflicts_with = "interval")]
        events: bool,
        /// Seconds from one reading to the next.
        #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = start_s)]
        interval: f64,
        /// Stop after N readings or events.
        #[arg(short = 'n', long, value_name = "N")]
        count: Option<u64>,
    },
    /// List, count, forget or take in the flows that elements remember (ConnTrack, rewriters, FLOWS of look-ups), or watch flows come and go.
    Flows(flows::Flows),
}

/// Runs `clique ctl`.
pub(crate) fn run(args: &Args, known: &Classes) -> Status {
    let mut session = match args.address.connect() {
        Ok(client) => Session { client, json: args.json, known: known.clone() },
        Err(message) => return complain(&message),
    };
    let done = match &args.action {
        Some(action) => session.act(action).map(drop),
        None => shell::run(&mut session),
    };
    done.map_or_else(|message| complain(&message), |()| Status::Fine)
}

fn complain(message: &str) -> Status {
    console::complain(&format!("clique ctl: {}\n", message.trim_end()));
    Status::Failure
}

/// A conversation with a router.
struct Session {
    client: Client,
    json: bool,
    /// The classes of this program, for their manuals.
    known: Classes,
}

/// Prints; that the reader has gone is no error, but there is nothing more to be done then.
fn print(text: &str) -> Result<ControlFlow<()>, String> {
    match console::print_on(text) {
        Ok(true) => Ok(ControlFlow::Continue(())),
        Ok(false) => Ok(ControlFlow::Break(())),
        Err(error) => Err(format!("standard output: {}", reason(&error))),
    }
}

/// Prints a line of JSON, which has no room for bytes that are no text.
fn print_json(object: &Value) -> Result<ControlFlow<()>, String> {
    print(&lang::bytes::without_bytes(&format!("{object}\n")))
}

impl Session {
    fn act(&mut self, action: &Action) -> Result<ControlFlow<()>, String> {
        match action {
            Action::Read { handler, argument } if self.are_several(handler, argument)? => {
                let names = std::iter::once(handler).chain(argument).filter(|name| !name.is_empty());
                let mut all = Vec::new();
                for name in names {
                    all.extend(self.expand(name)?);
                }
                self.read_several(&all)
            }
            Action::Describe { name } => self.describe(name),
            Action::Read { handler, argument } => {
                let value = data(self.client.read(handler, &argument.join(" ")))?;
                let mut object = json!({ "name": handler, "value": value });
                if let Some(rows) = rows::of(handler, &value) {
                    object["rows"] = rows;
                }
                self.show(&object, &ended(&rows::in_order(handler, &value)))
            }
            Action::Write { handler, value, file } => {
                let value = match file {
                    Some(file) => contents(file)?,
                    None => value.join(" "),
                };
                let reply = fine(self.client.write(handler, &value))?;
                let mut object = json!({ "name": handler, "written": true });
                if !reply.warnings().is_empty() {
                    object["warnings"] = reply.warnings().into();
                    console::complain(&format!("{}\n", reply.warnings().join("\n")));
                }
                self.show(&object, "")
            }
            Action::List { element: None } => self.list_elements(),
            Action::List { element: Some(pattern) } => self.list_handlers(pattern),
            Action::Flows(flows) => self.flows(flows),
            Action::Watch { handlers: topics, events: true, count, .. } => self.watch(topics, *count),
            Action::Watch { handlers, interval, count, .. } => {
                let count = count.unwrap_or(u64::MAX);
                for reading in 0..count {
                    if reading > 0 {
                        std::thread::sleep(Duration::from_secs_f64(*interval));
                    }
                    if self.read_all(handlers)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    /// Prints events as they happen.
    fn watch(&mut self, topics: &[String], count: Option<u64>) -> Result<ControlFlow<()>, String> {
        data(self.client.watch(topics))?;
        for _ in 0..count.unwrap_or(u64::MAX) {
            let event = self.client.event().map_err(|failure| failure.to_string())?;
            if self.show(&event_object(&event), &ended(&event))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn show(&self, object: &Value, text: &str) -> Result<ControlFlow<()>, String> {
        if self.json { print_json(object) } else { print(text) }
    }

    /// The elements' names.
    fn elements(&mut self) -> Result<Vec<String>, String> {
        // The first line is their number.
        Ok(data(self.client.read("list", ""))?.lines().skip(1).map(str::to_owned).collect())
    }

    /// An element's handlers, or the global ones: names, and what can be done with them.
    fn handlers(&mut self, element: Option<&str>) -> Result<Vec<(String, String)>, String> {
        let path = element.map_or_else(|| "handlers".to_owned(), |element| format!("{element}.handlers"));
        let list = data(self.client.read(&path, ""))?;
        let pairs = list.lines().filter_map(|line| line.split_once('\t'));
        let mut pairs: Vec<_> = pairs.map(|(name, flags)| (name.to_owned(), flags.to_owned())).collect();
        pairs.sort_unstable();
        Ok(pairs)
    }

    fn list_elements(&mut self) -> Result<ControlFlow<()>, String> {
        let names = self.elements()?;
        let mut classes = Vec::with_capacity(names.len());
        for name in &names {
            classes.push(data(self.client.read(&format!("{name}.class"), ""))?);
        }
        let width = names.iter().map(String::len).max().unwrap_or(0).min(console::COLUMN_MAX);
        let both = || names.iter().zip(&classes);
        let text: String = both().map(|(name, class)| format!("{name:width$}  {class}\n")).collect();
        let list: Vec<Value> = both().map(|(name, class)| json!({ "name": name, "class": class })).collect();
        self.show(&json!({ "elements": list }), &text)
    }

    fn list_handlers(&mut self, pattern: &str) -> Result<ControlFlow<()>, String> {
        let mut names = self.elements()?;
        names.retain(|name| name == pattern || (glob::is_pattern(pattern) && glob::matches(name, pattern)));
        if names.is_empty() {
            return Err(format!("no element '{pattern}'"));
        }
        let (mut text, mut list) = (String::new(), Vec::new());
        for element in names {
            for (handler, flags) in self.handlers(Some(&element))? {
                let able = |flag| flags.contains(flag);
                text.push_str(&format!("{element}.{handler}\t{flags}\n"));
                list.push(json!({
                    "name": format!("{element}.{handler}"), "readable": able('r'), "writable": able('w'),
                }));
            }
        }
        self.show(&json!({ "handlers": list }), &text)
    }

    fn read_all(&mut self, handlers: &[String]) -> Result<ControlFlow<()>, String> {
        let mut values = Vec::with_capacity(handlers.len());
        for handler in handlers {
            values.push(data(self.client.read(handler, ""))?);
        }
        if self.json {
            let object: serde_json::Map<String, Value> =
                handlers.iter().cloned().zip(values.into_iter().map(Value::from)).collect();
            return print_json(&Value::from(object));
        }
        let several = handlers.len() > 1;
        let name = |handler: &str| if several { format!("{handler}: ") } else { String::new() };
        let text: String = handlers
            .iter()
            .zip(&values)
            .map(|(handler, value)| name(handler) + &ended(&rows::in_order(handler, value)))
            .collect();
        print(&text)
    }
}

/// An event as an object: what is known of its topic, or else its text.
fn event_object(event: &str) -> Value {
    match event.split(' ').collect::<Vec<_>>()[..] {
        ["neighbour", change, address, mac, state, ref interface @ ..] => json!({
            "event": "neighbour", "change": change, "address": address, "state": state,
            "mac": Some(mac).filter(|&mac| mac != "-"), "interface": interface.join(" "),
        }),
        ["flow", change, element, protocol, source, sport, destination, dport] => json!({
            "event": "flow", "change": change, "element": element, "protocol": protocol, "source": source,
            "sport": sport.parse::<u16>().ok(), "destination": destination, "dport": dport.parse::<u16>().ok(),
        }),
        ["link", change, interface, element] => json!({
            "event": "link", "change": change, "interface": interface, "element": element,
        }),
        ["router", "replaced"] => json!({ "event": "router", "change": "replaced" }),
        ["router", "refused", ref reason @ ..] => json!({
            "event": "router", "change": "refused", "reason": reason.join(" "),
        }),
        ["lost", number] => json!({ "event": "lost", "events": number.parse::<u64>().ok() }),
        [topic, ref rest @ ..] => json!({ "event": topic, "text": rest.join(" ") }),
        [] => Value::Null,
    }
}

/// A value that ends with a newline.
fn ended(value: &str) -> String {
    if value.is_empty() || value.ends_with('\n') { value.to_owned() } else { format!("{value}\n") }
}

fn contents(file: &PathBuf) -> Result<String, String> {
    let read = || {
        if file.as_os_str() != "-" {
            return std::fs::read(file);
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    };
    read().map(lang::bytes::to_text).map_err(|error| format!("{}: {}", file.display(), reason(&error)))
}
