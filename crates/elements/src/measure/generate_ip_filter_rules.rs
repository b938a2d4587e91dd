//! Generates rules for IPFilter or IPClassifier from the traffic.
//!
//! ```click
//! GenerateIPFilterRules([NB_RULES, KEYWORDS])
//! GenerateIPFilter([NB_RULES, KEYWORDS])
//! ```
//!
//! Passes packets on, and records their flows. Handlers generate rules that allow these flows. If there would be more
//! than NB_RULES rules, address prefixes are shortened until there are not, as far as possible. Packets need a marked
//! IP header; others pass without being recorded. At most a million flows are recorded.
//!
//! They are FastClick's elements. GenerateIPFilter is the older one.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `NB_RULES` (integer, default 1000, for GenerateIPFilter 8000): the maximum number of rules.
//! - `KEEP_SADDR`, `KEEP_DADDR` (boolean, default true): whether rules contain addresses.
//! - `KEEP_SPORT` (boolean, default false), `KEEP_DPORT` (boolean, default true): whether they contain ports.
//! - `PREFIX` (integer, default 32): the initial prefix length of addresses.
//! - `PATTERN_TYPE` (`IPFILTER` or `IPCLASSIFIER`, default `IPFILTER`): the element class that the rules are for.
//! - `OUT_FILE` (file name, default `rules`): where `dump_to_file` writes.
//!
//! # Handlers
//! - `flows_nb` (read): flows so far.
//! - `rules_nb` (read): rules generated from them.
//! - `dump` (read): the rules, in order of addresses; for GenerateIPFilter followed by their number.
//! - `dump_to_file` (read): writes the rules to the file, and returns nothing.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> g :: GenerateIPFilterRules(100) -> Discard;
//! DriverManager(pause, print $(g.dump), stop);
//! ```
//!
//! # Differences from FastClick
//! Rules do not mention addresses that they do not depend on.
//!
//! # See also
//! GenerateIPLookupRules, GenerateIPOpenFlowRules, GenerateIPDPDKFlowRules, IPFilter, IPClassifier, AggregateIPFlows

use super::generate_rules::{Flows, Generator, Keep};
use router::{Class, Config, ConfigError, Element, FileName, PerPacket, Residency};
use std::fmt::Write;

/// The class.
pub(crate) const CLASS: Class = Class::new("GenerateIPFilterRules", |config| create(config, false))
    .residency(Residency::Exclusive)
    .doc(include_str!("generate_ip_filter_rules.rs"));
/// The older element.
pub(crate) const OLD: Class =
    Class { name: "GenerateIPFilter", create: |config| create(config, true), ..CLASS };

fn create(config: &mut Config<'_>, old: bool) -> Result<Box<dyn Element>, ConfigError> {
    let mut rules = if old { 8000u32 } else { 1000 };
    let mut keep = Keep { src: true, dst: true, sport: false, dport: true, prefix: 32 };
    let (mut pattern, mut file) = ("IPFILTER".to_owned(), FileName("rules".to_owned()));
    config
        .args()
        .positional("NB_RULES", &mut rules)
        .keyword("KEEP_SADDR", &mut keep.src)
        .keyword("KEEP_DADDR", &mut keep.dst)
        .keyword("KEEP_SPORT", &mut keep.sport)
        .keyword("KEEP_DPORT", &mut keep.dport)
        .keyword("PREFIX", &mut keep.prefix)
        .keyword("PATTERN_TYPE", &mut pattern)
        .keyword("OUT_FILE", &mut file)
        .finish()?;
    let filter = match pattern.to_ascii_uppercase().as_str() {
        "IPFILTER" => true,
        "IPCLASSIFIER" => false,
        _ => {
            return Err(
                "Invalid PATTERN_TYPE for GenerateIPFilterRules. Select in [IPFILTER, IPCLASSIFIER]".into()
            );
        }
    };
    if !(keep.src || keep.dst || keep.sport || keep.dport) {
        return Err("Cannot continue with empty mask".into());
    }
    let text = move |flows: &Flows| rules_of(flows, filter, old);
    Ok(Box::new(PerPacket(Generator { flows: Flows::new(keep, rules), file: file.0, rules: Box::new(text) })))
}

/// A rule for each flow, of IPFilter or of IPClassifier; the older class says their number behind them.
fn rules_of(flows: &Flows, filter: bool, old: bool) -> String {
    let (reduced, prefix) = flows.reduced();
    let (keep, mut text) = (flows.keep(), String::new());
    for flow in reduced.keys() {
        let clauses = [
            keep.src.then(|| format!("src net {}/{prefix}", flow.src)),
            keep.dst.then(|| format!("dst net {}/{prefix}", flow.dst)),
            keep.sport.then(|| format!("src port {}", flow.sport)),
            keep.dport.then(|| format!("dst port {}", flow.dport)),
        ];
        let clauses: Vec<String> = clauses.into_iter().flatten().collect();
        let action = if filter { "allow " } else { "" };
        let _ = writeln!(text, "{action}{},", clauses.join(" && "));
    }
    if old {
        let _ = writeln!(text, "\n# of Rules: {}", reduced.len());
    }
    text
}
