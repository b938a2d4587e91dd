//! Sends packets to an output that depends on the recent packet rate.
//!
//! ```click
//! Meter(RATE1 [, RATE2, ...])
//! ```
//!
//! Measures the rate of packets, and sends each to the first output whose rate has not been reached: to output 0
//! below RATE1, to output 1 between RATE1 and RATE2, and so on; to the last output at or above the last rate. Rates
//! must be in ascending order.
//!
//! Ports: 1 input, one output more than rates. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `RATE1`, ... (integers): packets per second. As in Click, bandwidths are accepted too, with their bytes per
//!   second taken as packets per second, and numbers without a unit cause a warning.
//!
//! # Handlers
//! - `rate` (read): the recent rate, in packets per second.
//! - `meters` (read): the rates, one per line.
//!
//! # Example
//! ```click
//! m :: Meter(20000);
//! RatedSource(RATE 1000) -> m;
//! m [0] -> Discard;
//! m [1] -> Discard;
//! ```
//!
//! # See also
//! BandwidthMeter, RatedSplitter, Counter

use elements_shared::rate_average::{RateAverage, unparse};
use packet::Packet;
use router::{
    Bandwidth, Class, Config, ConfigError, Cx, Element, FromArg, Handlers, PerPacket, Residency, Simple,
    Verdict,
};

/// The class.
pub(crate) const CLASS: Class = Class::new("Meter", create)
    .ports("1/2-")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(router::manual!("meter.rs"));

/// Bits of fraction of the measured rate, as in Click.
const SCALE: u32 = 10;
/// The greatest rate, in events a second.
const RATE_MAX: u64 = u32::MAX as u64 >> SCALE;

/// What Meter and BandwidthMeter share: they differ in what a packet counts.
pub(super) struct Metered {
    /// Thresholds in units of the average: events a millisecond.
    thresholds: Vec<u64>,
    rate: RateAverage<SCALE>,
    weight: fn(&Packet) -> u64,
}

/// Reads the rates, which have to ascend. Click takes bandwidths in either class, and warns of numbers without a unit.
fn read_rates(config: &mut Config<'_>) -> Result<Vec<u64>, ConfigError> {
    let words = lang::conf::split_args(config.text());
    let mut rates: Vec<u64> = Vec::new();
    for (i, word) in words.iter().enumerate() {
        let n = i + 1;
        let rate =
            Bandwidth::from_arg(word, config.scope()).map_err(|_| format!("argument {n} syntax error"))?;
        let rate = rate.bytes_per_second;
        if rates.last().is_some_and(|&last| rate <= last) {
            return Err(format!("rate {n} must be > rate {i}").into());
        }
        if rate > 0 && word.ends_with(|last: char| last.is_ascii_digit()) {
            config.warn(format!("no units for bandwidth argument {n}, assuming Bps"));
        }
        rates.push(rate);
    }
    match rates.iter().position(|&rate| rate > RATE_MAX) {
        Some(i) => Err(format!("rate {} too large (max {RATE_MAX})", i + 1).into()),
        None => Ok(rates),
    }
}

/// Makes an element whose arguments are rates of what packets weigh.
pub(super) fn create_with(
    config: &mut Config<'_>,
    weight: fn(&Packet) -> u64,
) -> Result<Box<dyn Element>, ConfigError> {
    let rates = read_rates(config)?;
    if rates.is_empty() {
        return Err("too few arguments to BandwidthMeter(bandwidth, ...)".into());
    }
    let wanted = config.outputs() - 1;
    if rates.len() != wanted {
        return Err(format!("need {wanted} arguments, one less than the number of output ports").into());
    }
    let thresholds = rates.iter().map(|rate| (rate << SCALE) / 1000).collect();
    Ok(Box::new(PerPacket(Metered { thresholds, rate: RateAverage::default(), weight })))
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_with(config, |_| 1)
}

impl Simple for Metered {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.rate.add(cx.now_ns(), (self.weight)(packet));
        let average = self.rate.average();
        Verdict::Output(self.thresholds.iter().take_while(|&&threshold| average >= threshold).count())
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("rate", |e: &mut Metered, cx| e.rate.read(cx.now_ns(), 1));
        h.read("meters", |e: &mut Metered, _| {
            e.thresholds.iter().map(|rate| unparse(rate * 1000, SCALE) + "\n").collect::<String>()
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    /// Below the first rate, between the two, above both.
    #[test]
    fn the_rate_chooses_the_output() {
        for (rate, expected) in
            [(100, [true, false, false]), (1000, [false, true, false]), (9000, [false, false, true])]
        {
            let config = format!(
                "RatedSource(RATE {rate}) -> m :: Meter(500, 4000); m[0] -> a :: Discard; m[1] -> b :: Discard;
                 m[2] -> c :: Discard; Script(wait 1, write a.reset_counts, write b.reset_counts,
                 write c.reset_counts, wait 1, stop)"
            );
            let counts = run_and_read(&config, &["a.count", "b.count", "c.count"]);
            let most: Vec<bool> =
                counts.iter().map(|n| n.parse::<u64>().unwrap_or(0) > rate * 9 / 10).collect();
            assert_eq!(most, expected, "{rate}: {counts:?}");
        }
    }

    #[test]
    fn wrong_rates_are_refused() {
        let with = |arguments: &str| {
            errors(&format!("Idle -> m :: Meter({arguments}); m[0] -> Discard; m[1] -> Discard"))
        };
        assert!(with("").contains("too few arguments to BandwidthMeter(bandwidth, ...)"));
        assert!(with("x").contains("argument 1 syntax error"));
        assert!(with("5, 5").contains("rate 2 must be > rate 1"));
        assert!(with("5, 6").contains("need 1 arguments, one less than the number of output ports"));
        let meters = run_and_read(
            "Idle -> m :: Meter(2000); m[0] -> Discard; m[1] -> Discard; Script(stop)",
            &["m.meters"],
        );
        assert_eq!(meters, ["2000\n"]);
    }
}
