//! FastClick's context arrows: `~>`, `~tcp>` and `~/tcp>`.
//!
//! What an output sends along context arrows goes to a FlowContextDispatcher, which has an output for each of them.
//! An arrow with a name has a further element behind that, of the class `TCPIn` for `~tcp>` and `TCPOut` for
//! `~/tcp>`.

use crate::classes::ClassKind;
use crate::diag::Diagnostic;
use crate::graph::{Connection, Element, Graph, Port};
use crate::parser::Parser;
use crate::token::{Kind, Token};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The element that sorts packets among the arrows of an output.
const DISPATCHER: &str = "FlowContextDispatcher";

/// Adds the connections along context arrows, which come with the arrows' texts, and the elements that they stand for.
pub(crate) fn expand(parser: &mut Parser<'_>, graph: &mut Graph, arrows: Vec<(Connection, Arc<str>)>) {
    if arrows.is_empty() {
        return;
    }
    let mut by_output: BTreeMap<Port, Vec<(Connection, Arc<str>)>> = BTreeMap::new();
    for (connection, arrow) in arrows {
        by_output.entry(connection.from).or_default().push((connection, arrow));
    }
    for (output, arrows) in by_output {
        let rules: Vec<String> = (0..arrows.len()).map(|rule| format!("- {rule}")).collect();
        let mut number = output.element.to_string();
        if output.port > 0 {
            number = format!("{number}_{}", output.port);
        }
        let name = format!("context_flowcontextdispatcher_{number}");
        let dispatcher = add(parser, graph, name, DISPATCHER, rules.join(","), &arrows[0].0);
        join(graph, output, dispatcher, &arrows[0].0);
        for (rule, (connection, arrow)) in arrows.into_iter().enumerate() {
            let mut from = Port { element: dispatcher, port: rule as u32 };
            if let Some(class) = class_of(&arrow) {
                let mut name = format!("context_stack_{number}");
                if graph.find(&name).is_some() {
                    name = format!("{name}_{rule}");
                }
                let element = add(parser, graph, name, &class, String::new(), &connection);
                join(graph, from, element, &connection);
                from = Port { element, port: 0 };
            }
            graph.connections.push(Connection { from, ..connection });
        }
    }
    graph.connections.sort_by_key(|c| (c.to, c.from));
    graph.connections.dedup_by_key(|c| (c.to, c.from));
}

/// The class of the element that an arrow with a name stands for.
fn class_of(arrow: &str) -> Option<String> {
    let name = arrow.trim_start_matches('~').trim_end_matches('>');
    match name.strip_prefix('/') {
        Some(name) => Some(format!("{}Out", name.to_ascii_uppercase())),
        None if name.is_empty() => None,
        None => Some(format!("{}In", name.to_ascii_uppercase())),
    }
}

fn join(graph: &mut Graph, from: Port, to: usize, arrow: &Connection) {
    graph.connections.push(Connection { from, to: Port { element: to, port: 0 }, ..arrow.clone() });
}

/// Adds an element that stands where an arrow is.
fn add(
    parser: &mut Parser<'_>,
    graph: &mut Graph,
    name: String,
    class: &str,
    config: String,
    arrow: &Connection,
) -> usize {
    let (landmark, span) = (arrow.landmark.clone(), arrow.span);
    let id = parser.force_class(class, &Token { kind: Kind::ContextArrow, span, landmark: landmark.clone() });
    if matches!(parser.classes.get(id).kind, ClassKind::Compound(_)) {
        let message = format!("class '{class}' of a context arrow is a compound element");
        parser.report(Diagnostic::error(message).at(landmark.clone(), span));
    }
    if graph.find(&name).is_some() {
        parser.report(
            Diagnostic::error(format!("redeclaration of element '{name}'")).at(landmark.clone(), span),
        );
    }
    graph.push(Element { name, class: class.to_owned(), config, landmark, span })
}
