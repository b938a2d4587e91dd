//! Pulls from its inputs in proportion to their tickets.
//!
//! ```click
//! StrideSched(TICKETS0, ..., TICKETSN)
//! ```
//!
//! Input I has TICKETSI tickets. While all inputs have packets, each is pulled from in proportion to its tickets; an input
//! that has nothing when its turn comes is passed over. One without tickets is never pulled from.
//!
//! Ports: any number of inputs, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `TICKETS` (integer, 0 to 32768), one for each input.
//!
//! # Handlers
//! - `tickets0` and so on (read, write): the arguments.
//! - `config` (read): all of them.
//!
//! # Example
//! ```click
//! s :: StrideSched(1, 2) -> Discard;
//! InfiniteSource -> Queue -> [0] s;
//! InfiniteSource -> Queue -> [1] s;
//! ```
//!
//! # See also
//! StrideSwitch, RoundRobinSched, PrioSched, DRRSched

use super::strides::Strides;
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("StrideSched", create)
    .ports("1-/1")
    .processing("l/l")
    .residency(Residency::Exclusive)
    .doc(include_str!("stride_sched.rs"));

struct StrideSched {
    strides: Strides,
    inputs: usize,
    /// How many inputs were asked for the packet wanted now.
    asked: usize,
    want: usize,
    got: Option<Batch>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let strides = Strides::read(config, config.inputs(), "input")?;
    Ok(Box::new(StrideSched { strides, inputs: config.inputs(), asked: 0, want: 0, got: None }))
}

impl StrideSched {
    /// Asks the next input in line, if there is one.
    fn ask(&mut self, got: Batch) -> Pull {
        match self.strides.nth(self.asked) {
            Some(input) if got.len() < self.want => {
                self.got = Some(got);
                self.asked += 1;
                Pull::Ask { input, want: 1 }
            }
            _ => Pull::Give(got),
        }
    }
}

impl StrideSched {
    /// Nothing was to be had: pullers sleep until an input with tickets may have something.
    fn rest(&self, cx: &mut Cx<'_>) {
        let mut inputs = (0..).map_while(|n| self.strides.nth(n));
        let active = inputs.any(|input| cx.may_have(input));
        cx.set_signal(active);
    }
}

impl Element for StrideSched {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.provide_signal();
        (0..self.inputs).for_each(|input| cx.relay(input));
        Ok(())
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        (self.want, self.asked) = (want, 0);
        let got = cx.batch();
        if self.strides.nth(0).is_none() {
            self.rest(cx);
        }
        self.ask(got)
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        let mut got = self.got.take().unwrap_or_default();
        let packet = batch.pop();
        cx.consume(batch);
        let in_vain = packet.is_none();
        if let Some(packet) = packet {
            got.push(packet);
        }
        if in_vain && self.strides.nth(self.asked).is_some() {
            return self.ask(got);
        }
        self.strides.served(self.asked);
        self.asked = 0;
        if !in_vain {
            return self.ask(got);
        }
        if got.is_empty() {
            self.rest(cx);
        }
        Pull::Give(got)
    }

    fn handlers(&self, h: &mut Handlers) {
        self.strides.handlers(h, |e: &mut StrideSched| &mut e.strides);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run};

    /// Three tickets against one, whatever the burst; then the input that still has packets has everything.
    #[test]
    fn proportional() {
        let lines = run("s :: StrideSched(1, 3, 0) -> Print(MAXLENGTH 1) -> Discard(BURST 5);
                         InfiniteSource(DATA a, LIMIT 4, BURST 4) -> Queue -> [0] s;
                         InfiniteSource(DATA b, LIMIT 6, BURST 6) -> Queue -> [1] s;
                         Idle -> Queue -> [2] s; RatedSource(LIMIT 4, STOP true) -> Discard;");
        let order: Vec<_> = lines.lines().map(|line| line.rsplit(' ').next().unwrap_or("")).collect();
        let early = order[..8].iter().filter(|byte| **byte == "62").count();
        assert_eq!((order.len(), early), (10, 6), "{order:?}");
    }

    #[test]
    fn bad_arguments() {
        assert!(
            errors("Idle -> StrideSched(1, 2) -> Discard").contains("need 1 arguments, one per input port")
        );
        assert!(
            errors("Idle -> StrideSched(-1) -> Discard")
                .contains("argument 0 (number of tickets) must be >= 0")
        );
    }
}
