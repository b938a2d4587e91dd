//! Sends packets to the output that a handler sets.
//!
//! ```click
//! Switch([OUTPUT])
//! ```
//!
//! All packets leave by output OUTPUT, or are dropped if that is negative.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `OUTPUT` (integer, default 0): the output, or -1.
//!
//! # Handlers
//! - `switch` (read, write): the argument. A nonexistent output counts as -1.
//! - `config` (read): the same.
//!
//! # Example
//! ```click
//! InfiniteSource -> Counter(COUNT_CALL 100 s.switch 1) -> s :: Switch;
//! s [0] -> Discard;
//! s [1] -> Print(after) -> Discard;
//! ```
//!
//! # See also
//! RoundRobinSwitch, PaintSwitch

use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Decision, Element, Handlers, Look, Then};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("Switch", create).ports("1/-").processing("h/h").live().doc(router::manual!("switch.rs"));

/// Why packets are dropped where no output is chosen.
pub(super) const OFF: &str = "switched off";

struct Switch {
    output: i32,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = Switch { output: 0, outputs: config.outputs() };
    config.args().positional("OUTPUT", &mut e.output).finish()?;
    if e.output >= 0 && e.output as usize >= e.outputs {
        return Err(format!("output must be < {}", e.outputs).into());
    }
    Ok(Box::new(e))
}

impl Element for Switch {
    fn explain(&self, _look: &Look<'_>, _port: usize, _packet: &mut Packet) -> Option<Decision> {
        Some(Decision::new(usize::try_from(self.output).map_or(Then::Drop(OFF), Then::Output), ""))
    }

    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        match usize::try_from(self.output) {
            Ok(output) => cx.emit(output, batch),
            Err(_) => cx.drop_batch(batch, OFF),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("switch", |e: &mut Switch, _| e.output);
        h.read("config", |e: &mut Switch, _| e.output);
        h.write("switch", |e: &mut Switch, cx, text| {
            let output: i32 =
                router::value(cx, text).map_err(|_| "Switch output must be integer".to_owned())?;
            e.output = if output >= 0 && output as usize >= e.outputs { -1 } else { output };
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    #[test]
    fn the_packet_that_switches_takes_the_new_output() {
        let config = "InfiniteSource(LIMIT 40, BURST 40, STOP true) -> Counter(COUNT_CALL 11 s.switch 1)
                      -> s :: Switch; s[0] -> a :: Discard; s[1] -> b :: Discard";
        assert_eq!(run_and_read(config, &["a.count", "b.count", "s.config"]), ["10", "30", "1"]);
    }

    #[test]
    fn an_output_that_does_not_exist_means_none() {
        let config = "InfiniteSource(LIMIT 40, BURST 40, STOP true) -> Counter(COUNT_CALL 11 s.switch 7)
                      -> s :: Switch -> a :: Discard";
        assert_eq!(run_and_read(config, &["a.count", "s.switch"]), ["10", "-1"]);
    }

    #[test]
    fn output_exists() {
        assert!(errors("Idle -> Switch(1) -> Discard").contains("output must be < 1"));
    }
}
