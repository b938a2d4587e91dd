//! Passes packets on up to a bandwidth, and splits off the rest.
//!
//! ```click
//! BandwidthRatedSplitter(RATE [, KEYWORDS])
//! ```
//!
//! Up to RATE bytes per second leave by output 0; packets beyond that leave by output 1. The permitted burst is
//! enlarged by 128 KiB.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: exclusive. Without output 1 its packets are dropped.
//!
//! # Arguments
//! - `RATE` (bandwidth): bytes per second; units such as `kBps` or `Mbps` are understood.
//! - `BURST_DURATION` (time, default 20 ms): the burst size, as the time in which RATE produces that many bytes.
//! - `BURST_BYTES` (integer): the burst size in bytes, instead of BURST_DURATION.
//!
//! # Handlers
//! Those of RatedSplitter.
//!
//! # Example
//! ```click
//! InfiniteSource -> BandwidthRatedSplitter(2Mbps) -> Discard
//! ```
//!
//! # See also
//! RatedSplitter, BandwidthRatedUnqueue

use super::rated_splitter;
use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class = Class {
    name: "BandwidthRatedSplitter",
    doc: include_str!("bandwidth_rated_splitter.rs"),
    create,
    ..rated_splitter::CLASS
};

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    rated_splitter::create_for(config, true)
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Of 100,000 bytes a second, 50,000 pass.
    #[test]
    fn bytes_within_the_rate_pass() {
        let config = "RatedSource(RATE 1000, LENGTH 100, LIMIT 2001, STOP true)
                      -> s :: BandwidthRatedSplitter(50kBps, BURST_BYTES 1) -> a :: Counter -> Discard";
        let read = run_and_read(config, &["a.count"]);
        let count: i32 = read[0].parse().expect("a number");
        assert!((990..=1010).contains(&count), "{read:?}");
    }
}
