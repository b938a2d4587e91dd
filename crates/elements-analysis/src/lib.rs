//! Measurement: counters, aggregates, and summaries of packets as text.
//!
//! One element is one file: its manual first, its tests last.

#![forbid(unsafe_code)]

mod aliases;
pub mod measure;
pub mod summary;
#[cfg(test)]
mod testing;

use router::Class;
use std::sync::LazyLock;

/// The classes, by family.
pub static FAMILIES: &[&[&Class]] = &[measure::CLASSES, summary::CLASSES];

/// The classes by their other names.
pub static ALIASES: LazyLock<Vec<Class>> = LazyLock::new(|| Class::aliases(FAMILIES, aliases::NAMES));
