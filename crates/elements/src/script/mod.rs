//! Scripts, and elements that give information to others.

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[];
