//! Pulls packets at a limited bandwidth and pushes them on.
//!
//! ```click
//! BandwidthRatedUnqueue(RATE [, KEYWORDS])
//! ```
//!
//! Each time it is scheduled, pulls a packet, or up to BURST, and pushes them on, but no more than RATE bytes per
//! second. While there are no packets, it accumulates credit for a burst, which is enlarged by 128 KiB.
//!
//! Ports: 1 input, 1 output. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `RATE` (bandwidth): bytes per second; units such as `kBps` or `Mbps` are understood.
//! - `BURST_DURATION` (time, default 20 ms): the burst size, as the time in which RATE produces that many bytes.
//! - `BURST_BYTES` (integer): the burst size in bytes, instead of BURST_DURATION.
//! - `EXTRA_LENGTH` (boolean, default false): whether to count the bytes in the extra-length annotation too.
//! - `LINK_RATE` (boolean, default false): whether RATE is in bits per second on the wire, which counts 24 more bytes
//!   for each frame. Units keep their usual meaning, so it is best to give a plain number.
//! - `ACTIVE`, `BURST`: as for RatedUnqueue.
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
