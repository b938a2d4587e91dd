//! Sets packets' timestamps.
//!
//! ```click
//! SetTimestamp([TIMESTAMP, KEYWORDS])
//! ```
//!
//! Sets the timestamp annotation to TIMESTAMP, or to the current time.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `TIMESTAMP` (seconds since the epoch): the time; the current one if it is missing or negative.
//! - `FIRST` (boolean, default false): whether to set the first-timestamp annotation instead.
//! - `PER_BATCH` (boolean): accepted for compatibility with FastClick; all packets of a batch get the same time
//!   anyway.
//!
//! # Handlers
//! None.
//!
//! # Differences from Click
//! The current time is the time at which the worker's turn began.
//!
//! # Example
//! ```click
//! InfiniteSource -> SetTimestamp(0) -> Discard
//! ```
//!
//! # See also
//! Print, AdjustTimestamp, SetTimestampDelta

use elements_shared::instant::Instant;
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Decision, Element, Look, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("SetTimestamp", create).doc(router::manual!("set_timestamp.rs"));

struct SetTimestamp {
    time_ns: Option<i64>,
    first: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut time, mut first, mut delta, mut batch) = (None::<Instant>, false, false, false);
    config
        .args()
        .positional("TIMESTAMP", &mut time)
        .keyword("FIRST", &mut first)
        .keyword("DELTA", &mut delta)
        .keyword("PER_BATCH", &mut batch)
        .finish()?;
    if delta {
        return Err("SetTimestamp(DELTA) is deprecated, use SetTimestampDelta(TYPE FIRST)".into());
    }
    let time_ns = time.map(|time| time.0).filter(|&ns| ns >= 0);
    Ok(Box::new(PerPacket(SetTimestamp { time_ns, first })))
}

impl Simple for SetTimestamp {
    fn explain(&self, _look: &Look<'_>, _packet: &mut Packet) -> Option<Decision> {
        Some(Decision::new(Verdict::Pass, ""))
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let time_ns = self.time_ns.unwrap_or(cx.now_ns());
        if self.first {
            packet.set_anno(Anno::FIRST_TIMESTAMP, time_ns as u64);
        } else {
            packet.set_timestamp_ns(time_ns);
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send_one;
    use packet::Anno;

    #[test]
    fn sets_the_time_given_or_the_present() {
        let stamp = |arguments: &str| {
            let flow = send_one(&format!("Inject -> SetTimestamp({arguments}) -> Collect(0)"), vec![1]);
            (flow.only(0).timestamp_ns(), flow.only(0).anno(Anno::FIRST_TIMESTAMP))
        };
        let start = 1_000_000_000_000_000_000;
        assert_eq!(
            [stamp(""), stamp("12.000000345"), stamp("-1")],
            [(start, 0), (12_000_000_345, 0), (start, 0)]
        );
        assert_eq!(stamp("7.5, FIRST true"), (0, 7_500_000_000));
        let times = [".25", "+2.5", "1e1"].map(|time| stamp(time).0);
        assert_eq!(times, [250_000_000, 2_500_000_000, 10_000_000_000]);
        assert!(errors("Idle -> SetTimestamp(x) -> Discard").contains("TIMESTAMP: "));
    }
}
