//! What an XML document says, in the form of Click's `clickconfig.dtd`.

use super::Problems;
use roxmltree::{Document, Node, ParsingOptions};

/// The name space of the tags, if they have one.
const SPACE: &str = "http://www.lcdf.org/click/xml/";
/// Nodes of a document, at most.
const NODES: u32 = 4_000_000;
/// How deep compound classes may lie in each other.
const DEPTH: usize = 100;

/// An element class, by its name or by the identifier that the document gives it.
#[derive(Debug)]
pub(super) enum Reference {
    Name(String),
    Id(String),
}

/// A configuration, or the body of a compound class.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) classes: Vec<Class>,
    pub(super) elements: Vec<Element>,
    pub(super) connections: Vec<Connection>,
}

#[derive(Debug)]
pub(super) struct Class {
    /// Empty if it has none.
    pub(super) name: String,
    pub(super) id: String,
    pub(super) what: What,
    /// The line of the document.
    pub(super) line: u32,
}

/// What an element class is.
#[derive(Debug)]
pub(super) enum What {
    Synonym(Reference),
    Compound(Compound),
}

#[derive(Debug)]
pub(super) struct Compound {
    pub(super) overload: Option<Reference>,
    /// Names, without `$`, and keywords, which may be empty.
    pub(super) formals: Vec<(String, String)>,
    /// Inputs and outputs that it says it has.
    pub(super) ports: [Option<u32>; 2],
    pub(super) body: Body,
}

#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) class: Reference,
    pub(super) config: String,
    /// Inputs and outputs that it says it has.
    pub(super) ports: [Option<u32>; 2],
    /// Where it was declared before it became XML.
    pub(super) place: Option<(String, u32)>,
    /// The line of the document.
    pub(super) line: u32,
}

#[derive(Debug)]
pub(super) struct Connection {
    /// Names of elements, and ports.
    pub(super) from: (String, u32),
    pub(super) to: (String, u32),
    pub(super) line: u32,
}

/// Reads a document; what is wrong with it goes to `problems`.
pub(super) fn read(text: &str, problems: &mut Problems) -> Option<Body> {
    let options = ParsingOptions { allow_dtd: true, nodes_limit: NODES, ..ParsingOptions::default() };
    let document = match Document::parse_with_options(text, options) {
        Ok(document) => document,
        Err(error) => {
            problems.add(error.pos().row, format!("XML parse error: {error}"));
            return None;
        }
    };
    let mut sections = document.descendants().filter(|node| tag(node) == "configuration");
    let Some(first) = sections.next() else {
        problems.add(0, "no configuration section");
        return None;
    };
    for section in sections {
        problems.add_at(&section, "additional configuration section ignored");
    }
    Some(body(&first, 0, problems))
}

/// The name of a tag that is one of Click's; empty otherwise.
fn tag<'a>(node: &Node<'a, '_>) -> &'a str {
    let name = node.tag_name();
    match name.namespace() {
        None | Some(SPACE) => name.name(),
        Some(_) => "",
    }
}

/// The elements below a node that have this tag; tags that are not Click's are looked into.
fn below<'a, 'input>(node: &Node<'a, 'input>, wanted: &str) -> Vec<Node<'a, 'input>> {
    let mut found = Vec::new();
    let mut open = vec![node.children()];
    while let Some(children) = open.last_mut() {
        match children.next() {
            None => drop(open.pop()),
            Some(child) if tag(&child) == wanted => found.push(child),
            Some(child) if is_known(tag(&child)) => {}
            Some(child) => open.push(child.children()),
        }
    }
    found
}

fn is_known(tag: &str) -> bool {
    matches!(
        tag,
        "configuration" | "element" | "connection" | "elementclass" | "synonym" | "compound" | "formal"
    )
}

fn body(node: &Node<'_, '_>, depth: usize, problems: &mut Problems) -> Body {
    for wrong in ["formal", "synonym", "compound"] {
        let outside =
            if wrong == "formal" { "meaningless outside of <compound>" } else { "outside of <elementclass>" };
        let belongs = wrong == "formal" && tag(node) == "compound";
        for found in below(node, wrong).iter().filter(|_| !belongs) {
            problems.add_at(found, format!("<{wrong}> tag {outside}"));
        }
    }
    Body {
        classes: below(node, "elementclass").iter().filter_map(|node| class(node, depth, problems)).collect(),
        elements: below(node, "element").iter().filter_map(|node| element(node, problems)).collect(),
        connections: below(node, "connection").iter().filter_map(|node| connection(node, problems)).collect(),
    }
}

