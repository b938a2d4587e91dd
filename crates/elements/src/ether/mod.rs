//! Ethernet and address resolution.

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[];
