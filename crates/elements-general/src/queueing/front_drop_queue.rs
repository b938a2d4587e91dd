//! A FIFO queue that drops the oldest packets when it is full.
//!
//! ```click
//! FrontDropQueue([CAPACITY])
//! ```
//!
//! Like Queue, but accepts every packet: while CAPACITY packets are stored, the one that has waited longest leaves by
//! output 1 if it is connected, and is dropped otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push input, pull output 0, push output 1. Workers: shared.
//!
//! # Arguments
//! - `CAPACITY` (integer, default 1000): the maximum number of packets stored.
//!
//! # Handlers
//! Those of Queue. When `capacity` shrinks, the oldest packets are dropped.
//!
//! # Example
//! ```click
//! InfiniteSource -> FrontDropQueue(64) -> Unqueue -> Discard
//! ```
//!
//! # See also
//! Queue, MixedQueue

use super::queue::{self, Discipline};
use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class = Class {
    name: "FrontDropQueue",
    doc: include_str!("front_drop_queue.rs"),
    create,
    kinds: queue::NOTIFYING,
    ..queue::CLASS
};

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    queue::create_as(config, Discipline::DropFront)
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    /// The newest packets stay, in order; the others leave at output 1 in the order in which they came.
    #[test]
    fn oldest_go() {
        let lines = run("q :: FrontDropQueue(2) -> u :: Unqueue(ACTIVE false) -> Print(kept, 1) -> Discard;
                         InfiniteSource(DATA a, LIMIT 2, BURST 2) -> q; InfiniteSource(DATA b, LIMIT 1) -> q;
                         InfiniteSource(DATA c, LIMIT 1) -> q; q [1] -> Print(gone, 1) -> Discard;
                         RatedSource(RATE 10, LIMIT 9, STOP true) -> Counter(COUNT_CALL 3 u.active true) -> Discard");
        let seen: Vec<_> = lines.lines().map(|line| (&line[..1], &line[line.len() - 2..])).collect();
        assert_eq!(seen[1..], [("g", "61"), ("g", "61"), ("k", "62"), ("k", "63")], "{lines}");
    }
}
