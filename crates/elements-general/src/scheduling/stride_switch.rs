//! Distributes packets over its outputs in proportion to their tickets.
//!
//! ```click
//! StrideSwitch(TICKETS0, ..., TICKETSN)
//! ```
//!
//! Output I has TICKETSI tickets, and gets packets in proportion to them; an output with 0 tickets gets none.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `TICKETS` (integer, 0 to 32768), one for each output.
//!
//! # Handlers
//! - `tickets0` and so on (read, write): the arguments.
//! - `config` (read): all of them.
//!
//! # Example
//! ```click
//! InfiniteSource -> s :: StrideSwitch(1, 2);
//! s [0] -> Discard;
//! s [1] -> Discard;
//! ```
//!
//! # See also
//! StrideSched, RoundRobinSwitch, HashSwitch

use super::strides::Strides;
use packet::{BATCH_MAX, Batch};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("StrideSwitch", create)
    .ports("1/1-")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .live()
    .doc(router::manual!("stride_switch.rs"));

struct StrideSwitch {
    strides: Strides,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let strides = Strides::read(config, config.outputs(), "output")?;
    Ok(Box::new(StrideSwitch { strides }))
}

impl Element for StrideSwitch {
    fn reconfigure(&mut self, cx: &mut Cx<'_>, config: &str) -> Option<Result<(), ConfigError>> {
        Some(self.strides.reread(cx, config, "output"))
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let Some(mut turns) = self.strides.turns() else {
            return cx.drop_batch(batch, "no output has tickets");
        };
        let mut ways = [0; BATCH_MAX];
        ways[..batch.len()].fill_with(|| turns.next());
        drop(turns);
        cx.spread(batch, &ways);
    }

    fn handlers(&self, h: &mut Handlers) {
        self.strides.handlers(h, |e: &mut StrideSwitch| &mut e.strides);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    #[test]
    fn outputs_are_served_in_proportion_to_tickets() {
        let config =
            "InfiniteSource(LIMIT 60, STOP true) -> s :: StrideSwitch(1, 0, 2); s[0] -> a :: Discard;
                      s[1] -> b :: Discard; s[2] -> c :: Discard";
        let handlers = ["a.count", "b.count", "c.count", "s.tickets2", "s.config"];
        assert_eq!(run_and_read(config, &handlers), ["20", "0", "40", "2", "1, 0, 2"]);
    }
}
