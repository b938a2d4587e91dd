//! What users of a neighbour table are told.

use super::state::{Query, State};
use std::fmt::Display;
use wire::MacAddr;

/// Why a change was refused: the table is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Too much memory waits to be reclaimed.
    Backpressure,
    /// There is no room for one more address.
    Full,
    /// More addresses are announced unasked than are learned in a second.
    Hasty,
}

impl Refusal {
    /// The sentence for users.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Refusal::Backpressure => "too many changes wait to be reclaimed; try again",
            Refusal::Full => "the table is full",
            Refusal::Hasty => "too many unasked addresses in a second",
        }
    }
}

/// An element's instance that has packets waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiter {
    /// The element.
    pub(crate) element: usize,
    /// The worker.
    pub(crate) worker: usize,
}

/// What kind of change a [`Change`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Add,
    Change,
    Delete,
}

/// Something that others may want to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change<A> {
    pub(crate) kind: Kind,
    pub(crate) ip: A,
    pub(crate) mac: MacAddr,
    pub(crate) state: State,
}

impl<A: Display> Display for Change<A> {
    /// `add ADDR MAC STATE`, a hyphen in the place of an unknown address.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            Kind::Add => "add",
            Kind::Change => "change",
            Kind::Delete => "delete",
        };
        match self.mac {
            MacAddr::BROADCAST => write!(f, "{kind} {} - {}", self.ip, self.state.name()),
            mac => write!(f, "{kind} {} {mac} {}", self.ip, self.state.name()),
        }
    }
}

/// What follows from what was done to a table.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) struct Effects<A> {
    /// Whom to wake.
    pub(crate) wake: Vec<Waiter>,
    /// What happened to neighbours.
    pub(crate) changes: Vec<Change<A>>,
}

impl<A> Default for Effects<A> {
    fn default() -> Effects<A> {
        Effects { wake: Vec::new(), changes: Vec::new() }
    }
}

/// What became of an address that packets wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resolution {
    /// It is known.
    Known(MacAddr),
    /// It is still asked for.
    Pending,
    /// It did not answer.
    Failed,
    /// No packet asks for it any more.
    Gone,
}

/// What is to be done for a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    /// Where packets go; `None` if they wait.
    pub(crate) mac: Option<MacAddr>,
    /// Whom to ask.
    pub(crate) query: Option<Query>,
    /// When to ask the table again because of a packet that waits, not before.
    pub(crate) again_ns: i64,
    /// When to ask it again even without one.
    pub(crate) alarm_ns: Option<i64>,
}

/// What a look-up finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NeighbourLookup {
    /// Send it there.
    Known(MacAddr),
    /// Send it there, but the table wants to know that it is used ([`Neighbours::want`]).
    Aged(MacAddr),
    /// It is not known.
    Unknown,
}
