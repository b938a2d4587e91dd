//! Sends packets to an output that depends on the recent rate of bytes.
//!
//! ```click
//! BandwidthMeter(RATE1 [, RATE2, ...])
//! ```
//!
//! Measures the rate of bytes, and sends each packet to the first output whose rate has not been reached: to output 0
//! below RATE1, to output 1 between RATE1 and RATE2, and so on; to the last output at or above the last rate. Rates
//! must be in ascending order.
//!
//! Ports: 1 input, one output more than rates. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `RATE1`, ... (bandwidths): bytes per second, or with a unit such as `Mbps`. Numbers without a unit cause a
//!   warning.
//!
//! # Handlers
//! - `rate` (read): the recent rate, in bytes per second.
//! - `meters` (read): the rates, one per line, in bytes per second.
//!
//! # Example
//! ```click
//! m :: BandwidthMeter(1Mbps);
//! RatedSource(RATE 1000) -> m;
//! m [0] -> Discard;
//! m [1] -> Discard;
//! ```
//!
//! # See also
//! Meter, BandwidthRatedSplitter, Counter

use super::meter;
use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("BandwidthMeter", create)
    .ports("1/2-")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(router::manual!("bandwidth_meter.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    meter::create_with(config, |packet| packet.len() as u64)
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// The same packets a second, once small and once large.
    #[test]
    fn bytes_count() {
        for (length, output) in [(50, "a.count"), (500, "b.count")] {
            let config = format!(
                "RatedSource(RATE 1000, LENGTH {length}) -> m :: BandwidthMeter(100000); m[0] -> a :: Discard;
                 m[1] -> b :: Discard; Script(wait 1, write a.reset_counts, write b.reset_counts, wait 1, stop)"
            );
            let count: u32 = run_and_read(&config, &[output])[0].parse().unwrap_or(0);
            assert!(count > 900, "{length}: {count}");
        }
    }
}
