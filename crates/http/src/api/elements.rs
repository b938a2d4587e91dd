//! Elements and their handlers.

use super::answer::{Failure, NOT_READ, ask};
use crate::extract::{Path, Query, Text};
use crate::shared::Shared;
use axum::extract::State;
use axum::response::Response;
use router::{Call, Handle};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// An element by name and class.
#[derive(Serialize, ToSchema)]
struct Named {
    name: String,
    class: &'static str,
}

/// A handler.
#[derive(Serialize, ToSchema)]
struct Handler {
    name: String,
    read: bool,
    write: bool,
    /// Whether a read takes an argument.
    argument: bool,
}

/// An element and what can be asked of it.
#[derive(Serialize, ToSchema)]
struct Element {
    name: String,
    class: &'static str,
    config: String,
    landmark: String,
    workers: Vec<usize>,
    handlers: Vec<Handler>,
}

/// What a handler said.
#[derive(Serialize, ToSchema)]
struct Value {
    value: String,
}

/// What a reader of a handler says.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Parameter {
    /// The argument, if the handler takes one.
    #[serde(default)]
    argument: String,
}

/// All elements.
#[utoipa::path(get, path = "/api/v1/elements", responses((status = 200, body = [Named]), (status = 503, body = crate::access::Problem)))]
pub(super) async fn elements(State(shared): State<Arc<Shared>>) -> Response {
    ask(shared, |_, handle| {
        let named = |node: &router::Node| Named { name: node.name.clone(), class: node.class.name };
        Ok(handle.info().nodes.iter().map(named).collect::<Vec<_>>())
    })
    .await
}

/// An element and its handlers.
#[utoipa::path(get, path = "/api/v1/elements/{name}", params(("name" = String, Path, description = "The element's name; it may contain slashes.")),
    responses((status = 200, body = Element), (status = 400, description = NOT_READ, body = crate::access::Problem),
        (status = 404, body = crate::access::Problem), (status = 503, body = crate::access::Problem)))]
pub(super) async fn element(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Response {
    ask(shared, move |_, handle| {
        let at = find(&handle, &name)?;
        let (info, mut handlers) = (handle.info(), Vec::new());
        let node = &info.nodes[at];
        for handler in info
            .handlers(at)
            .map_or(&[][..], |handlers| handlers.list())
            .iter()
            .filter(|handler| !handler.private)
        {
            let (read, write) = (handler.readable(), handler.writable());
            handlers.push(Handler { name: handler.name.clone(), read, write, argument: handler.parameter });
        }
        handlers.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Element {
            name: node.name.clone(),
            class: node.class.name,
            config: node.class.shown(&node.config, &info.key_names),
            landmark: node.landmark.to_string(),
            workers: node.workers.clone(),
            handlers,
        })
    })
    .await
}

/// The number of the element with a name.
pub(super) fn find(handle: &Handle, name: &str) -> Result<usize, Failure> {
    handle.info().find(name, None).ok_or_else(|| Failure::Missing(format!("there is no element '{name}'")))
}

/// A handler that others than this program may call.
fn public(handle: &Handle, path: &str) -> Result<(), Failure> {
    let missing = || Failure::Missing(format!("there is no handler '{path}'; it is written ELEMENT.HANDLER"));
    let (element, name) = path.rsplit_once('.').ok_or_else(missing)?;
    let at = find(handle, element)?;
    let handlers = handle.info().handlers(at).ok_or_else(missing)?;
    let known = handlers.find(name).is_some_and(|at| !handlers.list()[at].private);
    // Every element has some handlers that it need not declare.
    let readable = Call::read(path, "").check(handle.info()).is_ok()
        || Call::write(path, "").check(handle.info()).is_ok();
    (known || (handlers.find(name).is_none() && readable)).then_some(()).ok_or_else(missing)
}

/// Reads a handler.
#[utoipa::path(get, path = "/api/v1/handlers/{path}", params(("path" = String, Path, description = "ELEMENT.HANDLER; the element's name may contain slashes."), Parameter),
    responses((status = 200, body = Value), (status = 400, description = NOT_READ, body = crate::access::Problem), (status = 404, body = crate::access::Problem), (status = 422, body = crate::access::Problem), (status = 503, body = crate::access::Problem)))]
pub(super) async fn read(
    State(shared): State<Arc<Shared>>,
    Path(path): Path<String>,
    Query(parameter): Query<Parameter>,
) -> Response {
    ask(shared, move |_, handle| {
        public(&handle, &path)?;
        let value = handle
            .call(Call::read(path, parameter.argument))
            .map_err(|error| Failure::Refused(error.message))?;
        Ok(Value { value })
    })
    .await
}

/// Writes a handler: the body is the value.
#[utoipa::path(put, path = "/api/v1/handlers/{path}", params(("path" = String, Path, description = "ELEMENT.HANDLER")), request_body(content = Option<String>, content_type = "text/plain"),
    responses((status = 200, body = Value), (status = 400, description = NOT_READ, body = crate::access::Problem), (status = 413, description = "the value is too long"),
        (status = 401, body = crate::access::Problem), (status = 403, body = crate::access::Problem),
        (status = 404, body = crate::access::Problem), (status = 422, body = crate::access::Problem), (status = 503, body = crate::access::Problem)))]
pub(super) async fn write(
    State(shared): State<Arc<Shared>>,
    Path(path): Path<String>,
    Text(body): Text,
) -> Response {
    ask(shared, move |_, handle| {
        public(&handle, &path)?;
        let value = handle.call(Call::write(path, body)).map_err(|error| Failure::Refused(error.message))?;
        Ok(Value { value })
    })
    .await
}
