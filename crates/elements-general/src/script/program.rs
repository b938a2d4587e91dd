//! Scripts, compiled: a list of instructions.

use super::text::Text;
use lang::conf::pop_space;
use router::parse_integer;

/// How a script ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// `exit`.
    Exit,
    /// `end`, also at the end of the text.
    Normal,
    /// `stop`: asks the driver to stop, too.
    Stop,
    /// `error`.
    Error,
}

/// Where `goto` leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    To(usize),
    End(End),
}

/// A text and whether its expansion is to be unquoted.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) text: Text,
    pub(super) unquote: bool,
}

/// Where `print` prints to.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) append: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Insn {
    /// The start of a script that does not begin by waiting: counts as a step once.
    Initial,
    /// `pause`.
    Pause(u64),
    /// `wait`.
    Wait(Text),
    Print {
        value: Value,
        handler: bool,
        newline: bool,
        file: Option<File>,
    },
    Read(Value),
    Write(Value),
    Set {
        name: String,
        value: Value,
    },
    /// `init` or `export`: done once, when the router starts.
    Init {
        name: String,
        value: Value,
        export: bool,
    },
    Return(Value),
    Label(String),
    Goto {
        goal: Goal,
        condition: Text,
    },
    Error(Value),
    Finish(End),
}

/// Compiles instructions; `last` is what happens behind the last one.
///
/// # Errors
/// Everything that is wrong, in Click's words.
pub(super) fn compile(arguments: &[String], last: End) -> Result<Vec<Insn>, Vec<String>> {
    let mut errors = Vec::new();
    let mut program = Vec::new();
    let mut gotos: Vec<(usize, String)> = Vec::new();
    for argument in arguments {
        let mut rest = argument.as_str();
        let name = pop_space(&mut rest);
        if name.is_empty() {
            continue;
        }
        let Some(insn) = instruction(name, rest) else {
            errors.push(format!("syntax error at '{name}'"));
            continue;
        };
        if program.is_empty() && !matches!(insn, Insn::Pause(_) | Insn::Wait(_)) {
            program.push(Insn::Initial);
        }
        if name == "goto" && !rest.is_empty() {
            gotos.push((program.len(), pop_space(&mut rest).to_owned()));
        }
        program.push(insn);
    }
    for (at, label) in gotos {
        match find_label(&program, &label) {
            Some(to) => {
                if let Insn::Goto { goal, .. } = &mut program[at] {
                    *goal = to;
                }
            }
            None => errors.push(format!("no such label '{label}'")),
        }
    }
    if program.is_empty() {
        program.push(if last == End::Stop { Insn::Pause(1) } else { Insn::Initial });
    }
    program.push(Insn::Finish(last));
    if errors.is_empty() { Ok(program) } else { Err(errors) }
}

/// Where a label leads; the names of endings are labels, too.
pub(super) fn find_label(program: &[Insn], label: &str) -> Option<Goal> {
    let at = program.iter().position(|insn| matches!(insn, Insn::Label(name) if name == label));
    at.map(Goal::To).or(match label {
        "exit" => Some(Goal::End(End::Exit)),
        "end" => Some(Goal::End(End::Normal)),
        "stop" => Some(Goal::End(End::Stop)),
        "error" | "errorq" => Some(Goal::End(End::Error)),
        "begin" | "loop" => Some(Goal::To(0)),
        _ => None,
    })
}

