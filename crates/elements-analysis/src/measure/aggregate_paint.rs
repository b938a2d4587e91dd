//! Sets the aggregate annotation to the paint annotation.
//!
//! ```click
//! AggregatePaint([BITS, KEYWORDS])
//! ```
//!
//! Uses the low BITS bits of the paint annotation.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `BITS` (integer from 1 to 8, default 8): the number of bits to use.
//! - `INCREMENTAL` (boolean, default false): whether to append the bits to the existing aggregate annotation instead
//!   of replacing it.
//!
//! # Example
//! ```click
//! AggregatePaint -> AggregateCounter
//! ```
//!
//! # See also
//! Paint, AggregateIP, AggregateCounter

use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("AggregatePaint", create).doc(router::manual!("aggregate_paint.rs"));

struct AggregatePaint {
    bits: u32,
    incremental: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = AggregatePaint { bits: 8, incremental: false };
    config.args().positional("BITS", &mut e.bits).keyword("INCREMENTAL", &mut e.incremental).finish()?;
    if !(1..=8).contains(&e.bits) {
        return Err("bad number of bits".into());
    }
    Ok(Box::new(PerPacket(e)))
}

impl Simple for AggregatePaint {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let paint = u64::from(packet.paint()) & ((1 << self.bits) - 1);
        let high = if self.incremental { packet.anno(Anno::AGGREGATE) << self.bits } else { 0 };
        packet.set_anno(Anno::AGGREGATE, high | paint);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::{Sent, send_one};
    use packet::Anno;

    #[test]
    fn the_lowest_bits_of_the_paint_become_the_aggregate() {
        let sent =
            |aggregate| Sent { annotations: vec![(Anno::AGGREGATE, aggregate)], ..Sent::from(vec![1]) };
        let after = |config: &str, aggregate| {
            let flow = send_one(&format!("Inject -> Paint(0x35) -> {config} -> Collect(0)"), sent(aggregate));
            flow.only(0).anno(Anno::AGGREGATE)
        };
        assert_eq!(after("AggregatePaint", 9), 0x35);
        assert_eq!(after("AggregatePaint(4)", 9), 5);
        assert_eq!(after("AggregatePaint(4, INCREMENTAL true)", 9), 0x95);
        assert!(errors("Idle -> AggregatePaint(9) -> Discard").contains("bad number of bits"));
    }
}
