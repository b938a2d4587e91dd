//! Never initialises.
//!
//! ```click
//! Error(...)
//! ```
//!
//! Keeps a configuration from starting: it accepts any arguments and any connections, and fails when it is initialised.
//!
//! Ports: any number of inputs and outputs. Processing: agnostic.
//!
//! # Example
//! ```click
//! Idle -> Error(not yet) -> Discard
//! ```
//!
//! # See also
//! Message

use router::{Class, Config, ConfigError, Cx, Element};

/// The class.
pub(crate) const CLASS: Class = Class::new("Error", create).ports("-/-").doc(include_str!("error.rs"));

struct Error;

fn create(_config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(Error))
}

impl Element for Error {
    fn initialize(&mut self, _cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        Err("an Error element never initializes".into())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;

    #[test]
    fn fails() {
        assert!(errors("Idle -> Error(1, 2, x y) -> Discard").contains("never initializes"));
    }
}
