//! Counts packets and bytes, and their average rates since the first packet.
//!
//! ```click
//! AverageCounter([IGNORE, LINK_FCS, KEYWORDS])
//! ```
//!
//! Passes packets on unchanged. Rates are the counts divided by the time between the first and the last packet.
//! FastClick's AverageCounterMP and AverageCounterIMP are other names for it; LINK_FCS, MAX, THRESHOLD and some of
//! the handlers come from FastClick.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; counts and rates add up.
//!
//! # Arguments
//! - `IGNORE` (number, default 0): seconds after the first packet during which packets are not counted, to exclude
//!   the start from the rates.
//! - `LINK_FCS` (boolean, default true): whether `link_count` and `link_rate` include the frame check sequence, which
//!   packets do not contain.
//! - `MAX` (integer, default 0): seconds after the first packet after which packets are no longer counted; 0 means no
//!   limit.
//! - `THRESHOLD` (integer, default 0): if positive, the element restarts when, after it has counted for a second, the
//!   rate exceeds this for the first time.
//!
//! # Handlers
//! - `count`, `byte_count`, `bit_count` (read): packets, bytes and bits counted.
//! - `rate`, `byte_rate`, `bit_rate` (read): the same per second.
//! - `link_count`, `link_rate` (read): bits on an Ethernet cable, and bits per second: including preamble,
//!   inter-frame gap and, with LINK_FCS, frame check sequence.
//! - `time` (read): the number of seconds used for the rates.
//! - `reset` (write, button): starts again. `reset_now`: the same, but takes the current time as that of the first
//!   packet.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1000000, STOP true) -> c :: AverageCounter -> Discard; DriverManager(wait, print c.rate)
//! ```
//!
//! # See also
//! Counter

use elements_shared::sprintf::general;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("AverageCounter", create).doc(router::manual!("average_counter.rs"));

/// Times are read in milliseconds, as Click does.
const NS_PER_TICK: i64 = 1_000_000;
const TICKS_PER_S: i64 = 1000;

/// Bytes of a frame on a cable that packets have not: preamble and gap, and the check sequence.
const LINK_BYTES: u64 = 20;
const FCS_BYTES: u64 = 4;

#[derive(Clone, Default)]
struct Settings {
    /// Ticks.
    ignore: i64,
    /// Ticks; 0 means no end.
    max: i64,
    /// Bytes that each packet has on a cable in addition.
    link_bytes: u64,
}

#[derive(Default)]
struct AverageCounter {
    settings: Settings,
    /// The rate at which counting begins anew, once.
    threshold: Option<i64>,
    packets: u64,
    bytes: u64,
    first: Option<i64>,
    last: i64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut ignore, mut fcs, mut max, mut threshold) = (0f64, true, 0u32, 0u32);
    config
        .args()
        .positional("IGNORE", &mut ignore)
        .positional("LINK_FCS", &mut fcs)
        .keyword("MAX", &mut max)
        .keyword("THRESHOLD", &mut threshold)
        .finish()?;
    let settings = Settings {
        ignore: (ignore * TICKS_PER_S as f64) as i64,
        max: i64::from(max) * TICKS_PER_S,
        link_bytes: LINK_BYTES + if fcs { FCS_BYTES } else { 0 },
    };
    let threshold = Some(i64::from(threshold)).filter(|&threshold| threshold > 0);
    Ok(Box::new(PerPacket(AverageCounter { settings, threshold, ..AverageCounter::default() })))
}

/// What is counted.
#[derive(Clone, Copy)]
enum Unit {
    Packets,
    Bytes,
    Bits,
    /// Bits on a cable.
    Link,
}

impl AverageCounter {
    fn count(&self, unit: Unit) -> u64 {
        match unit {
            Unit::Packets => self.packets,
            Unit::Bytes => self.bytes,
            Unit::Bits => self.bytes * 8,
            Unit::Link => (self.bytes + self.packets * self.settings.link_bytes) * 8,
        }
    }

    fn ticks(&self) -> i64 {
        (self.last - self.first.unwrap_or(self.last) - self.settings.ignore).max(1)
    }

    fn rate(&self, unit: Unit) -> String {
        general(self.count(unit) as f64 * TICKS_PER_S as f64 / self.ticks() as f64)
    }

    fn reset(&mut self, first: Option<i64>) {
        (self.packets, self.bytes, self.first, self.last) = (0, 0, first, first.unwrap_or(0));
    }

    /// Starts again where the rate has got beyond the threshold.
    #[cold]
    fn watch_threshold(&mut self, cx: &Cx<'_>, threshold: i64, passed: i64) {
        let rate = self.packets as i64 * TICKS_PER_S / passed.max(1);
        if passed > TICKS_PER_S && rate > threshold {
            cx.log(format_args!(
                "{} : starting compute (rate {rate} pps)",
                cx.info().nodes[cx.index()].declaration()
            ));
            self.threshold = None;
            self.reset(None);
        }
    }
}

impl Simple for AverageCounter {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let now = cx.now_ns() / NS_PER_TICK;
        let passed = now - *self.first.get_or_insert(now);
        if self.settings.max > 0 && passed >= self.settings.max {
            return Verdict::Pass;
        }
        self.last = now;
        if passed >= self.settings.ignore {
            self.packets += 1;
            self.bytes += packet.len() as u64;
            if let Some(threshold) = self.threshold {
                self.watch_threshold(cx, threshold, passed);
            }
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type C = AverageCounter;
        for (prefix, unit) in
            [("", Unit::Packets), ("byte_", Unit::Bytes), ("bit_", Unit::Bits), ("link_", Unit::Link)]
        {
            h.read(&format!("{prefix}count"), move |e: &mut C, _| e.count(unit)).merged(Merge::Sum);
            h.read(&format!("{prefix}rate"), move |e: &mut C, _| e.rate(unit)).merged(Merge::Sum);
        }
        h.read("time", |e: &mut C, _| general(e.ticks() as f64 / TICKS_PER_S as f64));
        h.write("reset", |e: &mut C, _, _| {
            e.reset(None);
            Ok(())
        })
        .as_button();
        h.write("reset_now", |e: &mut C, cx, _| {
            e.reset(Some(cx.now_ns() / NS_PER_TICK));
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{run, run_and_read};

    /// The average is over the time between the packets, without what was ignored at the beginning.
    #[test]
    fn the_rate_is_over_the_time_between_packets() {
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
    fn the_element_says_when_it_begins_anew() {
        let said = run(
            "RatedSource(RATE 100, LIMIT 300, STOP true) -> c :: AverageCounter(THRESHOLD 10) -> Discard",
        );
        assert!(said.starts_with("c :: AverageCounter : starting compute (rate 10"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }

    #[test]
    fn one_packet_is_a_thousand_a_second() {
        let config = "InfiniteSource(LENGTH 7, LIMIT 1, STOP true) -> c :: AverageCounter -> Discard";
        assert_eq!(run_and_read(config, &["c.rate", "c.byte_rate"]), ["1000", "7000"]);
    }
}
