//! Sorts IP packets by their contents.
//!
//! ```click
//! IPClassifier(PATTERN1, ..., PATTERNN)
//! ```
//!
//! Has one output for each pattern. A packet leaves by the output of the first pattern that it matches, and is dropped if
//! there is none. Packets must have their IP header marked, as CheckIPHeader and MarkIPHeader do.
//!
//! A pattern is made of these primitives:
//! - `ip proto PROTO`: packets of this protocol, a name or a number.
//! - `[SRCORDST] host ADDR`: packets from or to this address. SRCORDST is `src`, `dst`, `src and dst` or `src or dst`, which
//!   is meant if nothing is said.
//! - `[SRCORDST] net NET`: packets from or to this network, `ADDR/LEN` or `ADDR mask MASK`.
//! - `[SRCORDST] [tcp | udp] port PORT`: packets from or to this port, a name or a number. Without a protocol either will do.
//! - `ip vers N`, `ip hl N`, `ip id N`, `ip tos N`, `ip dscp N`, `ip ttl N`, `ip len N`: packets with this number there.
//! - `ip ect`: packets with ECN-capable transport; `ip ce`: packets that have experienced congestion.
//! - `ip frag`: fragments; `ip unfrag`: packets that are no fragments.
//! - `tcp opt FLAG`: packets with this TCP flag: `syn`, `fin`, `ack`, `rst`, `psh`, `urg`.
//! - `tcp win N`: packets with this TCP window.
//! - `icmp type TYPE`: packets with this ICMP type, a name or a number.
//! - `ip[POS:LEN] N`: packets with this number in the LEN bytes (1 if left out) from POS of the IP header on, all in one
//!   word of four. `transp[POS:LEN]` is the same for the transport header, `tcp[POS:LEN]` for that of TCP, and so on.
//! - `[SRCORDST] ether host ETH`: packets from or to this Ethernet address. The link-layer header must be marked.
//! - `true`, `false`: all packets, no packet.
//!
//! Primitives are joined by `and` (`&&`; may be left out), `or` (`||`), `not` (`!`), parentheses, and `A ? B : C`. In front of
//! a value, `==` (meant if nothing is said), `!=`, `<`, `>`, `<=` and `>=` may stand, the last four for numbers only, and in
//! front of these a mask: `src port & 0xff00 == 0x0800`. Much may be left out: `tcp` for `ip proto tcp`, `www` for `port
//! www`, `syn` for `tcp opt syn`, `10.0.0.0/8` for `net 10.0.0.0/8`; and what was said last is meant again: `src port 80 or
//! 81`. The patterns `-`, `any` and `all` match everything.
//!
//! Ports, TCP flags, windows and ICMP types are there in unfragmented packets and first fragments only, and in packets of
//! the protocol only: `icmp type != 4` does not match TCP packets, but `!(icmp type 4)` does.
//!
//! Ports: 1 input, as many outputs as patterns. Processing: push. Workers: replicated.
//!
//! # Handlers
//! - `program` (read): the patterns as a program, a test a line.
//! - `patternI` (read, write): pattern number I.
//! - `config` (read, write): all patterns. New ones take effect at once, or not at all if there is a mistake in them.
//!
//! # Example
//! ```click
//! IPClassifier(10.0.0.0/24 and syn, 10.0.0.0/24 and fin ack, 10.0.0.0/24 and tcp, -)
//! ```
//!
//! # Differences from Click
//! A comparison of bytes behind a packet's end does not hold.
//!
//! # See also
//! IPFilter, Classifier, IP6Classifier, CheckIPHeader, MarkIPHeader, AddressInfo

use super::filter::{self, Style};
use super::names::Family;
use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("IPClassifier", create).ports("1/-").processing("h/h").doc(include_str!("ip_classifier.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    filter::create(config, Style { family: Family::V4, output_each: true, fast: false })
}
