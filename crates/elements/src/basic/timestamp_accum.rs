//! Adds up how long ago packets' timestamps were set.
//!
//! ```click
//! TimestampAccum
//! ```
//!
//! Passes packets on unchanged.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; counts and times add up.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `count` (read): packets so far.
//! - `time` (read): the sum of their ages, in seconds.
//! - `average_time` (read): their average age, in seconds.
//! - `reset_counts` (write, button): sets all to zero.
//!
//! # Example
//! ```click
//! RatedSource -> SetTimestamp -> Queue -> DelayUnqueue(0.1) -> TimestampAccum -> Discard
//! ```
//!
//! # See also
//! SetTimestamp, SetTimestampDelta, AverageCounter

use crate::script::sprintf::general;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict, metric};

/// The class.
pub(crate) const CLASS: Class = Class::new("TimestampAccum", create).doc(include_str!("timestamp_accum.rs"));

const NS_PER_S: f64 = 1e9;

#[derive(Default)]
struct TimestampAccum {
    count: u64,
    sum_ns: i128,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(TimestampAccum::default())))
}

impl Simple for TimestampAccum {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.count += 1;
        self.sum_ns += i128::from(cx.now_ns()) - i128::from(packet.timestamp_ns());
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type T = TimestampAccum;
        h.read("count", |e: &mut T, _| e.count).merged(Merge::Sum).measures(&metric::PACKETS);
        h.read("time", |e: &mut T, _| general(e.sum_ns as f64 / NS_PER_S)).merged(Merge::Sum);
        h.read("average_time", |e: &mut T, _| general(e.sum_ns as f64 / NS_PER_S / e.count.max(1) as f64));
        h.write("reset_counts", |e: &mut T, _, _| {
            *e = T::default();
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Simulated time starts at a billion seconds.
    #[test]
    fn ages() {
        let config = "InfiniteSource(LIMIT 2) -> SetTimestamp(999999999) -> t :: TimestampAccum -> Discard;
            InfiniteSource(LIMIT 2) -> SetTimestamp(999999998.5) -> t; InfiniteSource(LIMIT 1) -> u :: TimestampAccum -> Discard;
            Script(wait 1, write u.reset_counts, stop)";
        let read =
            run_and_read(config, &["t.count", "t.time", "t.average_time", "u.count", "u.average_time"]);
        assert_eq!(read, ["4", "5", "1.25", "0", "0"]);
        let config = "InfiniteSource(LIMIT 3) -> r :: RoundRobinSwitch; t :: TimestampAccum -> Discard; r[0] -> SetTimestamp(999999999) -> t;
            r[1] -> SetTimestamp(999999999) -> t; r[2] -> SetTimestamp -> t; Script(wait 1, stop)";
        assert_eq!(run_and_read(config, &["t.average_time"]), ["0.666666666667"]);
    }
}
