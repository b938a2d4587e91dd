//! General elements: sources and sinks, what inspects or marks any packet, switches, queues, schedulers, scripts.
//!
//! Nothing here knows a protocol beyond what a test packet needs.
//!
//! One element is one file: its manual first, its tests last.

#![forbid(unsafe_code)]

mod aliases;
pub mod basic;
pub mod queueing;
pub mod scheduling;
pub mod script;
pub mod sink;
pub mod source;
pub mod switching;
#[cfg(test)]
mod testing;

use router::Class;
use std::sync::LazyLock;

/// The classes, by family.
pub static FAMILIES: &[&[&Class]] = &[
    basic::CLASSES,
    queueing::CLASSES,
    scheduling::CLASSES,
    script::CLASSES,
    sink::CLASSES,
    source::CLASSES,
    switching::CLASSES,
];

/// The classes by their other names.
pub static ALIASES: LazyLock<Vec<Class>> = LazyLock::new(|| Class::aliases(FAMILIES, aliases::NAMES));
