//! The Click configuration language: text to configuration graph.
//!
//! [`parse`] reads a configuration in the language of Click 2.1, expands its compound elements and
//! variables, and returns a flat [`Graph`] of elements and connections together with all diagnostics.
//! Further modules split configuration strings into arguments ([`conf`]), replace variables and handler
//! calls in them ([`mod@expand`]), and print graphs and texts ([`mod@print`], [`graph`]).
//!
//! The crate does not know which element classes exist, what their arguments mean, how many ports they
//! have, or how files are found: callers supply that. Tests of the whole crate are in `tests/`, those
//! of single rules beside the code.
//!
//! ```
//! # use clique_lang as lang;
//! let parsed = lang::parse("a, b :: Queue; x :: { -> Null -> }; a -> x -> b", "config", &[]);
//! assert!(parsed.diagnostics.is_empty());
//! assert_eq!(parsed.graph.elements[2].name, "x/Null@1");
//! ```

#![forbid(unsafe_code)]

pub mod bytes;
mod chain;
mod classes;
mod compounds;
pub mod conf;
mod context;
mod diag;
mod elaborate;
pub mod expand;
pub mod graph;
mod marks;
mod nested;
mod parser;
pub mod print;
mod render;
mod render_json;
mod scope;
mod token;
mod tunnel;

pub use classes::{ClassSet, similar};
pub use compounds::{Compound, Compounds, compounds};
pub use diag::{Context, Diagnostic, Landmark, Note, Severity, Source, Span};
pub use expand::expand;
pub use graph::{Connection, Element, Graph, Port, Requirement};
pub use marks::{Mark, Mention, Place};
pub use nested::{Body, Kind, Nested, NestedClass, NestedElement, nested};
pub use print::{flatten, pretty};
pub use render::{render_click, render_fancy};
pub use render_json::render_json;

use classes::TUNNEL;
use std::sync::Arc;

/// Finds a library: given its name and the file that requires it, gives its file name and text.
pub type FindLibrary<'a> = &'a dyn Fn(&str, &str) -> Option<(String, String)>;

/// Bounds on what a configuration may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of program text.
    pub source: usize,
    /// Nesting of compound elements and groups in the text.
    pub nesting: usize,
    /// Nesting of compound elements after expansion.
    pub expansion_depth: usize,
    /// Elements after expansion, the ends of compound elements and groups included.
    pub elements: usize,
    /// Connections after expansion.
    pub connections: usize,
    /// Bytes of names and configuration strings, and steps, that expansion may take.
    pub expansion: usize,
    /// Highest port number.
    pub port: u32,
    /// Diagnostics, after which the rest is not looked at.
    pub diagnostics: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            source: 1 << 28,
            nesting: 50,
            expansion_depth: 200,
            elements: 1 << 18,
            connections: 1 << 20,
            expansion: 1 << 26,
            port: 65_535,
            diagnostics: 200,
        }
    }
}

/// What a parse may depend on besides the text.
#[derive(Default, Clone)]
pub struct Options<'a> {
    /// Variables set from outside; they replace those that the file defines in its outermost scope.
    pub params: &'a [(String, String)],
    /// The element classes that exist; without them every name may be a class.
    pub classes: Option<&'a dyn ClassSet>,
    /// Finds the files of `require(library ...)`; without it there are none.
    pub library: Option<FindLibrary<'a>>,
    /// Says whether a package that the text requires is there, which earns a warning if not; without it all are.
    pub package: Option<&'a dyn Fn(&str) -> bool>,
    /// Leaves references to variables of the outermost scope as they are, as Click's tools do; then the
    /// [definitions](Graph::defines) belong to the graph.
    pub keep_variables: bool,
    /// Orders elements as Click's tools do: inside a compound element, the components of another one stand in its place, where
    /// Click's drivers put them behind all else.
    pub in_place: bool,
    /// Bounds.
    pub limits: Limits,
}

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
        return Parsed { diagnostics: vec![diagnostic], ..Parsed::default() };
    }
    let mut parser = parser::Parser::new(Source { name, text: Arc::from(source) }, options);
    parser.file();
    let mut expander = elaborate::Expander::new(&mut parser);
    expander.run();
    let (expanded, steps) = expander.finish();
    // Where expansion exceeded a limit, no graph is better than a huge one.
    let (graph, further) = match expanded {
        Some(expanded) => build(&mut parser, &expanded, options.in_place),
        None => (Graph::default(), 0),
    };
    let work = parser.work + parser.scopes[0].tries + steps + further;
    Parsed { graph, diagnostics: parser.diagnostics, sources: parser.sources, work }
}

/// Makes the graph from the expanded scope of the file, with components `in_place` or behind all else.
fn build(parser: &mut parser::Parser<'_>, expanded: &elaborate::Expanded, in_place: bool) -> (Graph, usize) {
    let scope = &parser.scopes[0];
    let is_tunnel = |i: usize| scope.nodes[i].class == TUNNEL;
    let elaborate::Expanded { exits, nodes, wires } = expanded;
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
        parser.report(error);
    }
    (graph, resolution.work)
}
