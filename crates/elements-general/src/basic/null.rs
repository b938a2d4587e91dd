//! Passes packets on.
//!
//! ```click
//! Null
//! Null1 ... Null8
//! ```
//!
//! Does nothing to them. In Click, Null1 to Null8 each have code of their own, to measure cache effects; here they
//! are Null.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> Null -> Discard
//! ```
//!
//! # See also
//! PushNull, PullNull

use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Pull, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("Null", create).pure().doc(router::manual!("null.rs"));

struct Null;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(Null))
}

impl Element for Null {
    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        cx.emit(0, batch);
    }

    #[inline]
    fn push_one(&mut self, _cx: &mut Cx<'_>, _port: usize, _packet: &mut Packet) -> Option<Verdict> {
        Some(Verdict::Pass)
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    #[test]
    fn everything_passes_pushed_and_pulled() {
        let config =
            "InfiniteSource(LIMIT 9, STOP true) -> Null -> Null1 -> PushNull -> Null8 -> d :: Discard;
                      InfiniteSource(LIMIT 7) -> PullNull -> Null -> e :: Discard(BURST 3)";
        assert_eq!(run_and_read(config, &["d.count", "e.count"]), ["9", "7"]);
    }
}
