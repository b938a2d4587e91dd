//! Commands line by line: at a terminal with history and completion, otherwise from standard input.

use super::{Action, Session};
use crate::console;
use clap::Parser;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use std::collections::HashMap;
use std::io::{BufRead, IsTerminal};

/// The names of commands.
const COMMANDS: &[&str] = &["help", "list", "quit", "read", "watch", "write"];

const HELP: &str = "\
read HANDLER [ARGUMENT]    print the value of a handler
write HANDLER [VALUE]      write a value to a handler
list [ELEMENT]             list elements, or the handlers of one or of those that match a pattern
watch HANDLER... [-i SECONDS] [-n TIMES]
                           print values again and again, ten times unless told otherwise
quit                       end
A line without a command reads: 'ELEMENT.HANDLER' alone is enough.
";

/// Readings of `watch` at a prompt, unless told otherwise: there is no other way to end it than to leave.
const WATCH_TIMES: u64 = 10;

/// A line as a command.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_subcommand = true)]
struct Line {
    #[command(subcommand)]
    action: Action,
}

/// Carries out commands until there are no more. Errors of single commands are reported; without a terminal they are
/// the end.
///
/// # Errors
/// What went wrong.
pub(super) fn run(session: &mut Session) -> Result<(), String> {
    if !std::io::stdin().is_terminal() {
        for line in std::io::stdin().lock().lines() {
            let line = line.map_err(|error| error.to_string())?;
            if !perform(session, &line)? {
                break;
            }
        }
        return Ok(());
    }
    let failed = |error: ReadlineError| error.to_string();
    let config = Config::builder().completion_type(CompletionType::List).build();
    let mut editor: Editor<Names, MemHistory> =
        Editor::with_history(config, MemHistory::new()).map_err(failed)?;
    editor.set_helper(Some(Names::load(session)?));
    loop {
        let line = match editor.readline("clique> ") {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(failed(error)),
        };
        let _ = editor.add_history_entry(line.as_str()); // a line that is not kept is no harm
        match perform(session, &line) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(message) => console::complain(&format!("{}\n", message.trim_end())),
        }
        // The configuration may have been replaced.
        if line.contains("hotconfig") {
            editor.set_helper(Some(Names::load(session)?));
        }
    }
}

/// Carries out a line; false at the end.
fn perform(session: &mut Session, line: &str) -> Result<bool, String> {
    let Some(action) = parse(line)? else {
        match line.trim() {
            "quit" | "exit" => return Ok(false),
            "help" => return Ok(super::print(HELP)?.is_continue()),
            _ => {}
        }
        return Ok(true);
    };
    Ok(session.act(&action)?.is_continue())
}

/// The action that a line stands for, if any.
fn parse(line: &str) -> Result<Option<Action>, String> {
    let line = line.trim();
    let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if line.is_empty() || line.starts_with('#') || ["quit", "exit", "help"].contains(&line) {
        return Ok(None);
    }
    // Values go out as they were written, quotes and blanks included.
    let pair = || {
        let (handler, value) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
        (handler.to_owned(), vec![value.trim_start().to_owned()])
    };
    Ok(Some(match verb {
        "read" | "write" if rest.trim().is_empty() => {
            return Err(format!("'{verb}' needs the name of a handler"));
        }
        "read" => {
            let (handler, argument) = pair();
            Action::Read { handler, argument }
        }
        "write" => {
            let (handler, value) = pair();
            Action::Write { handler, value, file: None }
        }
        "list" | "watch" => {
            let parsed = Line::try_parse_from(line.split_whitespace()).map_err(|error| error.to_string())?;
            match parsed.action {
                Action::Watch { events: true, .. } => {
                    return Err("events cannot be watched at a prompt: use 'clique ctl ... watch --events'"
                        .to_owned());
                }
                Action::Watch { handlers, events, interval, count } => {
                    Action::Watch { handlers, events, interval, count: count.or(Some(WATCH_TIMES)) }
                }
                other => other,
            }
        }
        _ => Action::Read { handler: verb.to_owned(), argument: vec![rest.trim().to_owned()] },
    }))
}

/// The names of a router's elements and handlers, for completion.
struct Names {
    elements: Vec<String>,
    globals: Vec<String>,
    handlers: HashMap<String, Vec<String>>,
}

impl Names {
    fn load(session: &mut Session) -> Result<Names, String> {
        let elements = session.elements()?;
        let globals = session.handlers(None)?.into_iter().map(|(name, _)| name).collect();
        let mut handlers = HashMap::new();
        for element in &elements {
            let names = session.handlers(Some(element))?.into_iter().map(|(name, _)| name).collect();
            handlers.insert(element.clone(), names);
        }
        Ok(Names { elements, globals, handlers })
    }

    /// Where the word before the cursor begins, and what it may become.
    fn candidates(&self, line: &str) -> (usize, Vec<String>) {
        let start = line.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let (before, word) = line.split_at(start);
        let mut found: Vec<String> = Vec::new();
        if before.trim().is_empty() {
            found.extend(COMMANDS.iter().map(|&command| command.to_owned()));
        }
        match word.split_once('.') {
            Some((element, _)) => {
                let names = self.handlers.get(element).map_or(&[][..], Vec::as_slice);
                found.extend(names.iter().map(|name| format!("{element}.{name}")));
            }
            None if before.trim_start().starts_with("list") => found.extend(self.elements.iter().cloned()),
            None => {
                found.extend(self.elements.iter().map(|element| format!("{element}.")));
                found.extend(self.globals.iter().cloned());
            }
        }
        found.retain(|name| name.starts_with(word));
        found.sort_unstable();
        (start, found)
    }
}

impl Helper for Names {}

impl Highlighter for Names {}

impl Validator for Names {}

impl Hinter for Names {
    type Hint = String;
}

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.candidates(line.get(..at).unwrap_or(line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_completed() {
        let names = Names {
            elements: vec!["c".into(), "counter".into(), "d/e".into()],
            globals: vec!["config".into(), "list".into()],
            handlers: HashMap::from([("c".to_owned(), vec!["count".into(), "class".into()])]),
        };
        let complete = |line: &str| {
            let (start, found) = names.candidates(line);
            (start, found.join(" "))
        };
        assert_eq!(complete("re"), (0, "read".into()));
        assert_eq!(complete("read c"), (5, "c. config counter.".into()));
        assert_eq!(complete("read c."), (5, "c.class c.count".into()));
        assert_eq!(complete("read c.co"), (5, "c.count".into()));
        assert_eq!(complete("list d"), (5, "d/e".into()));
        assert_eq!(complete("watch a ä d"), (11, "d/e.".into()));
        assert_eq!(complete("read x.").1, "");
    }

    /// Values keep their blanks; numbers of readings are bounded.
    #[test]
    fn a_line_is_read_as_a_command() {
        let Ok(Some(Action::Write { handler, value, .. })) = parse("write a.b x  \"y z\"") else {
            panic!("not a write")
        };
        assert_eq!((handler.as_str(), value.concat().as_str()), ("a.b", "x  \"y z\""));
        assert!(matches!(parse("a.b"), Ok(Some(Action::Read { .. }))));
        assert!(matches!(parse("watch a.b"), Ok(Some(Action::Watch { count: Some(10), .. }))));
        assert!(matches!(parse("watch a.b -n 2"), Ok(Some(Action::Watch { count: Some(2), .. }))));
        assert!(parse("watch").is_err() && parse("write").is_err());
        assert!(matches!(parse(" # no"), Ok(None)));
    }
}
