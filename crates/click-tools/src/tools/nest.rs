//! A configuration as it is written, and which of its ports are push and which pull.

use super::line::{Line, Source};
use super::load::{Loaded, Reader};
use lang::{Body, Graph, Kind, Nested};
use router::{Classes, Port};
use std::collections::HashMap;

/// A configuration as it is written, beside the same without compound elements.
pub(super) struct Nest {
    pub(super) nested: Nested,
    flat: Graph,
    /// Of the elements of `flat`.
    ports: Vec<[Vec<Port>; 2]>,
    /// For a compound class, what the names of the elements in one of its elements begin with.
    instances: HashMap<usize, String>,
}

/// Inputs and outputs of each element, push or pull; none as long as the classes are not known or do not fit.
fn ports(graph: &Graph, known: &Classes) -> Vec<[Vec<Port>; 2]> {
    match router::layout(graph.clone(), known, 1) {
        Ok(layout) => layout.ports,
        Err(_) => vec![Default::default(); graph.elements.len()],
    }
}

/// What `input` and `output` are in the body of a compound class.
const INPUT: usize = 0;
const OUTPUT: usize = 1;

impl Nest {
    pub(super) fn new(line: &Line<'_>, source: &Source, loaded: &Loaded) -> Nest {
        let mut nest = Nest {
            // What is wrong with the text was told when it was loaded.
            nested: Reader::new(line, &source.params).nested(&loaded.text),
            flat: loaded.expanded.clone(),
            ports: ports(&loaded.expanded, line.classes()),
            instances: HashMap::new(),
        };
        let mut found = HashMap::new();
        nest.find_instances(&nest.nested.body, "", &mut found);
        nest.instances = found;
        nest
    }

    /// Notes elements of compound classes that are not known yet: those of a body, and those in these.
    fn find_instances(&self, body: &Body, prefix: &str, found: &mut HashMap<usize, String>) {
        for element in &body.elements {
            let Kind::Compound(class) = element.kind else { continue };
            let prefix = format!("{prefix}{}/", element.name);
            for class in self.overloads(class) {
                let inner = &self.nested.classes[class].body;
                // Of overloadings, that whose elements are there is meant.
                let is_there = |element: &lang::NestedElement| {
                    self.flat.find(&format!("{prefix}{}", element.name)).is_some()
                };
                let plain = |e: &&lang::NestedElement| matches!(e.kind, Kind::Primitive(_));
                if inner.elements.iter().filter(plain).all(is_there) && !found.contains_key(&class) {
                    found.insert(class, prefix.clone());
                    self.find_instances(inner, &prefix, found);
                }
            }
        }
    }

    /// A compound class and its further overloadings.
    fn overloads(&self, class: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(class), |&class| match self.nested.classes[class].overload {
            Some(Kind::Compound(next)) => Some(next),
            _ => None,
        })
    }

    /// What the names of the elements in one of the elements of a compound class begin with, if there is one.
    pub(super) fn instance(&self, class: usize) -> Option<&str> {
        self.instances.get(&class).map(String::as_str)
    }

    /// The compound classes that are declared in another one, or outside of all, each behind its further overloadings.
    pub(super) fn declared(&self, within: Option<usize>) -> impl Iterator<Item = usize> {
        let classes = &self.nested.classes;
        // A class ends behind those that are declared in it.
        let outer = move |index: usize| {
            let depth = classes[index].depth - 1;
            (index + 1..classes.len()).find(|&outer| classes[outer].depth == depth).filter(|_| depth > 0)
        };
        let mut declared: Vec<usize> = (0..classes.len()).filter(|&index| outer(index) == within).collect();
        // The overloadings of a class end one behind the other, the first one first.
        let chain = |&index: &usize| match classes[index].overload {
            Some(Kind::Compound(next)) => next > index,
            _ => false,
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut open = false;
        for index in declared.drain(..) {
            match groups.last_mut() {
                Some(group) if open => group.push(index),
                _ => groups.push(vec![index]),
            }
            open = chain(&index);
        }
        groups.into_iter().flat_map(|group| group.into_iter().rev())
    }

    /// Whether a port of an element is push, if it is known; `prefix` is what the names of the body's elements begin with, `side` 0
    /// for inputs and 1 for outputs.
    pub(super) fn is_push(
        &self,
        body: &Body,
        prefix: &str,
        element: usize,
        side: usize,
        port: u32,
    ) -> Option<bool> {
        let own = self.own(body, prefix, element, side, port);
        own.or_else(|| {
            // What it is connected to has the same processing.
            let here = lang::Port { element, port };
            body.connections.iter().find_map(|c| {
                let (end, other) = if side == 0 { (c.to, c.from) } else { (c.from, c.to) };
                let other = (end == here).then_some(other)?;
                self.own(body, prefix, other.element, 1 - side, other.port)
            })
        })
    }

    /// The letter for a port: push, pull, or, where it is not known, agnostic.
    pub(super) fn letter(&self, body: &Body, prefix: &str, element: usize, side: usize, port: u32) -> char {
        match self.is_push(body, prefix, element, side, port) {
            Some(true) => 'h',
            Some(false) => 'l',
            None => 'a',
        }
    }

    /// What the element itself says of its port.
    fn own(&self, body: &Body, prefix: &str, element: usize, side: usize, port: u32) -> Option<bool> {
        let element = &body.elements[element];
        match element.kind {
            Kind::Pseudo => None,
            Kind::Primitive(_) => {
                let found = self.flat.find(&format!("{prefix}{}", element.name))?;
                self.ports[found][side].get(port as usize).map(|port| port.push)
            }
            Kind::Compound(class) => {
                let prefix = format!("{prefix}{}/", element.name);
                self.overloads(class).find_map(|class| {
                    let inner = &self.nested.classes[class].body;
                    inner.connections.iter().find_map(|c| {
                        let (pseudo, end, next) =
                            if side == 0 { (INPUT, c.from, c.to) } else { (OUTPUT, c.to, c.from) };
                        let leads = end == lang::Port { element: pseudo, port };
                        leads.then(|| self.own(inner, &prefix, next.element, side, next.port)).flatten()
                    })
                })
            }
        }
    }
}
