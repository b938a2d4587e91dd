//! Packets from and to files and interfaces in memory.

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[];
