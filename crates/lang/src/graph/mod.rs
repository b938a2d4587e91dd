//! The flat configuration graph and its drawings.

mod dot;
pub(crate) mod json;
mod layout;
mod sheets;
mod svg;

pub use self::json::json;
pub use dot::dot;
pub use svg::svg;

use crate::diag::{Landmark, Span};
use std::collections::HashMap;

/// One element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Full name, such as `outer/inner`.
    pub name: String,
    /// Class, with synonyms resolved.
    pub class: String,
    /// Configuration string after substitution of variables, not split at commas.
    pub config: String,
    /// Where it was declared.
    pub landmark: Landmark,
    /// The name in its declaration.
    pub span: Span,
}

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port {
    /// Index into [`Graph::elements`].
    pub element: usize,
    /// Port number.
    pub port: u32,
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Output port it leaves from.
    pub from: Port,
    /// Input port it leads to.
    pub to: Port,
    /// Where it was written; for a connection through compound elements, its first piece.
    pub landmark: Landmark,
    /// The arrow.
    pub span: Span,
    /// Its place among the connections as Click's tools keep and print them, see [`Graph::as_written`].
    pub order: u32,
}

/// One item of a `require` statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// `package`, or `compact_config`.
    pub kind: String,
    /// Name of the package; empty for `compact_config`.
    pub value: String,
}

/// A flat configuration: elements and connections without compound elements or variables.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// Elements in Click's order: declaration order, components after the compounds they came from.
    pub elements: Vec<Element>,
    /// Connections without duplicates, ordered by the input port they lead to and then by the output
    /// port they leave from, as in Click.
    pub connections: Vec<Connection>,
    /// Requirements in order of appearance.
    pub requirements: Vec<Requirement>,
    /// Arguments of `provide` statements.
    pub provides: Vec<String>,
    /// Variables of the outermost scope, those set from outside included, with their unexpanded values.
    pub defines: Vec<(String, String)>,
    names: HashMap<String, usize>,
}

impl Graph {
    /// Index of the element called `name`.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// Index of the element that `name` means inside the compound element of `context`.
    ///
    /// With context `a/b/x`, the names `a/b/name`, `a/name` and `name` are tried in this order, as
    /// Click does for element names in arguments.
    pub fn find_in(&self, name: &str, context: &str) -> Option<usize> {
        let mut prefix = context;
        while let Some((outer, _)) = prefix.rsplit_once('/') {
            if let Some(found) = self.find(&format!("{outer}/{name}")) {
                return Some(found);
            }
            prefix = outer;
        }
        self.find(name)
    }

    /// The graph with its connections in the order of Click's tools: as they were written, then those through compound elements
    /// and groups. Algorithms that make connections in such an order start from this.
    pub fn as_written(&self) -> Graph {
        let mut graph = self.clone();
        graph.connections.sort_by_key(|c| c.order);
        graph
    }

    /// Adds an element and returns its index; a second element of the same name is not found by name.
    pub fn push(&mut self, element: Element) -> usize {
        let index = self.elements.len();
        self.names.entry(element.name.clone()).or_insert(index);
        self.elements.push(element);
        index
    }

    /// Numbers of input and output ports that connections use, for each element.
    pub fn used_ports(&self) -> Vec<(u32, u32)> {
        let mut used = vec![(0, 0); self.elements.len()];
        for c in &self.connections {
            let inputs = &mut used[c.to.element].0;
            *inputs = (*inputs).max(c.to.port + 1);
            let outputs = &mut used[c.from.element].1;
            *outputs = (*outputs).max(c.from.port + 1);
        }
        used
    }

    /// Whether two graphs have the same elements and connections, wherever they were written.
    pub fn same_as(&self, other: &Graph) -> bool {
        let element = |e: &Element| (e.name.clone(), e.class.clone(), e.config.clone());
        self.elements.iter().map(element).eq(other.elements.iter().map(element))
            && (self.connections.iter().map(|c| (c.from, c.to)))
                .eq(other.connections.iter().map(|c| (c.from, c.to)))
            && self.requirements == other.requirements
    }
}
