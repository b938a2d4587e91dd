//! Answers: what a router says, or why there is none.

use crate::access::problem;
use crate::shared::Shared;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use router::Handle;
use serde::Serialize;
use std::sync::Arc;

/// Why a request is bad whatever the router says.
pub(super) const NOT_READ: &str = "the path, the parameters or the body cannot be read";

/// Answers with what a router says, on a thread that may wait for it.
pub(super) async fn ask<T: Serialize + Send + 'static>(
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
pub(super) enum Failure {
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
