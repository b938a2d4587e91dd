//! Stores the time in packets, for CycleCountAccum.
//!
//! ```click
//! SetCycleCount
//! ```
//!
//! Sets the packet's performance counter annotation to the time, in nanoseconds, which stand for processor cycles
//! here. Unlike for timestamps, the clock is read for each packet.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1000) -> SetCycleCount -> CheckIPHeader(14) -> c :: CycleCountAccum -> Discard
//! ```
//!
//! # See also
//! CycleCountAccum, SetTimestamp, WorkPackage

use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::sync::LazyLock;
use std::time::Instant;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetCycleCount", create).doc(router::manual!("set_cycle_count.rs"));

/// When time begins.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Nanoseconds; never 0, which says that a packet has none.
#[inline]
pub(super) fn now_ns() -> u64 {
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX).max(1)
}

struct SetCycleCount;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    LazyLock::force(&START);
    Ok(Box::new(PerPacket(SetCycleCount)))
}

impl Simple for SetCycleCount {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        packet.set_anno(Anno::PERFCTR, now_ns());
        Verdict::Pass
    }
}
