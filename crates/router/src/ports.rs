//! Port counts and processing: which ports exist, and which are push and which pull.

use crate::class::Class;
use crate::info::Port;
use lang::{Connection, Diagnostic, Graph};
use std::collections::VecDeque;

/// The range of port counts that one side of a class's port code allows.
fn range(side: &str, inputs: usize) -> (usize, usize) {
    let number =
        |text: &str, default: usize| if text.is_empty() { default } else { text.parse().unwrap_or(default) };
    match side.split_once('-') {
        _ if side.starts_with('=') => {
            let more = side.len() - 1; // "=+" allows one more output than inputs
            (inputs, inputs + more)
        }
        Some((low, high)) => (number(low, 0), number(high, usize::MAX)),
        None => (number(side, 0), number(side, 0)),
    }
}

/// Both sides of a code; a code without slash stands for both.
pub(crate) fn sides(code: &str) -> (&str, &str) {
    code.split_once('/').unwrap_or((code, code))
}

/// A port's letter in a processing code, the last one standing for all further ports.
fn letter(side: &str, port: usize) -> char {
    side.chars().nth(port).or(side.chars().last()).unwrap_or('a')
}

/// Whether a class leaves open whether one of its inputs, or else outputs, is push or pull.
pub(crate) fn is_agnostic(class: &Class, input: bool, port: usize) -> bool {
    let (inputs, outputs) = sides(class.processing);
    letter(if input { inputs } else { outputs }, port) == 'a'
}

/// The set of flow letters of a port: what it contains, and whether that is the complement.
fn flow_set(side: &str, port: usize) -> (Vec<char>, bool) {
    let mut sets = Vec::new();
    let mut chars = side.chars();
    while let Some(c) = chars.next() {
        if c == '[' {
            let mut set: Vec<char> = chars.by_ref().take_while(|&c| c != ']').collect();
            let negated = set.first() == Some(&'^');
            if negated {
                set.remove(0);
            }
            sets.push((set, negated));
        } else {
            sets.push((vec![c], false));
        }
    }
    let mut set = sets.get(port).or(sets.last()).cloned().unwrap_or((vec!['x'], false));
    for c in &mut set.0 {
        if *c == '#' {
            *c = char::from_u32(0xE000 + port as u32).unwrap_or('#'); // a private letter for each port number
        }
    }
    set
}

/// Whether packets at an input can leave at an output.
pub(crate) fn flows(class: &Class, input: usize, output: usize) -> bool {
    let (ins, outs) = sides(class.flow);
    let ((a, a_not), (b, b_not)) = (flow_set(ins, input), flow_set(outs, output));
    match (a_not, b_not) {
        (false, false) => a.iter().any(|c| b.contains(c)),
        (false, true) => a.iter().any(|c| !b.contains(c)),
        (true, false) => b.iter().any(|c| !a.contains(c)),
        (true, true) => true,
    }
}

