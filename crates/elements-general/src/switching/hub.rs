//! Copies packets to all other ports.
//!
//! ```click
//! Hub
//! ```
//!
//! A packet that arrives at input N leaves by every output but N, in order of their numbers: copies by all but the
//! last of these, by which the packet itself leaves.
//!
//! Ports: any number of inputs, as many outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! h :: Hub;
//! InfiniteSource -> [0] h [0] -> Discard;
//! InfiniteSource -> [1] h [1] -> Discard;
//! ```
//!
//! # See also
//! Tee

use super::tee::copy;
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element};

/// The class.
pub(crate) const CLASS: Class = Class::new("Hub", create)
    .ports("-/=")
    .processing("h/h")
    .flow("#/[^#]")
    .copies()
    .doc(router::manual!("hub.rs"));

struct Hub {
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(Hub { outputs: config.outputs() }))
}

impl Element for Hub {
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        let others = || (0..self.outputs).filter(|&output| output != port);
        let Some(last) = others().next_back() else {
            return cx.drop_batch(batch, "no other output");
        };
        for output in others().filter(|&output| output != last) {
            let copies = copy(cx, &batch);
            cx.emit(output, copies);
        }
        cx.emit(last, batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Everything goes everywhere but back.
    #[test]
    fn not_back() {
        let config = "h :: Hub; InfiniteSource(LIMIT 5) -> [0] h [0] -> a :: Discard;
                      InfiniteSource(LIMIT 7) -> [1] h [1] -> b :: Discard;
                      InfiniteSource(LIMIT 11) -> [2] h [2] -> c :: Discard;
                      RatedSource(LIMIT 4, STOP true) -> lone :: Hub -> d :: Discard";
        assert_eq!(
            run_and_read(config, &["a.count", "b.count", "c.count", "d.count"]),
            ["18", "16", "12", "0"]
        );
    }
}
