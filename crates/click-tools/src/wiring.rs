//! What Click's tools, such as `click-check`, say about a configuration's ports; its drivers say something else.
//!
//! A tool knows only the port and processing codes of classes, and assumes that an unknown class fits.

use lang::{Connection, Diagnostic, Graph, Port};
use router::{Class, Classes, flows, letter, sides};
use std::collections::{HashMap, HashSet};

/// The class of each element of a graph, if it is known.
pub(crate) fn classes(graph: &Graph, known: &Classes) -> Vec<Option<&'static Class>> {
    graph.elements.iter().map(|element| known.get(&element.class)).collect()
}

/// What is wrong with the ports of a graph's elements, in the words and the order of Click's tools; classes that are not known
/// are warned of.
pub(crate) fn check_wiring(graph: &Graph, known: &Classes) -> Vec<Diagnostic> {
    let classes = classes(graph, known);
    let used = graph.used_ports();
    let states = [0, 1].map(|side| {
        let state = |port: usize, class: Option<&Class>| declared(class?, side, port);
        let of = |(&(inputs, outputs), &class): (&(u32, u32), &Option<&'static Class>)| {
            let count = [inputs, outputs][side] as usize;
            (0..count).map(|port| state(port, class)).collect()
        };
        used.iter().zip(&classes).map(of).collect()
    });
    let mut check = Check { graph, classes, used, states, found: Vec::new() };
    check.unknown_classes();
    let connections = graph.as_written().connections;
    let refused = check.spread(&connections);
    check.connections(&connections, &refused);
    check.found
}

/// Whether a class's port is push, unless it leaves that open; side 0 has the inputs, 1 the outputs.
fn declared(class: &Class, side: usize, port: usize) -> Option<bool> {
    let (ins, outs) = sides(class.processing);
    match letter([ins, outs][side], port) {
        'h' => Some(true),
        'l' => Some(false),
        _ => None,
    }
}

/// The words for sides, inputs first.
const SIDES: [&str; 2] = ["input", "output"];

fn word(push: bool) -> &'static str {
    if push { "push" } else { "pull" }
}

struct Check<'a> {
    graph: &'a Graph,
    classes: Vec<Option<&'static Class>>,
    used: Vec<(u32, u32)>,
    /// By side, element and port: whether it is push, as far as that is known.
    states: [Vec<Vec<Option<bool>>>; 2],
    found: Vec<Diagnostic>,
}

