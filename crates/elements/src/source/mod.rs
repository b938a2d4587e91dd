//! Elements that make packets.

mod infinite_source;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&infinite_source::CLASS];
