//! Pulls packets from its inputs in turn and pushes them out of the output with the same number.
//!
//! ```click
//! RoundRobinUnqueue([BURST])
//! ```
//!
//! Each time it is scheduled it pulls up to BURST packets from one input, the next time from the next one. It sleeps
//! while no input has packets.
//!
//! Ports: any number of inputs, as many outputs. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `BURST` (integer, default 1): packets per scheduling; 0 means as many as there are.
//!
//! # Handlers
//! - `packets` (read): packets so far, as a number and the word `packets`.
//!
//! # Example
//! ```click
//! u :: RoundRobinUnqueue(8);
//! InfiniteSource -> Queue -> [0] u [0] -> Discard;
//! InfiniteSource -> Queue -> [1] u [1] -> Discard;
//! ```
//!
//! # See also
//! Unqueue, RoundRobinSched

use super::unqueue2::burst;
use packet::{BATCH_MAX, Batch};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("RoundRobinUnqueue", create)
    .ports("-/=")
    .processing("l/h")
    .flow("#/#")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .doc(router::manual!("round_robin_unqueue.rs"));

struct RoundRobinUnqueue {
    burst: usize,
    inputs: usize,
    next: usize,
    count: u64,
    /// Packets that this scheduling may still pull, those asked for included.
    left: usize,
    asked: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (burst, inputs) = (burst(config)?, config.inputs());
    Ok(Box::new(RoundRobinUnqueue { burst, inputs, next: 0, count: 0, left: 0, asked: 0 }))
}

impl Element for RoundRobinUnqueue {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        (0..self.inputs).for_each(|input| cx.signals().listen(input));
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.inputs == 0 {
            return;
        }
        self.left = self.burst;
        self.asked = self.left.min(cx.vector()).min(BATCH_MAX);
        cx.ask(self.next, self.asked);
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) -> Pull {
        let got = batch.len();
        self.count += got as u64;
        self.left = self.left.saturating_sub(got);
        cx.emit(port, batch);
        if got == self.asked && self.left > 0 {
            self.asked = self.left.min(cx.vector()).min(BATCH_MAX);
            return Pull::Ask { input: port, want: self.asked };
        }
        self.next = if port + 1 < self.inputs { port + 1 } else { 0 };
        if (0..self.inputs).any(|input| cx.signals().may_have(input)) {
            cx.tasks().schedule();
        }
        Pull::Nothing
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("packets", |e: &mut RoundRobinUnqueue, _| format!("{} packets\n", e.count));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run};

    #[test]
    fn in_turn() {
        let config = |burst| {
            format!(
                "u :: RoundRobinUnqueue({burst}); InfiniteSource(DATA a, LIMIT 3, BURST 3) -> Queue -> u -> p :: Print(CONTENTS ASCII) -> Discard;
                 InfiniteSource(DATA b, LIMIT 3, BURST 3) -> Queue -> [1] u [1] -> p; Script(wait 1, print u.packets, stop)"
            )
        };
        let order =
            |burst| -> String { run(&config(burst)).chars().filter(|c| "ab6".contains(*c)).collect() };
        assert_eq!([order(""), order("2"), order("0")], ["bababa6a", "bbaaba6a", "bbbaaa6a"]);
        assert!(
            errors("u :: RoundRobinUnqueue; Idle -> u; u -> Discard; u[1] -> Discard").contains("output")
        );
    }
}
