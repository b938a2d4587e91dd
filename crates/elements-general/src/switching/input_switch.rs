//! Passes packets from only one of its inputs.
//!
//! ```click
//! InputSwitch([INPUT])
//! ```
//!
//! Packets that arrive at input INPUT pass; those at other inputs are dropped. If INPUT is negative, all are dropped.
//!
//! Ports: any number of inputs, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `INPUT` (integer, default 0): the input. As a keyword it is called `OUTPUT`, as in Click.
//!
//! # Handlers
//! - `switch` (read, write): the argument. A nonexistent input means none.
//!
//! # Example
//! ```click
//! s :: InputSwitch(1) -> Discard;
//! InfiniteSource -> [0] s;
//! RatedSource -> [1] s;
//! ```
//!
//! # See also
//! Switch, PullSwitch

use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("InputSwitch", create)
    .ports("-/1")
    .processing("h/h")
    .live()
    .doc(router::manual!("input_switch.rs"));

/// Why packets at other inputs are dropped.
const OFF: &str = "switched off";

struct InputSwitch {
    input: i32,
    inputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = InputSwitch { input: 0, inputs: config.inputs() };
    config.args().positional("OUTPUT", &mut e.input).finish()?;
    if !e.exists(e.input) {
        return Err(format!("input must be < {}", e.inputs).into());
    }
    Ok(Box::new(e))
}

impl InputSwitch {
    /// Whether there is this input; there is always none.
    fn exists(&self, input: i32) -> bool {
        usize::try_from(input).map_or(true, |input| input < self.inputs)
    }

    #[inline]
    fn decide(&self, port: usize) -> Verdict {
        if usize::try_from(self.input) == Ok(port) { Verdict::Pass } else { Verdict::Drop(OFF) }
    }
}

impl Element for InputSwitch {
    #[inline]
    fn push_one(&mut self, _cx: &mut Cx<'_>, port: usize, _packet: &mut Packet) -> Option<Verdict> {
        Some(self.decide(port))
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        cx.settle(self.decide(port), batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("switch", |e: &mut InputSwitch, _| e.input);
        h.read("config", |e: &mut InputSwitch, _| e.input);
        h.write("switch", |e: &mut InputSwitch, cx, text| {
            let input =
                router::value(cx, text).map_err(|_| "InputSwitch input must be integer".to_owned())?;
            e.input = if e.exists(input) { input } else { -1 };
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    #[test]
    fn only_the_chosen_input_passes() {
        let config = "InfiniteSource(LIMIT 40, BURST 40, STOP true) -> r :: RoundRobinSwitch; r[0] -> [0]s :: InputSwitch;
                      r[1] -> Counter(COUNT_CALL 11 s.switch 1) -> [1]s; r[2] -> Counter(COUNT_CALL 13 s.switch 3) -> [2]s;
                      s -> d :: Discard";
        // Packets 1, 4, ... 31 from input 0, then 32 and 35 from input 1; the 38th says that there is no such input.
        assert_eq!(run_and_read(config, &["s.switch"]), ["-1"]);
        let config = "InfiniteSource(LIMIT 9, STOP true) -> s :: InputSwitch(1) -> d :: Discard;
                      InfiniteSource(LIMIT 5) -> [1]s";
        assert_eq!(run_and_read(config, &["d.count", "s.switch"]), ["5", "1"]);
        assert!(errors("Idle -> InputSwitch(1) -> Discard").contains("input must be < 1"));
    }
}
