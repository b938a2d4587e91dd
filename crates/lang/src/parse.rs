//! From a text to its graph: the text is read, expanded, and its connections resolved.

use crate::classes::TUNNEL;
use crate::diag::{Diagnostic, Landmark, Source, Span};
use crate::elaborate::{Expanded, Expander};
use crate::graph::{Element, Graph};
use crate::options::Options;
use crate::parser::Parser;
use crate::render::{render_click, render_fancy};
use crate::render_json::render_json;
use crate::{context, tunnel};
use std::sync::Arc;

/// The outcome of a parse.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    /// The graph: complete if there are no errors, as far as it was understood otherwise, and empty if
    /// a limit was exceeded.
    pub graph: Graph,
    /// All errors and warnings, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that were read: the configuration itself and then its libraries.
    pub sources: Vec<Source>,
    /// Whether something is lost of what the text says: it has an error other than a name that is unknown. What the graph lacks may be what
    /// was lost.
    pub is_incomplete: bool,
    /// What the parse cost: tokens, bytes and steps of expansion, and steps of resolving connections.
    /// About proportional to the text and the graph, whatever the text.
    pub work: usize,
}

impl Parsed {
    /// Whether something is wrong so that the configuration cannot run.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The diagnostics as Click prints them, a line each; see [`render_click`].
    pub fn render_click(&self) -> String {
        render_click(&self.diagnostics)
    }

    /// The diagnostics as JSON; see [`render_json`].
    pub fn render_json(&self) -> String {
        render_json(&self.diagnostics, &self.sources)
    }

    /// The diagnostics with the lines they point at; see [`render_fancy`].
    pub fn render_fancy(&self, color: bool) -> String {
        render_fancy(&self.diagnostics, &self.sources, color)
    }
}

/// Parses and expands a configuration without knowing which element classes exist.
///
/// `filename` is the name for landmarks; Click uses `config` for text from the command line and
/// `<stdin>` for standard input. `params` are variables set from outside.
pub fn parse(source: &str, filename: &str, params: &[(String, String)]) -> Parsed {
    parse_with(source, filename, &Options { params, ..Options::default() })
}

/// Parses and expands a configuration; see [`parse`] and [`Options`].
pub fn parse_with(source: &str, filename: &str, options: &Options<'_>) -> Parsed {
    let name = Arc::from(if filename.is_empty() { "config" } else { filename });
    if source.len() > options.limits.source.min(u32::MAX as usize) {
        let message = format!("configuration is longer than {} bytes", options.limits.source);
        let diagnostic = Diagnostic::error(message).at(Landmark { file: name, line: 1 }, Span::default());
        return Parsed { diagnostics: vec![diagnostic], is_incomplete: true, ..Parsed::default() };
    }
    let mut parser = Parser::new(Source { name, text: Arc::from(source) }, options);
    parser.file();
    let mut expander = Expander::new(&mut parser);
    expander.run();
    let (expanded, steps) = expander.finish();
    // Where expansion exceeded a limit, no graph is better than a huge one.
    let (graph, further) = match expanded {
        Some(expanded) => build(&mut parser, &expanded, options.in_place),
        None => (Graph::default(), 0),
    };
    let work = parser.work + parser.scopes[0].tries + steps + further;
    let Parser { diagnostics, sources, lost, .. } = parser;
    Parsed { graph, diagnostics, sources, is_incomplete: lost, work }
}

/// Makes the graph from the expanded scope of the file, with components `in_place` or behind all else.
pub(crate) fn build(parser: &mut Parser<'_>, expanded: &Expanded, in_place: bool) -> (Graph, usize) {
    let scope = &parser.scopes[0];
    let is_tunnel = |i: usize| scope.nodes[i].class == TUNNEL;
    let Expanded { exits, nodes, wires } = expanded;
    let mut resolution = tunnel::resolve(scope, exits, wires, &is_tunnel, parser.limits().connections);
    let mut graph = Graph::default();
    graph.requirements = std::mem::take(&mut parser.requirements);
    graph.provides = std::mem::take(&mut parser.provides);
    graph.defines = parser.scope().variables.clone();
    let scope = &parser.scopes[0];
    let mut index = vec![usize::MAX; scope.nodes.len()];
    let nodes = if in_place { nodes.clone() } else { (0..scope.nodes.len()).collect() };
    for (i, node) in nodes.iter().map(|&i| (i, &scope.nodes[i])).filter(|(_, node)| node.class != TUNNEL) {
        index[i] = graph.push(Element {
            name: node.name.clone(),
            class: parser.classes.get(node.class).name.clone(),
            config: node.config.to_string(),
            landmark: node.landmark.clone(),
            span: node.span,
        });
    }
    graph.connections = resolution.connections;
    for c in &mut graph.connections {
        c.from.element = index[c.from.element];
        c.to.element = index[c.to.element];
    }
    if in_place {
        graph.connections.sort_by_key(|c| (c.to, c.from));
    }
    for (c, _) in &mut resolution.contexts {
        c.from.element = index[c.from.element];
        c.to.element = index[c.to.element];
    }
    context::expand(parser, &mut graph, resolution.contexts);
    for error in resolution.errors {
        parser.report_consequence(error);
    }
    (graph, resolution.work)
}
