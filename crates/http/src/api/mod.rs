//! The resources below `/api/v1`.

mod elements;
mod events;
mod graph;
mod reload;
mod state;

use crate::access::{Problem, problem};
use crate::server::Shared;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use router::Handle;
use serde::Serialize;
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
        graph::graph,
        elements::elements,
        elements::element,
        elements::read,
        elements::write,
        events::events,
        reload::reload
    ),
    components(schemas(Problem))
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
        .route("/api/v1/graph", get(graph::graph))
        .route("/api/v1/elements", get(elements::elements))
        .route("/api/v1/elements/{*name}", get(elements::element))
        .route("/api/v1/handlers/{*path}", get(elements::read).put(elements::write))
        .route("/api/v1/events", get(events::events))
        .route("/api/v1/reload", post(reload::reload))
        .route(
            "/api/v1/openapi.json",
            get(async || ([("content-type", "application/json")], DESCRIPTION.as_str())),
        )
        .fallback(async || {
            problem(StatusCode::NOT_FOUND, "there is no such resource; /api/v1/openapi.json lists them")
        })
}

/// Answers with what a router says, on a thread that may wait for it.
async fn ask<T: Serialize + Send + 'static>(
    shared: Arc<Shared>,
    question: impl FnOnce(&Shared, Handle) -> Result<T, Failure> + Send + 'static,
) -> Response {
    let answer = move || {
        let handle = (shared.source.current)().ok_or(Failure::Stopped)?;
        question(&shared, handle)
    };
    match tokio::task::spawn_blocking(answer).await {
        Ok(Ok(value)) => Json(value).into_response(),
        Ok(Err(failure)) => failure.into_response(),
        Err(_) => {
            problem(StatusCode::INTERNAL_SERVER_ERROR, "a fault of the program: the standard error says more")
        }
    }
}

/// Why there is no answer.
enum Failure {
    /// There is no such thing.
    Missing(String),
    /// A handler or a configuration refuses.
    Refused(String),
    /// The router has stopped.
    Stopped,
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Failure::Missing(what) => problem(StatusCode::NOT_FOUND, what),
            Failure::Refused(why) => problem(StatusCode::UNPROCESSABLE_ENTITY, why),
            Failure::Stopped => problem(StatusCode::SERVICE_UNAVAILABLE, "the router has stopped"),
        }
    }
}
