//! From a configuration graph to its layout: classes, ports, placement.

use crate::configuration::class::{Class, Classes, Described};
use crate::configuration::node::Port;
use crate::configuration::placement::{Placement, place};
use crate::configuration::ports;
use lang::{Context, Diagnostic, Graph};
use std::any::Any;
use std::collections::BTreeMap;

/// A configuration whose classes, ports and placement are settled: everything but the elements themselves.
pub struct Layout<C: 'static> {
    /// The graph.
    pub graph: Graph,
    /// Class of each element.
    pub classes: Vec<&'static Class<C>>,
    /// Inputs and outputs of each element.
    pub ports: Vec<[Vec<Port>; 2]>,
    /// Which worker runs what.
    pub placement: Placement,
    /// What is odd about all that; [`crate::configure`] and [`crate::check`] return it with their own warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Settles classes, ports, processing and placement.
///
/// # Errors
/// Everything that is wrong.
pub fn layout<C: Any + Send + Sync>(
    graph: Graph,
    known: &Classes<C>,
    workers: usize,
) -> Result<Layout<C>, Vec<Diagnostic>> {
    let classes = classes(&graph, known)?;
    let described: Vec<&'static Described> = classes.iter().map(|&class| class as &Described).collect();
    let ports = ports(&graph, &described)?;
    let (workers, mut warnings) = (workers.max(1), Vec::new());
    let pins = pins(&graph, &described, workers, &mut warnings);
    let placement = place(&described, &ports, &pins, workers);
    Ok(Layout { graph, classes, ports, placement, warnings })
}

/// The class of each element.
fn classes<C>(graph: &Graph, known: &Classes<C>) -> Result<Vec<&'static Class<C>>, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut classes = Vec::with_capacity(graph.elements.len());
    for element in &graph.elements {
        match known.get(&element.class) {
            Some(class) => classes.push(class),
            None => {
                let mut error = Diagnostic::error(format!("unknown element class '{}'", element.class))
                    .at(element.landmark.clone(), element.span);
                if let Some(similar) = lang::similar(&element.class, known.names()) {
                    error = error.help(format!("did you mean '{similar}'?"));
                }
                errors.push(error);
            }
        }
    }
    if errors.is_empty() { Ok(classes) } else { Err(errors) }
}

/// Inputs and outputs of each element.
fn ports(graph: &Graph, classes: &[&'static Described]) -> Result<Vec<[Vec<Port>; 2]>, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut ports = ports::connect(graph, classes, &mut errors);
    if errors.is_empty() {
        ports::resolve(graph, classes, &mut ports, &mut errors);
    }
    if errors.is_empty() {
        ports::check(graph, &ports, &mut errors);
    }
    if errors.is_empty() { Ok(ports) } else { Err(errors) }
}

/// A layout of a graph that may have none, with stand-ins for the classes that are unknown, and what is wrong with its ports.
pub(crate) fn wrong_layout<C: Any + Send + Sync>(
    graph: Graph,
    classes: Vec<&'static Class<C>>,
    workers: usize,
) -> (Layout<C>, Vec<Diagnostic>) {
    let described: Vec<&'static Described> = classes.iter().map(|&class| class as &Described).collect();
    let mut errors = Vec::new();
    let mut ports = ports::connect(&graph, &described, &mut errors);
    ports::resolve(&graph, &described, &mut ports, &mut errors);
    ports::check_others(&graph, &described, ports.clone(), &mut errors);
    let placement = place(&described, &ports, &BTreeMap::new(), workers.max(1));
    (Layout { graph, classes, ports, placement, warnings: Vec::new() }, errors)
}

/// A layout of a graph whose connections are not known: each element has `wanted` inputs and outputs, as far as its class can have them, and runs
/// on the first worker.
pub(crate) fn unconnected_layout<C: Any + Send + Sync>(
    mut graph: Graph,
    classes: Vec<&'static Class<C>>,
    wanted: impl Fn(&lang::Element) -> usize,
) -> Layout<C> {
    graph.connections.clear();
    let elements = graph.elements.iter().zip(&classes);
    let ports = elements.map(|(element, &class)| ports::unconnected(class, wanted(element))).collect();
    let count = graph.elements.len();
    let placement = Placement { workers: vec![vec![0]; count], merged: Vec::new(), homes: vec![0; count] };
    Layout { graph, classes, ports, placement, warnings: Vec::new() }
}

/// The pins that information elements ask for. Who is to run on a worker that does not exist runs on the first one.
fn pins(
    graph: &Graph,
    classes: &[&'static Described],
    workers: usize,
    warnings: &mut Vec<Diagnostic>,
) -> BTreeMap<usize, usize> {
    let mut pins = BTreeMap::new();
    for (element, class) in graph.elements.iter().zip(classes) {
        let Some(read) = class.pins else { continue };
        let here = |said: Diagnostic| {
            let landmark = element.landmark.clone();
            said.at(landmark.clone(), element.span).within(Context::configuring(
                &element.name,
                &element.class,
                landmark,
            ))
        };
        // Malformed arguments are reported when the element itself is configured.
        for (name, worker) in read(&element.config).unwrap_or_default() {
            let pinned = named(graph, &name, &element.name);
            if pinned.is_empty() {
                // Click complains, too, and goes on.
                warnings.push(here(Diagnostic::warning(format!("'{name}' does not name an element"))));
                continue;
            }
            if worker >= workers {
                let message = format!("thread preference {worker} out of range");
                warnings.push(here(Diagnostic::warning(message)));
            }
            let worker = if worker < workers { worker } else { 0 };
            pins.extend(pinned.into_iter().map(|element| (element, worker)));
        }
    }
    pins
}

/// The element with a name, seen from another one; or all elements of a compound with that name beside it.
fn named(graph: &Graph, name: &str, from: &str) -> Vec<usize> {
    if let Some(element) = graph.find_in(name, from) {
        return vec![element];
    }
    let context = from.rfind('/').map_or("", |slash| &from[..=slash]);
    let prefix = format!("{context}{name}/");
    let elements = graph.elements.iter().enumerate();
    elements.filter(|(_, element)| element.name.starts_with(&prefix)).map(|(index, _)| index).collect()
}
