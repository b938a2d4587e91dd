//! Generates routes from the traffic.
//!
//! ```click
//! GenerateIPLookupRules(OUT_PORT [, NB_RULES, KEYWORDS])
//! GenerateIPLookup(OUT_PORT [, NB_RULES, KEYWORDS])
//! ```
//!
//! Passes packets on, and records their destinations. Handlers generate routes from these, in the format of
//! RadixIPLookup's arguments. If there would be more than NB_RULES routes, prefixes are shortened until there are
//! not, as far as possible. Packets need a marked IP header; others pass without being recorded. At most a million
//! destinations are recorded. They are FastClick's elements; both do the same.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `OUT_PORT` (integer): the output of all routes.
//! - `NB_RULES` (integer, default 8000): the maximum number of routes.
//! - `PREFIX` (integer, default 32): the initial prefix length of addresses.
//! - `KEEP_SADDR`, `KEEP_DADDR`, `KEEP_SPORT`, `KEEP_DPORT` (boolean): accepted, without effect: routes are always
//!   generated from destinations.
//! - `OUT_FILE` (file name, default `rules`): where `dump_to_file` writes.
//!
//! # Handlers
//! - `flows_nb` (read): destinations so far.
//! - `rules_nb` (read): routes generated from them.
//! - `dump` (read): the routes, in order of addresses.
//! - `dump_to_file` (read): writes the routes to the file, and returns nothing.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> g :: GenerateIPLookupRules(1, 100) -> Discard;
//! DriverManager(pause, print $(g.dump), stop);
//! ```
//!
//! # See also
//! GenerateIPFilterRules, RadixIPLookup

use super::generate_rules::{Flows, Generator, Keep};
use router::{Class, Config, ConfigError, Element, FileName, PerPacket, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("GenerateIPLookupRules", create)
    .residency(Residency::Exclusive)
    .doc(include_str!("generate_ip_lookup_rules.rs"));
/// The older name.
pub(crate) const OLD: Class = Class { name: "GenerateIPLookup", ..CLASS };

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut output, mut rules, mut file) = (0u8, 8000u32, FileName("rules".to_owned()));
    let mut keep = Keep { src: false, dst: true, sport: false, dport: false, prefix: 32 };
    // What GenerateIPFilterRules distinguishes, which FastClick reads here too and takes no notice of.
    let mut ignored = [false; 4];
    let [saddr, daddr, sport, dport] = &mut ignored;
    config
        .args()
        .keyword("KEEP_SADDR", saddr)
        .keyword("KEEP_DADDR", daddr)
        .keyword("KEEP_SPORT", sport)
        .keyword("KEEP_DPORT", dport)
        .required("OUT_PORT", &mut output)
        .positional("NB_RULES", &mut rules)
        .keyword("PREFIX", &mut keep.prefix)
        .keyword("OUT_FILE", &mut file)
        .finish()?;
    let text = move |flows: &Flows| {
        let (flows, prefix) = flows.reduced();
        flows.keys().map(|flow| format!("{}/{prefix} {output},\n", flow.dst)).collect()
    };
    Ok(Box::new(PerPacket(Generator { flows: Flows::new(keep, rules), file: file.0, rules: Box::new(text) })))
}
