//! Events as they happen (server-sent events, as HTML's standard has them).

use super::answer::{Failure, NOT_READ};
use crate::access::problem;
use crate::extract::Query;
use crate::shared::Shared;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::TryRecvError;
use std::time::Duration;
use utoipa::IntoParams;

/// How often the stream looks for events.
const STEP: Duration = Duration::from_millis(100);

/// Why there is no other stream.
pub(super) const TOO_MANY: &str = "there are as many streams of events as there may be";

/// Which events.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Topics {
    /// Topics with commas between them; all, if there are none.
    #[serde(default)]
    topics: String,
}

/// Events of the router that runs, as they happen, until another configuration takes its place: then the stream ends, and a client asks anew. There
/// are at most 16 such streams.
#[utoipa::path(get, path = "/api/v1/events", params(Topics), responses((status = 200, body = String, content_type = "text/event-stream"),
    (status = 400, description = NOT_READ, body = crate::access::Problem),
    (status = 503, body = crate::access::Problem)))]
pub(super) async fn events(State(shared): State<Arc<Shared>>, Query(topics): Query<Topics>) -> Response {
    let Some(handle) = (shared.source.current)() else { return Failure::Stopped.into_response() };
    let Ok(place) = shared.streams.clone().try_acquire_owned() else {
        return problem(StatusCode::SERVICE_UNAVAILABLE, TOO_MANY);
    };
    let topics = topics.topics.split(',').filter(|topic| !topic.is_empty()).map(str::to_owned).collect();
    let events = handle.info().events.subscribe(topics);
    let still = move || (shared.source.current)().is_some_and(|now| Arc::ptr_eq(now.info(), handle.info()));
    let stream = futures_util::stream::unfold((events, still, place), |(events, still, place)| async move {
        loop {
            match events.try_recv() {
                Ok(text) => {
                    let event = Event::default().data(text);
                    return Some((Ok::<_, Infallible>(event), (events, still, place)));
                }
                Err(TryRecvError::Empty) if still() => tokio::time::sleep(STEP).await,
                Err(_) => return None,
            }
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::default()).into_response()
}
