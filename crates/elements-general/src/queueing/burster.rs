//! Pulls packets in bursts and pushes them on.
//!
//! ```click
//! Burster(INTERVAL [, BURST])
//! ```
//!
//! Another name for TimedUnqueue, with a default of 8 packets per burst.
//!
//! Ports: 1 input, 1 output. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `INTERVAL` (time): the time between bursts.
//! - `BURST` (integer, at least 1, default 8): packets per burst.
//!
//! # Example
//! ```click
//! InfiniteSource -> Queue -> Burster(0.1) -> Discard
//! ```
//!
//! # See also
//! TimedUnqueue, RatedUnqueue, Unqueue

use super::timed_unqueue::{self, create_with};
use router::Class;

/// The class.
pub(crate) const CLASS: Class =
    Class { name: "Burster", create: |config| create_with(config, 8), ..timed_unqueue::CLASS }
        .doc(router::manual!("burster.rs"));

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    /// A burst at once, of the one packet that is there by then; full ones while there are packets; then what is left.
    #[test]
    fn takes_a_burst_each_interval() {
        let config = |arguments: &str, wait: f64| {
            format!(
                "InfiniteSource(LIMIT 100) -> Queue -> Burster({arguments}) -> d :: Discard; Script(wait {wait}, stop)"
            )
        };
        for (wait, count) in [(0.4, "1"), (0.7, "41"), (1.2, "81"), (3.2, "100")] {
            assert_eq!(run_and_read(&config("0.5, 40", wait), &["d.count"]), [count], "{wait}");
        }
        assert_eq!(run_and_read(&config("0.5", 0.7), &["d.count"]), ["9"]);
        assert!(errors("Idle -> Burster(1, 0) -> Discard").contains("bad BURST"));
    }
}
