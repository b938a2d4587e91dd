//! Route lookup.

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[];
