//! Elements where packets end.

mod discard;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&discard::CLASS];
