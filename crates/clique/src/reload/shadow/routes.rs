//! The routes of daemons and of the kernel: the running router's tables have them, and so have the tables of both copies.

use crate::address::Address;
use crate::reply;
use lang::Graph;
use std::collections::BTreeSet;

/// Classes whose elements bring routes into tables.
const FEEDS: [&str; 2] = ["FPMServer", "KernelRoutes"];
/// The arguments that name a table, by address family.
const FAMILIES: [&str; 2] = ["IPV4", "IPV6"];

/// A table that has routes from outside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Table {
    /// Which of the families.
    family: usize,
    element: String,
}

/// The tables of the running router, with their routes.
#[derive(Debug, Default)]
pub(super) struct Routes {
    tables: Vec<(Table, String)>,
    /// The arguments that give interfaces their outputs.
    outputs: BTreeSet<String>,
}

impl Routes {
    /// Those of the running router, whose graph this is.
    ///
    /// # Errors
    /// Why they cannot be read.
    pub(super) fn read(address: &Address, running: &Graph) -> Result<Routes, String> {
        let mut routes = Routes { tables: Vec::new(), outputs: outputs(running) };
        for table in tables(running) {
            let text = reply::data(address.connect()?.read(&format!("{}.table", table.element), ""))?;
            routes.tables.push((table, text));
        }
        Ok(routes)
    }

    /// The routes of each table of another configuration: those of the running router's table of the same name, or of the only one of the
    /// address family.
    ///
    /// # Errors
    /// That there is no such table, or that the routes' outputs mean something else.
    pub(super) fn of(&self, graph: &Graph) -> Result<Vec<(String, &str)>, String> {
        let wanted = tables(graph);
        if let Some(output) = self.outputs.difference(&outputs(graph)).next().filter(|_| !wanted.is_empty()) {
            return Err(format!("no shadow: '{output}' is no argument of what brings routes any more"));
        }
        let count = |family| wanted.iter().filter(|table| table.family == family).count();
        let of_table = |table: &Table| {
            let mut family = self.tables.iter().filter(|(known, _)| known.family == table.family);
            let same = family.clone().find(|(known, _)| known == table);
            let found = same.or_else(|| match (family.next(), family.next(), count(table.family)) {
                (Some(only), None, 1) => Some(only),
                _ => None,
            });
            let (_, text) = found.ok_or_else(|| {
                format!(
                    "no shadow: '{}' gets routes from outside, and no table of the running router has them",
                    table.element
                )
            })?;
            Ok((table.element.clone(), text.as_str()))
        };
        wanted.iter().map(of_table).collect()
    }
}

/// The tables of a configuration that have routes from outside.
fn tables(graph: &Graph) -> BTreeSet<Table> {
    let mut tables = BTreeSet::new();
    for (feed, arguments) in feeds(graph) {
        for argument in &arguments {
            let Some((keyword, name)) = lang::conf::keyword(argument) else { continue };
            let family = FAMILIES.iter().position(|family| *family == keyword);
            tables.extend(
                family.and_then(|family| Some(Table { family, element: resolved(graph, &feed.name, name)? })),
            );
        }
    }
    tables
}

/// The arguments that give interfaces their outputs.
fn outputs(graph: &Graph) -> BTreeSet<String> {
    let is_output = |argument: &String| {
        argument.split_whitespace().nth(1).is_some_and(|word| word.parse::<u32>().is_ok())
    };
    let all = feeds(graph).flat_map(|(_, arguments)| arguments);
    let is_keyword = |argument: &String| {
        lang::conf::keyword(argument)
            .is_some_and(|(word, _)| word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()))
    };
    all.filter(|argument| is_output(argument) && !is_keyword(argument)).collect()
}

fn feeds(graph: &Graph) -> impl Iterator<Item = (&lang::Element, Vec<String>)> {
    let feeds = graph.elements.iter().filter(|element| FEEDS.contains(&element.class.as_str()));
    feeds.map(|element| (element, lang::conf::split_args(&element.config)))
}

/// The element of a name that an argument of an element has: in its compound, or in one around that.
fn resolved(graph: &Graph, from: &str, name: &str) -> Option<String> {
    let mut scope = from;
    loop {
        scope = scope.rsplit_once('/').map_or("", |(scope, _)| scope);
        let whole = if scope.is_empty() { name.to_owned() } else { format!("{scope}/{name}") };
        if graph.elements.iter().any(|element| element.name == whole) {
            return Some(whole);
        }
        if scope.is_empty() {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(text: &str) -> Graph {
        lang::parse(text, "config", &[]).graph
    }

    fn of_running(text: &str) -> Routes {
        let graph = graph(text);
        let tables =
            tables(&graph).into_iter().map(|table| (table.clone(), format!("routes of {}", table.element)));
        Routes { tables: tables.collect(), outputs: outputs(&graph) }
    }

    const RUNNING: &str =
        "r4 :: IPLookup; r6 :: IP6Lookup; KernelRoutes(eth0 1, HOLD 5, IPV4 r4, IPV6 r6, TABLE 255)";

    /// By its name, or as the only one of its family; a second one has no routes, and other outputs make them wrong.
    #[test]
    fn tables_are_found_by_name_and_family() {
        let running = of_running(RUNNING);
        let of = |text: &str| running.of(&graph(text)).map_err(|error| error.to_string());
        let pair = |name: &str, of: &'static str| (name.to_owned(), of);
        assert_eq!(of(RUNNING), Ok(vec![pair("r4", "routes of r4"), pair("r6", "routes of r6")]));
        let renamed =
            "x :: { input -> t :: IPLookup -> output; FPMServer(eth0 1, eth1 2, IPV4 t) }; Idle -> x -> Idle";
        assert_eq!(of(renamed), Ok(vec![pair("x/t", "routes of r4")]));
        let two =
            "r4 :: IPLookup; s :: IPLookup; KernelRoutes(eth0 1, IPV4 r4); KernelRoutes(eth0 1, IPV4 s)";
        assert!(of(two).unwrap_err().contains("'s' gets routes"));
        assert!(of("r4 :: IPLookup; KernelRoutes(eth0 2, IPV4 r4)").unwrap_err().contains("'eth0 1'"));
        assert_eq!(of("r4 :: IPLookup"), Ok(Vec::new()));
    }
}
