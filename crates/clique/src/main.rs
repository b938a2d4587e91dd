//! The clique program: [`clique::main_with`] without further classes.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    clique::main_with(&[])
}
