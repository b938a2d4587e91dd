//! Fails to initialise.
//!
//! ```click
//! Error(...)
//! ```
//!
//! Keeps a configuration from starting: it accepts any arguments and any connections, and fails when it is
//! initialised, without a message of its own.
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
pub(crate) const CLASS: Class = Class::new("Error", create).ports("-/-").doc(router::manual!("error.rs"));

struct Error;

fn create(_config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(Error))
}

impl Element for Error {
    /// Without a word, as in Click.
    fn initialize(&mut self, _cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        Err(ConfigError::default())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;

    #[test]
    fn the_configuration_is_refused_silently() {
        assert_eq!(errors("Idle -> Error(1, 2, x y) -> Discard"), "");
    }
}
