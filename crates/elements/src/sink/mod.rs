//! Elements where packets end.

mod discard;
mod idle;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&discard::CLASS, &idle::CLASS];
