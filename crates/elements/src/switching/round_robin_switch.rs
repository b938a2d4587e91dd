//! Sends packets to its outputs in turn.
//!
//! ```click
//! RoundRobinSwitch
//! ```
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> r :: RoundRobinSwitch;
//! r [0] -> Discard;
//! r [1] -> Discard;
//! ```
//!
//! # See also
//! Switch, RoundRobinSched

use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("RoundRobinSwitch", create)
    .ports("1/1-")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(include_str!("round_robin_switch.rs"));

struct RoundRobinSwitch {
    next: usize,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(RoundRobinSwitch { next: 0, outputs: config.outputs() }))
}

impl Element for RoundRobinSwitch {
    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        cx.spread(batch, |_, _| {
            let output = self.next;
            self.next = if output + 1 == self.outputs { 0 } else { output + 1 };
            output
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// The turn goes on where the last batch ended.
    #[test]
    fn takes_turns() {
        let config = "InfiniteSource(LIMIT 41, BURST 5, STOP true) -> r :: RoundRobinSwitch;
                      r[0] -> a :: Discard; r[1] -> b :: Discard; r[2] -> c :: Discard";
        assert_eq!(run_and_read(config, &["a.count", "b.count", "c.count"]), ["14", "14", "13"]);
    }
}
