//! What all threads may see of a reader.

use std::{
    panic::Location,
    sync::{Mutex as StdMutex, PoisonError, atomic as unordered},
};

use crate::sync::AtomicU64;

/// What a slot says while its reader holds up no grace period. Real epochs start at 1.
pub(crate) const OFFLINE: u64 = 0;

/// What all threads may see of one reader.
#[derive(Default)]
pub(crate) struct Slot {
    /// The newest epoch in which the reader announced a quiescent state, or [`OFFLINE`]. Written by the
    /// reader only.
    pub(crate) seen: AtomicU64,
    /// A waiter or the reclaimer would like a quiescent state soon. Advice: it orders nothing.
    pub(crate) asked: unordered::AtomicBool,
    /// The epoch in which the reader was last reported as stalled, so that it is reported once.
    pub(crate) reported: unordered::AtomicU64,
    /// The thread of a guard, which never leaves it, to recognise a thread that waits for itself. 0 for a reader, which may be
    /// anywhere.
    pub(crate) owner: unordered::AtomicU64,
    /// For people.
    pub(crate) name: StdMutex<Name>,
}

/// What a reader is called: a given name, or where in the source its guard was made.
#[derive(Clone)]
pub(crate) enum Name {
    Given(Box<str>),
    At(&'static Location<'static>),
}

impl Default for Name {
    fn default() -> Self {
        Self::Given(Box::default())
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Given(name) => f.write_str(name),
            Self::At(place) => write!(f, "guard at {place}"),
        }
    }
}

impl Slot {
    /// The reader's name, for a report.
    pub(crate) fn name(&self) -> String {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).to_string()
    }
}
