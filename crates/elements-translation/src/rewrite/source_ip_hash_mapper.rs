//! Makes rewriters choose one of several patterns by the source address.
//!
//! ```click
//! SourceIPHashMapper(COPIES SEED, PATTERN SERVER, ...)
//! ```
//!
//! Name it as an input specification of an IPRewriter or a similar element: new flows with the same source address
//! get the same pattern. Sources are distributed by consistent hashing: each pattern stands for a server with a
//! number, and has COPIES positions on a ring, computed from SEED and the server's number. When a server is added or
//! removed, only few sources change their server.
//!
//! List the servers in order of their numbers. Unlike in Click, nothing is printed for new flows.
//!
//! Ports: none. Workers: shared.
//!
//! # Arguments
//! - `COPIES SEED` (integers): positions of each server on the ring, and the seed.
//! - `PATTERN SERVER`, any number of times: `SADDR SPORT DADDR DPORT FOUTPUT ROUTPUT`, as in IPRewriter's `pattern`
//!   specifications, or `NAME FOUTPUT ROUTPUT`, and the server's number, 0 or more.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! servers :: SourceIPHashMapper(20 1, - - 10.0.0.2 80 0 1 0, - - 10.0.0.3 80 0 1 1);
//! rw :: IPRewriter(servers, drop);
//! ```
//!
//! # See also
//! IPRewriter, RoundRobinIPMapper

use super::input::parse_with_outputs;
use super::mapper::{Mapper, MapperPolicy};
use super::source_hash::Ring;
use router::{Class, Config, ConfigError, Cx, Element, Residency, parse_integer};
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class = Class::new("SourceIPHashMapper", create)
    .ports("0/0")
    .residency(Residency::Shared)
    .phase(-1)
    .doc(router::manual!("source_ip_hash_mapper.rs"));

/// More positions than any configuration needs: they take memory and time to sort.
const MAX_COPIES: i128 = 100_000;

struct SourceIPHashMapper(Arc<Mapper>);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let args = lang::conf::split_args(config.text());
    let (first, specs) = args.split_first().ok_or("no hash seed given")?;
    match specs.len() {
        0 => return Err("no patterns given".into()),
        1 => config.warn("only one pattern given"),
        _ => {}
    }
    let words = lang::conf::split_spaces(first);
    let [copies, seed] = words.as_slice() else {
        return Err("requires 2 config params: numnodes seed".into());
    };
    let copies = parse_integer(copies).filter(|copies| (1..=MAX_COPIES).contains(copies));
    let copies = copies.ok_or("number of nodes must be an integer")? as usize;
    let seed = parse_integer(seed).and_then(|seed| i32::try_from(seed).ok());
    let seed = seed.ok_or("hash seed must be an integer")?;
    let (mut patterns, mut numbers) = (Vec::new(), Vec::new());
    let mut error = ConfigError::default();
    for spec in specs {
        let (pattern, number) = spec.trim().rsplit_once(char::is_whitespace).unwrap_or(("", ""));
        // Click reads 31 bits and keeps 16.
        let number = parse_integer(number).filter(|number| (0..=i32::MAX.into()).contains(number));
        let Some(number) = number.map(|number| number as u16) else {
            error.messages.push("bad server ID in pattern spec".to_owned());
            continue;
        };
        match parse_with_outputs(pattern, config.scope()) {
            Ok(pattern) => {
                patterns.push(pattern);
                numbers.push(number);
            }
            Err(message) => error.messages.push(message),
        }
    }
    if !error.messages.is_empty() {
        return Err(error);
    }
    let mapper = config.shared(|| {
        Ok(Mapper::new(MapperPolicy::BySource(Ring::new(&numbers, copies, seed as u32)), patterns))
    })?;
    Ok(Box::new(SourceIPHashMapper(mapper)))
}

impl Element for SourceIPHashMapper {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        Ok(self.0.resolve(cx.info(), cx.index())?)
    }
}

#[cfg(test)]
mod tests {
    use crate::rewrite::samples::{ends, udp};
    use crate::testing::send;
    use crate::testing::{build, errors};

    /// A source always gets the same server, and all servers get some of many sources.
    #[test]
    fn by_source() {
        let config =
            "m :: SourceIPHashMapper(50 42, - - 9.0.0.0 - 0 0 0, - - 9.0.0.1 - 0 0 1, - - 9.0.0.2 - 0 0 5);
                      Inject -> MarkIPHeader -> UDPRewriter(m) -> Collect(0);";
        let from =
            |host: u32, port: u32| udp(&format!("10.0.{}.{}:{port}", host % 7, host * 2), "5.6.7.8:80");
        let packets: Vec<_> =
            [1, 2].iter().flat_map(|&port| (0..90).map(move |host| from(host, port))).collect();
        let seen = ends(&send(config, packets).data(0));
        let server = |line: &String| line.rsplit(' ').next().unwrap().to_owned();
        let servers: Vec<String> = seen.iter().map(server).collect();
        assert_eq!(servers[..90], servers[90..]);
        for server in ["9.0.0.0:80", "9.0.0.1:80", "9.0.0.2:80"] {
            let share = servers.iter().filter(|name| *name == server).count();
            assert!((30..90).contains(&share), "{server}: {share}");
        }
    }

    #[test]
    fn bad_arguments() {
        assert!(errors("SourceIPHashMapper").contains("no hash seed given"));
        assert!(errors("SourceIPHashMapper(1 2)").contains("no patterns given"));
        assert!(errors("SourceIPHashMapper(1, - - - - 0 0 0)").contains("requires 2 config params"));
        assert!(errors("SourceIPHashMapper(0 2, - - - - 0 0 0)").contains("number of nodes"));
        for server in ["x", "-1", "2147483648"] {
            let config = format!("SourceIPHashMapper(1 2, - - - - 0 0 {server})");
            assert!(errors(&config).contains("bad server ID"), "{server}");
        }
        assert!(
            build("SourceIPHashMapper(5 1, - - 10.0.0.1 - 0 1 1, - - 10.0.0.2 - 0 1 80147)", 1, 1).is_ok()
        );
    }
}
