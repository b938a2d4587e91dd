//! The resources below `/api/v1`.

mod answer;
mod elements;
mod events;
mod flows;
mod graph;
mod manuals;
mod reload;
mod state;
mod tables;
pub(crate) mod trace;

use crate::access::{Problem, problem};
use crate::shared::Shared;
use axum::http::StatusCode;
use axum::routing::{get, post};
use std::sync::{Arc, LazyLock};
use utoipa::OpenApi;

/// What OpenAPI says of all resources, made from the code that serves them.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Clique",
        description = "A running router. Writing needs the token with which the server was started."
    ),
    paths(
        state::router,
        state::state,
        state::drops,
        state::history,
        state::runtime,
        graph::graph,
        elements::elements,
        elements::element,
        elements::read,
        elements::write,
        tables::tables,
        tables::page,
        tables::lookup,
        flows::flows,
        manuals::manual,
        events::events,
        trace::trace,
        reload::reload
    ),
    components(schemas(Problem, trace::End))
)]
struct Description;

static DESCRIPTION: LazyLock<String> = LazyLock::new(|| Description::openapi().to_json().unwrap_or_default());

/// Where they are.
pub(crate) fn routes() -> axum::Router<Arc<Shared>> {
    axum::Router::new()
        .route("/api/v1", get(state::router))
        .route("/api/v1/state", get(state::state))
        .route("/api/v1/drops", get(state::drops))
        .route("/api/v1/history", get(state::history))
        .route("/api/v1/runtime", get(state::runtime))
        .route("/api/v1/graph", get(graph::graph))
        .route("/api/v1/elements", get(elements::elements))
        .route("/api/v1/elements/{*name}", get(elements::element))
        .route("/api/v1/handlers/{*path}", get(elements::read).put(elements::write))
        .route("/api/v1/tables", get(tables::tables))
        .route("/api/v1/tables/{kind}/{*element}", get(tables::page))
        .route("/api/v1/lookup/{*element}", get(tables::lookup))
        .route("/api/v1/flows", get(flows::flows))
        .route("/api/v1/manuals/{class}", get(manuals::manual))
        .route("/api/v1/events", get(events::events))
        .route("/api/v1/trace", get(trace::trace))
        .route("/api/v1/reload", post(reload::reload))
        .route(
            "/api/v1/openapi.json",
            get(async || ([("content-type", "application/json")], DESCRIPTION.as_str())),
        )
        .fallback(async || {
            problem(StatusCode::NOT_FOUND, "there is no such resource; /api/v1/openapi.json lists them")
        })
        .method_not_allowed_fallback(async || {
            problem(StatusCode::METHOD_NOT_ALLOWED, "this method is for other resources")
        })
}
