//! Makes rewriters use several patterns in turn.
//!
//! ```click
//! RoundRobinIPMapper(PATTERN, ...)
//! ThreadIPMapper(PATTERN, ...)
//! ```
//!
//! Name it as an input specification of an IPRewriter or a similar element: each new flow gets the next of the
//! patterns, or the one after that if it has no port or address left. This spreads connections over several servers,
//! for instance. All rewriters and workers that use the mapper share one turn.
//!
//! ThreadIPMapper is FastClick's: each worker uses the pattern with its own number, counted from 0, modulo the number
//! of patterns. If that pattern has nothing left, the flow is refused.
//!
//! Ports: none. Workers: shared.
//!
//! # Arguments
//! - `PATTERN`, any number of times: `SADDR SPORT DADDR DPORT FOUTPUT ROUTPUT`, as in IPRewriter's `pattern`
//!   specifications, or `NAME FOUTPUT ROUTPUT`, with a pattern defined by IPRewriterPatterns.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! servers :: RoundRobinIPMapper(- - 10.0.0.2 80 0 1, - - 10.0.0.3 80 0 1);
//! rw :: IPRewriter(servers, drop);
//! ```
//!
//! # See also
//! IPRewriter, SourceIPHashMapper, IPRewriterPatterns

use super::input::parse_with_outputs;
use super::mapper::{Mapper, MapperPolicy};
use router::{Class, Config, ConfigError, Cx, Element, Residency};
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("RoundRobinIPMapper", |config| create(config, MapperPolicy::InTurn(0.into())))
        .ports("0/0")
        .residency(Residency::Shared)
        .phase(-1)
        .doc(router::manual!("round_robin_ip_mapper.rs"));

/// Each worker uses a pattern of its own.
pub(crate) const BY_THREAD: Class =
    Class { name: "ThreadIPMapper", create: |config| create(config, MapperPolicy::ByWorker), ..CLASS };

struct RoundRobinIPMapper(Arc<Mapper>);

fn create(config: &mut Config<'_>, policy: MapperPolicy) -> Result<Box<dyn Element>, ConfigError> {
    let args = lang::conf::split_args(config.text());
    match args.len() {
        0 => return Err("no patterns given".into()),
        1 => config.warn("only one pattern given"),
        _ => {}
    }
    let mut patterns = Vec::new();
    let mut error = ConfigError::default();
    for arg in &args {
        match parse_with_outputs(arg, config.scope()) {
            Ok(pattern) => patterns.push(pattern),
            Err(message) => error.messages.push(message),
        }
    }
    if !error.messages.is_empty() {
        return Err(error);
    }
    let mapper = config.shared(|| Ok(Mapper::new(policy, patterns)))?;
    Ok(Box::new(RoundRobinIPMapper(mapper)))
}

impl Element for RoundRobinIPMapper {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        Ok(self.0.resolve(cx.info(), cx.index())?)
    }
}

#[cfg(test)]
mod tests {
    use crate::rewrite::samples::{ends, udp};
    use crate::testing::errors;
    use crate::testing::send;

    /// Flows take turns, packets of a flow stay together, and a pattern without a port left is skipped.
    #[test]
    fn in_turn() {
        let config = "m :: RoundRobinIPMapper(- - 9.0.0.1 - 0 1, 1.0.0.1 5-6# - - 1 0, - - 9.0.0.3 - 0 1);
                      Inject -> MarkIPHeader -> rw :: UDPRewriter(m); rw[0] -> Collect(0); rw[1] -> Collect(1);";
        let packets =
            [1, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(|host| udp(&format!("10.0.0.{host}:1"), "5.6.7.8:80"));
        let mut flow = send(config, packets);
        let to = |host, server| format!("10.0.0.{host}:1 9.0.0.{server}:80");
        let servers = [(1, 1), (1, 1), (3, 3), (4, 1), (6, 3), (7, 1), (8, 3), (9, 1)];
        assert_eq!(ends(&flow.data(0)), servers.map(|(host, server)| to(host, server)));
        assert_eq!(ends(&flow.data(1)), ["1.0.0.1:5 5.6.7.8:80", "1.0.0.1:6 5.6.7.8:80"]);
        assert_eq!([flow.read("rw.patterns"), flow.read("rw.mapping_failures")], ["<mapper> [9]\n", "0"]);
    }

    /// The only worker is the first, and has nothing but its own pattern.
    #[test]
    fn by_worker() {
        let config = "m :: ThreadIPMapper(1.0.0.1 5-6# - - 0 0, - - 9.0.0.3 - 0 0);
                      Inject -> MarkIPHeader -> rw :: UDPRewriter(m) -> Collect(0)";
        let mut flow = send(config, [1, 2, 3].map(|host| udp(&format!("10.0.0.{host}:1"), "5.6.7.8:80")));
        assert_eq!(ends(&flow.data(0)), ["1.0.0.1:5 5.6.7.8:80", "1.0.0.1:6 5.6.7.8:80"]);
        assert_eq!(flow.read("rw.mapping_failures"), "1");
        assert!(errors("ThreadIPMapper").contains("no patterns given"));
    }

    #[test]
    fn bad_arguments() {
        assert!(errors("RoundRobinIPMapper").contains("no patterns given"));
        assert!(errors("RoundRobinIPMapper(- - 9.0.0.1 0 1, - - - - 0 0)").contains("bad"));
        let outputs = "m :: RoundRobinIPMapper(- - - - 0 0, - - - - 0 1);
                       InfiniteSource -> IPRewriter(m) -> Discard;";
        let text = errors(outputs);
        assert!(
            text.contains("input spec 0: output port out of range in m :: RoundRobinIPMapper pattern 1"),
            "{text}"
        );
    }
}