/// One instruction; `None` if it is unknown or malformed.
fn instruction(name: &str, text: &str) -> Option<Insn> {
    let plain = name.strip_suffix('q').filter(|_| name != "q").unwrap_or(name);
    let value = |text: &str| Value { text: Text::new(text), unquote: plain != name };
    Some(match (plain, plain != name) {
        ("pause" | "wait_step" | "wait_stop" | "wait_pause", false) => pause(text)?,
        ("wait", false) if text.is_empty() => Insn::Pause(1),
        ("wait" | "wait_time" | "wait_for", false) => Insn::Wait(Text::new(text)),
        ("print" | "printn", _) => print(text, value(""), plain == "print"),
        ("save" | "append", false) => save(text, plain == "append"),
        ("read", _) => Insn::Read(value(text)),
        ("write", _) => Insn::Write(value(text)),
        ("return", _) => Insn::Return(value(text)),
        ("set", _) => {
            let mut rest = text;
            let name = pop_space(&mut rest).to_owned();
            if name.is_empty() || rest.is_empty() {
                return None;
            }
            Insn::Set { name, value: value(rest) }
        }
        ("init" | "export", _) => {
            let mut rest = text;
            let name = pop_space(&mut rest).to_owned();
            if name.is_empty() {
                return None;
            }
            Insn::Init { name, value: value(rest), export: plain == "export" }
        }
        ("label", false) => {
            let mut rest = text;
            let label = pop_space(&mut rest).to_owned();
            if label.is_empty() || !rest.is_empty() {
                return None;
            }
            Insn::Label(label)
        }
        ("goto", false) => {
            let mut condition = text;
            pop_space(&mut condition);
            Insn::Goto { goal: Goal::To(0), condition: Text::new(condition) }
        }
        ("error", _) => Insn::Error(value(text)),
        ("loop" | "end" | "exit" | "stop", false) if !text.is_empty() => return None,
        ("loop", false) => Insn::Goto { goal: Goal::To(0), condition: Text::default() },
        ("end", false) => Insn::Finish(End::Normal),
        ("exit", false) => Insn::Finish(End::Exit),
        ("stop", false) => Insn::Finish(End::Stop),
        _ => return None,
    })
}

fn pause(text: &str) -> Option<Insn> {
    if text.is_empty() {
        return Some(Insn::Pause(1));
    }
    let count = parse_integer(text).filter(|_| !text.starts_with('-'))?;
    Some(Insn::Pause(u64::from(u32::try_from(count).ok()?)))
}

/// `[>FILE | >>FILE] [TEXT | HANDLER]`; `shape` says whether to unquote.
fn print(text: &str, shape: Value, newline: bool) -> Insn {
    let mut text = text;
    let mut file = None;
    if let Some(rest) = text.strip_prefix('>') {
        let append = rest.starts_with('>');
        text = if append { &rest[1..] } else { rest };
        let name = pop_space(&mut text).to_owned();
        file = (!name.is_empty() && name != "-").then_some(File { name, append });
    }
    let handler = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@' || c == '_');
    Insn::Print { value: Value { text: Text::new(text), ..shape }, handler, newline, file }
}

/// `HANDLER [FILE]`.
fn save(text: &str, append: bool) -> Insn {
    let mut file = text;
    let handler = pop_space(&mut file);
    let (arrow, file) = (if append { ">>" } else { ">" }, if file.is_empty() { "-" } else { file });
    let shape = Value { text: Text::default(), unquote: false };
    print(&format!("{arrow}{file} {handler}"), shape, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        compile(&lang::conf::split_args(text), End::Normal).err().unwrap_or_default()
    }

    #[test]
    fn malformed_instructions() {
        for bad in ["jump x", "pause -1", "pause x", "set x", "label", "label a b", "end now", "waitq 1", "q"]
        {
            let name = bad.split(' ').next().unwrap_or("");
            assert_eq!(errors(bad), [format!("syntax error at '{name}'")], "{bad}");
        }
        assert_eq!(errors("goto nowhere, goto there"), ["no such label 'nowhere'", "no such label 'there'"]);
        assert_eq!(
            errors("goto exit, goto begin, goto end $x, goto stop, goto a, label a, , pause"),
            [""; 0]
        );
    }

    /// A script that begins by waiting does not begin with a step of its own.
    #[test]
    fn a_script_that_waits_first_begins_with_the_wait() {
        let first = |text: &str, last| compile(&lang::conf::split_args(text), last).expect("good")[0].clone();
        assert!(matches!(first("pause 2", End::Normal), Insn::Pause(2)));
        assert!(matches!(first("wait 1s", End::Normal), Insn::Wait(_)));
        assert!(matches!(first("stop", End::Normal), Insn::Initial));
        assert!(matches!(first("", End::Stop), Insn::Pause(1)));
    }
}
