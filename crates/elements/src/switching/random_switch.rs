//! Sends each packet to an output chosen at random.
//!
//! ```click
//! RandomSwitch
//! ```
//!
//! All outputs are equally likely.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> r :: RandomSwitch;
//! r [0] -> Discard;
//! r [1] -> Discard;
//! ```
//!
//! # See also
//! RoundRobinSwitch, HashSwitch, RandomSample

use packet::{BATCH_MAX, Batch};
use router::{Class, Config, ConfigError, Cx, Element};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("RandomSwitch", create).ports("1/1-").processing("h/h").doc(include_str!("random_switch.rs"));

struct RandomSwitch {
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(RandomSwitch { outputs: config.outputs() }))
}

impl Element for RandomSwitch {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let (outputs, mut ways) = (self.outputs as u64, [0; BATCH_MAX]);
        // Not where it lies: each number would wait until the one before is in memory.
        let mut rng = cx.rng().clone();
        // One for each packet, so that it does not matter how packets are divided among batches.
        ways[..batch.len()].fill_with(|| {
            // The upper half of a product is uneven by less than one part in 2^16, for as many outputs as there can be.
            ((u64::from(rng.u32(..)) * outputs) >> 32) as u16
        });
        *cx.rng() = rng;
        cx.spread(batch, &ways);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Each of three outputs gets about a third, the last one included.
    #[test]
    fn fair() {
        let config = "InfiniteSource(LIMIT 3000, STOP true) -> r :: RandomSwitch; r[0] -> a :: Discard;
                      r[1] -> b :: Discard; r[2] -> c :: Discard";
        for count in run_and_read(config, &["a.count", "b.count", "c.count"]) {
            let count: u32 = count.parse().unwrap_or(0);
            assert!((850..1150).contains(&count), "{count}");
        }
    }
}
