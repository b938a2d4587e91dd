//! Classifies IPv6 packets by their contents.
//!
//! ```click
//! IP6Classifier(PATTERN1, ..., PATTERNN)
//! ```
//!
//! Does for IPv6 packets what IPClassifier does for IPv4 packets, with the same pattern language. The IPv6 header of
//! packets must be marked, for instance by CheckIP6Header or MarkIP6Header.
//!
//! These primitives differ:
//! - `host` and `net` take IPv6 addresses and prefixes (`ADDR/LEN`).
//! - `ip6` may be written for `ip`.
//! - `ip vers N`, `ip tos N` and `ip dscp N` (of the traffic class), `ip flow N` (the flow label), `ip len N` (the payload
//!   length), `ip ttl N` or `ip hlim N` (the hop limit). There is no `ip hl` and no `ip id`.
//! - `icmp` means ICMPv6. The names of its types are: `unreachable`, `packettoobig`, `timeexceeded`,
//!   `parameterproblem`, `echo`, `echo-reply`, `routersolicit`, `routeradvert`, `neighborsolicit`, `neighboradvert`,
//!   `redirect`.
//!
//! Protocols, ports, TCP flags and ICMP types are found after extension headers too. `ip frag` matches packets that
//! have a fragment header.
//!
//! Ports: 1 input, as many outputs as patterns. Processing: push. Workers: replicated.
//!
//! # Handlers
//! - `program` (read): the patterns as a program, one test per line. Words from 768 on hold facts about the packet
//!   that are determined beforehand: the first byte is the transport protocol; bit 0 of the second says that the
//!   packet is a fragment, bit 1 that it is not a first fragment.
//! - `patternI` (read, write): pattern number I.
//! - `config` (read, write): all patterns.
//!
//! # Example
//! ```click
//! IP6Classifier(dst 2001:db8::1 and tcp port www, icmp type echo, src net 2001:db8::/32, -)
//! ```
//!
//! # Differences from Click
//! Click's class of this name has a different pattern language.
//!
//! # See also
//! IP6Filter, IPClassifier, CheckIP6Header, MarkIP6Header

use super::filter::{self, Style};
use super::names::Family;
use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class = Class::new("IP6Classifier", create)
    .ports("1/-")
    .processing("h/h")
    .doc(router::manual!("ip6_classifier.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    filter::create(config, Style { family: Family::V6, output_each: true, fast: false })
}