impl Check<'_> {
    fn name(&self, element: usize) -> &str {
        &self.graph.elements[element].name
    }

    fn state(&mut self, side: usize, port: Port) -> &mut Option<bool> {
        &mut self.states[side][port.element][port.port as usize]
    }

    /// An error at an element's declaration.
    fn at(&self, element: usize, message: String) -> Diagnostic {
        let element = &self.graph.elements[element];
        Diagnostic::error(message).at(element.landmark.clone(), element.span)
    }

    /// Warns of each class that is not known, where it is used first.
    fn unknown_classes(&mut self) {
        let mut warned = HashSet::new();
        for (element, class) in self.graph.elements.iter().zip(&self.classes) {
            if class.is_none() && warned.insert(element.class.as_str()) {
                let message = format!("unknown element class '{}'", element.class);
                self.found.push(Diagnostic::warning(message).at(element.landmark.clone(), element.span));
            }
        }
    }

    /// From which outputs of an element packets come that entered at an agnostic input, for those that are agnostic, too.
    fn within(&self, element: usize) -> Vec<(Port, Port)> {
        let (inputs, outputs) = self.used[element];
        let open = |side: usize, port: u32| self.states[side][element][port as usize].is_none();
        let leads = |input: u32, output: u32| {
            self.classes[element].is_none_or(|class| flows(class, input as usize, output as usize))
        };
        (0..inputs)
            .filter(|&input| open(0, input))
            .flat_map(|input| (0..outputs).map(move |output| (input, output)))
            .filter(|&(input, output)| open(1, output) && leads(input, output))
            .map(|(input, output)| (Port { element, port: output }, Port { element, port: input }))
            .collect()
    }

    /// Finds out what agnostic ports are; says which connections join push and pull.
    fn spread(&mut self, connections: &[Connection]) -> HashSet<usize> {
        let mut links: Vec<(Port, Port)> = connections.iter().map(|c| (c.from, c.to)).collect();
        links.extend((0..self.classes.len()).flat_map(|element| self.within(element)));
        let mut refused = HashSet::new();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (i, &(from, to)) in links.iter().enumerate() {
                match (*self.state(1, from), *self.state(0, to)) {
                    (Some(output), None) => {
                        *self.state(0, to) = Some(output);
                        changed = true;
                    }
                    (None, Some(input)) => {
                        *self.state(1, from) = Some(input);
                        changed = true;
                    }
                    (Some(output), Some(input)) if output != input && refused.insert(i) => {
                        self.conflict(connections.get(i), from, to, output);
                    }
                    _ => {}
                }
            }
        }
        for state in self.states.iter_mut().flatten().flatten() {
            state.get_or_insert(true);
        }
        refused
    }

    /// Two ports that are joined by a connection, or else by an element, and are not alike.
    fn conflict(&mut self, connection: Option<&Connection>, from: Port, to: Port, push: bool) {
        let (output, input) = (word(push), word(!push));
        let (source, target) = (self.name(from.element), self.name(to.element));
        let Some(connection) = connection else {
            let (input, output) =
                (format!("{input} input {}", to.port), format!("{output} output {}", from.port));
            let message = format!("agnostic '{source}' in mixed context: {input}, {output}");
            self.found.push(self.at(from.element, message));
            return;
        };
        let message = format!(
            "'{source}' {output} output {} connected to '{target}' {input} input {}",
            from.port, to.port
        );
        self.found.push(Diagnostic::error(message).at(connection.landmark.clone(), connection.span));
    }

    /// Checks which ports are connected, and how often.
    fn connections(&mut self, connections: &[Connection], refused: &HashSet<usize>) {
        let mut first: [HashMap<Port, &Connection>; 2] = Default::default();
        for (i, connection) in connections.iter().enumerate() {
            for (side, port) in [(1, connection.from), (0, connection.to)] {
                // A push output and a pull input have one connection.
                let single = *self.state(side, port) == Some(side == 1) && !refused.contains(&i);
                match first[side].get(&port) {
                    Some(before) if single => self.reused(side, port, connection, before),
                    _ => {
                        first[side].insert(port, connection);
                    }
                }
            }
        }
        for element in 0..self.classes.len() {
            self.count(element, &first);
            for side in [0, 1] {
                self.unconnected(element, side, &first[side]);
            }
        }
    }

    fn reused(&mut self, side: usize, port: Port, connection: &Connection, before: &Connection) {
        let (name, end, what) = (self.name(port.element), SIDES[side], word(side == 1));
        let message = format!("illegal reuse of '{name}' {what} {end} {}", port.port);
        let note = format!("'{name}' {end} {} previously used here", port.port);
        let diagnostic = Diagnostic::error(message).at(connection.landmark.clone(), connection.span);
        self.found.push(diagnostic.note(before.landmark.clone(), before.span, note));
    }

    /// Ports between others that lead nowhere.
    fn unconnected(&mut self, element: usize, side: usize, first: &HashMap<Port, &Connection>) {
        for port in 0..self.states[side][element].len() {
            if !first.contains_key(&Port { element, port: port as u32 }) {
                let what = word(self.states[side][element][port] == Some(true));
                let message = format!("'{}' {what} {} {port} not connected", self.name(element), SIDES[side]);
                self.found.push(self.at(element, message));
            }
        }
    }

    /// Whether an element has as many ports as its class may have.
    fn count(&mut self, element: usize, first: &[HashMap<Port, &Connection>; 2]) {
        let Some(class) = self.classes[element] else { return };
        let (ins, outs) = sides(class.ports);
        let (inputs, outputs) = self.used[element];
        let allowed = range(ins);
        self.count_side(element, 0, inputs, allowed, "", &first[0]);
        let inputs = inputs.clamp(allowed.0, allowed.1);
        match outs.strip_prefix('=') {
            // "=+" is one more than there are inputs.
            Some(more) => {
                let exactly = inputs + more.len() as u32;
                let with = format!(" with {inputs} input{}", if inputs == 1 { "" } else { "s" });
                self.count_side(element, 1, outputs, (exactly, exactly), &with, &first[1]);
            }
            None => self.count_side(element, 1, outputs, range(outs), "", &first[1]),
        }
    }

    fn count_side(
        &mut self,
        element: usize,
        side: usize,
        count: u32,
        (least, most): (u32, u32),
        with: &str,
        first: &HashMap<Port, &Connection>,
    ) {
        let (name, ends) = (self.name(element).to_owned(), SIDES[side]);
        let about = |bound: &'static str| if least == most { "" } else { bound };
        if count < least {
            let message =
                format!("too few {ends}s for '{name}'{with}, {}{least} required", about("at least "));
            self.found.push(self.at(element, message));
        } else if count > most {
            let message = format!("too many {ends}s for '{name}'{with}, {}{most} allowed", about("at most "));
            let used = (most..count).filter_map(|port| Some((port, first.get(&Port { element, port })?)));
            let diagnostic = used.fold(self.at(element, message), |diagnostic, (port, c)| {
                diagnostic.note(c.landmark.clone(), c.span, format!("'{name}' {ends} {port} used here"))
            });
            self.found.push(diagnostic);
        }
    }
}

/// The least and the greatest number of ports that one side of a port code allows.
fn range(side: &str) -> (u32, u32) {
    let number = |text: &str| text.parse().ok();
    match side.split_once('-') {
        Some((least, most)) => (number(least).unwrap_or(0), number(most).unwrap_or(u32::MAX)),
        None => number(side).map_or((0, u32::MAX), |count| (count, count)),
    }
}
