//! Accepted for compatibility; tasks do not move between threads.
//!
//! ```click
//! BalancedThreadSched([INTERVAL, INCREASING])
//! ```
//!
//! Does nothing: each worker owns its elements, so tasks do not move while the router runs. Use multi-queue sources
//! and StaticThreadSched to spread the load.
//!
//! Ports: none. Workers: replicated.
//!
//! # Arguments
//! - `INTERVAL` (integer): milliseconds between rebalancing steps. Ignored.
//! - `INCREASING` (boolean): whether the cheapest tasks are moved first. Ignored.
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
    Class::new("BalancedThreadSched", create).ports("0/0").doc(router::manual!("balanced_thread_sched.rs"));

struct BalancedThreadSched;

impl Element for BalancedThreadSched {}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut interval, mut increasing) = (1000i32, true);
    config.args().positional("INTERVAL", &mut interval).positional("INCREASING", &mut increasing).finish()?;
    Ok(Box::new(BalancedThreadSched))
}
