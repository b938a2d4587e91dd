//! Where packets go: route tables (L3), neighbours (L2), and tunnels with IPsec's ESP.
//!
//! Routes say through which interface and to which next hop a packet leaves; neighbour tables, one an interface, say which
//! Ethernet address a next hop has. Both are read under RCU, without a lock, while they change.
//!
//! One element is one file: its manual first, its tests last.

#![forbid(unsafe_code)]

mod aliases;
pub mod esp;
pub mod ipsec;
pub mod neighbour;
pub mod route;
#[cfg(test)]
mod testing;

use router::Class;
use std::sync::LazyLock;

/// The classes, by family.
pub static FAMILIES: &[&[&Class]] = &[esp::CLASSES, ipsec::CLASSES, neighbour::CLASSES, route::CLASSES];

/// The classes by their other names.
pub static ALIASES: LazyLock<Vec<Class>> = LazyLock::new(|| Class::aliases(FAMILIES, aliases::NAMES));
