//! Elements that inspect or mark any packet.

mod counter;
pub(crate) mod fraction;
mod ip_print;
mod ip_text;
mod null;
pub(crate) mod paint;
mod print;
mod pull_null;
mod push_null;
pub(crate) mod rate_average;
mod strip;
mod unstrip;

use router::{Class, Verdict};

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

/// What becomes of a packet that does not pass: it leaves at output 1, if there is one.
#[inline]
pub(crate) fn reject(second_output: bool, reason: &'static str) -> Verdict {
    if second_output { Verdict::Output(1) } else { Verdict::Drop(reason) }
}
