//! Graphs as JSON.

use super::{Graph, Port};
use std::fmt::Write;

/// Text as a JSON string.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A list of values, a line each.
pub(crate) fn list(name: &str, values: Vec<String>) -> String {
    if values.is_empty() {
        return format!("  \"{name}\": []");
    }
    format!("  \"{name}\": [\n    {}\n  ]", values.join(",\n    "))
}

/// The graph as JSON: an object with `requirements`, `elements` (name, class, config, landmark, used
/// inputs and outputs) and `connections` (element names and ports, landmark).
pub fn json(graph: &Graph) -> String {
    let requirement = |r: &super::Requirement| {
        format!("{{\"kind\": {}, \"value\": {}}}", string(&r.kind), string(&r.value))
    };
    let requirements = graph.requirements.iter().map(requirement).collect();
    let mut elements = Vec::new();
    for (e, (inputs, outputs)) in graph.elements.iter().zip(graph.used_ports()) {
        elements.push(format!(
            "{{\"name\": {}, \"class\": {}, \"config\": {}, \"landmark\": {}, \"inputs\": {inputs}, \
             \"outputs\": {outputs}}}",
            string(&e.name),
            string(&e.class),
            string(&e.config),
            string(&e.landmark.to_string()),
        ));
    }
    let end = |port: Port| {
        format!("{{\"element\": {}, \"port\": {}}}", string(&graph.elements[port.element].name), port.port)
    };
    let connection = |c: &super::Connection| {
        let landmark = string(&c.landmark.to_string());
        format!("{{\"from\": {}, \"to\": {}, \"landmark\": {landmark}}}", end(c.from), end(c.to))
    };
    let connections = graph.connections.iter().map(connection).collect();
    format!(
        "{{\n{},\n{},\n{}\n}}\n",
        list("requirements", requirements),
        list("elements", elements),
        list("connections", connections)
    )
}
