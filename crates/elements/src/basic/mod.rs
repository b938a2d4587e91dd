//! Elements that look at packets, count, print, copy or cut them.

mod counter;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&counter::CLASS];
