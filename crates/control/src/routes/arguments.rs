//! The arguments that all sources of routes have.

use super::fib::Ports;
use super::links::Known;
use elements_shared::route_port::{Port, RoutePort};
use router::{Args, ConfigError, Cx, ElementName};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where routes go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tables {
    /// The names of the lookup elements.
    pub(super) v4: Option<String>,
    pub(super) v6: Option<String>,
    /// What their outputs are.
    pub(super) ports: Ports,
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

/// The kernel's or zebra's routing table that a source of routes reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Number(u32),
    /// That of the VRF with this name, which may come and go.
    Vrf(String),
}

impl Table {
    /// Its number, if there is one now.
    pub(super) fn number(&self, links: &Known) -> Option<u32> {
        match self {
            Table::Number(number) => Some(*number),
            Table::Vrf(name) => links.vrf_table(name),
        }
    }
}

/// The main table.
const MAIN: u32 = 254;
/// Where names of tables are, as iproute2 has them: later ones come first.
const NAMES: [&str; 2] = ["/etc/iproute2", "/usr/share/iproute2"];

/// The number of a table with a name, in the words of files of names: lines of numbers and names.
fn number_in(text: &str, name: &str) -> Option<u32> {
    text.lines().map(|line| line.split('#').next().unwrap_or_default()).find_map(|line| {
        let mut words = line.split_whitespace();
        let number = words.next()?;
        (words.next() == Some(name)).then(|| number_of(number)).flatten()
    })
}

fn number_of(word: &str) -> Option<u32> {
    match word.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// The number of a table by its number or name.
fn table_of(word: &str) -> Option<u32> {
    let file = |path: PathBuf| std::fs::read_to_string(path).ok().and_then(|text| number_in(&text, word));
    let more = |folder: &str| {
        let entries = std::fs::read_dir(Path::new(folder).join("rt_tables.d")).into_iter().flatten();
        entries.filter_map(|entry| file(entry.ok()?.path())).next()
    };
    number_of(word).or_else(|| match word {
        "main" => Some(MAIN),
        "local" => Some(255),
        "default" => Some(253),
        _ => {
            NAMES.iter().find_map(|folder| file(Path::new(folder).join("rt_tables")).or_else(|| more(folder)))
        }
    })
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
    table: Option<String>,
    vrf: Option<String>,
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
            .keyword("TABLE", &mut self.table)
            .keyword("VRF", &mut self.vrf)
            .rest(&mut self.interfaces)
    }

    /// The routing table that was asked for.
    pub(super) fn table(&self) -> Result<Table, ConfigError> {
        match (&self.table, &self.vrf) {
            (Some(_), Some(_)) => Err("TABLE and VRF name the same thing; give one of them".into()),
            (None, Some(vrf)) => Ok(Table::Vrf(vrf.clone())),
            (None, None) => Ok(Table::Number(MAIN)),
            (Some(word), None) => table_of(word).map(Table::Number).ok_or_else(|| {
                format!("no routing table '{word}': give a number, or a name of /etc/iproute2/rt_tables")
                    .into()
            }),
        }
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
            across,
            local: self.local,
            blackhole: self.blackhole,
            unreachable: self.unreachable,
            prohibit: self.prohibit,
            throw: self.throw,
        };
        Ok(Tables { v4: self.v4.map(|table| table.name), v6: self.v6.map(|table| table.name), ports })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::netlink::Link;

    #[test]
    fn tables_have_numbers_and_names() {
        let text = "# reserved\n255\tlocal\n0x3e9 red # one\n#7 blue\n1002 blue";
        assert_eq!((number_in(text, "red"), number_in(text, "blue")), (Some(1001), Some(1002)));
        assert_eq!((number_in(text, "green"), number_in(text, "#")), (None, None));
        assert_eq!(
            (table_of("main"), table_of("local"), table_of("4711")),
            (Some(254), Some(255), Some(4711))
        );
        assert_eq!(table_of("no-such-table"), None);
    }

    #[test]
    fn a_vrf_has_the_table_that_its_link_says() {
        let mut links = Known::default();
        let red = Table::Vrf("red".to_owned());
        assert_eq!(red.number(&links), None);
        links.take(Link { index: 7, name: "red".to_owned(), is_up: true, vrf_table: Some(1001) });
        assert_eq!(red.number(&links), Some(1001));
    }
}
