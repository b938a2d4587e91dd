//! Elements that know flows: network address translation, flow managers, load balancers, connection tracking, accounting.
//!
//! One element is one file: its manual first, its tests last.

#![forbid(unsafe_code)]

pub mod account;
mod aliases;
pub mod balance;
mod end;
pub mod flow;
mod flow_lines;
#[cfg(test)]
mod flow_lines_tests;
mod metrics;
mod quota;
#[cfg(test)]
mod quota_tests;
pub mod rewrite;
#[cfg(test)]
mod testing;
pub mod track;

use router::Class;
use std::sync::LazyLock;

/// The classes, by family.
pub static FAMILIES: &[&[&Class]] =
    &[account::CLASSES, balance::CLASSES, flow::CLASSES, rewrite::CLASSES, track::CLASSES];

/// The classes by their other names.
pub static ALIASES: LazyLock<Vec<Class>> = LazyLock::new(|| Class::aliases(FAMILIES, aliases::NAMES));
