//! Another configuration in the place of the running one.

use super::answer::{Failure, NOT_READ, ask};
use crate::extract::{Query, Text};
use crate::shared::{Replacement, Shared};
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;

/// How it is to be put in place.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct How {
    /// Only say what would change.
    #[serde(default)]
    dry_run: bool,
    /// Go back unless it is confirmed within so many seconds (`clique confirm`).
    confirm_s: Option<u64>,
}

/// Replaces the configuration by the request's body, which is a configuration's text; the answer says what changed. A configuration that is wrong
/// changes nothing.
#[utoipa::path(post, path = "/api/v1/reload", params(How), request_body(content = String, content_type = "text/plain"),
    responses((status = 200, body = serde_json::Value), (status = 400, description = NOT_READ, body = crate::access::Problem), (status = 413, description = "the configuration is too long"),
        (status = 401, body = crate::access::Problem), (status = 403, body = crate::access::Problem),
        (status = 422, body = crate::access::Problem), (status = 503, body = crate::access::Problem)))]
pub(super) async fn reload(
    State(shared): State<Arc<Shared>>,
    Query(how): Query<How>,
    Text(body): Text,
) -> Response {
    ask(shared, move |shared, _| {
        // A client that forgets the body does not mean a router without elements.
        if body.trim().is_empty() {
            return Err(Failure::Refused("the request has no configuration in its body".to_owned()));
        }
        let replace = shared.source.replace.as_ref().ok_or_else(|| {
            Failure::Refused("this router's configuration cannot be replaced (clique run -R)".to_owned())
        })?;
        replace(Replacement { text: body, dry_run: how.dry_run, confirm_s: how.confirm_s })
            .map_err(Failure::Refused)
    })
    .await
}
