//! Click's programs: its tools, `click-flatten` and the like, and the command line of its user-level driver.
//!
//! The [tools] read a configuration, check or transform it, and print it as Click's tools print theirs. What they do to graphs is in
//! `transform`, apart from command lines, files and messages. The [driver] reads a command line and says what is to be run. The
//! messages, options and exit status are Click's.
//!
//! The crate knows no element class but by the names that Click's own tools know, opens no file and runs no router: the program
//! that it is part of does that for it, as a [`Host`]. Tests of transformations and of command lines are beside the code, `tests/`
//! has the tools in a program that is made up, and those with the classes and files of the real one are in
//! `crates/clique/tests/program/tools/`.

#![forbid(unsafe_code)]

pub mod archive;
mod clp;
pub mod driver;
mod host;
mod input;
mod text;
pub mod tools;
mod transform;
mod wiring;

/// The generators of program text that the language's own tests use.
#[cfg(test)]
#[path = "../../lang/tests/common/mod.rs"]
mod programs;

pub use host::Host;
pub use input::{Input, Parameter, Text, default_clickpath, parameter};
