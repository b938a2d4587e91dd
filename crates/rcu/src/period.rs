//! Which grace period, and since when.

/// A grace period that was started: see [`Domain::start`](crate::Domain::start). Later tokens compare greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(u64);

impl Token {
    pub(crate) fn of(epoch: u64) -> Self {
        Self(epoch)
    }

    pub(crate) fn epoch(self) -> u64 {
        self.0
    }
}

/// A grace period and when it began, for the thread that waits for it.
#[derive(Clone, Copy)]
pub(crate) struct Period {
    pub(crate) token: Token,
    pub(crate) since: u64,
}
