//! Accepted for compatibility; no lock is needed around a packet path.
//!
//! ```click
//! PathSpinlock([LOCK])
//! ```
//!
//! Passes packets on from each input to the output of the same number. No lock is needed: data shared between workers
//! is safe to share, and an element with only one instance runs on one worker. It is FastClick's element.
//!
//! Ports: any number of inputs, as many outputs. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `LOCK` (name): ignored.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> PathSpinlock -> Counter -> Discard
//! ```
//!
//! # See also
//! SpinlockAcquire, SpinlockRelease

use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Pull};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("PathSpinlock", create).ports("1-/=").flow("#/#").doc(include_str!("path_spinlock.rs"));

struct PathSpinlock;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut lock = String::new();
    config.args().positional("LOCK", &mut lock).finish()?;
    Ok(Box::new(PathSpinlock))
}

impl Element for PathSpinlock {
    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        cx.emit(port, batch);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        Pull::Ask { input: port, want }
    }
}
