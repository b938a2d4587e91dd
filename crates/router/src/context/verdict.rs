//! What an element decides about a packet.

use crate::shared::decision::Then;

/// What a [`crate::Simple`] element decides about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Out of output 0: the common case.
    Pass,
    /// Out of this output.
    Output(usize),
    /// Drop it, counted under this reason.
    Drop(&'static str),
}

impl From<Verdict> for Then {
    fn from(verdict: Verdict) -> Then {
        match verdict {
            Verdict::Pass => Then::Output(0),
            Verdict::Output(output) => Then::Output(output),
            Verdict::Drop(reason) => Then::Drop(reason),
        }
    }
}
