//! Filters IP packets by their contents.
//!
//! ```click
//! IPFilter(ACTION1 PATTERN1, ..., ACTIONN PATTERNN [, keyword CACHING])
//! ```
//!
//! A packet is treated as the first pattern that it matches says, and is dropped if it matches none. IPClassifier's page
//! describes patterns. Packets must have their IP header marked, as CheckIPHeader and MarkIPHeader do.
//!
//! Thousands of rules cost hardly more than a few: they are not tried one after the other.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `ACTION`: the number of an output; `allow`, which is output 0; or `drop` or `deny`, which drop the packet.
//! - `PATTERN`: what packets the action is for. Without one, or with `-`, `any` or `all`: for all.
//! - `file PATH` in the place of a rule: the rules of a file, one a line. Blank lines are passed over. FastClick's.
//! - `CACHING` (boolean): whether packets of the same flow as the packet before are counted; false without it. FastClick's.
//!
//! # Handlers
//! - `program` (read): the rules as a program, a test a line.
//! - `config` (read, write): the rules. New rules take effect at once, or not at all if there is a mistake in them.
//! - `cache_hits_count`, `cache_misses_count`, `cache_total_count` (read): with CACHING, packets with the same addresses,
//!   protocol and ports as the packet before, other packets, and all of them; -1 otherwise. `cache_hits_ratio`,
//!   `cache_misses_ratio`: in percent of all. FastClick's.
//!
//! # Example
//! ```click
//! IPFilter(allow dst 10.0.0.1 && dst tcp port www,
//!          allow src 10.0.0.0/24 && udp port 53,
//!          deny all)
//! ```
//!
//! # Differences from Click
//! A comparison of bytes behind a packet's end does not hold. Many rules may share fields that Click's program would test
//! one by one; the `program` handler shows the program nevertheless, and takes its time with very many rules.
//! CACHING does not change what becomes of packets: where rules look at more than FastClick's cache does, each packet is
//! treated as its own fields say.
//!
//! # See also
//! IPClassifier, Classifier, IP6Filter, CheckIPHeader, MarkIPHeader, AddressInfo

use super::filter::{self, Style};
use super::names::Family;
use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("IPFilter", create).ports("1/-").processing("h/h").doc(include_str!("ip_filter.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    filter::create(config, Style { family: Family::V4, output_each: false, fast: true })
}
