//! The page: a few files, which the program has in itself.

use crate::shared::Shared;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use std::sync::Arc;

const FILES: [(&str, &str, &str); 10] = [
    ("/", "text/html; charset=utf-8", include_str!("index.html")),
    ("/page.css", "text/css; charset=utf-8", include_str!("page.css")),
    ("/page.js", "text/javascript; charset=utf-8", include_str!("page.js")),
    ("/layout.js", "text/javascript; charset=utf-8", include_str!("layout.js")),
    ("/mesh.js", "text/javascript; charset=utf-8", include_str!("mesh.js")),
    ("/flows.js", "text/javascript; charset=utf-8", include_str!("flows.js")),
    ("/manual.js", "text/javascript; charset=utf-8", include_str!("manual.js")),
    ("/rates.js", "text/javascript; charset=utf-8", include_str!("rates.js")),
    ("/trace.js", "text/javascript; charset=utf-8", include_str!("trace.js")),
    ("/tables.js", "text/javascript; charset=utf-8", include_str!("tables.js")),
];

/// Where it is.
pub(crate) fn routes() -> Router<Arc<Shared>> {
    FILES.into_iter().fold(Router::new(), |routes, (path, media_type, text)| {
        routes.route(path, get(move || async move { ([(CONTENT_TYPE, media_type)], text) }))
    })
}
