//! Holds style sheets for Clicky, the graphical interface to Click.
//!
//! ```click
//! ClickyInfo(STYLE, ...)
//! ```
//!
//! Does nothing; its arguments are only for Clicky, which reads them from the configuration.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Example
//! ```click
//! ClickyInfo("* { background: white }")
//! ```

use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("ClickyInfo", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("clicky_info.rs"));

struct ClickyInfo;

impl Element for ClickyInfo {}

fn create(_config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(ClickyInfo))
}
