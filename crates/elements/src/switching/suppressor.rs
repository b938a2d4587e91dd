//! Blocks some of its ports.
//!
//! ```click
//! Suppressor
//! ```
//!
//! Passes packets from each input to the output of the same number, unless that port was made inactive: then pushed
//! packets are dropped and pulls get none.
//!
//! Ports: any number of inputs, as many outputs. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `active0`, `active1`, ... (read, write): whether packets pass at that port. Initially true.
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
    Class::new("Suppressor", create).ports("-/=").flow("#/#").doc(include_str!("suppressor.rs"));

struct Suppressor {
    active: Vec<bool>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(Suppressor { active: vec![true; config.inputs()] }))
}

impl Element for Suppressor {
    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        if self.active[port] { cx.emit(port, batch) } else { cx.drop_batch(batch, "suppressed") }
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        if self.active[port] { Pull::Ask { input: port, want } } else { Pull::Nothing }
    }

    fn handlers(&self, h: &mut Handlers) {
        for port in 0..self.active.len() {
            let name = format!("active{port}");
            h.read(&name, move |e: &mut Suppressor, _| e.active[port]);
            h.write(&name, move |e: &mut Suppressor, cx, text| {
                e.active[port] = router::value(cx, text)?;
                Ok(())
            });
        }
        h.write("reset", |e: &mut Suppressor, _, _| {
            e.active.fill(true);
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

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
}
