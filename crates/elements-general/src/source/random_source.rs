//! Generates packets of random bytes.
//!
//! ```click
//! RandomSource(LENGTH [, LIMIT, BURST, ACTIVE, KEYWORDS])
//! ```
//!
//! Works like InfiniteSource, but each packet consists of LENGTH fresh random bytes.
//!
//! Ports: no inputs, 1 output. Processing: agnostic. Workers: replicated; starts on worker 0.
//!
//! # Arguments
//! - `LENGTH` (integer, 0 to 65535): bytes of each packet.
//! - `LIMIT` (integer, default -1): packets to make; negative means no limit.
//! - `BURST` (integer, default 1): packets per scheduling, at most 4,096.
//! - `ACTIVE` (boolean, default true): whether to generate packets.
//! - `STOP` (boolean, default false): whether to stop the driver after LIMIT packets.
//! - `END_CALL` (handler call): called after LIMIT packets, instead of stopping the driver.
//!
//! # Handlers
//! Those of InfiniteSource.
//!
//! # Example
//! ```click
//! RandomSource(64, LIMIT 1000, STOP true) -> Discard
//! ```
//!
//! # See also
//! InfiniteSource, RandomSeed

use router::{Activity, Class};

/// The class.
pub(crate) const CLASS: Class = Class::new("RandomSource", super::infinite_source::create_random)
    .ports("0/1")
    .activity(Activity::Always)
    .live()
    .makes("packets")
    .doc(router::manual!("random_source.rs"));

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run, run_and_read};

    #[test]
    fn packets_differ_and_a_seed_repeats_them() {
        let config =
            |seed| format!("RandomSeed({seed}); RandomSource(32, LIMIT 20, STOP true) -> Print -> Discard");
        let lines = run(&config(7));
        let mut different: Vec<_> = lines.lines().collect();
        different.sort_unstable();
        different.dedup();
        assert_eq!((different.len(), &run(&config(7)), run(&config(8)) == lines), (20, &lines, false));
        let config = "s :: RandomSource(100, LIMIT 9, BURST 2, STOP true) -> d :: Discard";
        assert_eq!(run_and_read(config, &["d.byte_count", "s.count"]), ["900", "9"]);
        assert!(errors("RandomSource(65536) -> Discard").contains("bad length 65536"));
    }
}
