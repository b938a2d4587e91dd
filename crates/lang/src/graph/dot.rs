//! Graphs in the language of Graphviz.

use super::Graph;
use std::fmt::Write;

/// Escapes text for a quoted string that is a record label.
fn label(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' | '{' | '}' | '<' | '>' | '|' | ' ' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out
}

/// A row of ports: `{<i0> 0|<i1> 1}|`, or nothing.
fn row(prefix: char, count: u32) -> String {
    let ports: Vec<String> = (0..count).map(|p| format!("<{prefix}{p}> {p}")).collect();
    if ports.is_empty() { String::new() } else { format!("{{{}}}", ports.join("|")) }
}

/// The graph in the DOT language: a record for each element, with its name, class and used ports.
pub fn dot(graph: &Graph) -> String {
    let mut out = String::from("digraph click {\n  node [shape=record];\n");
    for (i, (e, (inputs, outputs))) in graph.elements.iter().zip(graph.used_ports()).enumerate() {
        let text = format!("{}\\n{}", label(&e.name), label(&e.class));
        let rows: Vec<String> =
            [row('i', inputs), text, row('o', outputs)].into_iter().filter(|r| !r.is_empty()).collect();
        let _ = writeln!(out, "  e{i} [label=\"{{{}}}\"];", rows.join("|"));
    }
    for c in &graph.connections {
        let (from, to) = (c.from, c.to);
        let _ = writeln!(out, "  e{}:o{} -> e{}:i{};", from.element, from.port, to.element, to.port);
    }
    out.push_str("}\n");
    out
}
