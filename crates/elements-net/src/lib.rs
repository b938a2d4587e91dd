//! Link and network protocols: Ethernet, IPv4, IPv6, and what is directly above them (ICMP, TCP and UDP headers).
//!
//! Headers are checked, made, changed and taken off; where packets go is decided elsewhere.
//!
//! One element is one file: its manual first, its tests last.

#![forbid(unsafe_code)]

mod aliases;
pub mod ether;
pub mod ip;
pub mod ip6;
#[cfg(test)]
mod testing;

use router::Class;
use std::sync::LazyLock;

/// The classes, by family.
pub static FAMILIES: &[&[&Class]] = &[ether::CLASSES, ip::CLASSES, ip6::CLASSES];

/// The classes by their other names.
pub static ALIASES: LazyLock<Vec<Class>> = LazyLock::new(|| Class::aliases(FAMILIES, aliases::NAMES));
