//! Where a domain's time comes from.

use std::{fmt, sync::Arc, time::Duration};

/// A source of time: how long ago something in the past was, always the same something. It never runs backwards.
///
/// Time decides nothing about safety. It says when a late reader is asked to hurry and when it is named, how long
/// [`Domain::synchronize_shared`](crate::Domain::synchronize_shared) waits for company, and fills the latency
/// histogram.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl Clock {
    /// A clock that says what `now` says, for simulations and tests.
    pub fn new(now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The time.
    pub(crate) fn now(&self) -> Duration {
        (self.0)()
    }
}

/// The system's monotonic clock. In a model, which must be repeatable, time stands still.
impl Default for Clock {
    fn default() -> Self {
        let start = std::time::Instant::now();
        Self::new(move || if cfg!(loom) { Duration::ZERO } else { start.elapsed() })
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock { .. }")
    }
}
