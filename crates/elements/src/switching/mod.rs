//! Elements that choose between paths: switches, tees, paint.

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[];
