//! A text as it is written: compound elements stay, with their classes.

use crate::classes::{Classes, Kind, TUNNEL};
use crate::diag::{Diagnostic, Landmark, Source, Span};
use crate::graph::{Connection, Port};
use crate::marks::{self, Mark};
use crate::options::Options;
use crate::parser::Parser;
use crate::scope::{INPUT, Scope};
use crate::tunnel;
use std::collections::HashMap;
use std::sync::Arc;

/// An element of a [`Body`].
#[derive(Debug, Clone)]
pub struct NestedElement {
    /// Its name inside the body.
    pub name: String,
    /// Whether the text gives it no name.
    pub anonymous: bool,
    /// What it is.
    pub kind: Kind,
    /// Its configuration string as it is written, with variables.
    pub config: String,
    /// Where it was declared.
    pub landmark: Landmark,
    /// The name in its declaration.
    pub span: Span,
    /// How many inputs and outputs connections use.
    pub ports: [u32; 2],
}

/// The elements of the text, or of a compound class, and their connections; groups are resolved.
#[derive(Debug, Clone, Default)]
pub struct Body {
    /// Elements; those of a compound class begin with its `input` and its `output`.
    pub elements: Vec<NestedElement>,
    /// Connections in the order in which they are written.
    pub connections: Vec<Connection>,
}

/// A compound class.
#[derive(Debug, Clone)]
pub struct NestedClass {
    /// Its name; empty if it has none.
    pub name: String,
    /// Where it begins.
    pub landmark: Landmark,
    /// How deep it is declared: 1 outside of other compound classes.
    pub depth: usize,
    /// Its numbers of inputs and outputs.
    pub ports: [u32; 2],
    /// Its parameters, each with its keyword, which is empty for a positional one.
    pub formals: Vec<(String, String)>,
    /// The next overloading.
    pub overload: Option<Kind>,
    /// What is in it.
    pub body: Body,
}

/// A text as it is written.
#[derive(Debug, Clone, Default)]
pub struct Nested {
    /// What stands outside of compound classes.
    pub body: Body,
    /// All compound classes, in the order in which they end: each behind those that are declared in it.
    pub classes: Vec<NestedClass>,
    /// Mentions of classes and elements, in the order in which they were understood.
    pub marks: Vec<Mark>,
    /// All errors and warnings, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
}

impl Nested {
    /// The name of an element's class; empty if it has none.
    pub fn class_name<'a>(&'a self, kind: &'a Kind) -> &'a str {
        match kind {
            Kind::Pseudo => "",
            Kind::Primitive(name) => name,
            Kind::Compound(class) => &self.classes[*class].name,
        }
    }
}

/// Reads a text without expanding it; `filename` is the name for landmarks.
pub fn nested(source: &str, filename: &str, options: &Options<'_>) -> Nested {
    let source = Source { name: Arc::from(filename), text: Arc::from(source) };
    let mut parser = Parser::new(source, options);
    parser.marks = Some(Vec::new());
    parser.file();
    let marks = parser.marks.take().unwrap_or_default();
    let top = &mut parser.scopes[0];
    (0..top.nodes.len()).for_each(|i| top.settle_name(i));
    let max = parser.limits().connections;
    let Parser { scopes, compounds, classes, sources, .. } = &parser;
    let text = |span: Span| {
        let source = sources.get(span.source as usize)?;
        source.text.get(span.start as usize..span.end as usize)
    };
    let class = |scope: &Scope| NestedClass {
        name: scope.name.clone(),
        landmark: scope.landmark.clone(),
        depth: scope.depth,
        ports: scope.ports,
        formals: scope.variables[..scope.formals].to_vec(),
        overload: scope.overload.map(|id| classes.kind(id)),
        body: body(scope, classes, INPUT + 2, max, &text),
    };
    let outer = indices(&scopes[0], 0);
    let inner: Vec<_> = compounds.iter().map(|scope| indices(scope, INPUT + 2)).collect();
    let element = |class: Option<usize>, node: usize| match class {
        _ if class.map_or(&scopes[0], |class| &compounds[class]).nodes[node].class == TUNNEL => None,
        Some(class) => Some(inner[class][node]),
        None => Some(outer[node]),
    };
    Nested {
        body: body(&scopes[0], classes, 0, max, &text),
        marks: marks::finish(marks, compounds, classes, element),
        classes: compounds.iter().map(class).collect(),
        diagnostics: parser.diagnostics,
    }
}

/// Whether a node is a group, or an end of one, in a scope whose first `pseudo` nodes are an `input` and an `output`.
fn is_group(scope: &Scope, pseudo: usize, node: usize) -> bool {
    node >= pseudo && scope.nodes[node].class == TUNNEL
}

/// For each node of such a scope, which element of its body it is, or would be if it is a group.
fn indices(scope: &Scope, pseudo: usize) -> Vec<usize> {
    let mut count = 0;
    let index = |node: usize| {
        let index = count;
        count += usize::from(!is_group(scope, pseudo, node));
        index
    };
    (0..scope.nodes.len()).map(index).collect()
}

/// What is in a scope, whose first `pseudo` elements are an `input` and an `output`.
fn body<'a>(
    scope: &Scope,
    classes: &Classes<'_>,
    pseudo: usize,
    max_connections: usize,
    text: &dyn Fn(Span) -> Option<&'a str>,
) -> Body {
    let is_group = |i: usize| is_group(scope, pseudo, i);
    let mut exits = HashMap::new();
    for i in (0..scope.nodes.len()).filter(|&i| is_group(i)) {
        let name = &scope.nodes[i].name;
        if !name.ends_with("/input") && !name.ends_with("/output") {
            // The group's own input and output follow it.
            exits.insert(i, i + 1);
            exits.insert(i + 2, i);
        }
    }
    let order: Vec<usize> = (0..scope.wires.len()).collect();
    let mut connections = tunnel::resolve(scope, &exits, &order, &is_group, max_connections).connections;
    connections.sort_by_key(|c| c.order);
    let (mut elements, index) = (Vec::new(), indices(scope, pseudo));
    for (_, node) in scope.nodes.iter().enumerate().filter(|(i, _)| !is_group(*i)) {
        elements.push(NestedElement {
            name: node.name.clone(),
            anonymous: text(node.span) != Some(node.name.as_str()),
            kind: classes.kind(node.class),
            config: node.config.to_string(),
            landmark: node.landmark.clone(),
            span: node.span,
            ports: [0, 0],
        });
    }
    for c in &mut connections {
        let at = |port: Port| Port { element: index[port.element], ..port };
        (c.from, c.to) = (at(c.from), at(c.to));
        for (side, end) in [(0, c.to), (1, c.from)] {
            let used = &mut elements[end.element].ports[side];
            *used = (*used).max(end.port + 1);
        }
    }
    Body { elements, connections }
}
