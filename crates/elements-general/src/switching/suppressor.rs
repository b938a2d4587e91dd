//! Blocks some of its ports.
//!
//! ```click
//! Suppressor
//! ```
//!
//! Passes packets from each input to the output of the same number, unless that port has been made inactive: then
//! pushed packets are dropped and pulls get nothing.
//!
//! Ports: any number of inputs, as many outputs. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! Ignored.
//!
//! # Handlers
//! - `active0`, `active1`, ... (read, write): whether packets pass that port. Initially true.
//! - `reset` (write, button): makes all ports active.
//!
//! # Example
//! ```click
//! InfiniteSource -> [0] s :: Suppressor [0] -> Discard;
//! InfiniteSource -> [1] s [1] -> Discard;
//! DriverManager(wait 1s, write s.active0 false, wait 1s)
//! ```
//!
//! # See also
//! Switch

use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("Suppressor", create).ports("-/=").flow("#/#").doc(router::manual!("suppressor.rs"));

struct Suppressor {
    active: Vec<bool>,
    /// The ports that are pulled.
    pulled: Vec<usize>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    // Click's takes any arguments.
    let pulled = (0..config.inputs()).filter(|&port| !config.input_is_push(port)).collect();
    Ok(Box::new(Suppressor { active: vec![true; config.inputs()], pulled }))
}

impl Suppressor {
    /// Lets pullers sleep while no pulled port both is active and may have packets.
    fn rest(&self, cx: &mut Cx<'_>) {
        // First false, since a port may lie behind another port of this very element.
        cx.signals().set(false);
        if self.pulled.iter().any(|&port| self.active[port] && cx.signals().may_have(port)) {
            cx.signals().set(true);
        }
    }
}

impl Element for Suppressor {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if !self.pulled.is_empty() {
            cx.signals().provide();
        }
        self.pulled.iter().for_each(|&port| cx.signals().relay(port));
        Ok(())
    }

    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        if self.active[port] { cx.emit(port, batch) } else { cx.drop_batch(batch, "suppressed") }
    }

    fn pull(&mut self, cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        if self.active[port] {
            return Pull::Ask { input: port, want };
        }
        self.rest(cx);
        Pull::Nothing
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        if batch.is_empty() {
            self.rest(cx);
        }
        Pull::Give(batch)
    }

    fn handlers(&self, h: &mut Handlers) {
        for port in 0..self.active.len() {
            let name = format!("active{port}");
            h.read(&name, move |e: &mut Suppressor, _| e.active[port]);
            h.write(&name, move |e: &mut Suppressor, cx, text| {
                e.active[port] = router::value(cx, text).map_err(|_| "type mismatch".to_owned())?;
                cx.signals().set(true); // a puller that finds nothing goes back to sleep
                Ok(())
            });
        }
        h.write("reset", |e: &mut Suppressor, cx, _| {
            e.active.fill(true);
            cx.signals().set(true);
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{run, run_and_read};

    /// Each port is blocked for itself, while pushing and while pulling.
    #[test]
    fn ports_are_independent() {
        let config = "InfiniteSource(LIMIT 20) -> Counter(COUNT_CALL 5 s.active0 false) -> [0] s :: Suppressor [0]
                      -> a :: Discard;
                      InfiniteSource(LIMIT 20) -> [1] s [1] -> Queue -> [2] s [2] -> [3] s [3] -> b :: Discard;
                      RatedSource(LIMIT 4, STOP true) -> Discard";
        let handlers = ["a.count", "b.count", "s.active0", "s.active1"];
        assert_eq!(run_and_read(config, &handlers), ["4", "20", "false", "true"]);
    }

    /// A puller behind a blocked port sleeps, so that simulated time goes on, and wakes when the port opens.
    #[test]
    fn pullers_sleep_while_blocked() {
        let config = "InfiniteSource(LIMIT 10) -> q :: Queue -> s :: Suppressor -> u :: Unqueue -> d :: Discard;
                      Script(write s.active0 false, wait 0.5, print $(d.count), write s.active0 true, wait 0.5,
                             print $(d.count) $(q.length), write s.active0 false, wait 0.1, write s.reset, wait 0.1, stop)";
        let lines = run(config);
        assert!(lines.ends_with("10 0\n"), "{lines}");
    }
}
