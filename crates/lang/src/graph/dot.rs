//! Graphs in the language of Graphviz.

use super::Graph;
use std::collections::BTreeMap;
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

/// Adds the clusters in one, with the elements that are right in each: compound elements. `prefix` ends in a slash, or is empty.
fn clusters(out: &mut String, within: &Clusters<'_>, prefix: &str, indent: usize) {
    for (name, elements) in within.get(prefix).into_iter().flatten() {
        let _ = writeln!(out, "{:indent$}subgraph \"cluster_{}\" {{", "", quoted(name));
        let short = name.strip_prefix(prefix).unwrap_or(name).trim_end_matches('/');
        let _ = writeln!(out, "{:indent$}  label=\"{}\";", "", quoted(short));
        for element in elements {
            let _ = writeln!(out, "{:indent$}  e{element};", "");
        }
        clusters(out, within, name, indent + 2);
        let _ = writeln!(out, "{:indent$}}}", "");
    }
}

/// Compound elements by the prefix of the one around them: their prefix, and the elements right in them.
type Clusters<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Vec<usize>>>;

fn nested(graph: &Graph) -> Clusters<'_> {
    let mut found = Clusters::new();
    for (index, element) in graph.elements.iter().enumerate() {
        let (name, mut outer) = (&element.name, 0);
        for (slash, _) in name.match_indices('/') {
            let inner = found.entry(&name[..outer]).or_default().entry(&name[..=slash]).or_default();
            outer = slash + 1;
            if !name[outer..].contains('/') {
                inner.push(index);
            }
        }
    }
    found
}

/// Escapes text for a quoted string.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The graph in the DOT language: a record for each element, with its name, class and used ports, and a cluster for each compound element.
pub fn dot(graph: &Graph) -> String {
    let mut out = String::from("digraph click {\n  node [shape=record];\n");
    for (i, (e, (inputs, outputs))) in graph.elements.iter().zip(graph.used_ports()).enumerate() {
        let text = format!("{}\\n{}", label(&e.name), label(&e.class));
        let rows: Vec<String> =
            [row('i', inputs), text, row('o', outputs)].into_iter().filter(|r| !r.is_empty()).collect();
        let _ = writeln!(out, "  e{i} [label=\"{{{}}}\"];", rows.join("|"));
    }
    clusters(&mut out, &nested(graph), "", 2);
    for c in &graph.connections {
        let (from, to) = (c.from, c.to);
        let _ = writeln!(out, "  e{}:o{} -> e{}:i{};", from.element, from.port, to.element, to.port);
    }
    out.push_str("}\n");
    out
}
