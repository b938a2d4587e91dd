//! Elements where packets end.

mod discard;
mod idle;
mod timed_sink;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&discard::CLASS, &idle::CLASS, &timed_sink::CLASS];
