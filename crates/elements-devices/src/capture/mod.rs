//! Packets from and to files and interfaces in memory.

mod from_dump;
mod from_memory;
mod range;
mod to_dump;
mod to_memory;
mod trace;
mod trace_file;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&from_dump::CLASS, &from_memory::CLASS, &to_dump::CLASS, &to_memory::CLASS];
