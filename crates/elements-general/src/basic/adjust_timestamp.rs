//! Moves packets' timestamps.
//!
//! ```click
//! AdjustTimestamp([TIME, KEYWORDS])
//! ```
//!
//! Adds TIME to each packet's timestamp.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `TIME` (time, default 0): what to add, in seconds unless a unit is given (`3ms`, `1min`); may be negative.
//! - `FIRST` (boolean, default false): whether to change the first-timestamp annotation instead.
//! - `ALL` (boolean, default false): whether to change timestamps that are zero as well.
//!
//! # Handlers
//! - `time` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource -> AdjustTimestamp(-3600) -> Discard
//! ```
//!
//! # See also
//! SetTimestamp, SetTimestampDelta

use elements_shared::instant::Instant;
use elements_shared::label::write_time;
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("AdjustTimestamp", create).doc(router::manual!("adjust_timestamp.rs"));

#[derive(Default)]
struct AdjustTimestamp {
    time: Instant,
    first: bool,
    all: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = AdjustTimestamp::default();
    config
        .args()
        .positional("TIME", &mut e.time)
        .keyword("FIRST", &mut e.first)
        .keyword("ALL", &mut e.all)
        .finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for AdjustTimestamp {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let old = if self.first { packet.anno(Anno::FIRST_TIMESTAMP) as i64 } else { packet.timestamp_ns() };
        if old != 0 || self.all {
            let new = old.saturating_add(self.time.0);
            if self.first {
                packet.set_anno(Anno::FIRST_TIMESTAMP, new as u64);
            } else {
                packet.set_timestamp_ns(new);
            }
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("time", |e: &mut AdjustTimestamp, _| {
            let mut text = String::new();
            write_time(&mut text, e.time.0);
            text
        });
        h.write("time", |e: &mut AdjustTimestamp, cx, text| {
            e.time = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_one;

    /// Zero means no timestamp, and stays unless all are meant.
    #[test]
    fn adds_the_delta_to_the_timestamp() {
        let stamp = |elements: &str| {
            send_one(&format!("Inject -> {elements} -> Collect(0)"), vec![1]).only(0).timestamp_ns()
        };
        assert_eq!(stamp("SetTimestamp(10) -> AdjustTimestamp(-2.5)"), 7_500_000_000);
        assert_eq!(stamp("SetTimestamp(10) -> AdjustTimestamp(-2ms)"), 9_998_000_000);
        assert_eq!([stamp("AdjustTimestamp(3)"), stamp("AdjustTimestamp(3, ALL true)")], [0, 3_000_000_000]);
    }
}
