//! The arguments that all sources of routes have.

use super::fib::Ports;
use router::{Args, ConfigError, ElementName};

/// Where routes go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tables {
    /// The names of the lookup elements.
    pub(super) v4: Option<String>,
    pub(super) v6: Option<String>,
    /// What their outputs are.
    pub(super) ports: Ports,
}

/// The arguments as they are read.
#[derive(Default)]
pub(super) struct Arguments {
    interfaces: Vec<String>,
    v4: Option<ElementName>,
    v6: Option<ElementName>,
    local: Option<u32>,
    blackhole: Option<u32>,
    unreachable: Option<u32>,
    prohibit: Option<u32>,
    throw: Option<u32>,
}

impl Arguments {
    /// Declares them beside those of the class.
    pub(super) fn declare<'s, 'v>(&'v mut self, args: Args<'s, 'v>) -> Args<'s, 'v> {
        args.keyword("IPV4", &mut self.v4)
            .keyword("IPV6", &mut self.v6)
            .keyword("LOCAL", &mut self.local)
            .keyword("BLACKHOLE", &mut self.blackhole)
            .keyword("UNREACHABLE", &mut self.unreachable)
            .keyword("PROHIBIT", &mut self.prohibit)
            .keyword("THROW", &mut self.throw)
            .rest(&mut self.interfaces)
    }

    /// What was read.
    pub(super) fn tables(self) -> Result<Tables, ConfigError> {
        let mut errors = Vec::new();
        let mut interfaces: Vec<(String, u32)> = Vec::new();
        for argument in &self.interfaces {
            let words: Vec<&str> = argument.split_whitespace().collect();
            match words[..] {
                [name, port] if port.parse::<u32>().is_ok() => {
                    interfaces.extend(port.parse().map(|port| (name.to_owned(), port)));
                }
                _ => errors.push(format!("expected 'INTERFACE OUTPUT', as in 'eth0 1', not '{argument}'")),
            }
        }
        if self.v4.is_none() && self.v6.is_none() {
            errors.push("no routing table: give IPV4 ELEMENT, IPV6 ELEMENT or both".to_owned());
        }
        if !errors.is_empty() {
            return Err(ConfigError::from(errors));
        }
        let ports = Ports {
            interfaces,
            local: self.local,
            blackhole: self.blackhole,
            unreachable: self.unreachable,
            prohibit: self.prohibit,
            throw: self.throw,
        };
        Ok(Tables { v4: self.v4.map(|table| table.name), v6: self.v6.map(|table| table.name), ports })
    }
}
