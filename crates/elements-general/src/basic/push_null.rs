//! Passes packets on.
//!
//! ```click
//! PushNull
//! ```
//!
//! Does nothing to them, but makes both its input and its output push.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> PushNull -> Discard
//! ```
//!
//! # See also
//! Null, PullNull

use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("PushNull", create).processing("h/h").doc(router::manual!("push_null.rs"));

struct PushNull;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PushNull))
}

impl Element for PushNull {
    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        cx.emit(0, batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;

    #[test]
    fn pushes_only() {
        let said = errors("InfiniteSource -> q :: Queue -> p :: PushNull -> Discard");
        assert!(
            said.contains("'q :: Queue' pull output 0 connected to 'p :: PushNull' push input 0"),
            "{said}"
        );
    }
}
