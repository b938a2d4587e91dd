//! What a picture of a graph shows: a sheet for the outermost scope, and one for each kind of compound element.
//!
//! The flat graph keeps compound elements in names alone: `port/arp` is in `port`. On the sheet of a scope each compound element is one
//! box. What would cross the whole sheet (a connection to somewhere above, or far below) and what leaves the sheet ends in a tag with the
//! name of its other end, as in circuit diagrams.

use super::layout::rows;
use super::{Connection, Element, Graph};
use std::collections::{HashMap, HashSet};

/// Rows that a connection may cross. A longer one ends in a tag.
const SPAN: usize = 2;

/// What a node of a sheet stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An element.
    Element,
    /// A compound element with all that is in it.
    Compound,
    /// The other end of connections that are not drawn.
    Tag,
}

/// A box, or a tag.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Its name within the scope; the class of an element without one.
    pub(super) name: String,
    /// What stands below: the class of an element, or its number; of a compound element, how much is in it.
    pub(super) class: String,
    /// All that is known about it.
    pub(super) title: String,
    /// Numbers of inputs and outputs.
    pub(super) ports: [u32; 2],
}

/// From an output of a node to an input of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Wire {
    pub(super) from: (usize, u32),
    pub(super) to: (usize, u32),
}

/// A scope.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    /// The compound elements that it shows; none for the outermost scope.
    pub(super) of: Vec<String>,
    pub(super) nodes: Vec<Node>,
    pub(super) wires: Vec<Wire>,
    /// Elements without connections.
    pub(super) aside: Vec<Node>,
}

/// The sheets of a graph: the outermost scope first, then compound elements, those alike together.
pub(super) fn sheets(graph: &Graph) -> Vec<Sheet> {
    let mut sheets = vec![sheet(graph, "")];
    let mut seen = HashMap::new();
    for prefix in prefixes(graph) {
        let name = prefix.trim_end_matches('/').to_owned();
        let place = *seen.entry(contents(graph, &prefix)).or_insert(sheets.len());
        if place == sheets.len() {
            sheets.push(sheet(graph, &prefix));
        }
        sheets[place].of.push(name);
    }
    sheets
}

/// The prefixes of names, outer before inner, in the order of their first elements.
fn prefixes(graph: &Graph) -> Vec<String> {
    let mut found = HashMap::new();
    for name in graph.elements.iter().map(|element| &element.name) {
        for (slash, _) in name.match_indices('/') {
            let next = found.len();
            found.entry(&name[..=slash]).or_insert(next);
        }
    }
    let mut prefixes: Vec<(usize, &str)> = found.into_iter().map(|(prefix, place)| (place, prefix)).collect();
    prefixes.sort_unstable();
    prefixes.into_iter().map(|(_, prefix)| prefix.to_owned()).collect()
}

/// What is in a compound element, but for arguments: the same for those of one class.
fn contents(graph: &Graph, prefix: &str) -> String {
    let inner = |index: usize| graph.elements[index].name.strip_prefix(prefix);
    let mut text = String::new();
    for element in &graph.elements {
        if let Some(name) = element.name.strip_prefix(prefix) {
            text += &format!("{name}\n{}\n", element.class);
        }
    }
    for Connection { from, to, .. } in &graph.connections {
        if let (Some(a), Some(b)) = (inner(from.element), inner(to.element)) {
            text += &format!("{a}\n{}\n{}\n{b}\n", from.port, to.port);
        }
    }
    text
}

fn sheet(graph: &Graph, prefix: &str) -> Sheet {
    let mut maker = Maker {
        graph,
        prefix,
        sheet: Sheet::default(),
        places: HashMap::new(),
        ports: HashMap::new(),
        inside: Vec::new(),
    };
    let nodes: Vec<Option<usize>> = (0..graph.elements.len()).map(|index| maker.node(index)).collect();
    maker.count();
    for c in &graph.connections {
        maker.connect(&nodes, c);
    }
    maker.cut();
    maker.set_aside();
    maker.sheet
}

/// The node of an element that has this name within its scope. Without a name of its own it shows its class, and its number below.
fn element_node(element: &Element, name: &str) -> Node {
    let config = if element.config.is_empty() { String::new() } else { format!("({})", element.config) };
    let title = format!("{} :: {}{config}", element.name, element.class);
    let number = name.strip_prefix(&element.class).filter(|rest| rest.starts_with('@'));
    let (name, class) = match number {
        Some(number) => (&*element.class, number),
        None => (name, &*element.class),
    };
    Node { kind: Kind::Element, name: name.to_owned(), class: class.to_owned(), title, ports: [0; 2] }
}

/// A sheet while it is made.
struct Maker<'a> {
    graph: &'a Graph,
    prefix: &'a str,
    sheet: Sheet,
    /// Nodes by kind and name; those of a tag, with the node that it is at and the side.
    places: HashMap<(Option<(usize, bool)>, String), usize>,
    /// Ports of compound elements by what is at their other end: node, side, element, and port.
    ports: HashMap<(usize, bool, usize, u32), u32>,
    /// How many elements each node stands for.
    inside: Vec<usize>,
}

