//! Filters IPv6 packets by their contents.
//!
//! ```click
//! IP6Filter(ACTION1 PATTERN1, ..., ACTIONN PATTERNN)
//! ```
//!
//! Does for IPv6 packets what IPFilter does for IPv4 packets: the first pattern that a packet matches decides what
//! happens to it; a packet that matches none is dropped. See IP6Classifier for patterns and IPFilter for actions.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: replicated.
//!
//! # Handlers
//! - `program` (read): the rules as a program, one test per line.
//! - `config` (read, write): the rules. New ones take effect immediately, or not at all if they contain an error.
//!
//! # Example
//! ```click
//! IP6Filter(allow icmp, allow dst 2001:db8::1 && dst tcp port www, deny all)
//! ```
//!
//! # Differences from Click
//! Click has no class of this name.
//!
//! # See also
//! IP6Classifier, IPFilter, CheckIP6Header, MarkIP6Header

use super::filter::{self, Style};
use super::names::Family;
use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("IP6Filter", create).ports("1/-").processing("h/h").doc(router::manual!("ip6_filter.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    filter::create(config, Style { family: Family::V6, output_each: false, fast: false })
}
