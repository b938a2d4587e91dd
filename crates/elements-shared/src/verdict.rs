//! What becomes of packets that an element has no use for.

use router::Verdict;

/// What becomes of a packet that fails: it leaves at output 1 where that is in use, and is dropped otherwise.
#[inline]
pub fn fail(outputs: usize, reason: &'static str) -> Verdict {
    reject(outputs > 1, reason)
}

/// What becomes of a packet that does not pass: it leaves at output 1, if there is one, and is dropped otherwise.
#[inline]
pub fn reject(second_output: bool, reason: &'static str) -> Verdict {
    if second_output { Verdict::Output(1) } else { Verdict::Drop(reason) }
}
