//! Accepted for compatibility; no lock is released.
//!
//! ```click
//! SpinlockRelease(LOCK)
//! ```
//!
//! Passes packets on. No lock is needed: data shared between workers is safe to share, and an element with only one
//! instance runs on one worker.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `LOCK` (name): ignored.
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
//! SpinlockAcquire, SpinlockInfo

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SpinlockRelease", create).doc(include_str!("spinlock_release.rs"));

struct SpinlockRelease;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut lock = String::new();
    config.args().required("LOCK", &mut lock).finish()?;
    Ok(Box::new(PerPacket(SpinlockRelease)))
}

impl Simple for SpinlockRelease {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, _packet: &mut Packet) -> Verdict {
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    /// A configuration written for locks runs, and a lock without a name is still an error.
    #[test]
    fn accepted() {
        let config =
            "InfiniteSource(LIMIT 9, STOP true) -> SpinlockAcquire(l) -> SpinlockRelease(l) -> d :: Discard;
                      SpinlockInfo(l); BalancedThreadSched(1000, false)";
        assert_eq!(run_and_read(config, &["d.count"]), ["9"]);
        assert!(errors("Idle -> SpinlockRelease -> Discard").contains("LOCK: required argument missing"));
    }
}
