//! Counts packets and bytes, and averages their rates over all the time since the first packet.
//!
//! ```click
//! AverageCounter([IGNORE])
//! ```
//!
//! Passes packets on unchanged. Rates are the counts divided by the time between the first and the last packet.
//! FastClick's AverageCounterMP and AverageCounterIMP are other names for it.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; counts and rates add up.
//!
//! # Arguments
//! - `IGNORE` (integer, default 0): seconds after the first packet during which packets are not counted, so that the rates
//!   are not those of the beginning.
//!
//! # Handlers
//! - `count`, `byte_count` (read): packets and bytes counted.
//! - `rate`, `byte_rate` (read): packets and bytes a second.
//! - `reset` (write, button): starts again.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1000000, STOP true) -> c :: AverageCounter -> Discard; DriverManager(wait, print c.rate)
//! ```
//!
//! # See also
//! Counter

use crate::script::sprintf::general;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("AverageCounter", create).doc(include_str!("average_counter.rs"));

/// FastClick's names for it where several threads count.
pub(crate) const MP: Class = Class { name: "AverageCounterMP", ..CLASS };
/// Another one.
pub(crate) const IMP: Class = Class { name: "AverageCounterIMP", ..CLASS };

/// Times are read in milliseconds, as Click does.
const NS_PER_TICK: i64 = 1_000_000;
const TICKS_PER_S: i64 = 1000;

#[derive(Default)]
struct AverageCounter {
    ignore: i64,
    packets: u64,
    bytes: u64,
    first: Option<i64>,
    last: i64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut ignore = 0u32;
    config.args().positional("IGNORE", &mut ignore).finish()?;
    Ok(Box::new(PerPacket(AverageCounter {
        ignore: i64::from(ignore) * TICKS_PER_S,
        ..AverageCounter::default()
    })))
}

impl AverageCounter {
    fn rate(&self, count: u64) -> String {
        let ticks = (self.last - self.first.unwrap_or(self.last) - self.ignore).max(1);
        general(count as f64 * TICKS_PER_S as f64 / ticks as f64)
    }
}

impl Simple for AverageCounter {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.last = cx.now_ns() / NS_PER_TICK;
        if self.last - *self.first.get_or_insert(self.last) >= self.ignore {
            self.packets += 1;
            self.bytes += packet.len() as u64;
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type C = AverageCounter;
        h.read("count", |e: &mut C, _| e.packets).merged(Merge::Sum);
        h.read("byte_count", |e: &mut C, _| e.bytes).merged(Merge::Sum);
        h.read("rate", |e: &mut C, _| e.rate(e.packets)).merged(Merge::Sum);
        h.read("byte_rate", |e: &mut C, _| e.rate(e.bytes)).merged(Merge::Sum);
        h.write("reset", |e: &mut C, _, _| {
            *e = AverageCounter { ignore: e.ignore, ..AverageCounter::default() };
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// The average is over the time between the packets, without what was ignored at the beginning.
    #[test]
    fn averages() {
        let config = "RatedSource(RATE 10, LENGTH 50, LIMIT 41, STOP true) -> c :: AverageCounter -> i :: AverageCounter(2)
                      -> n :: AverageCounter(IGNORE 100) -> Discard";
        let read = run_and_read(config, &["c.count", "c.byte_count", "i.count", "n.count", "n.rate"]);
        assert_eq!(read[..2], ["41", "2050"]);
        assert!(["20", "21"].contains(&read[2].as_str()), "{read:?}");
        assert_eq!(read[3..], ["0", "0"]);
        let rates = run_and_read(config, &["c.rate", "i.rate", "c.byte_rate"]);
        for (rate, expected) in rates.iter().zip([10.0, 10.0, 500.0]) {
            let rate: f64 = rate.parse().expect("a number");
            assert!((rate / expected - 1.0).abs() < 0.1, "{rates:?}");
        }
    }

    #[test]
    fn one_packet_is_a_thousand_a_second() {
        let config = "InfiniteSource(LENGTH 7, LIMIT 1, STOP true) -> c :: AverageCounter -> Discard";
        assert_eq!(run_and_read(config, &["c.rate", "c.byte_rate"]), ["1000", "7000"]);
    }
}
