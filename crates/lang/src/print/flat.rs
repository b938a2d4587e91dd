//! The flat text of a graph.

use crate::conf;
use crate::graph::{Connection, Element, Graph, Port};
use std::collections::HashMap;
use std::fmt::Write;

/// The text of a graph as Click's `flatconfig` handler gives it: requirements, declarations, then
/// connections joined to chains. Parsing it gives the same graph.
pub fn flatten(graph: &Graph) -> String {
    let mut out = requirements_text(graph);
    out.extend(graph.elements.iter().map(declaration_text));
    if !graph.elements.is_empty() {
        out.push('\n');
    }
    chains(graph, &graph.connections, &mut out);
    out
}

/// The connections of a graph, joined to chains, in the order in which they were written as far as chains allow it.
pub fn connections_text(graph: &Graph) -> String {
    let mut out = String::new();
    chains(graph, &graph.as_written().connections, &mut out);
    out
}

/// The statement that requires what a graph requires, and an empty line; nothing if it requires nothing.
pub fn requirements_text(graph: &Graph) -> String {
    if graph.requirements.is_empty() {
        return String::new();
    }
    let requirement = |r: &crate::graph::Requirement| match r.value.as_str() {
        "" => r.kind.clone(),
        value => format!("{} {}", r.kind, conf::quote_text(value)),
    };
    let all: Vec<String> = graph.requirements.iter().map(requirement).collect();
    format!("require({});\n\n", all.join(", "))
}

/// The declaration of an element, a line.
pub fn declaration_text(element: &Element) -> String {
    match element.config.as_str() {
        "" => format!("{} :: {};\n", element.name, element.class),
        config => format!("{} :: {}({config});\n", element.name, element.class),
    }
}

/// The connections that leave an output, as far as a chain can use them.
#[derive(Default)]
struct Leaving {
    /// The first two that lead to an input 0.
    to_first: [Option<usize>; 2],
    /// The last two.
    last: [Option<usize>; 2],
}

impl Leaving {
    fn add(&mut self, i: usize, to_first: bool) {
        if let Some(slot) = self.to_first.iter_mut().find(|slot| to_first && slot.is_none()) {
            *slot = Some(i);
        }
        self.last = [Some(i), self.last[0]];
    }

    /// The first that leads to an input 0, or else the last, other than `i`.
    fn best_except(&self, i: usize) -> Option<usize> {
        self.to_first.iter().chain(&self.last).flatten().copied().find(|&found| found != i)
    }
}

/// Which connection continues each connection in a chain, if one does: one through the output of the
/// same number as the input, which must be 0.
fn continuations(connections: &[Connection]) -> Vec<Option<usize>> {
    let mut by_output: HashMap<Port, Leaving> = HashMap::new();
    for (i, c) in connections.iter().enumerate() {
        by_output.entry(c.from).or_default().add(i, c.to.port == 0);
    }
    let next = |(i, c): (usize, &Connection)| by_output.get(&c.to).filter(|_| c.to.port == 0)?.best_except(i);
    connections.iter().enumerate().map(next).collect()
}

/// Writes connections of the graph, in this order as far as chains allow it.
fn chains(graph: &Graph, connections: &[Connection], out: &mut String) {
    let next = continuations(connections);
    let mut starts = vec![true; connections.len()];
    for &i in next.iter().flatten() {
        starts[i] = false;
    }
    let mut used = vec![false; connections.len()];
    for pass in [false, true] {
        // The second pass breaks cycles, which have no start.
        for i in 0..connections.len() {
            if used[i] || !(starts[i] || pass) {
                continue;
            }
            let from = connections[i].from;
            out.push_str(&graph.elements[from.element].name);
            if from.port > 0 {
                let _ = write!(out, " [{}]", from.port);
            }
            let mut at = Some(i);
            while let Some(c) = at.filter(|&c| !used[c]) {
                out.push_str(if c == i { " -> " } else { "\n    -> " });
                let to = connections[c].to;
                if to.port > 0 {
                    let _ = write!(out, "[{}] ", to.port);
                }
                out.push_str(&graph.elements[to.element].name);
                used[c] = true;
                at = next[c];
            }
            out.push_str(";\n");
        }
    }
}
