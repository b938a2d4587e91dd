//! Accepted for compatibility; no lock is declared.
//!
//! ```click
//! SpinlockInfo(LOCK, ...)
//! ```
//!
//! Does nothing: no lock is needed.
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
//! InfiniteSource -> SpinlockAcquire(l) -> Counter -> SpinlockRelease(l) -> Discard;
//! SpinlockInfo(l)
//! ```
//!
//! # See also
//! SpinlockAcquire, SpinlockRelease

use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SpinlockInfo", create).ports("0/0").doc(include_str!("spinlock_info.rs"));

struct SpinlockInfo;

impl Element for SpinlockInfo {}

fn create(_: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(SpinlockInfo))
}
