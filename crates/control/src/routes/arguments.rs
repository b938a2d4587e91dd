//! The arguments that all sources of routes have.

use super::fib::Ports;
use elements_shared::route_port::{Port, RoutePort};
use router::{Args, ConfigError, Cx, ElementName};
use std::sync::Arc;

/// Where routes go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tables {
    /// The names of the lookup elements.
    pub(super) v4: Option<String>,
    pub(super) v6: Option<String>,
    /// What their outputs are.
    pub(super) ports: Ports,
    /// By output for an interface, that for IPv4 packets to IPv6 gateways there.
    pub(super) across: Vec<(u32, u32)>,
}

impl Tables {
    /// The ports of the tables, for IPv4 and IPv6.
    ///
    /// # Errors
    /// There is no such element, it has no routes that can change, or it is of the other family.
    pub(super) fn find(&self, cx: &Cx<'_>) -> Result<[Option<Arc<dyn RoutePort>>; 2], ConfigError> {
        let find = |name: &Option<String>, keyword: &str, is_v6: bool| {
            let Some(name) = name else { return Ok(None) };
            let port = Port::of(cx, name).map_err(|error| format!("{keyword}: {error}"))?;
            match port.is_v6() == is_v6 {
                true => Ok(Some(port)),
                false => Err(format!("{keyword}: '{name}' is for the other address family")),
            }
        };
        Ok([find(&self.v4, "IPV4", false)?, find(&self.v6, "IPV6", true)?])
    }
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
        let mut across = Vec::new();
        for argument in &self.interfaces {
            let words: Vec<&str> = argument.split_whitespace().collect();
            let outputs = words.iter().skip(1).map(|word| word.parse::<u32>());
            match outputs.collect::<Result<Vec<_>, _>>().as_deref() {
                Ok([port]) => interfaces.push((words[0].to_owned(), *port)),
                Ok([port, port6]) => {
                    interfaces.push((words[0].to_owned(), *port));
                    across.push((*port, *port6));
                }
                _ => errors
                    .push(format!("expected 'INTERFACE OUTPUT [OUTPUT6]', as in 'eth0 1', not '{argument}'")),
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
        Ok(Tables { v4: self.v4.map(|table| table.name), v6: self.v6.map(|table| table.name), ports, across })
    }
}
