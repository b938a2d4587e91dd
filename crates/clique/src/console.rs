//! Standard output and standard error.

use crate::status::Status;
use clap::ValueEnum;
use router::{Form, Level, Record};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::backtrace::{Backtrace, BacktraceStatus};
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::panic::PanicHookInfo;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Characters of a column, at most: one long name does not push the others away.
pub(crate) const COLUMN_MAX: usize = 60;

/// What SIGINT or SIGTERM sets, for a program that then ends in order. A second one ends it at once.
///
/// # Errors
/// That signals cannot be caught.
pub(crate) fn interrupts() -> io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // What is registered first acts first.
        signal_hook::flag::register_conditional_default(signal, interrupted.clone())?;
        signal_hook::flag::register(signal, interrupted.clone())?;
    }
    Ok(interrupted)
}

/// Writes to standard output. A reader that went away is no error: it has seen enough.
///
/// # Errors
/// Why the text could not be written, a full disk for instance.
pub(crate) fn print(text: &str) -> io::Result<()> {
    print_on(text).map(drop)
}

/// Writes a part of an output that goes on until its reader has seen enough; says whether it is still read.
///
/// # Errors
/// Why the text could not be written, a full disk for instance.
pub(crate) fn print_on(text: &str) -> io::Result<bool> {
    print_bytes(&lang::bytes::of_text(text))
}

fn print_bytes(bytes: &[u8]) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        result => result.map(|()| true),
    }
}

/// Whether standard output is a pipe that has no reader any more.
pub(crate) fn is_unread() -> bool {
    let out = io::stdout();
    let mut polled = [PollFd::new(&out, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&now)).is_ok() && polled[0].revents().contains(PollFlags::ERR)
}

/// How messages are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// As lines for people, or with priorities for the journal.
    #[default]
    Text,
    /// As objects, one a line: time, level, element, class, reason, message.
    Json,
}

/// Which messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// What cannot be done.
    Error,
    /// What is odd, too.
    Warning,
    /// All but what arguments ask for to find faults.
    Info,
    /// All.
    Debug,
}

impl From<LogLevel> for Level {
    fn from(level: LogLevel) -> Level {
        match level {
            LogLevel::Error => Level::Error,
            LogLevel::Warning => Level::Warning,
            LogLevel::Info => Level::Info,
            LogLevel::Debug => Level::Debug,
        }
    }
}

/// Has this process write its messages so, and those that matter as much as a level or more.
pub(crate) fn log_as(format: LogFormat, level: LogLevel) {
    router::set_level(level.into());
    router::write_as(match format {
        LogFormat::Json => Form::Json,
        LogFormat::Text if is_journal() => Form::Journal,
        LogFormat::Text if color() => Form::Coloured,
        LogFormat::Text => Form::Timed,
    });
    rcu::Domain::global().on_stall(|stall| say(Level::Warning, &format!("rcu: {stall}")));
    std::panic::set_hook(Box::new(say_panic));
}

/// Says that a thread panics, as the hook does that Rust begins with.
fn say_panic(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let mut text = format!("thread '{}' {panic}", thread.name().unwrap_or("<unnamed>"));
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        text.push_str(&format!("\n{trace}"));
    }
    say(Level::Error, &text);
}

/// Whether standard error leads to the journal, which says so by the device and the inode of its socket (systemd.exec(5)).
fn is_journal() -> bool {
    let metadata = io::stderr().as_fd().try_clone_to_owned().and_then(|stderr| File::from(stderr).metadata());
    let place = metadata.map(|metadata| format!("{}:{}", metadata.dev(), metadata.ino()));
    place.is_ok_and(|place| std::env::var("JOURNAL_STREAM") == Ok(place))
}

/// Whether messages are objects.
pub(crate) fn is_json() -> bool {
    router::form() == Form::Json
}

/// Writes to standard error, as far as there is one.
pub(crate) fn complain(text: &str) {
    say(level_of(text), text);
}

/// How much a text matters that says so itself.
fn level_of(text: &str) -> Level {
    if without_mark(text).len() < text.len() { Level::Warning } else { Level::Error }
}

/// A text without the word that says that it is a warning.
fn without_mark(text: &str) -> &str {
    ["warning: ", "Warning: "].iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text)
}

/// Writes to standard error what is neither an error nor odd.
pub(crate) fn tell(text: &str) {
    say(Level::Info, text);
}

/// Writes to standard error: in the form of messages, if there is one.
pub(crate) fn say(level: Level, text: &str) {
    let said = text.trim_end();
    match router::form() {
        _ if !router::is_written(level) => {}
        Form::Bare => write(text),
        _ if said.is_empty() => {}
        Form::Json => router::print_record(&Record::new(level, said)),
        Form::Timed | Form::Coloured | Form::Journal => {
            router::print_record(&Record::new(level, without_mark(said)));
        }
    }
}

/// Writes to standard error what is wrong with a command line or a configuration: people who have just started the program read it as it is.
pub(crate) fn show(text: &str) {
    match router::form() {
        Form::Timed | Form::Coloured if router::is_written(level_of(text)) => write(text),
        Form::Timed | Form::Coloured => {}
        Form::Bare | Form::Journal | Form::Json => complain(text),
    }
}

fn write(text: &str) {
    let _ = io::stderr().lock().write_all(&lang::bytes::of_text(text));
}

/// Writes a result to a file, or to standard output without a name or with the name `-`.
pub(crate) fn write_result(file: Option<&str>, text: &str) -> Status {
    write_bytes(file, &lang::bytes::of_text(text))
}

/// [`write_result`] of what need not be text.
pub(crate) fn write_bytes(file: Option<&str>, text: &[u8]) -> Status {
    let result = match file {
        None | Some("-") => {
            print_bytes(text).map(drop).map_err(|error| format!("standard output: {}", reason(&error)))
        }
        Some(file) => std::fs::write(file, text).map_err(|error| format!("{file}: {}", reason(&error))),
    };
    match result {
        Ok(()) => Status::Fine,
        Err(message) => {
            show(&format!("{message}\n"));
            Status::Failure
        }
    }
}

/// What an error says, without the number that Rust adds to the operating system's text.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

/// Whether messages may be coloured: standard error is a terminal and `NO_COLOR` is not set.
pub(crate) fn color() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
