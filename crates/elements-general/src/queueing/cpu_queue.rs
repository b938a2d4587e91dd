//! Stores packets from several workers until one pulls them.
//!
//! ```click
//! CPUQueue([CAPACITY])
//! ```
//!
//! Since Queue handles several workers anyway, this is a Queue with a different default capacity, and with any number
//! of outputs, which all pull from the same queue. Unlike in Click, CAPACITY is the limit for all workers together,
//! packets leave in the order in which they arrived, and the first one that does not fit is reported.
//!
//! Ports: 1 input, any number of outputs. Processing: push to pull. Workers: shared.
//!
//! # Arguments
//! - `CAPACITY` (integer, default 128): the maximum number of packets stored.
//!
//! # Handlers
//! - `capacity`, `drops` and the others: as for Queue.
//!
//! # Example
//! ```click
//! InfiniteSource -> CPUQueue(256) -> Unqueue -> Discard
//! ```
//!
//! # See also
//! Queue, CPUSwitch

use super::queue::{self, Discipline, SLEEPINESS};
use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class = Class {
    name: "CPUQueue",
    ports: "1/1-",
    processing: "h/l",
    doc: include_str!("cpu_queue.rs"),
    create,
    kinds: &[],
    ..queue::CLASS
};

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    queue::create_sized(config, Discipline::DropNew, SLEEPINESS, false, 128)
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    #[test]
    fn several_pullers() {
        let config = "InfiniteSource(LIMIT 200, BURST 200) -> q :: CPUQueue; q[0] -> Unqueue -> a :: Discard;
                      q[1] -> Unqueue -> b :: Discard; Script(wait 1, stop)";
        let read = run_and_read(config, &["a.count", "b.count", "q.capacity", "q.drops"]);
        assert_eq!(read, ["64", "64", "128", "72"]);
    }
}
