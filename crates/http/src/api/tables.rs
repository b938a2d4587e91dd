//! Tables of elements: routes, neighbours, IPsec associations, the members of a cluster. The elements' handlers say what is in them.

use super::answer::{Failure, NOT_READ, ask};
use super::elements::find;
use crate::extract::{Path, Query};
use crate::shared::Shared;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use router::{Call, Handle, Handler};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Rows of a page, at most.
const MOST: usize = 1000;
/// Rows of a page, unless it is said.
const ROWS: usize = 100;

/// A kind of table, and which elements have one.
struct Kind {
    name: &'static str,
    /// The handler that lists it, a row a line.
    handler: &'static str,
    /// What else such elements have, a metric or a handler: others list something else by a handler of the same name.
    sign: &'static str,
    /// What the words of a line say; the last column has the rest of it.
    columns: &'static [&'static str],
}

static KINDS: [Kind; 5] = [
    Kind {
        name: "routes",
        handler: "table",
        sign: "clique_route_table_routes",
        columns: &["prefix", "gateway", "output", "share"],
    },
    Kind {
        name: "neighbours",
        handler: "neighbours",
        sign: "clique_neighbour_entries",
        columns: &["address", "Ethernet", "state", "seconds"],
    },
    Kind {
        name: "associations",
        handler: "associations",
        sign: "clique_ipsec_associations",
        columns: &["source", "destination", "SPI", "algorithm", "mode", "use"],
    },
    Kind { name: "members", handler: "view", sign: "phase", columns: &["node", "state"] },
    Kind { name: "links", handler: "links", sign: "phase", columns: &["port", "direction", "node", "state"] },
];

/// A table of the running configuration.
#[derive(Serialize, ToSchema)]
struct Table {
    /// `routes`, `neighbours`, `associations`, `members` or `links`.
    kind: &'static str,
    element: String,
    class: &'static str,
    columns: Vec<&'static str>,
}

/// Some rows of a table.
#[derive(Serialize, ToSchema)]
struct Page {
    columns: Vec<&'static str>,
    /// The number of the first row, from 0.
    from: usize,
    /// Rows that there are, of those that were asked for.
    total: usize,
    rows: Vec<Vec<String>>,
}

/// Which rows.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// The number of the first row, from 0.
    #[serde(default)]
    from: usize,
    /// How many, at most 1000; otherwise 100.
    count: Option<usize>,
    /// Of a table of routes only those inside this prefix.
    #[serde(default)]
    within: String,
    /// Only rows that contain this text.
    #[serde(default)]
    find: String,
}

fn has(handle: &Handle, element: usize, kind: &Kind) -> bool {
    let handlers = handle.info().handlers(element).map_or(&[][..], |handlers| handlers.list());
    let listed = |handler: &Handler| handler.name == kind.handler && handler.readable() && !handler.private;
    let told = |handler: &Handler| {
        handler.name == kind.sign || handler.metric.is_some_and(|metric| metric.name == kind.sign)
    };
    handlers.iter().any(listed) && handlers.iter().any(told)
}

/// The tables of the running configuration.
#[utoipa::path(get, path = "/api/v1/tables", responses((status = 200, body = [Table]), (status = 503, body = crate::access::Problem)))]
pub(super) async fn tables(State(shared): State<Arc<Shared>>) -> Response {
    ask(shared, |_, handle| {
        let mut tables = Vec::new();
        for kind in &KINDS {
            let having = handle.info().nodes.iter().enumerate().filter(|(at, _)| has(&handle, *at, kind));
            tables.extend(having.map(|(_, node)| Table {
                kind: kind.name,
                element: node.name.clone(),
                class: node.class.name,
                columns: kind.columns.to_vec(),
            }));
        }
        Ok(tables)
    })
    .await
}

/// Rows of a table, in the element's own order.
#[utoipa::path(get, path = "/api/v1/tables/{kind}/{element}", params(("kind" = String, Path, description = "routes, neighbours, associations, members or links"),
    ("element" = String, Path, description = "The element's name; it may contain slashes."), Which),
    responses((status = 200, body = Page), (status = 400, description = NOT_READ, body = crate::access::Problem), (status = 404, body = crate::access::Problem), (status = 422, body = crate::access::Problem),
        (status = 503, body = crate::access::Problem)))]
pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Path((kind, element)): Path<(String, String)>,
    Query(which): Query<Which>,
) -> Response {
    // The semaphore is never closed.
    let Ok(_place) = shared.listing.acquire().await else { return Failure::Stopped.into_response() };
    ask(shared.clone(), move |_, handle| {
        let missing = || Failure::Missing(format!("element '{element}' has no table of {kind}"));
        let kind = KINDS.iter().find(|known| known.name == kind).ok_or_else(missing)?;
        let at = find(&handle, &element)?;
        if !has(&handle, at, kind) {
            return Err(missing());
        }
        let within = if kind.name == "routes" { which.within.clone() } else { String::new() };
        let list = handle
            .call(Call::read(format!("{element}.{}", kind.handler), within))
            .map_err(|error| Failure::Refused(error.message))?;
        Ok(some(&list, kind.columns, &which))
    })
    .await
}

/// The rows of a list that were asked for.
fn some(list: &str, columns: &[&'static str], which: &Which) -> Page {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let wanted: Vec<&str> = lines.filter(|line| line.contains(&which.find)).collect();
    let count = which.count.unwrap_or(ROWS).min(MOST);
    let rows = wanted.iter().skip(which.from).take(count).map(|line| cells(line, columns.len()));
    Page { columns: columns.to_vec(), from: which.from, total: wanted.len(), rows: rows.collect() }
}

/// The words of a line; the last cell has what is left.
fn cells(line: &str, columns: usize) -> Vec<String> {
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    if words.len() > columns {
        let rest = words.split_off(columns - 1).join(" ");
        words.push(rest);
    }
    words
}

/// What to look up.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Wanted {
    /// An IP address of the table's family.
    address: String,
}

/// Where packets to an address go.
#[derive(Serialize, ToSchema)]
struct Found {
    /// The output of the element; none if they are dropped.
    output: Option<usize>,
    /// The gateway; none where the address itself is on the link.
    gateway: Option<String>,
    /// The element behind the output.
    to: Option<String>,
}

/// Where a table of routes sends packets to an address: of several next hops the one that the hash of the address says.
#[utoipa::path(get, path = "/api/v1/lookup/{element}", params(("element" = String, Path, description = "A lookup element's name; it may contain slashes."), Wanted),
    responses((status = 200, body = Found), (status = 400, description = NOT_READ, body = crate::access::Problem), (status = 404, body = crate::access::Problem), (status = 422, body = crate::access::Problem),
        (status = 503, body = crate::access::Problem)))]
pub(super) async fn lookup(
    State(shared): State<Arc<Shared>>,
    Path(element): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Response {
    ask(shared, move |_, handle| {
        let at = find(&handle, &element)?;
        if !has(&handle, at, &KINDS[0]) {
            return Err(Failure::Missing(format!("element '{element}' has no table of routes")));
        }
        let way = handle
            .call(Call::read(format!("{element}.lookup"), wanted.address))
            .map_err(|error| Failure::Refused(error.message))?;
        let mut words = way.split_whitespace();
        let output = words.next().and_then(|word| word.parse().ok());
        let nodes = &handle.info().nodes;
        let behind = output.and_then(|output: usize| nodes[at].outputs.get(output)?.peers.first());
        Ok(Found {
            output,
            gateway: words.next().map(str::to_owned),
            to: behind.and_then(|(to, _)| nodes.get(*to)).map(|node| node.name.clone()),
        })
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_column_has_what_is_left() {
        assert_eq!(cells("10.0.0.0/8\t\t-\t\t0", 4), ["10.0.0.0/8", "-", "0"]);
        assert_eq!(cells("10.0.0.0/8\t\t-\t\t0\tweight 7", 4), ["10.0.0.0/8", "-", "0", "weight 7"]);
        assert_eq!(cells("a b  c d", 2), ["a", "b c d"]);
        assert_eq!(cells("a b", 3), ["a", "b"]);
    }

    #[test]
    fn pages_are_parts_of_what_was_asked_for() {
        let list = "# head\na 1\nb 2\na 3\n\na 4\n";
        let of = |from, count, find: &str| {
            let which = Which { from, count, within: String::new(), find: find.to_owned() };
            let page = some(list, &["name", "number"], &which);
            (page.total, page.rows.into_iter().map(|row| row.concat()).collect::<Vec<_>>())
        };
        assert_eq!(of(0, None, ""), (4, ["a1", "b2", "a3", "a4"].map(str::to_owned).to_vec()));
        assert_eq!(of(1, Some(2), "a"), (3, ["a3", "a4"].map(str::to_owned).to_vec()));
        assert_eq!(of(9, Some(2), "a"), (3, vec![]));
        assert_eq!(of(0, Some(0), "a"), (3, vec![]));
    }
}
