//! Blocks a worker, for tests.
//!
//! ```click
//! BlockThread()
//! ```
//!
//! Its handler keeps its worker from doing anything else for a while, to show how a router copes with that. In
//! simulated time, nothing happens.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Handlers
//! - `block` (write): blocks for the given time, in seconds.
//!
//! # Example
//! ```click
//! b :: BlockThread; InfiniteSource -> Queue -> Unqueue -> Discard;
//! Script(wait 1, write b.block 0.2, loop)
//! ```
//!
//! # See also
//! StaticThreadSched

use router::{Class, Config, ConfigError, Element, Handlers, Residency};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("BlockThread", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("block_thread.rs"));

struct BlockThread;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(BlockThread))
}

impl Element for BlockThread {
    fn handlers(&self, h: &mut Handlers) {
        h.write("block", |_: &mut BlockThread, cx, text| {
            let span: Duration = router::value(cx, text)?;
            if !cx.info().clock.is_simulated() {
                std::thread::sleep(span);
            }
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    /// What is no time is refused.
    #[test]
    fn simulated_time_does_not_wait() {
        let said =
            run("b :: BlockThread; Script(write b.block 1000000, print \"on\", write b.block soon, stop)");
        assert!(said.starts_with("on\n") && said.contains("soon"), "{said}");
    }
}
