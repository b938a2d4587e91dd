//! Drops packets at random to keep queues near a target length.
//!
//! ```click
//! AdaptiveRED(TARGET, MAX_P [, KEYWORDS])
//! ```
//!
//! Does what RED does, with thresholds at 0.5 and 1.5 times TARGET, and adapts its maximum drop probability. Twice a
//! second it checks the average queue length: while that is in the lower half between the thresholds, the maximum
//! probability decreases by a tenth, down to 0.01; while it is in the upper half, it grows, up to 0.5 (Floyd, Gummadi
//! and Shenker, 2001).
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: exclusive.
//!
//! # Arguments
//! - `TARGET` (integer; less than 10 means 10): the desired queue length.
//! - `MAX_P` (number from 0 to 1): the initial maximum drop probability.
//! - `QUEUES` (names of queues separated by spaces): the queues to watch, instead of the nearest.
//! - `STABILITY` (integer from 0 to 16, default 4): how slowly the average follows the queue length.
//!
//! # Handlers
//! Those of RED.
//!
//! # Example
//! ```click
//! RatedSource(RATE 1000) -> AdaptiveRED(20, 0.02) -> Queue(200) -> RatedUnqueue(900) -> Discard
//! ```
//!
//! # See also
//! RED, CoDel

use super::red::{self, Probability, Settings, make};
use router::{Class, Config, ConfigError, Element, Raw};

/// The class.
pub(crate) const CLASS: Class = Class {
    name: "AdaptiveRED",
    create,
    kinds: &["RED"],
    doc: include_str!("adaptive_red.rs"),
    ..red::CLASS
};

const LEAST_TARGET: u32 = 10;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut target, mut max_p, mut stability, mut queues) =
        (0u32, Probability::default(), 4, Raw::default());
    config
        .args()
        .required("TARGET", &mut target)
        .required("MAX_P", &mut max_p)
        .keyword("QUEUES", &mut queues)
        .keyword("STABILITY", &mut stability)
        .finish()?;
    let target = target.max(LEAST_TARGET);
    let (min, max) = (target / 2, target.saturating_add(target / 2));
    make(config, Settings { min, max, max_p, stability, gentle: true, queues: queues.0, adaptive: true })
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};
    use elements_testing::run_to_end;

    /// With `load` packets a second for a link of 1,000, after some seconds.
    fn after(load: u32, max_p: &str) -> (f64, u32) {
        let config = format!(
            "RatedSource(RATE {load}) -> r :: AdaptiveRED(40, {max_p}) -> q :: Queue(500) -> RatedUnqueue(1000) -> Discard;
             Script(wait 20, stop)"
        );
        let read = run_and_read_once(&config);
        (read[0].parse().expect("a probability"), read[1].parse().expect("a length"))
    }

    fn run_and_read_once(config: &str) -> Vec<String> {
        let mut router = crate::testing::build(config, 1, 1).unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut router);
        ["r.max_p", "q.length"]
            .map(|path| router.call(router::Call::read(path, "")).unwrap_or_default())
            .to_vec()
    }

    /// The probability falls while queues are short and grows while they are long, so that the length comes near the target.
    #[test]
    fn the_probability_brings_the_length_near_the_target() {
        let (short, empty) = after(900, "0.3");
        assert!(short < 0.01 && empty < 5, "{short} {empty}");
        let (long, length) = after(1150, "0.02");
        assert!(long > 0.05 && (20..60).contains(&length), "{long} {length}");
    }

    #[test]
    fn thresholds_follow_from_the_target() {
        let config =
            "InfiniteSource(LIMIT 1, STOP true) -> r :: AdaptiveRED(TARGET 3, MAX_P 0.5) -> Queue -> Idle";
        assert_eq!(run_and_read(config, &["r.min_thresh", "r.max_thresh"]), ["5", "15"]);
        assert!(
            errors("Idle -> AdaptiveRED(60000, 0.5) -> Queue -> Discard")
                .contains("MAX_THRESH must be <= 65535")
        );
    }
}
