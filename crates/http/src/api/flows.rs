//! Flows that elements remember: connections, translations, next hops, the largest of an accounting. The elements' handlers tell of them.

use super::answer::{Failure, NOT_READ, ask};
use super::elements::find;
use crate::extract::Query;
use crate::shared::Shared;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use router::{Call, Handle};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Flows of a page, at most.
const MOST: usize = 1000;
/// Flows of a page, unless it is said.
const ROWS: usize = 100;
/// Flows of an element that are listed, at most: a filter finds others.
const LISTED: usize = 10_000;

/// The handlers of an element that tell of its flows. They take a filter.
struct Tells {
    /// Lists them as JSON.
    list: &'static str,
    /// Counts them; none where only the largest are known.
    count: Option<&'static str>,
    /// The room for flows, where that may be none.
    capacity: Option<&'static str>,
}

/// What knows connections, what remembers the next hops of flows, and what accounts for flows.
static TELLS: [Tells; 3] = [
    Tells { list: "flows_json", count: Some("count"), capacity: None },
    Tells { list: "flow_json", count: Some("flow_count"), capacity: Some("flow_capacity") },
    Tells { list: "largest_json", count: None, capacity: None },
];

/// Which flows.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// Those of this element; without it, those of all elements that remember any.
    element: Option<String>,
    /// `tcp`, `udp`, `proto N`, `src NET`, `dst NET`, `host NET`, `sport N`, `dport N`, `port N`, `state STATE`, `assured`, `unassured`, `replied`,
    /// `unreplied`, with spaces between them.
    #[serde(default)]
    filter: String,
    /// The number of the first flow, from 0.
    #[serde(default)]
    from: usize,
    /// How many, at most 1000; otherwise 100.
    count: Option<usize>,
}

/// An element that remembers flows.
#[derive(Serialize, ToSchema)]
struct Holder {
    element: String,
    class: &'static str,
    /// The flows that were asked for; of the largest, as many as are listed.
    flows: usize,
}

/// A flow: the element's own words, as `clique ctl flows --json` has them.
#[derive(Serialize, ToSchema)]
struct Flow {
    element: String,
    /// An object: `protocol`, `source`, `sport`, `destination`, `dport` and others.
    flow: Value,
}

/// Some flows.
#[derive(Serialize, ToSchema)]
struct Flows {
    /// The elements that were asked.
    elements: Vec<Holder>,
    /// The number of the first flow, from 0.
    from: usize,
    /// Flows that there are, of those that were asked for.
    total: usize,
    flows: Vec<Flow>,
}

/// How an element tells of flows; `None` of one that remembers none.
fn tells(handle: &Handle, element: usize) -> Option<&'static Tells> {
    let handlers = handle.info().handlers(element)?;
    let has = |name: &str| {
        handlers.find(name).is_some_and(|at| handlers.list()[at].readable() && !handlers.list()[at].private)
    };
    let tells = TELLS.iter().find(|tells| has(tells.list))?;
    // A look-up of routes remembers no flows unless it is told to.
    let name = &handle.info().nodes[element].name;
    let room = |capacity| handle.call(Call::read(format!("{name}.{capacity}"), "")).ok()?.trim().parse().ok();
    tells.capacity.is_none_or(|capacity| room(capacity) != Some(0_usize)).then_some(tells)
}

/// The flows of the running configuration, element by element: the first 10,000 of each, a page at a time.
#[utoipa::path(get, path = "/api/v1/flows", params(Which), responses((status = 200, body = Flows), (status = 400, description = NOT_READ, body = crate::access::Problem),
    (status = 404, body = crate::access::Problem), (status = 422, body = crate::access::Problem), (status = 503, body = crate::access::Problem)))]
pub(super) async fn flows(State(shared): State<Arc<Shared>>, Query(which): Query<Which>) -> Response {
    // The semaphore is never closed.
    let Ok(_place) = shared.listing.acquire().await else { return Failure::Stopped.into_response() };
    ask(shared.clone(), move |_, handle| {
        if which.filter.split_whitespace().any(|word| word == "limit") {
            return Err(Failure::Refused("'count' says how many flows are wanted".to_owned()));
        }
        let nodes = &handle.info().nodes;
        let asked: Vec<(usize, &Tells)> = match &which.element {
            None => (0..nodes.len()).filter_map(|at| Some((at, tells(&handle, at)?))).collect(),
            Some(name) => {
                let at = find(&handle, name)?;
                let missing = || Failure::Missing(format!("element '{name}' remembers no flows"));
                vec![(at, tells(&handle, at).ok_or_else(missing)?)]
            }
        };
        let mut page = Flows { elements: Vec::new(), from: which.from, total: 0, flows: Vec::new() };
        for (at, tells) in asked {
            add(&handle, at, tells, &which, &mut page)?;
        }
        Ok(page)
    })
    .await
}

/// Adds an element's flows to a page, those that belong there.
fn add(handle: &Handle, at: usize, tells: &Tells, which: &Which, page: &mut Flows) -> Result<(), Failure> {
    let node = &handle.info().nodes[at];
    let read = |handler: &str, filter: String| {
        let call = Call::read(format!("{}.{handler}", node.name), filter);
        handle.call(call).map_err(|error| Failure::Refused(error.message))
    };
    let wanted = which.count.unwrap_or(ROWS).min(MOST).saturating_sub(page.flows.len());
    let skipped = which.from.saturating_sub(page.total);
    let most = skipped.saturating_add(wanted).min(LISTED);
    let counted = match tells.count {
        Some(count) => Some(read(count, which.filter.clone())?.trim().parse::<usize>().unwrap_or(0)),
        None => None,
    };
    // What is on none of this page is not listed.
    let is_here = wanted > 0 && counted.is_none_or(|counted| skipped < counted);
    let limit = if counted.is_some() { most } else { LISTED };
    let mut listed = 0;
    if is_here || counted.is_none() {
        let list = read(tells.list, format!("{} limit {limit}", which.filter))?;
        let known = objects(&list)
            .map_err(|error| Failure::Refused(format!("{} lists no JSON: {error}", node.name)))?;
        listed = known.len();
        let flow = |flow| Flow { element: node.name.clone(), flow };
        page.flows.extend(known.into_iter().skip(skipped).take(wanted).map(flow));
    }
    let flows = counted.unwrap_or(listed);
    page.total += flows;
    page.elements.push(Holder { element: node.name.clone(), class: node.class.name, flows });
    Ok(())
}

/// The flows in a list: arrays, one of each worker, or an object a line.
fn objects(list: &str) -> serde_json::Result<Vec<Value>> {
    let mut found = Vec::new();
    for value in serde_json::Deserializer::from_str(list).into_iter() {
        match value? {
            Value::Array(flows) => found.extend(flows),
            flow => found.push(flow),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_arrays_or_lines() {
        let numbers = |list: &str| {
            objects(list).map(|found| found.iter().map(Value::to_string).collect::<Vec<_>>().concat())
        };
        assert_eq!(numbers("").unwrap(), "");
        assert_eq!(numbers("[1,2]\n[]\n[3]\n").unwrap(), "123");
        assert_eq!(numbers("1\n2\n").unwrap(), "12");
        assert!(numbers("[1,").is_err());
    }
}
