//! Copies pulled packets to more outputs.
//!
//! ```click
//! PullTee([N])
//! ```
//!
//! Pulls are answered at output 0; a copy of each packet is pushed to every other output first.
//!
//! Ports: 1 input, 1 or more outputs. Processing: pull input and output 0, the others push. Workers: replicated.
//!
//! # Arguments
//! - `N` (integer): the number of outputs; must match the outputs in use.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> Queue -> t :: PullTee -> Discard;
//! t [1] -> Print(copy) -> Discard;
//! ```
//!
//! # See also
//! Tee

use super::tee::{arms, copy};
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Pull};

/// The class.
pub(crate) const CLASS: Class = Class::new("PullTee", create)
    .ports("1/1-")
    .processing("l/lh")
    .copies()
    .doc(router::manual!("pull_tee.rs"));

struct PullTee {
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(PullTee { outputs: arms(config)? }))
}

impl Element for PullTee {
    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        for output in 1..self.outputs {
            let copies = copy(cx, &batch);
            cx.emit(output, copies);
        }
        Pull::Give(batch)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    /// The copy comes before the packet, as an effect of the pull.
    #[test]
    fn copies_first() {
        let lines = run("InfiniteSource(DATA x, LIMIT 1) -> Queue -> t :: PullTee -> Print(a) -> Discard;
                         t[1] -> Print(b) -> Discard; RatedSource(LIMIT 4, STOP true) -> Discard");
        assert_eq!(lines, "b:    1 | 78\na:    1 | 78\n");
    }
}
