//! Pulls packets at a limited bandwidth and pushes them on.
//!
//! ```click
//! BandwidthRatedUnqueue(RATE [, KEYWORDS])
//! ```
//!
//! Pulls a packet, or up to BURST, each time it is scheduled, but no more than RATE bytes a second, and pushes them
//! out. Time in which there are no packets saves up for a burst, to which 128 KiB are added.
//!
//! Ports: 1 input, 1 output. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `RATE` (bandwidth): bytes a second; units such as `kBps` or `Mbps` are understood.
//! - `BURST_DURATION` (time, default 20 ms): bursts are of as many bytes as the rate makes in this time.
//! - `BURST_BYTES` (integer): bytes that may go at once, instead.
//! - `EXTRA_LENGTH` (boolean, default false): whether the bytes count that the extra length annotation says.
//! - `LINK_RATE` (boolean, default false): whether RATE is in bits a second, and counts the 24 bytes more that a
//!   frame takes on a cable. Units mean what they mean otherwise, so that a plain number is best.
//! - `ACTIVE`, `BURST`: as of RatedUnqueue.
//!
//! # Handlers
//! Those of RatedUnqueue.
//!
//! # Example
//! ```click
//! InfiniteSource -> Queue -> BandwidthRatedUnqueue(10Mbps) -> Discard
//! ```
//!
//! # See also
//! RatedUnqueue, BandwidthShaper, BandwidthRatedSplitter

use super::rated_unqueue;
use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class = Class {
    name: "BandwidthRatedUnqueue",
    doc: include_str!("bandwidth_rated_unqueue.rs"),
    create,
    ..rated_unqueue::CLASS
};

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    rated_unqueue::create_for(config, true)
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Bytes are limited, not packets: after the burst of 20 ms, 1,000 packets of 100 bytes a second.
    #[test]
    fn keeps_the_rate() {
        let config = "InfiniteSource(LIMIT 9000, BURST 9000, LENGTH 100) -> Queue(9000)
                      -> u :: BandwidthRatedUnqueue(800kbps) -> c :: Counter -> Discard;
                      RatedSource(RATE 10, LIMIT 12, STOP true) -> Discard";
        let read = run_and_read(config, &["c.count", "u.rate"]);
        let count: i32 = read[0].parse().expect("a number");
        assert!((1000..=1040).contains(&count), "{read:?}");
    }

    /// Bits are counted, and what frames take on a cable: 125,000 bits a second are 126 packets of 100 bytes, on top of the burst.
    #[test]
    fn rate_of_a_link() {
        let count = |arguments: &str| -> i32 {
            let config = format!(
                "InfiniteSource(LIMIT 9000, BURST 9000, LENGTH 100) -> Queue(9000)
                      -> BandwidthRatedUnqueue(125000, BURST_BYTES 992{arguments}) -> c :: Counter -> Discard;
                      RatedSource(RATE 10, LIMIT 12, STOP true) -> Discard"
            );
            run_and_read(&config, &["c.count"])[0].parse().expect("a number")
        };
        assert!((1240..=1420).contains(&count("")), "{}", count(""));
        assert!((124..=150).contains(&count(", LINK_RATE true, BURST 32")), "{}", count(", LINK_RATE true"));
        assert_eq!(count(", ACTIVE false"), 0);
    }
}
