//! Sends packets to its outputs in turn.
//!
//! ```click
//! RoundRobinSwitch([MAX, KEYWORDS])
//! ```
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! They are FastClick's.
//! - `MAX` (integer, default the number of outputs): how many outputs to use.
//! - `SPLITBATCH` (boolean, default true): whether each packet of a batch goes to its own output; otherwise the whole
//!   batch goes to one.
//!
//! # Handlers
//! - `max` (read, write): the argument.
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

use packet::{BATCH_MAX, Batch};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("RoundRobinSwitch", create)
    .ports("1/1-")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(router::manual!("round_robin_switch.rs"));

struct RoundRobinSwitch {
    next: usize,
    /// Outputs that take part.
    max: usize,
    outputs: usize,
    split: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut max, mut split, outputs) = (-1i32, true, config.outputs());
    config.args().positional("MAX", &mut max).keyword("SPLITBATCH", &mut split).finish()?;
    let max = usize::try_from(max).unwrap_or(outputs).clamp(1, outputs);
    Ok(Box::new(RoundRobinSwitch { next: 0, max, outputs, split }))
}

impl RoundRobinSwitch {
    /// The output whose turn it is.
    #[inline]
    fn turn(&mut self) -> usize {
        let output = self.next;
        self.next = if output + 1 >= self.max { 0 } else { output + 1 };
        output
    }
}

impl Element for RoundRobinSwitch {
    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        if self.split {
            let mut ways = [0; BATCH_MAX];
            ways[..batch.len()].fill_with(|| self.turn() as u16); // ports are numbered with 16 bits
            return cx.spread(batch, &ways);
        }
        let output = self.turn();
        cx.emit(output, batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        type R = RoundRobinSwitch;
        h.read("max", |e: &mut R, _| e.max);
        h.write("max", |e: &mut R, cx, text| {
            let max: u32 = router::value(cx, text)?;
            e.max = (max as usize).clamp(1, e.outputs);
            Ok(())
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
