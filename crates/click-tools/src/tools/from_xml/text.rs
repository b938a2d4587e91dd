//! A document as a configuration.

use super::Problems;
use super::document::{Body, Class, Compound, Element, Reference, What};
use crate::text::push_connections;
use lang::{Connection, Graph, Landmark, Port, Span};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// What stands for a compound element's own ports.
const PSEUDO: [&str; 2] = ["input", "output"];

/// The configuration that a document describes; what is wrong with it goes to `problems`.
pub(super) fn write(document: &Body, problems: &mut Problems) -> Option<String> {
    let mut classes = HashMap::new();
    find_classes(document, &mut classes);
    let mut uses = Uses::default();
    uses.note(document);
    let mut writer = Writer { classes, uses, scopes: Vec::new(), out: String::new(), problems };
    writer.body(document, None, "")?;
    Some(writer.out)
}

fn find_classes<'a>(body: &'a Body, found: &mut HashMap<&'a str, &'a Class>) {
    for class in &body.classes {
        found.insert(&class.id, class);
        if let What::Compound(compound) = &class.what {
            find_classes(&compound.body, found);
        }
    }
}

/// What refers to classes.
#[derive(Default)]
struct Uses<'a> {
    /// Those that are something else than overloaded once.
    direct: HashSet<&'a str>,
    /// Those that are overloaded.
    overloaded: HashSet<&'a str>,
    /// Those that are more than the class of elements.
    named: HashSet<&'a str>,
}

impl<'a> Uses<'a> {
    fn note(&mut self, body: &'a Body) {
        for element in &body.elements {
            if let Reference::Id(id) = &element.class {
                self.direct.insert(id);
            }
        }
        for class in &body.classes {
            match &class.what {
                What::Synonym(Reference::Id(id)) => {
                    self.direct.insert(id);
                    self.named.insert(id);
                }
                What::Synonym(Reference::Name(_)) => {}
                What::Compound(compound) => {
                    if let Some(Reference::Id(id)) = &compound.overload {
                        self.named.insert(id);
                        if !self.overloaded.insert(id) {
                            self.direct.insert(id);
                        }
                    }
                    self.note(&compound.body);
                }
            }
        }
    }
}

struct Writer<'a, 'p> {
    classes: HashMap<&'a str, &'a Class>,
    uses: Uses<'a>,
    /// How the classes are called that can be seen, by identifier; the innermost scope last.
    scopes: Vec<HashMap<&'a str, String>>,
    out: String,
    problems: &'p mut Problems,
}

