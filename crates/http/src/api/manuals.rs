//! The manuals of element classes.

use super::answer::{Failure, NOT_READ, ask};
use crate::extract::Path;
use crate::shared::Shared;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// What is known of a class; ports, processing and flow in Click's notation.
#[derive(Serialize, ToSchema)]
struct Manual {
    class: &'static str,
    /// The class of which this is another name.
    alias_of: Option<&'static str>,
    ports: &'static str,
    processing: &'static str,
    flow: &'static str,
    /// Packets that its elements make, absorb and hold, in a few words.
    makes: &'static str,
    absorbs: &'static str,
    holds: &'static str,
    /// Whether a write to `config` gives an element new arguments while it runs.
    live: bool,
    /// The manual, in Markdown.
    text: String,
}

/// The manual of a class that has elements in the running configuration.
#[utoipa::path(get, path = "/api/v1/manuals/{class}", params(("class" = String, Path, description = "The class's name")),
    responses((status = 200, body = Manual), (status = 400, description = NOT_READ, body = crate::access::Problem),
        (status = 404, body = crate::access::Problem), (status = 503, body = crate::access::Problem)))]
pub(super) async fn manual(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Response {
    ask(shared, move |_, handle| {
        let node = handle.info().nodes.iter().find(|node| node.class.name == name);
        let node = node
            .ok_or_else(|| Failure::Missing(format!("the configuration has no element of class '{name}'")))?;
        let class = node.class;
        Ok(Manual {
            class: class.name,
            alias_of: class.alias_of,
            ports: class.ports,
            processing: class.processing,
            flow: class.flow,
            makes: class.makes,
            absorbs: class.absorbs,
            holds: class.holds,
            live: class.live,
            text: text(class.doc),
        })
    })
    .await
}

/// The text of a documentation comment.
fn text(comment: &str) -> String {
    let lines = comment.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_manual_ends_with_its_comment() {
        assert_eq!(super::text("//! One.\n//!\n//!   - two\n\nuse x;\n//! three\n"), "One.\n\n  - two\n");
    }
}
