//! Drops what it gets and never sends anything.
//!
//! ```click
//! Idle
//! ```
//!
//! Packets pushed into it are dropped. Pulls from it get nothing, and it tells pullers downstream to sleep. It never
//! pulls packets itself. Use it for ports that are not needed.
//!
//! SimpleIdle is another name for it.
//!
//! Ports: any number of inputs and outputs. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! Idle -> Discard
//! ```
//!
//! # See also
//! Discard

use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("Idle", create).ports("-/-").flow("x/y").doc(router::manual!("idle.rs"));

struct Idle;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(Idle))
}

impl Element for Idle {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        cx.signals().set(false);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        cx.drop_batch(batch, "idle");
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Pushes are swallowed; a puller at an idle output sleeps instead of running for ever.
    #[test]
    fn swallows_and_rests() {
        let config = "InfiniteSource(LIMIT 5) -> Idle -> d :: Discard;
                      RatedSource(LIMIT 3, STOP true) -> Idle;";
        assert_eq!(run_and_read(config, &["d.count"]), ["0"]);
    }
}
