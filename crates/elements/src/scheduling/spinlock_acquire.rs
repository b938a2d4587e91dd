//! Accepted for compatibility; no lock is acquired.
//!
//! ```click
//! SpinlockAcquire(LOCK)
//! SpinlockPush(LOCK)
//! ```
//!
//! Passes packets on. No lock is needed: data shared between workers is safe to share, and an element with only one
//! instance runs on one worker. SpinlockPush, with which Click holds the lock while pushing packets downstream, does
//! the same for pushed packets.
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
//! SpinlockRelease, SpinlockInfo

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SpinlockAcquire", create).doc(include_str!("spinlock_acquire.rs"));

/// For pushed packets.
pub(crate) const PUSH: Class = Class { name: "SpinlockPush", ..CLASS }.processing("h/h");

struct SpinlockAcquire;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut lock = String::new();
    config.args().required("LOCK", &mut lock).finish()?;
    Ok(Box::new(PerPacket(SpinlockAcquire)))
}

impl Simple for SpinlockAcquire {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, _packet: &mut Packet) -> Verdict {
        Verdict::Pass
    }
}