/// The ports of all elements, with peers; processing still open.
pub(crate) fn connect(
    graph: &Graph,
    classes: &[&'static Class],
    errors: &mut Vec<Diagnostic>,
) -> Vec<[Vec<Port>; 2]> {
    let mut ports: Vec<[Vec<Port>; 2]> = graph
        .used_ports()
        .into_iter()
        .zip(classes)
        .map(|((inputs, outputs), class)| {
            let (ins, outs) = sides(class.ports);
            let count_in = (inputs as usize).max(range(ins, 0).0);
            let count_out = (outputs as usize).max(range(outs, count_in).0);
            [vec![Port::default(); count_in], vec![Port::default(); count_out]]
        })
        .collect();
    for (element, class) in classes.iter().enumerate() {
        let (ins, outs) = sides(class.ports);
        let counts = [ports[element][0].len(), ports[element][1].len()];
        for (side, allowed, word) in [(0, range(ins, 0).1, "input"), (1, range(outs, counts[0]).1, "output")]
        {
            if counts[side] > allowed {
                for connection in graph.connections.iter() {
                    let end = if side == 0 { connection.to } else { connection.from };
                    if end.element == element && end.port as usize >= allowed {
                        let message = format!("'{}' has no {word} {}", declaration(graph, element), end.port);
                        let expected = format!("{} takes {allowed} {word}s at most", class.name);
                        errors.push(
                            Diagnostic::error(message)
                                .at(connection.landmark.clone(), connection.span)
                                .expecting(expected),
                        );
                    }
                }
            }
        }
    }
    for connection in &graph.connections {
        let (from, to) = (connection.from, connection.to);
        ports[from.element][1][from.port as usize].peers.push((to.element, to.port as usize));
        ports[to.element][0][to.port as usize].peers.push((from.element, from.port as usize));
    }
    ports
}

fn declaration(graph: &Graph, element: usize) -> String {
    format!("{} :: {}", graph.elements[element].name, graph.elements[element].class)
}

/// A port in the resolution: element, side (0 input, 1 output), port.
type Place = (usize, usize, usize);

/// What is known of each port of each element: whether it is push, by element, side and port.
type Known = Vec<[Vec<Option<bool>>; 2]>;

/// Decides for every port whether it is push or pull: agnostic ports take it from their peers and from the ports of
/// the same element that packets flow to or from; what stays open is push.
pub(crate) fn resolve(
    graph: &Graph,
    classes: &[&'static Class],
    ports: &mut [[Vec<Port>; 2]],
    errors: &mut Vec<Diagnostic>,
) {
    let mut known: Known = classes.iter().zip(&*ports).map(|(class, ports)| declared(class, ports)).collect();
    let mixed = spread(classes, ports, &mut known);
    errors.extend(mixed.into_iter().map(|pair| mixed_context(graph, &known, pair)));
    errors.extend(graph.connections.iter().filter_map(|connection| conflict(graph, &known, connection)));
    for (ports, known) in ports.iter_mut().zip(known) {
        for (ports, known) in ports.iter_mut().zip(&known) {
            for (port, push) in ports.iter_mut().zip(known) {
                port.push = *push != Some(false);
            }
        }
    }
}

/// What an element's class says of its ports.
fn declared(class: &Class, ports: &[Vec<Port>; 2]) -> [Vec<Option<bool>>; 2] {
    let (ins, outs) = sides(class.processing);
    [(ins, 0), (outs, 1)].map(|(code, side)| {
        let of = |port| match letter(code, port) {
            'h' => Some(true),
            'l' => Some(false),
            _ => None,
        };
        (0..ports[side].len()).map(of).collect()
    })
}

/// Spreads what is known along connections and through elements. Returns the input and output of each element that is agnostic
/// and got both.
fn spread(classes: &[&'static Class], ports: &[[Vec<Port>; 2]], known: &mut Known) -> Vec<(Place, Place)> {
    let mut open = VecDeque::new(); // first in, first out: errors appear where paths meet
    for (element, sides) in known.iter().enumerate() {
        for (side, list) in sides.iter().enumerate() {
            let fixed = list.iter().enumerate().filter(|(_, p)| p.is_some());
            open.extend(fixed.map(|(port, _)| (element, side, port)));
        }
    }
    let mut mixed: Vec<(Place, Place)> = Vec::new();
    while let Some(place) = open.pop_front() {
        let (element, side, port) = place;
        let push = known[element][side][port];
        for neighbour in neighbours(classes[element], &ports[element], place) {
            let (e, s, p) = neighbour;
            match known[e][s][p] {
                None => {
                    known[e][s][p] = push;
                    open.push_back(neighbour);
                }
                Some(other) if Some(other) != push && e == element && is_agnostic(classes[e], s == 0, p) => {
                    if !mixed.iter().any(|(input, _)| input.0 == e) {
                        mixed.push(if s == 0 { (neighbour, place) } else { (place, neighbour) });
                    }
                }
                Some(_) => {}
            }
        }
    }
    mixed
}

fn word(push: Option<bool>) -> &'static str {
    if push == Some(false) { "pull" } else { "push" }
}

fn mixed_context(graph: &Graph, known: &Known, pair: (Place, Place)) -> Diagnostic {
    let ((element, _, input), (_, _, output)) = pair;
    let e = &graph.elements[element];
    let message = format!(
        "agnostic '{}' in mixed context: {} input {input}, {} output {output}",
        declaration(graph, element),
        word(known[element][0][input]),
        word(known[element][1][output])
    );
    Diagnostic::error(message).at(e.landmark.clone(), e.span)
}

/// What is wrong with a connection between a push and a pull port.
fn conflict(graph: &Graph, known: &Known, connection: &Connection) -> Option<Diagnostic> {
    let (from, to) = (connection.from, connection.to);
    let output = word(known[from.element][1][from.port as usize]);
    let input = word(known[to.element][0][to.port as usize]);
    if output == input {
        return None;
    }
    let message = format!(
        "'{}' {output} output {} connected to '{}' {input} input {}",
        declaration(graph, from.element),
        from.port,
        declaration(graph, to.element),
        to.port
    );
    let help = if output == "push" { "put a Queue between them" } else { "put an Unqueue between them" };
    Some(Diagnostic::error(message).at(connection.landmark.clone(), connection.span).help(help))
}

/// The places whose processing must equal that of `place`: its peers, and inside the element what it flows to.
fn neighbours(class: &Class, ports: &[Vec<Port>; 2], (element, side, port): Place) -> Vec<Place> {
    let mut list: Vec<Place> =
        ports[side][port].peers.iter().map(|&(peer, at)| (peer, 1 - side, at)).collect();
    let codes = [sides(class.processing).0, sides(class.processing).1];
    if letter(codes[side], port) == 'a' {
        for other in 0..ports[1 - side].len() {
            let (input, output) = if side == 0 { (port, other) } else { (other, port) };
            if letter(codes[1 - side], other) == 'a' && flows(class, input, output) {
                list.push((element, 1 - side, other));
            }
        }
    }
    list
}

/// Complains about ports that are connected too often or not at all: a push output and a pull input lead to exactly one
/// port; every port leads somewhere.
pub(crate) fn check(graph: &Graph, ports: &[[Vec<Port>; 2]], errors: &mut Vec<Diagnostic>) {
    for (element, sides) in ports.iter().enumerate() {
        let e = &graph.elements[element];
        for (side, word) in [(0, "input"), (1, "output")] {
            for (number, port) in sides[side].iter().enumerate() {
                let kind = if port.push { "push" } else { "pull" };
                let single = port.push == (side == 1);
                if port.peers.is_empty() {
                    let message = format!("'{}' {word} {number} unused", declaration(graph, element));
                    let help = if side == 0 {
                        "connect it, or feed it from Idle"
                    } else {
                        "connect it, perhaps to Discard"
                    };
                    errors.push(Diagnostic::error(message).at(e.landmark.clone(), e.span).help(help));
                } else if single && port.peers.len() > 1 {
                    let message =
                        format!("illegal reuse of '{}' {kind} {word} {number}", declaration(graph, element));
                    let at = graph.connections.iter().rfind(|c| {
                        let end = if side == 0 { c.to } else { c.from };
                        end.element == element && end.port as usize == number
                    });
                    let (landmark, span) =
                        at.map_or((e.landmark.clone(), e.span), |c| (c.landmark.clone(), c.span));
                    let help = if side == 1 {
                        "put a Tee between them"
                    } else {
                        "put a scheduler such as RoundRobinSched between them"
                    };
                    errors.push(Diagnostic::error(message).at(landmark, span).help(help));
                }
            }
        }
    }
}
