//! Queues, and what moves packets between push and pull: schedulers, shapers.

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[];
