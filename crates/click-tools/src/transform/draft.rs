//! A graph that is being changed.

use lang::{Connection, Element, Graph, Landmark, Port, Span};
use std::collections::HashSet;

/// A graph in which elements and connections come and go; indices stay until the end.
pub(super) struct Draft {
    rest: Graph,
    elements: Vec<Option<Element>>,
    connections: Vec<Option<Connection>>,
    /// For each element, connections that have led to it and that have left it at some time.
    touching: Vec<[Vec<usize>; 2]>,
    /// The order of the next connection.
    next: u32,
}

impl Draft {
    pub(super) fn new(graph: &Graph) -> Draft {
        let mut rest = Graph::default();
        rest.requirements = graph.requirements.clone();
        rest.provides = graph.provides.clone();
        rest.defines = graph.defines.clone();
        let next = graph.connections.iter().map(|c| c.order + 1).max().unwrap_or(0);
        let mut draft =
            Draft { rest, elements: Vec::new(), connections: Vec::new(), touching: Vec::new(), next };
        graph.elements.iter().for_each(|element| {
            draft.add(element.clone());
        });
        graph.connections.iter().for_each(|connection| draft.connect(connection.clone()));
        draft
    }

    /// Indices of elements, those that are gone included.
    pub(super) fn indices(&self) -> std::ops::Range<usize> {
        0..self.elements.len()
    }

    /// An element, if it is there.
    pub(super) fn get(&self, element: usize) -> Option<&Element> {
        self.elements[element].as_ref()
    }

    pub(super) fn set_config(&mut self, element: usize, config: String) {
        if let Some(element) = &mut self.elements[element] {
            element.config = config;
        }
    }

    pub(super) fn add(&mut self, element: Element) -> usize {
        self.elements.push(Some(element));
        self.touching.push([Vec::new(), Vec::new()]);
        self.elements.len() - 1
    }

    /// Adds an element of this class that a tool makes. Its name is `prefix` with a number: `number`, or the next one that no
    /// element has.
    pub(super) fn add_numbered(
        &mut self,
        prefix: &str,
        number: usize,
        class: &str,
        config: String,
        place: &str,
    ) -> usize {
        let there: HashSet<&str> =
            self.elements.iter().flatten().map(|element| element.name.as_str()).collect();
        let name = (number..)
            .map(|number| format!("{prefix}@{number}"))
            .find(|name| !there.contains(name.as_str()))
            .unwrap_or_default();
        self.add(Element {
            name,
            class: class.to_owned(),
            config,
            landmark: Landmark::new(place, 0),
            span: Span::default(),
        })
    }

    /// Takes an element out, with its connections.
    pub(super) fn remove(&mut self, element: usize) {
        self.elements[element] = None;
        for connection in std::mem::take(&mut self.touching[element]).into_iter().flatten() {
            let touches = |c: &mut Connection| c.from.element == element || c.to.element == element;
            self.connections[connection].take_if(touches);
        }
    }

    pub(super) fn connect(&mut self, connection: Connection) {
        self.connections.push(Some(connection));
        self.note(self.connections.len() - 1);
    }

    /// Connects two ports, after all others.
    pub(super) fn append(&mut self, from: Port, to: Port, place: &str) {
        let (landmark, span, order) = (Landmark::new(place, 0), Span::default(), self.next);
        self.next += 1;
        self.connect(Connection { from, to, landmark, span, order });
    }

    /// Takes a connection out.
    pub(super) fn disconnect(&mut self, connection: usize) {
        self.connections[connection] = None;
    }

    /// Makes a connection lead to another input.
    pub(super) fn lead(&mut self, connection: usize, to: Port) {
        if let Some(connection) = &mut self.connections[connection] {
            connection.to = to;
        }
        self.note(connection);
    }

    /// Makes a connection leave another output.
    pub(super) fn leave(&mut self, connection: usize, from: Port) {
        if let Some(connection) = &mut self.connections[connection] {
            connection.from = from;
        }
        self.note(connection);
    }

    fn note(&mut self, connection: usize) {
        let Some(Connection { from, to, .. }) = &self.connections[connection] else { return };
        for (side, end) in [to, from].into_iter().enumerate() {
            let list = &mut self.touching[end.element][side];
            if !list.contains(&connection) {
                list.push(connection);
            }
        }
    }

    /// Connections that lead to an element, with the input.
    pub(super) fn incoming(&self, element: usize) -> Vec<(usize, Connection)> {
        self.found(element, 0, |c| c.to.element)
    }

    /// Connections that leave an element, with the output.
    pub(super) fn outgoing(&self, element: usize) -> Vec<(usize, Connection)> {
        self.found(element, 1, |c| c.from.element)
    }

    fn found(&self, element: usize, side: usize, end: fn(&Connection) -> usize) -> Vec<(usize, Connection)> {
        (self.touching[element][side].iter())
            .filter_map(|&i| Some((i, self.connections[i].clone()?)))
            .filter(|(_, connection)| end(connection) == element)
            .collect()
    }

    /// The connections that are there.
    pub(super) fn connections(&self) -> impl Iterator<Item = &Connection> {
        self.connections.iter().flatten()
    }

    /// The number of connections that there have been, so that each can be asked for by [`Draft::connection`].
    pub(super) fn connections_made(&self) -> usize {
        self.connections.len()
    }

    /// A connection, if it is there.
    pub(super) fn connection(&self, connection: usize) -> Option<&Connection> {
        self.connections[connection].as_ref()
    }

    /// How many inputs and outputs of an element are in use, gaps included.
    pub(super) fn used_ports(&self, element: usize) -> (u32, u32) {
        let count = |ports: &mut dyn Iterator<Item = u32>| ports.max().map_or(0, |port| port + 1);
        (
            count(&mut self.incoming(element).iter().map(|(_, c)| c.to.port)),
            count(&mut self.outgoing(element).iter().map(|(_, c)| c.from.port)),
        )
    }

    /// The graph: elements in order, connections as a graph has them.
    pub(super) fn finish(self) -> Graph {
        let mut graph = self.rest;
        let index: Vec<Option<usize>> =
            self.elements.into_iter().map(|element| Some(graph.push(element?))).collect();
        let end = |port: Port| Some(Port { element: index[port.element]?, ..port });
        graph.connections = (self.connections.into_iter().flatten())
            .filter_map(|c| Some(Connection { from: end(c.from)?, to: end(c.to)?, ..c }))
            .collect();
        graph.connections.sort_by_key(|c| (c.to, c.from));
        graph.connections.dedup_by_key(|c| (c.to, c.from));
        graph
    }
}
