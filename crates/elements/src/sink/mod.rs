//! Elements where packets end.

mod discard;
mod idle;
mod timed_sink;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] =
    &[&discard::CLASS, &discard::SIMPLE, &discard::BUFFER, &idle::CLASS, &idle::SIMPLE, &timed_sink::CLASS];
