//! The text of a graph as Click's tools write it.

use lang::print::{connections_text, declaration_text, requirements_text};
use lang::{Graph, conf};
use std::fmt::Write;

/// The text of a graph as Click's tools write it, `click-flatten` for instance: requirements, variables, declarations, and
/// connections joined to chains. Directives say from which line each declaration came. Parsing the text gives the same
/// graph.
///
/// What differs from [`lang::flatten`], which is the text of Click's handler `flatconfig`: connections stand in
/// [the order in which they were written](Graph::as_written), and variables of the outermost scope are still defined.
pub(crate) fn tool_text(graph: &Graph) -> String {
    let mut out = requirements_text(graph);
    if !graph.defines.is_empty() {
        let definition = |(name, value): &(String, String)| format!("${name} {value}");
        let all: Vec<String> = graph.defines.iter().map(definition).collect();
        let _ = writeln!(out, "define({});\n", all.join(", "));
    }
    for element in &graph.elements {
        let place = &element.landmark;
        let _ = writeln!(out, "# {} {}", place.line, conf::quote(&*place.file));
        out.push_str(&declaration_text(element));
    }
    push_connections(graph, "", &mut out);
    out
}

/// Adds the connections of a graph to a text, each line behind an indent. A directive says that their lines are those of the
/// text itself.
pub(crate) fn push_connections(graph: &Graph, indent: &str, out: &mut String) {
    if graph.connections.is_empty() {
        return;
    }
    let next = out.matches('\n').count() + 2;
    let _ = writeln!(out, "# {next} \"\"");
    for line in connections_text(graph).lines() {
        let _ = writeln!(out, "{indent}{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::program;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        /// Elements keep their places, too.
        #[test]
        fn tool_text_gives_the_same_graph(text in program()) {
            let parsed = lang::parse(&text, "f", &[]);
            let written = tool_text(&parsed.graph);
            let again = lang::parse(&written, "f", &[]);
            prop_assert_eq!(again.render_click(), "");
            prop_assert!(again.graph.same_as(&parsed.graph), "{}", written);
            let places = |graph: &Graph| graph.elements.iter().map(|e| e.landmark.clone()).collect::<Vec<_>>();
            prop_assert_eq!(places(&again.graph), places(&parsed.graph));
        }
    }
}
