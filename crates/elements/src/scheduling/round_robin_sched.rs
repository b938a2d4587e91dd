//! Pulls from its inputs in turn.
//!
//! ```click
//! RoundRobinSched
//! ```
//!
//! A pull is answered from the input after the one that had the last packet, or from the first one after it that has
//! any.
//!
//! SimpleRoundRobinSched is another name for it.
//!
//! Ports: any number of inputs, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! s :: RoundRobinSched -> Discard;
//! InfiniteSource -> Queue -> [0] s;
//! InfiniteSource -> Queue -> [1] s;
//! ```
//!
//! # See also
//! PrioSched, RoundRobinSwitch

use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Pull, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("RoundRobinSched", create)
    .ports("-/1")
    .processing("l/l")
    .residency(Residency::Exclusive)
    .doc(include_str!("round_robin_sched.rs"));

/// Another name.
pub(crate) const SIMPLE: Class = Class { name: "SimpleRoundRobinSched", ..CLASS };

struct RoundRobinSched {
    inputs: usize,
    next: usize,
    /// Inputs that had nothing, one after the other, for the packet wanted now.
    barren: usize,
    want: usize,
    got: Option<Batch>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    let inputs = config.inputs();
    Ok(Box::new(RoundRobinSched { inputs, next: 0, barren: 0, want: 0, got: None }))
}

impl Element for RoundRobinSched {
    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        if self.inputs == 0 {
            return Pull::Nothing;
        }
        (self.want, self.barren) = (want, 0);
        self.got = Some(cx.batch());
        Pull::Ask { input: self.next, want: 1 }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        let mut got = self.got.take().unwrap_or_default();
        let after = if port + 1 == self.inputs { 0 } else { port + 1 };
        match batch.pop() {
            Some(packet) => {
                got.push(packet);
                (self.next, self.barren) = (after, 0);
            }
            None => self.barren += 1,
        }
        cx.consume(batch);
        if got.len() == self.want || self.barren == self.inputs {
            return Pull::Give(got);
        }
        self.got = Some(got);
        Pull::Ask { input: after, want: 1 }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    /// Inputs alternate packet by packet, whatever the burst; one that runs dry is passed over.
    #[test]
    fn alternates() {
        let lines = run("s :: RoundRobinSched -> Print(MAXLENGTH 1) -> Discard(BURST 5);
                         InfiniteSource(DATA a, LIMIT 3, BURST 3) -> Queue -> [0] s;
                         InfiniteSource(DATA b, LIMIT 1) -> Queue -> [1] s;
                         InfiniteSource(DATA c, LIMIT 2, BURST 2) -> Queue -> [2] s;
                         RatedSource(LIMIT 4, STOP true) -> Discard;");
        let order: Vec<_> = lines.lines().map(|line| line.rsplit(' ').next().unwrap_or("")).collect();
        assert_eq!(order, ["61", "62", "63", "61", "63", "61"]);
    }
}
