//! Makes rules for IPFilter or IPClassifier from the traffic.
//!
//! ```click
//! GenerateIPFilterRules([NB_RULES, KEYWORDS])
//! GenerateIPFilter([NB_RULES, KEYWORDS])
//! ```
//!
//! Passes packets on, and notes their flows. Handlers make rules of them that let these flows through. Where there
//! would be more than NB_RULES, the addresses' prefixes are made shorter until there are not, as far as that helps.
//! Packets need a marked IP header; others pass without being noted. A million flows are noted at most.
//!
//! They are FastClick's elements. GenerateIPFilter is the older one.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `NB_RULES` (integer, default 1000, of GenerateIPFilter 8000): rules to make, at most.
//! - `KEEP_SADDR`, `KEEP_DADDR` (boolean, default true): whether rules are about addresses.
//! - `KEEP_SPORT` (boolean, default false), `KEEP_DPORT` (boolean, default true): whether they are about ports.
//! - `PREFIX` (integer, default 32): bits of addresses that matter from the beginning.
//! - `PATTERN_TYPE` (`IPFILTER` or `IPCLASSIFIER`, default `IPFILTER`): what the rules are for.
//! - `OUT_FILE` (file name, default `rules`): where `dump_to_file` writes.
//!
//! # Handlers
//! - `flows_nb` (read): flows so far.
//! - `rules_nb` (read): rules that they make.
//! - `dump` (read): the rules, in order of addresses; of GenerateIPFilter with their number behind them.
//! - `dump_to_file` (read): writes the rules to the file, and says nothing.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> g :: GenerateIPFilterRules(100) -> Discard;
//! DriverManager(pause, print $(g.dump), stop);
//! ```
//!
//! # Differences from FastClick
//! Addresses that rules are not about are left out of them.
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
