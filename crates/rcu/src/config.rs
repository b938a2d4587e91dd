//! What may be configured.

use std::time::Duration;

use crate::clock::Clock;

/// How a domain behaves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// How many bytes may wait to be reclaimed. Default 64 MiB.
    pub limit_bytes: usize,
    /// After how long a grace period that is not over counts as stalled. Default one second.
    pub stall_limit: Duration,
    /// Whether the first [`Updater`](crate::Updater) starts a thread that reclaims. Without it, the program calls
    /// [`Domain::reclaim`](crate::Domain::reclaim) or [`Domain::barrier`](crate::Domain::barrier). Default true; models
    /// have no such thread.
    pub background: bool,
    /// How many threads there are at most for callbacks that may block
    /// ([`Updater::call_blocking`](crate::Updater::call_blocking)). Default 2; at least one. They exist only while there is
    /// something to run.
    pub blocking_threads: usize,
    /// Default: the system's monotonic clock.
    pub clock: Clock,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limit_bytes: 64 << 20,
            stall_limit: Duration::from_secs(1),
            background: true,
            blocking_threads: 2,
            clock: Clock::default(),
        }
    }
}

impl Config {
    /// The defaults without a background thread, for tests that decide themselves when to reclaim.
    pub fn manual() -> Self {
        Self { background: false, ..Self::default() }
    }
}