impl<'a> Writer<'a, '_> {
    /// Classes, elements and connections, with what lines begin with.
    fn body(&mut self, body: &'a Body, compound: Option<&Compound>, indent: &str) -> Option<()> {
        let order = self.order(body)?;
        self.scopes.push(HashMap::new());
        for (place, class) in order.iter().enumerate() {
            self.class(class, &order[place + 1..], indent)?;
        }
        let mut graph = Graph::default();
        for name in PSEUDO.iter().filter(|_| compound.is_some()) {
            graph.push(node(name, 0));
        }
        for element in &body.elements {
            if let Some(known) = graph.find(&element.name) {
                let (name, before) = (&element.name, graph.elements[known].landmark.line);
                self.problems.add(element.line, format!("redeclaration of element '{name}'"));
                self.problems.add(before, format!("'{name}' previously declared here"));
                continue;
            }
            graph.push(node(&element.name, element.line));
            self.element(element, indent)?;
        }
        self.connections(body, &mut graph, indent);
        self.check_ports(body, compound, &graph);
        self.scopes.pop();
        Some(())
    }

    /// The classes of a body, behind those that they need.
    fn order(&mut self, body: &'a Body) -> Option<Vec<&'a Class>> {
        let places: HashMap<&str, usize> =
            body.classes.iter().enumerate().map(|(place, class)| (class.id.as_str(), place)).collect();
        let needs: Vec<Vec<usize>> = body
            .classes
            .iter()
            .map(|class| {
                let mut needs = Vec::new();
                references(class, &mut |id| needs.extend(places.get(id)));
                needs
            })
            .collect();
        let (mut order, mut begun) = (Vec::new(), vec![false; needs.len()]);
        let mut done = begun.clone();
        // Places, and how many of their needs were looked at.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for first in 0..needs.len() {
            open.push((first, 0));
            while let Some((place, looked)) = open.pop() {
                if done[place] {
                    continue;
                }
                if looked == 0 && std::mem::replace(&mut begun[place], true) {
                    let Class { name, line, .. } = &body.classes[place];
                    let name = if name.is_empty() { "<anonymous>" } else { name };
                    self.problems.add(*line, format!("circular definition of elementclass '{name}'"));
                    return None;
                }
                match needs[place].get(looked) {
                    Some(&need) => open.extend([(place, looked + 1), (need, 0)]),
                    None => {
                        done[place] = true;
                        order.push(&body.classes[place]);
                    }
                }
            }
        }
        Some(order)
    }

    /// A class, before these others of the same scope.
    fn class(&mut self, class: &'a Class, later: &[&'a Class], indent: &str) -> Option<()> {
        let name = self.name(class, later);
        match &class.what {
            What::Compound(_) if name.is_empty() => {}
            What::Synonym(target) => {
                let target = self.class_name(target, class.line)?;
                let _ = writeln!(self.out, "{indent}elementclass {name} {target};");
            }
            What::Compound(compound) => {
                if let Some(target) = &compound.overload {
                    let target = self.class_name(target, class.line)?;
                    if target != name {
                        let _ = writeln!(self.out, "{indent}elementclass {name} {target};");
                    }
                }
                let _ = write!(self.out, "{indent}elementclass {name} ");
                self.compound(class, compound, indent)?;
                self.out.push('\n');
            }
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(&class.id, name);
        }
        Some(())
    }

    /// What a class is called: another name than its own if a later one has that, and empty if it stands where it is used.
    fn name(&self, class: &'a Class, later: &[&'a Class]) -> String {
        let Class { name, id, .. } = class;
        if name.is_empty() {
            let named = self.uses.named.contains(id.as_str());
            return if named { format!("Class_{id}") } else { String::new() };
        }
        let overloads = |other: &Class| match &other.what {
            What::Compound(Compound { overload: Some(Reference::Id(target)), .. }) => target == id,
            _ => false,
        };
        match later.iter().find(|other| other.name == *name) {
            None => name.clone(),
            Some(next) if overloads(next) && !self.uses.direct.contains(id.as_str()) => name.clone(),
            Some(_) => format!("{name}_{id}"),
        }
    }

    /// What a class is called here.
    fn class_name(&mut self, class: &'a Reference, line: u32) -> Option<String> {
        match class {
            Reference::Name(name) => Some(name.clone()),
            Reference::Id(id) => {
                let found = self.scopes.iter().rev().find_map(|scope| scope.get(id.as_str()));
                if found.is_none() {
                    self.problems.add(line, format!("no such element class '{id}'"));
                }
                found.cloned()
            }
        }
    }

    /// A compound class, from brace to brace.
    fn compound(&mut self, class: &'a Class, compound: &'a Compound, indent: &str) -> Option<()> {
        self.out.push('{');
        for (place, (name, keyword)) in compound.formals.iter().enumerate() {
            let blank = if keyword.is_empty() { "" } else { " " };
            let _ = write!(self.out, "{}{keyword}{blank}${name}", if place == 0 { " " } else { ", " });
        }
        self.out.push_str(if compound.formals.is_empty() { "\n" } else { " |\n" });
        self.body(&compound.body, Some(compound), &format!("{indent}  "))?;
        if compound.overload.is_some() {
            let _ = writeln!(self.out, "{indent}||\n{indent}  ...");
        }
        let _ = write!(self.out, "{indent}}}");
        for (side, text) in ["input", "output"].into_iter().enumerate() {
            let used = ports(&compound.body, PSEUDO[side], 1 - side);
            if compound.ports[side].is_some_and(|count| count != used) {
                let message = format!("{text} port count and 'n{text}s' attribute disagree");
                self.problems.add(class.line, message);
            }
        }
        Some(())
    }

    fn element(&mut self, element: &'a Element, indent: &str) -> Option<()> {
        if let Some((file, line)) = &element.place {
            let _ = writeln!(self.out, "# {line} {}", lang::conf::quote(file));
        }
        let _ = write!(self.out, "{indent}{} :: ", element.name);
        let name = self.class_name(&element.class, element.line)?;
        match &element.class {
            Reference::Id(id) if name.is_empty() => {
                let class = *self.classes.get(id.as_str())?;
                let What::Compound(compound) = &class.what else { return None };
                self.compound(class, compound, indent)?;
            }
            _ => self.out.push_str(&name),
        }
        if !element.config.is_empty() {
            let _ = write!(self.out, "({})", element.config);
        }
        self.out.push_str(";\n");
        Some(())
    }

    fn connections(&mut self, body: &Body, graph: &mut Graph, indent: &str) {
        for (order, connection) in body.connections.iter().enumerate() {
            let mut end = |(name, port): &(String, u32)| {
                let found = graph.find(name);
                if found.is_none() {
                    let message = format!("undeclared element '{name}' (first use this block)");
                    self.problems.add(connection.line, message);
                }
                Some(Port { element: found?, port: *port })
            };
            if let (Some(from), Some(to)) = (end(&connection.from), end(&connection.to)) {
                let landmark = Landmark::new("", connection.line);
                let (span, order) = (Span::default(), order as u32);
                graph.connections.push(Connection { from, to, landmark, span, order });
            }
        }
        push_connections(graph, indent, &mut self.out);
    }

    /// Whether elements have as many ports as they say.
    fn check_ports(&mut self, body: &Body, compound: Option<&Compound>, graph: &Graph) {
        let used = graph.used_ports();
        let first = if compound.is_some() { PSEUDO.len() } else { 0 };
        let by_name: HashMap<&str, (u32, u32)> =
            (first..used.len()).map(|i| (graph.elements[i].name.as_str(), used[i])).collect();
        for element in &body.elements {
            let (inputs, outputs) = by_name.get(element.name.as_str()).copied().unwrap_or_default();
            for (said, used, side) in
                [(element.ports[0], inputs, "input"), (element.ports[1], outputs, "output")]
            {
                if said.is_some_and(|said| said != used) {
                    let name = &element.name;
                    let message = format!("'{name}' {side} port count and 'n{side}s' attribute disagree");
                    self.problems.add(element.line, message);
                }
            }
        }
    }
}

/// Tells of the classes that a class refers to by identifier, also inside of it.
fn references<'a>(class: &'a Class, tell: &mut impl FnMut(&'a str)) {
    let mut of = |reference: &'a Reference| {
        if let Reference::Id(id) = reference {
            tell(id);
        }
    };
    match &class.what {
        What::Synonym(target) => of(target),
        What::Compound(compound) => {
            compound.overload.iter().for_each(&mut of);
            compound.body.elements.iter().for_each(|element| of(&element.class));
            compound.body.classes.iter().for_each(|inner| references(inner, tell));
        }
    }
}

/// How many ports of an element a body's connections use, on side 0 for inputs or 1 for outputs.
fn ports(body: &Body, element: &str, side: usize) -> u32 {
    let ends = body.connections.iter().map(|c| if side == 0 { &c.to } else { &c.from });
    ends.filter(|(name, _)| name == element).map(|(_, port)| port + 1).max().unwrap_or(0)
}

fn node(name: &str, line: u32) -> lang::Element {
    lang::Element {
        name: name.to_owned(),
        class: String::new(),
        config: String::new(),
        landmark: Landmark::new("", line),
        span: Span::default(),
    }
}
