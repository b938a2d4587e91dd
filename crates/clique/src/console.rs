//! Standard output and standard error.

use crate::status::Status;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, IsTerminal, Write};

/// Characters of a column, at most: one long name does not push the others away.
pub(crate) const COLUMN_MAX: usize = 60;

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

/// Writes to standard error, as far as there is one.
pub(crate) fn complain(text: &str) {
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
            complain(&format!("{message}\n"));
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
