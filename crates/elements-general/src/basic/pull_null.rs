//! Passes packets on.
//!
//! ```click
//! PullNull
//! ```
//!
//! Does nothing to them, but makes both its input and its output pull.
//!
//! Ports: 1 input, 1 output. Processing: pull. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> PullNull -> Discard
//! ```
//!
//! # See also
//! Null, PushNull

use router::{Class, Config, ConfigError, Cx, Element, Pull};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("PullNull", create).processing("l/l").doc(router::manual!("pull_null.rs"));

struct PullNull;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PullNull))
}

impl Element for PullNull {
    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;

    #[test]
    fn pulls_only() {
        let said = errors("InfiniteSource -> p :: PullNull -> q :: Queue -> Discard");
        assert!(
            said.contains("'p :: PullNull' pull output 0 connected to 'q :: Queue' push input 0"),
            "{said}"
        );
    }
}
