//! Streams and text: TCP and HTTP that is followed and edited, strings and regular expressions.
//!
//! One element is one file: its manual first, its tests last.

#![forbid(unsafe_code)]

mod aliases;
pub mod tcp;
#[cfg(test)]
mod testing;
pub mod text;

use router::Class;
use std::sync::LazyLock;

/// The classes, by family.
pub static FAMILIES: &[&[&Class]] = &[tcp::CLASSES, text::CLASSES];

/// The classes by their other names.
pub static ALIASES: LazyLock<Vec<Class>> = LazyLock::new(|| Class::aliases(FAMILIES, aliases::NAMES));
