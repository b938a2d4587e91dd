//! Sends packets to one fixed output.
//!
//! ```click
//! StaticSwitch(OUTPUT)
//! ```
//!
//! All packets leave by output OUTPUT. They are dropped if it is negative or does not exist.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `OUTPUT` (integer): the output, or -1.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> s :: StaticSwitch(1);
//! s [0] -> Print(never) -> Discard;
//! s [1] -> Discard;
//! ```
//!
//! # See also
//! Switch, StaticPullSwitch

use super::switch::OFF;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Decision, Element, Look, Then};

/// The class.
pub(crate) const CLASS: Class = Class::new("StaticSwitch", create)
    .ports("1/-")
    .processing("h/h")
    .doc(router::manual!("static_switch.rs"));

struct StaticSwitch {
    output: Option<usize>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut output = 0i32;
    config.args().required("OUTPUT", &mut output).finish()?;
    let output = usize::try_from(output).ok().filter(|&output| output < config.outputs());
    Ok(Box::new(StaticSwitch { output }))
}

impl Element for StaticSwitch {
    fn explain(&self, _look: &Look<'_>, _port: usize, _packet: &mut Packet) -> Option<Decision> {
        Some(Decision::new(self.output.map_or(Then::Drop(OFF), Then::Output), ""))
    }

    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        match self.output {
            Some(output) => cx.emit(output, batch),
            None => cx.drop_batch(batch, OFF),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    /// An output that does not exist swallows, as a negative one does.
    #[test]
    fn one_way() {
        let config = |output: i32| {
            let config = format!(
                "InfiniteSource(LIMIT 9, STOP true) -> s :: StaticSwitch({output});
                 s[0] -> a :: Discard; s[1] -> b :: Discard"
            );
            run_and_read(&config, &["a.count", "b.count"])
        };
        assert_eq!([config(0), config(1)], [["9", "0"], ["0", "9"]]);
        assert_eq!([config(2), config(-1)], [["0", "0"], ["0", "0"]]);
        assert!(errors("Idle -> StaticSwitch -> Discard").contains("OUTPUT: required argument missing"));
    }
}
