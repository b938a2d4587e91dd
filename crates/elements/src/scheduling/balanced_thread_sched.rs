//! Accepted where tasks would be moved between threads.
//!
//! ```click
//! BalancedThreadSched([INTERVAL, KEYWORDS])
//! ```
//!
//! Does nothing: a worker owns its elements, so that tasks do not move while the router runs. Multi-queue sources and
//! StaticThreadSched spread the load.
//!
//! Ports: none. Workers: replicated.
//!
//! # Arguments
//! Ignored.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> Discard;
//! BalancedThreadSched(1000)
//! ```
//!
//! # See also
//! StaticThreadSched

use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("BalancedThreadSched", create).ports("0/0").doc(include_str!("balanced_thread_sched.rs"));

struct BalancedThreadSched;

impl Element for BalancedThreadSched {}

fn create(_: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(BalancedThreadSched))
}
