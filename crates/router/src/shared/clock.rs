//! Time as workers see it: real, or simulated.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Where simulated time starts, in seconds since the epoch, as in Click.
const SIMULATION_START_S: i64 = 1_000_000_000;

/// A clock in nanoseconds since the epoch that never runs backwards.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's: the wall clock at the start, advanced by the monotonic one.
    Real {
        /// The origin of the monotonic clock.
        start: Instant,
        /// The wall clock at that moment.
        start_ns: i64,
    },
    /// Stands still until [`Clock::jump`].
    Simulated(Arc<AtomicI64>),
}

impl Clock {
    /// The machine's clock.
    pub fn real() -> Clock {
        let start_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64);
        Clock::Real { start: Instant::now(), start_ns }
    }

    /// A clock that starts at 1,000,000,000 s.
    pub fn simulated() -> Clock {
        Clock::Simulated(Arc::new(AtomicI64::new(SIMULATION_START_S * 1_000_000_000)))
    }

    /// The time.
    #[inline]
    pub fn now_ns(&self) -> i64 {
        match self {
            Clock::Real { start, start_ns } => start_ns + start.elapsed().as_nanos() as i64,
            Clock::Simulated(now) => now.load(Ordering::Relaxed),
        }
    }

    /// Whether time is simulated.
    #[inline]
    pub fn is_simulated(&self) -> bool {
        matches!(self, Clock::Simulated(_))
    }

    /// Advances simulated time, never backwards; does nothing to real time.
    pub fn jump(&self, to_ns: i64) {
        if let Clock::Simulated(now) = self {
            now.fetch_max(to_ns, Ordering::Relaxed);
        }
    }
}
