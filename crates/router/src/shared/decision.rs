//! What an element says that it would do.

/// What becomes of a packet in an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Then {
    /// It leaves at this output.
    Output(usize),
    /// Copies leave at these outputs.
    Copies(Vec<usize>),
    /// It is dropped, for this reason.
    Drop(&'static str),
    /// It goes no further for now: it waits, or it has arrived.
    Stays,
}

/// What an element would do with a packet, and what decides that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The rule, route, neighbour or flow that decides, in a few words; empty if there is nothing to say.
    pub because: String,
    /// What becomes of the packet.
    pub then: Then,
}

impl Decision {
    /// One with these words.
    pub fn new(then: impl Into<Then>, because: impl Into<String>) -> Decision {
        Decision { because: because.into(), then: then.into() }
    }
}
