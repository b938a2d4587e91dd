//! Packets from and to the kernel and files: interfaces, TUN and TAP, sockets, captures, interfaces in memory.
//!
//! One element is one file: its manual first, its tests last.

#![forbid(unsafe_code)]

mod aliases;
pub mod capture;
pub mod netdevice;
#[cfg(test)]
mod testing;

use router::Class;
use std::sync::LazyLock;

/// The classes, by family.
pub static FAMILIES: &[&[&Class]] = &[capture::CLASSES, netdevice::CLASSES];

/// The classes by their other names.
pub static ALIASES: LazyLock<Vec<Class>> = LazyLock::new(|| Class::aliases(FAMILIES, aliases::NAMES));
