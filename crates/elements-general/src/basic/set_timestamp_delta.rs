//! Makes packets' timestamps relative.
//!
//! ```click
//! SetTimestampDelta([KEYWORDS])
//! ```
//!
//! Replaces each packet's timestamp, unless it is zero, by its difference from a reference time.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `TYPE` (`RANGE`, `NOW` or `FIRST`, default `RANGE`): the difference from the first packet's timestamp, from the
//!   current time, or from the packet's own first-timestamp annotation.
//!
//! # Handlers
//! - `first` (read): the first packet's timestamp, with TYPE RANGE.
//! - `reset` (write, button): the next packet counts as the first one.
//!
//! # Example
//! ```click
//! RatedSource -> SetTimestampDelta -> Print(TIMESTAMP true) -> Discard
//! ```
//!
//! # See also
//! SetTimestamp, AdjustTimestamp, TimeRange

use elements_shared::label::write_time;
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("SetTimestampDelta", create)
    .residency(Residency::Exclusive)
    .doc(router::manual!("set_timestamp_delta.rs"));

#[derive(Clone, Copy)]
enum Origin {
    Range,
    Now,
    First,
}

struct SetTimestampDelta {
    origin: Origin,
    first_ns: i64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut name = "RANGE".to_owned();
    config.args().keyword("TYPE", &mut name).finish()?;
    let origin = match name.as_str() {
        "RANGE" => Origin::Range,
        "NOW" => Origin::Now,
        "FIRST" => Origin::First,
        _ => return Err("bad TYPE".into()),
    };
    Ok(Box::new(PerPacket(SetTimestampDelta { origin, first_ns: 0 })))
}

impl Simple for SetTimestampDelta {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let time = packet.timestamp_ns();
        if time == 0 {
            return Verdict::Pass;
        }
        packet.set_timestamp_ns(match self.origin {
            Origin::Range => {
                if self.first_ns == 0 {
                    self.first_ns = time;
                }
                time.saturating_sub(self.first_ns)
            }
            Origin::Now => cx.now_ns().saturating_sub(time),
            Origin::First => time.saturating_sub(packet.anno(Anno::FIRST_TIMESTAMP) as i64),
        });
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("first", |e: &mut SetTimestampDelta, _| {
            let mut text = String::new();
            write_time(&mut text, e.first_ns);
            text + "\n"
        });
        h.write("reset", |e: &mut SetTimestampDelta, _, _| {
            e.first_ns = 0;
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send, send_one};
    use packet::Anno;

    #[test]
    fn the_stamp_becomes_the_difference_asked_for() {
        let stamp = |elements: &str| {
            send_one(&format!("Inject -> {elements} -> Collect(0)"), vec![1]).only(0).timestamp_ns()
        };
        assert_eq!(stamp("SetTimestamp(999999999) -> SetTimestampDelta(TYPE NOW)"), 1_000_000_000);
        assert_eq!(
            stamp("SetTimestamp(9) -> SetTimestamp(4, FIRST true) -> SetTimestampDelta(TYPE FIRST)"),
            5_000_000_000
        );
        let colours = [0u64, 1].map(|c| Sent { annotations: vec![(Anno::PAINT, c)], ..Sent::from(vec![1]) });
        let flow = send(
            "Inject -> p :: PaintSwitch; p[0] -> SetTimestamp(5) -> d :: SetTimestampDelta -> Collect(0);
             p[1] -> SetTimestamp(7) -> d",
            colours,
        );
        let stamps: Vec<_> = flow.seen.iter().map(|(_, packet)| packet.timestamp_ns()).collect();
        assert_eq!(stamps, [0, 2_000_000_000]);
        let first = |arguments: &str| {
            let config =
                format!("Inject -> SetTimestamp(5) -> d :: SetTimestampDelta({arguments}) -> Collect(0)");
            send_one(&config, vec![1]).read("d.first")
        };
        assert_eq!(
            [first(""), first("TYPE NOW"), first("TYPE FIRST")],
            ["5.000000\n", "0.000000\n", "0.000000\n"]
        );
    }
}