impl Maker<'_> {
    /// The node of an element on this sheet, if it has one.
    fn node(&mut self, index: usize) -> Option<usize> {
        let element = &self.graph.elements[index];
        let name = element.name.strip_prefix(self.prefix)?;
        let Some((compound, _)) = name.split_once('/') else {
            self.sheet.nodes.push(element_node(element, name));
            self.inside.push(1);
            return Some(self.sheet.nodes.len() - 1);
        };
        let compound = compound.to_owned();
        let place = *self.places.entry((None, compound.clone())).or_insert_with(|| {
            let title = format!("{}{compound}", self.prefix);
            let class = String::new();
            self.sheet.nodes.push(Node { kind: Kind::Compound, name: compound, class, title, ports: [0; 2] });
            self.inside.push(0);
            self.sheet.nodes.len() - 1
        });
        self.inside[place] += 1;
        Some(place)
    }

    /// Says of compound elements how much is in them.
    fn count(&mut self) {
        for (node, inside) in self.sheet.nodes.iter_mut().zip(&self.inside) {
            if node.kind == Kind::Compound {
                node.class = if *inside == 1 { "1 element".to_owned() } else { format!("{inside} elements") };
            }
        }
    }

    /// The tag at an output or input of a node that names the other end.
    fn tag(&mut self, at: usize, is_output: bool, name: &str) -> usize {
        let key = (Some((at, is_output)), name.to_owned());
        *self.places.entry(key).or_insert_with(|| {
            let (name, title) = (name.to_owned(), name.to_owned());
            self.sheet.nodes.push(Node { kind: Kind::Tag, name, class: String::new(), title, ports: [1; 2] });
            self.sheet.nodes.len() - 1
        })
    }

    /// What an element outside of the sheet is called there: by its name, or by that of the compound element beside this one.
    fn outside(&self, index: usize) -> &str {
        let name = &self.graph.elements[index].name;
        let mut shared = 0;
        for (slash, _) in self.prefix.match_indices('/') {
            if name.starts_with(&self.prefix[..=slash]) {
                shared = slash + 1;
            }
        }
        name[shared..].split('/').next().unwrap_or(name)
    }

    fn connect(&mut self, nodes: &[Option<usize>], c: &Connection) {
        let (from, to) = (nodes[c.from.element], nodes[c.to.element]);
        let wire = match (from, to) {
            (Some(from), Some(to)) if from == to && self.sheet.nodes[from].kind == Kind::Compound => return,
            (Some(from), Some(to)) => {
                let out = self.port(from, true, c.from.port, (c.to.element, c.to.port, to));
                let into = self.port(to, false, c.to.port, (c.to.element, c.to.port, to));
                Wire { from: (from, out), to: (to, into) }
            }
            (Some(from), None) => {
                let name = self.outside(c.to.element).to_owned();
                let tag = self.tag(from, true, &name);
                let out = self.port(from, true, c.from.port, (c.to.element, c.to.port, tag));
                Wire { from: (from, out), to: (tag, 0) }
            }
            (None, Some(to)) => {
                let name = self.outside(c.from.element).to_owned();
                let tag = self.tag(to, false, &name);
                let into = self.port(to, false, c.to.port, (c.to.element, c.to.port, tag));
                Wire { from: (tag, 0), to: (to, into) }
            }
            (None, None) => return,
        };
        self.sheet.wires.push(wire);
    }

    /// The port of a node where a connection is drawn. A compound element has an output for each node that it leads to, and an input for
    /// each port of an element in it.
    fn port(&mut self, node: usize, is_output: bool, port: u32, to: (usize, u32, usize)) -> u32 {
        let count = self.sheet.nodes[node].ports[usize::from(is_output)];
        let port = match self.sheet.nodes[node].kind {
            Kind::Element => port,
            Kind::Tag => 0,
            Kind::Compound if is_output => *self.ports.entry((node, true, to.2, 0)).or_insert(count),
            Kind::Compound => *self.ports.entry((node, false, to.0, to.1)).or_insert(count),
        };
        self.sheet.nodes[node].ports[usize::from(is_output)] = count.max(port.saturating_add(1));
        port
    }

    /// Connections upwards, and long ones, end in tags.
    fn cut(&mut self) {
        let edges = self.sheet.edges();
        let rows = rows(self.sheet.nodes.len(), &edges);
        for place in 0..self.sheet.wires.len() {
            let Wire { from, to } = self.sheet.wires[place];
            let (above, below) = (rows[from.0], rows[to.0]);
            if below > above && below - above <= SPAN || self.sheet.nodes[to.0].kind == Kind::Tag {
                continue;
            }
            let name = match self.sheet.nodes[to.0].ports[0] {
                0 | 1 => self.sheet.nodes[to.0].name.clone(),
                _ if self.sheet.nodes[to.0].kind == Kind::Compound => self.sheet.nodes[to.0].name.clone(),
                _ => format!("[{}] {}", to.1, self.sheet.nodes[to.0].name),
            };
            let tag = self.tag(from.0, true, &name);
            self.sheet.wires[place].to = (tag, 0);
        }
        let mut seen = HashSet::new();
        self.sheet.wires.retain(|wire| seen.insert(*wire));
    }

    /// What has no connections stands aside.
    fn set_aside(&mut self) {
        let sheet = &mut self.sheet;
        let (mut places, mut kept) = (Vec::new(), Vec::new());
        for node in sheet.nodes.drain(..) {
            places.push(kept.len());
            if node.ports == [0; 2] && node.kind != Kind::Tag {
                sheet.aside.push(node);
            } else {
                kept.push(node);
            }
        }
        sheet.nodes = kept;
        for wire in &mut sheet.wires {
            (wire.from.0, wire.to.0) = (places[wire.from.0], places[wire.to.0]);
        }
    }
}

impl Sheet {
    /// The pairs of nodes that wires join.
    pub(super) fn edges(&self) -> Vec<(usize, usize)> {
        self.wires.iter().map(|wire| (wire.from.0, wire.to.0)).collect()
    }
}
