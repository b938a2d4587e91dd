//! Filters IPv6 packets by their contents.
//!
//! ```click
//! IP6Filter(ACTION1 PATTERN1, ..., ACTIONN PATTERNN [, keyword COUNT])
//! ```
//!
//! Does for IPv6 packets what IPFilter does for IPv4 packets: the first pattern that a packet matches decides what
//! happens to it; a packet that matches none is dropped. See IP6Classifier for patterns and IPFilter for actions.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `ACTION`, `PATTERN`: as for IPFilter.
//! - `log` between action and pattern: packets that match are written to the log, at most ten a second and worker, with
//!   the element's name and the rule's number.
//! - `COUNT` (boolean, default false): whether to count packets by rule; rules with `log` imply it.
//!
//! # Handlers
//! - `program` (read): the rules as a program, one test per line.
//! - `config` (read, write): the rules. New ones take effect immediately, or not at all if they contain an error.
//! - `rule_packets`, `rule_bytes` (read): the packets, and their bytes, that each rule has decided about: lines of a
//!   number, a tab, and the rule with its number; last those that no rule matched. Empty unless rules are counted.
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
