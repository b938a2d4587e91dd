//! Which tasks carry on packets that the worker holds, as opposed to those that make new ones.

use crate::schedule::signals::Signal;

/// What an element's task does with packets that are on their way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Carries {
    /// It makes packets, or has nothing to do with any.
    Never,
    /// It hands over, or has taken over, what was pushed into it.
    Always,
    /// It pulls while one of these signals says that an element upstream has stored packets.
    While(Vec<u32>),
}

impl Carries {
    /// Whether there are packets for the task now.
    pub(crate) fn any(&self, signals: &[Signal]) -> bool {
        match self {
            Carries::Never => false,
            Carries::Always => true,
            Carries::While(stored) => stored.iter().any(|&signal| signals[signal as usize].active),
        }
    }
}
