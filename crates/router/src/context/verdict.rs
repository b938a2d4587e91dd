//! What an element decides about a packet.

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
