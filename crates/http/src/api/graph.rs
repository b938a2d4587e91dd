//! The configuration as a graph.

use super::answer::ask;
use crate::shared::Shared;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// An element. Names of elements within compound elements have slashes.
#[derive(Serialize, ToSchema)]
#[schema(as = GraphElement)]
struct Element {
    name: String,
    class: &'static str,
    config: String,
    /// The file and line where it is declared.
    landmark: String,
    /// The workers that run it.
    workers: Vec<usize>,
    inputs: usize,
    outputs: usize,
    /// Whether each packet that comes in goes out at once or is dropped: elements of the class make, absorb and hold none.
    passes: bool,
}

/// A connection: indices of elements, and ports.
#[derive(Serialize, ToSchema)]
struct Connection {
    from: usize,
    from_port: usize,
    to: usize,
    to_port: usize,
    /// Whether packets are pushed along it; otherwise they are pulled.
    push: bool,
}

/// All elements and their connections.
#[derive(Serialize, ToSchema)]
struct Graph {
    elements: Vec<Element>,
    connections: Vec<Connection>,
}

/// The configuration as a graph, compound elements resolved.
#[utoipa::path(get, path = "/api/v1/graph", responses((status = 200, body = Graph), (status = 503, body = crate::access::Problem)))]
pub(super) async fn graph(State(shared): State<Arc<Shared>>) -> Response {
    ask(shared, |_, handle| {
        let info = handle.info();
        let element = |node: &router::Node| Element {
            name: node.name.clone(),
            class: node.class.name,
            config: node.class.shown(&node.config, &info.key_names),
            landmark: node.landmark.to_string(),
            workers: node.workers.clone(),
            inputs: node.inputs.len(),
            outputs: node.outputs.len(),
            passes: [node.class.makes, node.class.absorbs, node.class.holds] == [""; 3],
        };
        let mut connections = Vec::new();
        for (from, node) in info.nodes.iter().enumerate() {
            for (from_port, port) in node.outputs.iter().enumerate() {
                let connection = |&(to, to_port): &(usize, usize)| Connection {
                    from,
                    from_port,
                    to,
                    to_port,
                    push: port.push,
                };
                connections.extend(port.peers.iter().map(connection));
            }
        }
        Ok(Graph { elements: info.nodes.iter().map(element).collect(), connections })
    })
    .await
}
