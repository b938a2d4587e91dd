//! Commands line by line, from a terminal or from standard input.

use super::{Action, Session};
use crate::console;
use clap::Parser;
use std::io::{BufRead, IsTerminal};

/// What stands before a line that a person types.
const PROMPT: &str = "clique> ";

/// The names of commands.
#[cfg(feature = "editor")]
pub(super) const COMMANDS: &[&str] = &["describe", "flows", "help", "list", "quit", "read", "watch", "write"];

const HELP: &str = "\
read HANDLER [ARGUMENT]    print the value of a handler
write HANDLER [VALUE]      write a value to a handler
describe ELEMENT[.HANDLER] what an element is for, and what its handlers mean
flows [FILTER...] [-c|-k|-l] [-e ELEMENT]
                           list, count or forget the flows that elements remember
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
    if std::io::stdin().is_terminal() {
        return super::prompt::run(session, PROMPT);
    }
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        if !perform(session, &line)? {
            break;
        }
    }
    Ok(())
}

/// Carries out a line that a person has typed, and tells what is wrong with it; false at the end.
pub(super) fn serve(session: &mut Session, line: &str) -> bool {
    perform(session, line).unwrap_or_else(|message| {
        console::complain(&format!("{}\n", message.trim_end()));
        true
    })
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
        "describe" | "flows" | "list" | "watch" => {
            let parsed = Line::try_parse_from(line.split_whitespace()).map_err(|error| error.to_string())?;
            match parsed.action {
                Action::Flows(flows) if flows.watches() => {
                    return Err(
                        "flows cannot be watched at a prompt: use 'clique ctl ... flows --watch'".to_owned()
                    );
                }
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

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(matches!(parse("flows tcp dst 10.0.0.0/8 -c"), Ok(Some(Action::Flows(_)))));
        assert!(parse("flows --watch").is_err() && parse("flows -k -c").is_err());
        assert!(parse("watch").is_err() && parse("write").is_err());
        assert!(matches!(parse(" # no"), Ok(None)));
    }
}
