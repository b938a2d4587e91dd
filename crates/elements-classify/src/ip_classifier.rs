//! Classifies IP packets by their contents.
//!
//! ```click
//! IPClassifier(PATTERN1, ..., PATTERNN)
//! ```
//!
//! Has one output for each pattern. A packet leaves by the output of the first pattern that it matches, and is
//! dropped if there is none. The IP header of packets must be marked, for instance by CheckIPHeader or MarkIPHeader.
//!
//! A pattern is made of these primitives:
//! - `ip proto PROTO`: packets of this protocol, a name or a number.
//! - `[SRCORDST] host ADDR`: packets from or to this address. SRCORDST is `src`, `dst`, `src and dst` or
//!   `src or dst`; the last is the default.
//! - `[SRCORDST] net NET`: packets from or to this network, `ADDR/LEN` or `ADDR mask MASK`.
//! - `[SRCORDST] [tcp | udp] port PORT`: packets from or to this port, a name or a number. Without a protocol, both
//!   are accepted.
//! - `ip vers N`, `ip hl N`, `ip id N`, `ip tos N`, `ip dscp N`, `ip ttl N`, `ip len N`: packets with this number in
//!   the field.
//! - `ip ect`: packets with ECN-capable transport; `ip ce`: packets that have experienced congestion.
//! - `ip frag`: fragments; `ip unfrag`: packets that are not fragments.
//! - `tcp opt FLAG`: packets with this TCP flag: `syn`, `fin`, `ack`, `rst`, `psh`, `urg`.
//! - `tcp win N`: packets with this TCP window.
//! - `icmp type TYPE`: packets with this ICMP type, a name or a number.
//! - `ip[POS:LEN] N`: packets with this number in the LEN bytes (default 1) from POS of the IP header on, all within
//!   one four-byte word. `transp[POS:LEN]` is the same for the transport header, `tcp[POS:LEN]` for a TCP header, and
//!   so on.
//! - `[SRCORDST] ether host ETH`: packets from or to this Ethernet address. The link-layer header must be marked.
//! - `state STATE`: packets whose connection is in this state, as a ConnTrack in front has found it: `new`,
//!   `established`, `related`, `invalid`, or `untracked`. `state established or related` is short for two of them.
//! - `true`, `false`: all packets, no packet.
//!
//! Primitives are combined by `and` (`&&`; may be left out), `or` (`||`), `not` (`!`), parentheses, and `A ? B : C`.
//! A value may be preceded by an operator: `==` (the default), `!=`, `<`, `>`, `<=` or `>=`, the last four for
//! numbers only; and the operator by a mask: `src port & 0xff00 == 0x0800`. Much may be left out: `tcp` for
//! `ip proto tcp`, `www` for `port www`, `syn` for `tcp opt syn`, `10.0.0.0/8` for `net 10.0.0.0/8`; and a value
//! alone repeats the qualifiers before it: `src port 80 or 81`. The patterns `-`, `any` and `all` match everything.
//!
//! Primitives about ports, TCP flags, windows and ICMP types match only unfragmented packets and first fragments, and
//! only packets of the right protocol: `icmp type != 4` does not match TCP packets, but `!(icmp type 4)` does.
//!
//! Ports: 1 input, as many outputs as patterns. Processing: push. Workers: replicated.
//!
//! # Handlers
//! - `program` (read): the patterns as a program, one test per line.
//! - `patternI` (read, write): pattern number I.
//! - `config` (read, write): all patterns. New ones take effect immediately, or not at all if they contain an error.
//!
//! # Example
//! ```click
//! IPClassifier(10.0.0.0/24 and syn, 10.0.0.0/24 and fin ack, 10.0.0.0/24 and tcp, -)
//! ```
//!
//! # Differences from Click
//! A comparison of bytes beyond a packet's end is false.
//!
//! # See also
//! IPFilter, ConnTrack, Classifier, IP6Classifier, CheckIPHeader, MarkIPHeader, AddressInfo

use super::filter::{self, Style};
use super::names::Family;
use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPClassifier", create)
    .ports("1/-")
    .processing("h/h")
    .doc(router::manual!("ip_classifier.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    filter::create(config, Style { family: Family::V4, output_each: true, fast: false })
}
