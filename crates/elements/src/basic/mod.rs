//! Elements that inspect or mark any packet.

mod counter;
mod ip_print;
mod ip_text;
mod null;
pub(crate) mod paint;
mod print;
mod pull_null;
mod push_null;
mod rate_average;
mod strip;
mod unstrip;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &counter::CLASS,
    &ip_print::CLASS,
    &null::CLASS,
    &paint::CLASS,
    &print::CLASS,
    &pull_null::CLASS,
    &push_null::CLASS,
    &strip::CLASS,
    &unstrip::CLASS,
];
