//! The ways of packets, step by step, as they happen (server-sent events, as HTML's standard has them).

use super::answer::Failure;
use crate::access::problem;
use crate::extract::Query;
use crate::shared::Shared;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use router::{Handle, Info, Observer, Trace, TraceStep, Tracing, View, What};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;
use utoipa::{IntoParams, ToSchema};

/// How often the stream looks for steps.
const STEP: Duration = Duration::from_millis(20);
/// How long the last packets are given to come to their ends.
const LINGER: Duration = Duration::from_millis(500);
/// What is followed unless it is said.
const PACKETS: u32 = 20;
const SECONDS: u64 = 10;
/// A trace's time, at most.
const SECONDS_MAX: u64 = 3_600;

/// Which packets.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Wanted {
    /// A pattern of IPClassifier, `dst 10.0.0.0/8 and tcp` for instance; all packets without one.
    #[serde(default)]
    filter: String,
    /// Follow so many, 1 to 10,000; otherwise 20.
    packets: Option<u32>,
    /// Stop after so many seconds, 1 to 3,600; otherwise 10.
    seconds: Option<u64>,
}

/// A step of a packet, before the element does anything to it.
#[derive(Serialize, ToSchema)]
#[schema(as = TraceStep)]
pub(super) struct Step<'a> {
    /// The packet's number, from 0: its copies, and what elements have made because of it, have the same.
    packet: u32,
    worker: usize,
    element: &'a str,
    class: &'static str,
    /// `starts`, `arrives`, `dropped`, `kept` or `ends`.
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<usize>,
    /// What the element says of its decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<&'a str>,
    /// Why the packet was dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    seen: Seen,
}

/// What a packet looked like.
#[derive(Serialize, ToSchema)]
struct Seen {
    /// Nanoseconds since 1970.
    at_ns: i64,
    /// Bytes that it had.
    len: usize,
    /// A line about its headers, from a program that reads them.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// Its first bytes, in base64 (RFC 4648).
    bytes: String,
}

/// The last event of a trace.
#[derive(Serialize, ToSchema)]
#[schema(as = TraceEnd)]
pub(super) struct End {
    /// True.
    end: bool,
    /// Packets that were followed.
    packets: u32,
    /// Steps that were lost because there were too many.
    lost: u64,
}

/// Follows packets through the router, and tells each of their steps as it happens; the last event says `end`. The trace is over with the packets, the
/// time, the router's configuration, or the connection. One runs at a time, those of control sockets included.
#[utoipa::path(get, path = "/api/v1/trace", params(Wanted), responses((status = 200, description = "events with the data of TraceStep, and one with that of TraceEnd",
    body = Step<'static>, content_type = "text/event-stream"), (status = 400, description = "the parameters cannot be read, or the filter is wrong", body = crate::access::Problem),
    (status = 409, description = "another trace runs", body = crate::access::Problem), (status = 503, body = crate::access::Problem)))]
pub(super) async fn trace(State(shared): State<Arc<Shared>>, Query(wanted): Query<Wanted>) -> Response {
    let Some(handle) = (shared.source.current)() else { return Failure::Stopped.into_response() };
    let (packets, seconds) = (wanted.packets.unwrap_or(PACKETS), wanted.seconds.unwrap_or(SECONDS));
    let most = Trace::PACKETS_MAX;
    if !(1..=most).contains(&packets) || !(1..=SECONDS_MAX).contains(&seconds) {
        let bounds = format!("a trace follows 1 to {most} packets for 1 to {SECONDS_MAX} seconds");
        return problem(StatusCode::BAD_REQUEST, bounds);
    }
    let Ok(place) = shared.streams.clone().try_acquire_owned() else {
        return problem(StatusCode::SERVICE_UNAVAILABLE, super::events::TOO_MANY);
    };
    let observer = Observer::new(handle.clone());
    if let Err(error) = observer.filter(&wanted.filter) {
        return problem(StatusCode::BAD_REQUEST, error.message);
    }
    // Its filter is right.
    let trace = match observer.trace(&wanted.filter, packets, Duration::from_secs(seconds)) {
        Ok(trace) => trace,
        Err(error) => return problem(StatusCode::CONFLICT, error.message),
    };
    let watched = Watched { shared, handle, trace, last: Instant::now(), has_ended: false, _place: place };
    let stream = futures_util::stream::unfold(watched, async |mut watched| {
        let data = watched.next().await?;
        Some((Ok::<_, Infallible>(Event::default().data(data.to_string())), watched))
    });
    Sse::new(stream).keep_alive(KeepAlive::default()).into_response()
}

/// A trace and its client. The trace ends when this is dropped, as it is when the connection is gone.
struct Watched {
    shared: Arc<Shared>,
    handle: Handle,
    trace: Tracing,
    /// When a step was told last.
    last: Instant,
    has_ended: bool,
    _place: OwnedSemaphorePermit,
}

impl Watched {
    /// What is to be told next; nothing behind the end.
    async fn next(&mut self) -> Option<Value> {
        while !self.has_ended {
            // Asked first: what comes meanwhile is still told.
            let is_over = self.is_over();
            if let Some(step) = self.trace.next() {
                self.last = Instant::now();
                return Some((self.shared.tell)(self.handle.info(), &step));
            }
            if is_over {
                self.has_ended = true;
                let end = End { end: true, packets: self.trace.begun(), lost: self.trace.lost() };
                return Some(json!(end));
            }
            tokio::time::sleep(STEP).await;
        }
        None
    }

    fn is_over(&self) -> bool {
        let current = (self.shared.source.current)();
        let is_replaced = !current.is_some_and(|now| Arc::ptr_eq(now.info(), self.handle.info()));
        is_replaced || self.trace.is_over() || self.trace.is_full() && self.last.elapsed() > LINGER
    }
}

/// A step, without a line about the packet's headers.
pub(crate) fn plain(info: &Info, step: &TraceStep) -> Value {
    let node = &info.nodes[step.element];
    let (what, input, because, reason) = match &step.what {
        What::Starts => ("starts", None, None, None),
        What::Arrives { port, because } => ("arrives", Some(*port), because.as_deref(), None),
        What::Dropped(reason) => ("dropped", None, None, Some(*reason)),
        What::Kept => ("kept", None, None, None),
        What::Ends => ("ends", None, None, None),
    };
    let View { at_ns, len, ref bytes, .. } = step.view;
    json!(Step {
        packet: step.packet,
        worker: step.worker,
        element: &node.name,
        class: node.class.name,
        what,
        input,
        because,
        reason,
        seen: Seen { at_ns, len, summary: None, bytes: base64(bytes) },
    })
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let number =
            (0..3).fold(0, |number, at| number << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * at) & 63) as usize];
            text.push(if at > three.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    /// The vectors of RFC 4648, section 10.
    #[test]
    fn base64_has_the_digits_of_the_standard() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
        assert_eq!(super::base64(&[0xfb, 0xff, 0xbf]), "+/+/");
    }
}
