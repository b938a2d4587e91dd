//! Stores packets; those of input 1 are pulled first.
//!
//! ```click
//! MixedQueue([CAPACITY])
//! ```
//!
//! Packets of input 0 are added at the back. Packets of input 1 are added at the front, so that the most recent of
//! them is pulled first. While CAPACITY packets are stored, a packet of input 0 is not accepted, and one of input 1
//! displaces the packet at the back. Packets without room leave by output 1 if it is connected, and are dropped
//! otherwise.
//!
//! Ports: 2 inputs, 1 or 2 outputs. Processing: push inputs, pull output 0, push output 1. Workers: exclusive.
//!
//! # Arguments
//! - `CAPACITY` (integer, default 1000): the maximum number of packets stored.
//!
//! # Handlers
//! Those of Queue.
//!
//! # Example
//! ```click
//! q :: MixedQueue -> Unqueue -> Discard;
//! InfiniteSource -> [0] q;
//! RatedSource -> [1] q;
//! ```
//!
//! # See also
//! Queue, FrontDropQueue

use super::queue::{self, Discipline};
use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("MixedQueue", create)
    .ports("2/1-2")
    .processing("h/lh")
    .residency(Residency::Exclusive)
    .live()
    .kinds(queue::NOTIFYING)
    .holds("packets in the queue")
    .doc(router::manual!("mixed_queue.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    queue::create_as(config, Discipline::Mixed)
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    /// What comes to input 1 is pulled first, last come, and displaces the packet at the back, whatever it is.
    #[test]
    fn first_and_last() {
        let lines = run("q :: MixedQueue(3) -> u :: Unqueue(ACTIVE false) -> Print(kept, 1) -> Discard;
                         InfiniteSource(DATA a, LIMIT 1) -> [0] q; InfiniteSource(DATA b, LIMIT 1) -> [0] q;
                         InfiniteSource(DATA c, LIMIT 1) -> [1] q; InfiniteSource(DATA d, LIMIT 1) -> [1] q;
                         q [1] -> Print(gone, 1) -> Discard;
                         RatedSource(RATE 10, LIMIT 9, STOP true) -> Counter(COUNT_CALL 3 u.active true) -> Discard");
        let seen: Vec<_> = lines.lines().map(|line| (&line[..1], &line[line.len() - 2..])).collect();
        assert_eq!(seen[1..], [("g", "62"), ("k", "64"), ("k", "63"), ("k", "61")], "{lines}");
    }
}