fn class(node: &Node<'_, '_>, depth: usize, problems: &mut Problems) -> Option<Class> {
    let name = identifier(node, "classname", problems);
    let id = attribute(node, "classid");
    if id.is_empty() {
        problems.add_at(node, "element class declared without an ID");
    }
    let mut fillings = below(node, "synonym");
    fillings.extend(below(node, "compound"));
    for node in fillings.iter().skip(1) {
        problems.add_at(node, "element class already defined");
    }
    let Some(filling) = fillings.first() else {
        problems.add_at(node, "elementclass tag not filled");
        return None;
    };
    if depth == DEPTH {
        problems.add_at(node, format!("more than {DEPTH} compound classes in each other"));
        return None;
    }
    let what = match tag(filling) {
        "synonym" => {
            let target = reference(filling, "class", problems);
            if target.is_none() {
                problems.add_at(filling, "synonym refers to no other class");
            }
            What::Synonym(target?)
        }
        _ => What::Compound(Compound {
            overload: reference(filling, "overloadclass", problems),
            formals: formals(filling, problems),
            ports: ["ninputs", "noutputs"].map(|name| number(filling, name, problems)),
            body: body(filling, depth + 1, problems),
        }),
    };
    Some(Class { name, id, what, line: problems.line(node) })
}

fn formals(compound: &Node<'_, '_>, problems: &mut Problems) -> Vec<(String, String)> {
    let mut formals: Vec<Option<(String, String)>> = Vec::new();
    let nodes = below(compound, "formal");
    for node in &nodes {
        let name = attribute(node, "name");
        let name = name.strip_prefix('$').unwrap_or(&name).to_owned();
        if !lang::conf::is_word(&name) {
            problems.add_at(node, "'name' should be formal name");
        }
        let place = attribute(node, "number").parse::<usize>().ok().filter(|&place| place < nodes.len());
        let Some(place) = place else {
            problems.add_at(node, "'number' should be formal argument position");
            continue;
        };
        formals.resize(formals.len().max(place + 1), None);
        match &formals[place] {
            Some((known, _)) => {
                problems.add_at(node, format!("formal parameter {place} already defined as '${known}'"));
            }
            None => formals[place] = Some((name, attribute(node, "key"))),
        }
    }
    for place in (0..formals.len()).filter(|&place| formals[place].is_none()) {
        problems.add_at(compound, format!("definition missing for formal {place}"));
    }
    if number(compound, "nformals", problems).is_some_and(|count| count as usize != formals.len()) {
        problems.add_at(compound, "<formal> count and 'nformals' attribute disagree");
    }
    formals.into_iter().flatten().collect()
}

fn element(node: &Node<'_, '_>, problems: &mut Problems) -> Option<Element> {
    let name = identifier(node, "name", problems);
    let class = reference(node, "class", problems);
    if class.is_none() {
        problems.add_at(node, "element declared without a class");
    }
    if name.is_empty() {
        problems.add_at(node, "element declared without a name");
        return None;
    }
    let file = attribute(node, "file");
    let place = match attribute(node, "line").parse() {
        Ok(number) => Some((file, number)),
        Err(_) => Some((file, 0)).filter(|(file, _)| !file.is_empty()),
    };
    let ports = ["ninputs", "noutputs"].map(|name| number(node, name, problems));
    let (config, line) = (attribute(node, "config"), problems.line(node));
    Some(Element { name, class: class?, config, ports, place, line })
}

fn connection(node: &Node<'_, '_>, problems: &mut Problems) -> Option<Connection> {
    let mut port = |name: &str| match node.attribute(name) {
        None => 0,
        Some(text) => text.parse().unwrap_or_else(|_| {
            problems.add_at(node, format!("'{name}' should be port number"));
            0
        }),
    };
    let (from, to) = ((attribute(node, "from"), port("fromport")), (attribute(node, "to"), port("toport")));
    if from.0.is_empty() || to.0.is_empty() {
        problems.add_at(node, "connection lacks 'from' or 'to' attribute");
        return None;
    }
    Some(Connection { from, to, line: problems.line(node) })
}

fn attribute(node: &Node<'_, '_>, name: &str) -> String {
    node.attribute(name).unwrap_or_default().to_owned()
}

/// An attribute that must be a name, if it is there.
fn identifier(node: &Node<'_, '_>, name: &str, problems: &mut Problems) -> String {
    let value = attribute(node, name);
    if node.attribute(name).is_some() && !lang::conf::is_identifier(&value) {
        problems.add_at(node, format!("'{name}' attribute not a Click identifier"));
    }
    value
}

/// The class that attributes refer to, whose names begin like this.
fn reference(node: &Node<'_, '_>, start: &str, problems: &mut Problems) -> Option<Reference> {
    let (name, id) =
        (identifier(node, &format!("{start}name"), problems), attribute(node, &format!("{start}id")));
    match (name.is_empty(), id.is_empty()) {
        (false, false) => {
            problems.add_at(node, format!("conflicting attributes '{start}name' and '{start}id'"));
            None
        }
        (false, true) => Some(Reference::Name(name)),
        (true, false) => Some(Reference::Id(id)),
        (true, true) => None,
    }
}

/// A number of ports or the like, if it is there.
fn number(node: &Node<'_, '_>, name: &str, problems: &mut Problems) -> Option<u32> {
    let text = node.attribute(name)?;
    let number = text.parse().ok();
    if number.is_none() {
        problems.add_at(node, format!("'{name}' attribute must be an integer"));
    }
    number
}
