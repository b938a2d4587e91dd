//! The text of a graph as Click's tools write it.

use super::flat::{chains, declaration, requirements};
use crate::conf;
use crate::diag::Landmark;
use crate::graph::Graph;
use std::fmt::Write;

/// The text of a graph as Click's tools write it, `click-flatten` for instance: requirements, variables, declarations, and
/// connections joined to chains. Directives say from which line each declaration came. Parsing the text gives the same
/// graph.
///
/// What differs from [`flatten`](super::flatten), which is the text of Click's handler `flatconfig`: connections stand in
/// [the order in which they were written](Graph::as_written), and variables of the outermost scope are still defined.
pub fn tool_text(graph: &Graph) -> String {
    let mut out = String::new();
    requirements(graph, &mut out);
    if !graph.defines.is_empty() {
        let definition = |(name, value): &(String, String)| format!("${name} {value}");
        let all: Vec<String> = graph.defines.iter().map(definition).collect();
        let _ = writeln!(out, "define({});\n", all.join(", "));
    }
    for element in &graph.elements {
        line(&element.landmark, &mut out);
        declaration(element, &mut out);
    }
    let connections = graph.as_written().connections;
    if !connections.is_empty() {
        // From here on, the lines are those of this text.
        let next = out.matches('\n').count() + 2;
        let _ = writeln!(out, "# {next} \"\"");
    }
    chains(graph, &connections, &mut out);
    out
}

/// A directive that says where the next line came from.
fn line(landmark: &Landmark, out: &mut String) {
    let _ = writeln!(out, "# {} {}", landmark.line, conf::quote(&*landmark.file));
}
