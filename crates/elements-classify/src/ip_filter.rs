//! Filters IP packets by their contents.
//!
//! ```click
//! IPFilter(ACTION1 PATTERN1, ..., ACTIONN PATTERNN [, keywords COUNT, CACHING])
//! ```
//!
//! The first pattern that a packet matches decides what happens to it; a packet that matches none is dropped. See
//! IPClassifier for patterns. The IP header of packets must be marked, for instance by CheckIPHeader or MarkIPHeader.
//!
//! Thousands of rules cost hardly more than a few, because they are not tried one after the other.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `ACTION`: an output number; `allow`, which is output 0; or `drop` or `deny`, which drop the packet.
//! - `PATTERN`: the packets to which the action applies. Without one, or with `-`, `any` or `all`: all packets.
//! - `log` between action and pattern: packets that match are written to the log, at most ten a second and worker, with
//!   the element's name and the rule's number.
//! - `COUNT` (boolean, default false): whether to count packets by rule; rules with `log` imply it.
//! - `file PATH` in place of a rule: the rules of a file, one per line. Blank lines are skipped. FastClick's.
//! - `CACHING` (boolean, default false): whether to count packets of the same flow as the packet before. FastClick's.
//!
//! # Handlers
//! - `program` (read): the rules as a program, one test per line.
//! - `config` (read, write): the rules. New ones take effect immediately, or not at all if they contain an error.
//! - `rule_packets`, `rule_bytes` (read): the packets, and their bytes, that each rule has decided about: lines of a
//!   number, a tab, and the rule with its number; last those that no rule matched. Empty unless rules are counted.
//! - `cache_hits_count`, `cache_misses_count`, `cache_total_count` (read): with CACHING, packets with the same
//!   addresses, protocol and ports as the packet before, other packets, and all of them; -1 otherwise.
//!   `cache_hits_ratio`, `cache_misses_ratio`: in percent of the total. FastClick's.
//!
//! # Example
//! ```click
//! IPFilter(allow dst 10.0.0.1 && dst tcp port www,
//!          allow src 10.0.0.0/24 && udp port 53,
//!          deny all)
//! ```
//!
//! # Differences from Click
//! A comparison of bytes beyond a packet's end is false. Many rules may share one lookup of a field that Click's
//! program would test one by one. The `program` handler shows the program of single tests nevertheless, and takes
//! long for very many rules. CACHING does not change what happens to packets: where rules test fields that
//! FastClick's cache ignores, each packet is still treated according to its own fields.
//!
//! # See also
//! IPClassifier, Classifier, IP6Filter, CheckIPHeader, MarkIPHeader, AddressInfo

use super::filter::{self, Style};
use super::names::Family;
use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("IPFilter", create).ports("1/-").processing("h/h").doc(router::manual!("ip_filter.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    filter::create(config, Style { family: Family::V4, output_each: false, fast: true })
}
