//! Accepted where the load of threads would be printed.
//!
//! ```click
//! ThreadMonitor([INTERVAL, THRESH])
//! ```
//!
//! Does nothing: tasks' cycles are not counted. The handlers `runs` and `workers` of elements tell which tasks run where, and
//! how often.
//!
//! Ports: none. Workers: replicated.
//!
//! # Arguments
//! Ignored.
//!
//! # Example
//! ```click
//! InfiniteSource -> Discard;
//! ThreadMonitor(1000)
//! ```
//!
//! # See also
//! StaticThreadSched

use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("ThreadMonitor", create).ports("0/0").doc(include_str!("thread_monitor.rs"));

struct ThreadMonitor;

impl Element for ThreadMonitor {}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.warn("tasks' cycles are not counted; read the 'runs' handlers of elements");
    Ok(Box::new(ThreadMonitor))
}

#[cfg(test)]
mod tests {
    use crate::testing::build;

    #[test]
    fn accepted() {
        assert!(build("ThreadMonitor(1000, 5)", 2, 32).is_ok());
    }
}
