//! Pulls from the input that a handler sets.
//!
//! ```click
//! PullSwitch([INPUT])
//! ```
//!
//! Each pull is answered from input INPUT, or gets nothing if that is negative. Pullers sleep while that input has no
//! packets.
//!
//! SimplePullSwitch is another name for it.
//!
//! Ports: any number of inputs, 1 output. Processing: pull. Workers: replicated.
//!
//! # Arguments
//! - `INPUT` (integer, default 0): the input. A nonexistent one counts as -1.
//!
//! # Handlers
//! - `switch` (read, write): the argument.
//! - `config` (read): the same.
//!
//! # Example
//! ```click
//! s :: PullSwitch -> Discard;
//! InfiniteSource -> Queue -> [0] s;
//! InfiniteSource -> Queue -> [1] s;
//! ```
//!
//! # See also
//! StaticPullSwitch, Switch, PrioSched

use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull};

/// The class.
pub(crate) const CLASS: Class = Class::new("PullSwitch", create)
    .ports("-/1")
    .processing("l/l")
    .live()
    .doc(router::manual!("pull_switch.rs"));

pub(super) struct PullSwitch {
    input: i32,
    inputs: usize,
    /// Whether handlers can change the input.
    settable: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut input = 0;
    config.args().positional("INPUT", &mut input).finish()?;
    Ok(Box::new(PullSwitch::new(input, config.inputs(), true)))
}

impl PullSwitch {
    pub(super) fn new(input: i32, inputs: usize, settable: bool) -> PullSwitch {
        let mut e = PullSwitch { input: -1, inputs, settable };
        e.select(input);
        e
    }

    fn select(&mut self, input: i32) {
        let exists = usize::try_from(input).is_ok_and(|input| input < self.inputs);
        self.input = if exists { input } else { -1 };
    }

    /// Pulls from this input from now on.
    fn switch(&mut self, cx: &mut Cx<'_>, input: i32) {
        self.select(input);
        let active = self.may_have(cx);
        cx.signals().set(active);
    }

    /// Whether the input that counts may have packets.
    fn may_have(&self, cx: &mut Cx<'_>) -> bool {
        usize::try_from(self.input).is_ok_and(|input| cx.signals().may_have(input))
    }
}

impl Element for PullSwitch {
    fn reconfigure(&mut self, cx: &mut Cx<'_>, config: &str) -> Option<Result<(), ConfigError>> {
        let mut input = 0;
        let read = router::arguments(cx, config).positional("INPUT", &mut input).finish();
        Some(read.map(|()| self.switch(cx, input)))
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        (0..self.inputs).for_each(|input| cx.signals().relay(input));
        Ok(())
    }

    #[inline]
    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        match usize::try_from(self.input) {
            Ok(input) => Pull::Ask { input, want },
            Err(_) => {
                cx.signals().set(false);
                Pull::Nothing
            }
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: packet::Batch) -> Pull {
        if batch.is_empty() {
            let active = self.may_have(cx);
            cx.signals().set(active);
        }
        Pull::Give(batch)
    }

    fn handlers(&self, h: &mut Handlers) {
        if !self.settable {
            return;
        }
        h.read("switch", |e: &mut PullSwitch, _| e.input);
        h.read("config", |e: &mut PullSwitch, _| e.input);
        h.write("switch", |e: &mut PullSwitch, cx, text| {
            let input = router::value(cx, text).map_err(|_| "syntax error".to_owned())?;
            e.switch(cx, input);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Switching wakes a puller that slept at the empty input; what is not selected stays.
    #[test]
    fn switches_and_wakes() {
        let config = "s :: PullSwitch(1) -> d :: Discard;
                      InfiniteSource(LIMIT 5, BURST 5) -> Queue -> [0] s; Idle -> Queue -> [1] s;
                      InfiniteSource(LIMIT 7, BURST 7) -> q :: Queue -> [2] s;
                      Script(wait 1, write s.switch 0, wait 1, print $(d.count) $(q.length),
                             write s.switch 9, wait 1, stop)";
        assert_eq!(run_and_read(config, &["d.count", "q.length", "s.switch"]), ["5", "7", "-1"]);
    }
}
