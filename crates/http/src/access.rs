//! Who may ask what.
//!
//! A browser on this machine may be led by a foreign page: to a name of its own that means 127.0.0.1 (the `Host` is foreign then), or to send a
//! request here on the page's behalf (the `Origin` is foreign then). Both are refused. A writer sends the token
//! (`Authorization: Bearer`, RFC 6750), which no page can guess; without a token nothing can be written.

use crate::shared::Shared;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// What went wrong, for programs.
#[derive(Serialize, ToSchema)]
pub(crate) struct Problem {
    /// A sentence.
    error: String,
}

/// An answer that says what went wrong.
pub(crate) fn problem(status: StatusCode, error: impl Into<String>) -> Response {
    (status, Json(Problem { error: error.into() })).into_response()
}

/// The name in `host[:port]`.
fn host_name(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

fn is_local(host: &str) -> bool {
    let name = host_name(host);
    name == "localhost" || name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

fn text<'h>(headers: &'h HeaderMap, name: &header::HeaderName) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

const HANDLERS: &str = "/api/v1/handlers/";
const RELOAD: &str = "/api/v1/reload";
const TRACE: &str = "/api/v1/trace";

/// Whether a resource can be written by a method.
fn is_written(method: &Method, path: &str) -> bool {
    (method == Method::PUT && path.starts_with(HANDLERS)) || (method == Method::POST && path == RELOAD)
}

/// The methods of a resource (RFC 9110, section 10.2.1).
fn allowed(path: &str) -> &'static str {
    match path {
        RELOAD => "POST",
        path if path.starts_with(HANDLERS) => "GET,HEAD,PUT",
        _ => "GET,HEAD",
    }
}

/// Why a request is refused, if it is.
fn refusal(
    shared: &Shared,
    method: &Method,
    path: &str,
    headers: &HeaderMap,
) -> Option<(StatusCode, &'static str)> {
    let host = text(headers, &header::HOST);
    if shared.local && host.is_some_and(|host| !is_local(host)) {
        return Some((StatusCode::FORBIDDEN, "the request is for another machine"));
    }
    let foreign = |origin: &str| origin.split_once("://").map(|(_, name)| name) != host;
    if text(headers, &header::ORIGIN).is_some_and(foreign) {
        return Some((StatusCode::FORBIDDEN, "the request comes from another site's page"));
    }
    // Browsers say so also where a page asks without reading the answer (Fetch Metadata, "Sec-Fetch-Site"): a trace costs workers time all the same.
    let begins_elsewhere = |headers: &HeaderMap| {
        headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site" || site == "same-site")
    };
    if path == TRACE && begins_elsewhere(headers) {
        return Some((StatusCode::FORBIDDEN, "the request comes from another site's page"));
    }
    if method.is_safe() {
        return None;
    }
    if !is_written(method, path) {
        return Some((StatusCode::METHOD_NOT_ALLOWED, "this method is for other resources"));
    }
    let Some(token) = &shared.token else {
        return Some((
            StatusCode::FORBIDDEN,
            "this server was started without a token: nothing can be written",
        ));
    };
    let given = text(headers, &header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    (!given.is_some_and(|given| token.is(given)))
        .then_some((StatusCode::UNAUTHORIZED, "the token is missing or wrong"))
}

/// Lets requests through that may pass, and says what browsers must not do with answers.
pub(crate) async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let allowed = allowed(request.uri().path());
    let mut response = match refusal(&shared, request.method(), request.uri().path(), request.headers()) {
        Some((status, why)) => problem(status, why),
        None => next.run(request).await,
    };
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'";
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    }
    if response.status() == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine() {
        for host in ["localhost", "localhost:80", "127.0.0.1", "127.9.9.9:1", "[::1]", "[::1]:80"] {
            assert!(is_local(host), "{host}");
        }
        for host in [
            "",
            "example.org",
            "example.org:80",
            "10.0.0.1",
            "[2001:db8::1]:80",
            "localhost.example.org",
            "127.0.0.1.example.org",
        ] {
            assert!(!is_local(host), "{host}");
        }
    }
}
