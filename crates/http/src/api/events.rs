//! Events as they happen (server-sent events, as HTML's standard has them).

use super::answer::Failure;
use crate::shared::Shared;
use axum::extract::{Query, State};
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

/// Which events.
#[derive(Deserialize, IntoParams)]
pub(super) struct Topics {
    /// Topics with commas between them; all, if there are none.
    #[serde(default)]
    topics: String,
}

/// Events of the router that runs, as they happen, until another configuration takes its place: then the stream ends, and a client asks anew.
#[utoipa::path(get, path = "/api/v1/events", params(Topics), responses((status = 200, body = String, content_type = "text/event-stream"),
    (status = 503, body = crate::access::Problem)))]
pub(super) async fn events(State(shared): State<Arc<Shared>>, Query(topics): Query<Topics>) -> Response {
    let Some(handle) = (shared.source.current)() else { return Failure::Stopped.into_response() };
    let topics = topics.topics.split(',').filter(|topic| !topic.is_empty()).map(str::to_owned).collect();
    let events = handle.info().events.subscribe(topics);
    let still = move || (shared.source.current)().is_some_and(|now| Arc::ptr_eq(now.info(), handle.info()));
    let stream = futures_util::stream::unfold((events, still), |(events, still)| async move {
        loop {
            match events.try_recv() {
                Ok(text) => return Some((Ok::<_, Infallible>(Event::default().data(text)), (events, still))),
                Err(TryRecvError::Empty) if still() => tokio::time::sleep(STEP).await,
                Err(_) => return None,
            }
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::default()).into_response()
}
