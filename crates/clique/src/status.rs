//! How the program ends.

use std::process::ExitCode;

/// The exit status. Its values are part of the command line's contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// All went well.
    Fine = 0,
    /// The configuration cannot be read, or is wrong.
    Configuration = 1,
    /// The command line is wrong.
    Usage = 2,
    /// Something failed while or after the router ran.
    Failure = 3,
    /// A worker panicked: a fault of the program.
    Fault = 4,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(status as u8)
    }
}
