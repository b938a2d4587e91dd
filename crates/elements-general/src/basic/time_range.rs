//! Records the earliest and the latest timestamp.
//!
//! ```click
//! TimeRange([KEYWORDS])
//! ```
//!
//! Passes packets on unchanged.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `SIMPLE` (boolean, default false): whether to assume that packets are in order, so that the last one's timestamp
//!   is the latest.
//!
//! # Handlers
//! - `first`, `last` (read): the timestamps.
//! - `range` (read): both, separated by a space.
//! - `interval` (read): the time between them.
//! - `reset` (write, button): clears them.
//!
//! # Example
//! ```click
//! RatedSource -> TimeRange -> Discard
//! ```
//!
//! # See also
//! SetTimestamp, SetTimestampDelta

use elements_shared::label::write_time;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("TimeRange", create).residency(Residency::Exclusive).doc(router::manual!("time_range.rs"));

#[derive(Default)]
struct TimeRange {
    simple: bool,
    first_ns: i64,
    last_ns: i64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = TimeRange::default();
    config.args().keyword("SIMPLE", &mut e.simple).finish()?;
    Ok(Box::new(PerPacket(e)))
}

fn shown(time_ns: i64) -> String {
    let mut text = String::new();
    write_time(&mut text, time_ns);
    text
}

impl Simple for TimeRange {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let time = packet.timestamp_ns();
        if self.first_ns == 0 {
            (self.first_ns, self.last_ns) = (time, time);
        } else if self.simple {
            self.last_ns = time;
        } else {
            (self.first_ns, self.last_ns) = (self.first_ns.min(time), self.last_ns.max(time));
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type T = TimeRange;
        h.read("first", |e: &mut T, _| shown(e.first_ns));
        h.read("last", |e: &mut T, _| shown(e.last_ns));
        h.read("range", |e: &mut T, _| format!("{} {}", shown(e.first_ns), shown(e.last_ns)));
        h.read("interval", |e: &mut T, _| shown(e.last_ns.saturating_sub(e.first_ns)));
        h.write("reset", |e: &mut T, _, _| {
            (e.first_ns, e.last_ns) = (0, 0);
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Out of order, the extremes count; the simple form believes the last packet.
    #[test]
    fn keeps_the_first_and_the_last_time() {
        let config = "InfiniteSource(LIMIT 3, BURST 3, STOP true) -> r :: RoundRobinSwitch; r[0] -> SetTimestamp(5) -> t :: TimeRange;
                      r[1] -> SetTimestamp(9.5) -> t; r[2] -> SetTimestamp(3) -> t -> s :: TimeRange(SIMPLE true) -> Discard";
        let handlers = ["t.range", "t.interval", "s.first", "s.last"];
        assert_eq!(
            run_and_read(config, &handlers),
            ["3.000000 9.500000", "6.500000", "5.000000", "3.000000"]
        );
    }
}
