//! The bodies of a text's compound classes.

use crate::classes::{ClassKind, TUNNEL};
use crate::diag::{Diagnostic, Landmark, Source, Span};
use crate::elaborate::Expander;
use crate::graph::{Graph, Port};
use crate::options::Options;
use crate::parse::build;
use crate::parser::Parser;
use crate::scope::{ClassId, Node, Scope, Wire};
use std::sync::Arc;

/// The body of a compound class.
#[derive(Debug, Clone)]
pub struct Compound {
    /// The name of the class.
    pub name: String,
    /// What is in it, without compound elements. Element 0 is its `input`, element 1 its `output`; parameters stand for
    /// themselves, `$name`.
    pub graph: Graph,
}

/// The compound classes of a text, or what is wrong with it.
#[derive(Debug, Clone, Default)]
pub struct Compounds {
    /// Those that are declared outside of others, in the order of the text; of overloadings, the last.
    pub compounds: Vec<Compound>,
    /// All errors and warnings, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
}

/// The compound classes of a text; `filename` is the name for landmarks.
pub fn compounds(source: &str, filename: &str, options: &Options<'_>) -> Compounds {
    let source = Source { name: Arc::from(filename), text: Arc::from(source) };
    let mut parser = Parser::new(source.clone(), options);
    parser.file();
    let mut names: Vec<String> = Vec::new();
    for scope in parser.compounds.iter().filter(|scope| scope.depth == 1 && !scope.name.is_empty()) {
        if !names.contains(&scope.name) {
            names.push(scope.name.clone());
        }
    }
    let mut found = Compounds { diagnostics: parser.diagnostics, ..Compounds::default() };
    if found.diagnostics.iter().any(Diagnostic::is_error) {
        return found;
    }
    for name in names {
        let mut parser = Parser::new(source.clone(), options);
        parser.file();
        parser.diagnostics.clear();
        if let Some(graph) = body(&mut parser, &name) {
            found.compounds.push(Compound { name, graph });
        }
        found.diagnostics.append(&mut parser.diagnostics);
    }
    found
}

/// What the instance of a class is called while its body is made, which becomes the prefix of all names.
const INSTANCE: &str = "x";

/// The graph of an instance of a class between two elements that stand for `input` and `output`.
fn body(parser: &mut Parser<'_>, name: &str) -> Option<Graph> {
    let class = parser.classes.find(name)?;
    let ClassKind::Compound(compound) = parser.classes.get(class).kind else { return None };
    let compound = &parser.compounds[compound];
    let ports = compound.ports;
    let place = (compound.landmark.clone(), compound.span);
    let arguments: Vec<String> = (compound.variables[..compound.formals].iter())
        .map(|(name, keyword)| match keyword.as_str() {
            "" | "__REST__" => format!("${name}"),
            keyword => format!("{keyword} ${name}"),
        })
        .collect();
    let outside = ["input", "output"].map(|name| parser.classes.primitive(name));
    let mut scope = Scope::new(String::new(), place.0.clone(), place.1, 0);
    for (name, value) in &parser.scopes[0].variables {
        scope.set_variable(name, value);
    }
    let [input, output] = ["input", "output"].map(|name| (name, "".to_owned()));
    let nodes = [(input, outside[0]), (output, outside[1]), ((INSTANCE, arguments.join(", ")), class)];
    let [input, output, instance] =
        nodes.map(|((name, config), class)| scope.add(node(name, class, &config, &place)));
    let wire = |from: (usize, u32), to: (usize, u32)| {
        let [from, to] = [from, to].map(|(element, port)| Port { element, port });
        Wire { from, to, landmark: place.0.clone(), span: place.1, context: None }
    };
    (0..ports[0]).for_each(|port| scope.connect(wire((input, port), (instance, port))));
    (0..ports[1]).for_each(|port| scope.connect(wire((instance, port), (output, port))));
    parser.scopes[0] = scope;
    let mut expander = Expander::new(parser);
    expander.run();
    let (expanded, _) = expander.finish();
    let (built, _) = build(parser, &expanded?, true);
    let mut graph = Graph::default();
    graph.connections = built.connections;
    for mut element in built.elements {
        if let Some(inner) = element.name.strip_prefix(INSTANCE).and_then(|rest| rest.strip_prefix('/')) {
            element.name = inner.to_owned();
        }
        graph.push(element);
    }
    Some(graph)
}

fn node(name: &str, class: ClassId, config: &str, place: &(Landmark, Span)) -> Node {
    debug_assert_ne!(class, TUNNEL);
    Node {
        name: name.to_owned(),
        class,
        config: Arc::from(config),
        landmark: place.0.clone(),
        span: place.1,
        ports: [0, 0],
    }
}
