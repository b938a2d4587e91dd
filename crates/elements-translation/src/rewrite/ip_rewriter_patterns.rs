//! Defines rewriting patterns that rewriters share.
//!
//! ```click
//! IPRewriterPatterns(NAME PATTERN, ...)
//! ```
//!
//! PATTERN is `SADDR SPORT DADDR DPORT` or `SADDR DADDR`, as in a `pattern` specification of IPRewriter or
//! IPAddrRewriter, which can then use NAME instead. If a pattern has a range, all rewriters that name it share one
//! sequence. Each rewriter keeps track of the ports of its own flows.
//!
//! A name can be used in the compound element that defines it and in compound elements inside it. There may be
//! several IPRewriterPatterns elements.
//!
//! Ports: none. Workers: shared.
//!
//! # Arguments
//! - `NAME PATTERN`, any number of times.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! IPRewriterPatterns(to_world 18.26.4.24 50000-65535 - -);
//! rw :: IPRewriter(pattern to_world 0 1, drop);
//! ```
//!
//! # See also
//! IPRewriter, IPAddrRewriter, RoundRobinIPMapper

use super::pattern::Pattern;
use router::{Class, Config, ConfigError, Cx, Element, Info, Residency};
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class = Class::new("IPRewriterPatterns", create)
    .ports("0/0")
    .residency(Residency::Shared)
    .phase(-1)
    .doc(router::manual!("ip_rewriter_patterns.rs"));

/// Patterns by name, in the order of definition.
struct Patterns(Vec<(String, Arc<Pattern>)>);

struct IPRewriterPatterns;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut patterns: Vec<(String, Arc<Pattern>)> = Vec::new();
    let mut error = ConfigError::default();
    for arg in lang::conf::split_args(config.text()) {
        let words = lang::conf::split_spaces(&arg);
        let Some((name, words)) = words.split_first() else { continue };
        if patterns.iter().any(|(known, _)| known == name) {
            error.messages.push(format!("pattern '{name}' already defined"));
            continue;
        }
        match Pattern::parse(words, config.scope()) {
            Ok(pattern) => patterns.push((name.clone(), Arc::new(pattern))),
            Err(message) => error.messages.push(message),
        }
    }
    if !error.messages.is_empty() {
        return Err(error);
    }
    config.shared(|| Ok(Patterns(patterns)))?;
    Ok(Box::new(IPRewriterPatterns))
}

/// All elements that define patterns, with the compounds in which they do.
fn elements(info: &Info) -> impl Iterator<Item = (usize, &str, Arc<Patterns>)> {
    info.nodes.iter().enumerate().filter(|(_, node)| node.class.name == CLASS.name).filter_map(
        |(element, node)| Some((element, compound_of(&node.name), info.shared::<Patterns>(element)?)),
    )
}

/// The compound that an element lives in: its name up to and with the last slash.
fn compound_of(name: &str) -> &str {
    name.rfind('/').map_or("", |slash| &name[..=slash])
}

/// The pattern with a name, seen from an element: the innermost definition.
pub(super) fn find(info: &Info, from: usize, name: &str) -> Option<Arc<Pattern>> {
    let here = info.nodes.get(from).map_or("", |node| compound_of(&node.name));
    let mut found: Option<(usize, Arc<Pattern>)> = None;
    for (_, compound, patterns) in elements(info).filter(|(_, compound, _)| here.starts_with(compound)) {
        let pattern = patterns.0.iter().find(|(known, _)| known == name).map(|(_, pattern)| pattern.clone());
        if let Some(pattern) = pattern
            && found.as_ref().is_none_or(|(depth, _)| compound.len() > *depth)
        {
            found = Some((compound.len(), pattern));
        }
    }
    found.map(|(_, pattern)| pattern)
}

impl Element for IPRewriterPatterns {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let here = compound_of(cx.name());
        let own: Vec<String> = cx
            .info()
            .shared::<Patterns>(cx.index())
            .map_or_else(Vec::new, |own| own.0.iter().map(|(name, _)| name.clone()).collect());
        let mut error = ConfigError::default();
        for (_, _, earlier) in elements(cx.info())
            .filter(|(element, compound, _)| *element < cx.index() && here.starts_with(compound))
        {
            let twice = own.iter().filter(|name| earlier.0.iter().any(|(known, _)| known == *name));
            error.messages.extend(twice.map(|name| format!("pattern '{name}' already defined")));
        }
        if error.messages.is_empty() { Ok(()) } else { Err(error) }
    }
}

#[cfg(test)]
mod tests {
    use crate::rewrite::samples::{ends, udp};
    use crate::testing::errors;
    use crate::testing::send;

    /// Rewriters that name a pattern go on with its sequence; a compound has names of its own.
    #[test]
    fn shared_and_scoped() {
        let config = "IPRewriterPatterns(p 1.2.3.4 40-49# - -, , q - - - 7);
                      elementclass Inner { IPRewriterPatterns(r - - - 8);
                        input -> t :: Tee; t[0] -> a :: UDPRewriter(pattern p 0 0) -> [0]output;
                        t[1] -> b :: UDPRewriter(pattern p 0 0) -> [1]output;
                        t[2] -> c :: UDPRewriter(pattern r 0 0) -> [2]output; }
                      Inject -> MarkIPHeader -> i :: Inner; i[0] -> Collect(0); i[1] -> Collect(1); i[2] -> Collect(2);";
        let flow = send(config, [udp("10.0.0.1:1", "5.6.7.8:80")]);
        let seen = [0, 1, 2].map(|at| ends(&flow.data(at)).concat());
        assert_eq!(seen, ["1.2.3.4:40 5.6.7.8:80", "1.2.3.4:41 5.6.7.8:80", "10.0.0.1:1 5.6.7.8:8"]);
    }

    #[test]
    fn bad_arguments() {
        assert!(
            errors("IPRewriterPatterns(p 1.2.3.4 1 - -, p - - - 1)").contains("pattern 'p' already defined")
        );
        let twice = "IPRewriterPatterns(p - - - 1); IPRewriterPatterns(p - - - 1);";
        let outside =
            "elementclass Inner { IPRewriterPatterns(r - - - 8) }; Inner; InfiniteSource -> MarkIPHeader
                       -> UDPRewriter(pattern r 0 0) -> Discard;";
        assert!(errors(outside).contains("no such pattern 'r'"));
        assert!(errors(twice).contains("pattern 'p' already defined"));
        assert!(errors("IPRewriterPatterns(p 1.2.3.4 x - -)").contains("bad source port"));
    }
}
