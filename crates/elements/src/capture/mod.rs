//! Packets from and to files and interfaces in memory.

pub(crate) mod encap;
mod from_dag_dump;
mod from_dump;
mod from_memory;
mod from_nlanr_dump;
mod range;
mod to_dump;
mod to_memory;
mod trace;
mod trace_file;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &from_dag_dump::CLASS,
    &from_dump::CLASS,
    &from_memory::CLASS,
    &from_nlanr_dump::CLASS,
    &to_dump::CLASS,
    &to_memory::CLASS,
];
