//! Port counts and processing: which ports exist, and which are push and which pull.

use crate::configuration::class::{Class, Described};
use crate::configuration::node::Port;
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
pub fn sides(code: &str) -> (&str, &str) {
    code.split_once('/').unwrap_or((code, code))
}

/// A port's letter in a processing code, the last one standing for all further ports.
pub fn letter(side: &str, port: usize) -> char {
    side.chars().nth(port).or(side.chars().last()).unwrap_or('a')
}

/// Whether a class leaves open whether one of its inputs, or else outputs, is push or pull.
pub(crate) fn is_agnostic(class: &Described, input: bool, port: usize) -> bool {
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

/// Whether packets at an input of a class's elements can leave at an output, as its flow code says.
pub fn flows<C: ?Sized>(class: &Class<C>, input: usize, output: usize) -> bool {
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
    classes: &[&'static Described],
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
    missing(graph, classes, &ports, errors);
    for connection in &graph.connections {
        let (from, to) = (connection.from, connection.to);
        ports[from.element][1][from.port as usize].peers.push((to.element, to.port as usize));
        ports[to.element][0][to.port as usize].peers.push((from.element, from.port as usize));
    }
    ports
}

/// The ports of an element that is not connected: as many on each side as are wanted, or as near to that as its class allows.
pub(crate) fn unconnected<C: ?Sized>(class: &Class<C>, wanted: usize) -> [Vec<Port>; 2] {
    let ((ins, outs), codes) = (sides(class.ports), sides(class.processing));
    let (low, high) = range(ins, 0);
    let inputs = wanted.clamp(low, high.max(low));
    let (low, high) = range(outs, inputs);
    let outputs = wanted.clamp(low, high.max(low));
    [(inputs, codes.0), (outputs, codes.1)].map(|(count, code)| {
        (0..count).map(|port| Port { push: letter(code, port) != 'l', peers: Vec::new() }).collect()
    })
}

/// Complains about ports that elements do not have, in Click's order: the last connection takes the place of one that was
/// complained about.
fn missing(
    graph: &Graph,
    classes: &[&'static Described],
    ports: &[[Vec<Port>; 2]],
    errors: &mut Vec<Diagnostic>,
) {
    let allowed = |element: usize, side: usize| {
        let (ins, outs) = sides(classes[element].ports);
        if side == 0 { range(ins, 0).1 } else { range(outs, ports[element][0].len()).1 }
    };
    let mut connections: Vec<&Connection> = graph.connections.iter().collect();
    let mut at = 0;
    while let Some(&connection) = connections.get(at) {
        let before = errors.len();
        for (side, end, word) in [(0, connection.to, "input"), (1, connection.from, "output")] {
            let allowed = allowed(end.element, side);
            if end.port as usize >= allowed {
                let message = format!("'{}' has no {word} {}", declaration(graph, end.element), end.port);
                let class = classes[end.element].name;
                let help = match allowed {
                    0 => format!("{class} has no {word}s"),
                    1 => format!("{class} has one {word}, {word} 0"),
                    _ => format!(
                        "{class} has at most {allowed} {word}s, the last one is {word} {}",
                        allowed - 1
                    ),
                };
                let landmark = graph.elements[end.element].landmark.clone();
                errors.push(Diagnostic::error(message).at(landmark, connection.span).help(help));
            }
        }
        if errors.len() == before {
            at += 1;
        } else {
            connections.swap_remove(at);
        }
    }
}

fn declaration(graph: &Graph, element: usize) -> String {
    format!("{} :: {}", graph.elements[element].name, graph.elements[element].class)
}

/// A port in the resolution: element, side (0 input, 1 output), port.
type PortId = (usize, usize, usize);

/// What is known of each port of each element: whether it is push, by element, side and port.
type Known = Vec<[Vec<Option<bool>>; 2]>;

/// Decides for every port whether it is push or pull: agnostic ports take it from their peers and from the ports of
/// the same element that packets flow to or from; what stays open is push.
pub(crate) fn resolve(
    graph: &Graph,
    classes: &[&'static Described],
    ports: &mut [[Vec<Port>; 2]],
    errors: &mut Vec<Diagnostic>,
) {
    let declared: Known = classes.iter().zip(&*ports).map(|(class, ports)| declared(class, ports)).collect();
    let mut known = declared.clone();
    if !spread(classes, ports, &mut known) {
        errors.extend(conflicts(graph, classes, declared, &known));
    }
    for (ports, known) in ports.iter_mut().zip(known) {
        for (ports, known) in ports.iter_mut().zip(&known) {
            for (port, push) in ports.iter_mut().zip(known) {
                port.push = *push != Some(false);
            }
        }
    }
}

/// What an element's class says of its ports.
fn declared(class: &Described, ports: &[Vec<Port>; 2]) -> [Vec<Option<bool>>; 2] {
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

/// Spreads what is known along connections and through elements; false if some port would have to be both.
fn spread(classes: &[&'static Described], ports: &[[Vec<Port>; 2]], known: &mut Known) -> bool {
    let mut open = VecDeque::new();
    for (element, sides) in known.iter().enumerate() {
        for (side, list) in sides.iter().enumerate() {
            let fixed = list.iter().enumerate().filter(|(_, p)| p.is_some());
            open.extend(fixed.map(|(port, _)| (element, side, port)));
        }
    }
    let mut fits = true;
    while let Some(place) = open.pop_front() {
        let (element, side, port) = place;
        let push = known[element][side][port];
        for neighbour in neighbours(classes[element], &ports[element], place) {
            let (e, s, p) = neighbour;
            if known[e][s][p].is_none() {
                known[e][s][p] = push;
                open.push_back(neighbour);
            }
            fits &= known[e][s][p] == push;
        }
    }
    fits
}

/// Two ports of equal processing: those of a connection, or those of an agnostic element that packets flow between.
struct Link<'a> {
    /// The output and the input, each with its element.
    from: (usize, usize),
    to: (usize, usize),
    connection: Option<&'a Connection>,
}

/// The links of a graph, connections first.
fn links<'a>(graph: &'a Graph, classes: &[&'static Described], declared: &Known) -> Vec<Link<'a>> {
    let connection = |connection: &'a Connection| Link {
        from: (connection.from.element, connection.from.port as usize),
        to: (connection.to.element, connection.to.port as usize),
        connection: Some(connection),
    };
    let mut links: Vec<Link<'a>> = graph.connections.iter().map(connection).collect();
    for (element, [inputs, outputs]) in declared.iter().enumerate() {
        let agnostic = |side: &[Option<bool>]| -> Vec<usize> {
            (0..side.len()).filter(|&port| side[port].is_none()).collect()
        };
        for input in agnostic(inputs) {
            let outputs =
                agnostic(outputs).into_iter().filter(|&output| flows(classes[element], input, output));
            links.extend(outputs.map(|output| Link {
                from: (element, output),
                to: (element, input),
                connection: None,
            }));
        }
    }
    links
}

/// Times that a link is looked at for messages in Click's order. Longer chains of agnostic elements get other messages.
const LOOKS: usize = 10_000_000;

/// What is wrong with links between push and pull ports. As in Click, what is declared spreads along the links, from the first to
/// the last, over and over; the first link that would have to be both is an error, and nothing spreads along it.
/// `spread` is what is known of all ports if only the end counts.
fn conflicts(
    graph: &Graph,
    classes: &[&'static Described],
    declared: Known,
    spread: &Known,
) -> Vec<Diagnostic> {
    let mut links = links(graph, classes, &declared);
    let (mut known, mut errors) = (declared, Vec::new());
    let (mut looks, mut changed) = (0, true);
    while changed {
        changed = false;
        looks += links.len();
        if looks > LOOKS {
            known.clone_from(spread);
        }
        links.retain(|link| {
            let output = known[link.from.0][1][link.from.1];
            let input = known[link.to.0][0][link.to.1];
            if output == input {
                return true;
            }
            match (output, input) {
                (Some(_), Some(_)) => {
                    errors.push(conflict(graph, link, output, input));
                    return false;
                }
                (None, _) => known[link.from.0][1][link.from.1] = input,
                (_, None) => known[link.to.0][0][link.to.1] = output,
            }
            changed = true;
            true
        });
    }
    errors
}

fn word(push: Option<bool>) -> &'static str {
    if push == Some(false) { "pull" } else { "push" }
}

/// What is wrong with a link between a push and a pull port.
fn conflict(graph: &Graph, link: &Link<'_>, output: Option<bool>, input: Option<bool>) -> Diagnostic {
    let ((from, out), (to, into)) = (link.from, link.to);
    let declaration = |element| declaration(graph, element);
    let (push, pull) = (word(output), word(input));
    let Some(connection) = link.connection else {
        let message = format!(
            "agnostic '{}' in mixed context: {pull} input {into}, {push} output {out}",
            declaration(from)
        );
        return Diagnostic::error(message).pointing_at(graph.elements[from].span);
    };
    let message = format!(
        "'{}' {push} output {out} connected to '{}' {pull} input {into}",
        declaration(from),
        declaration(to)
    );
    let help = if output == Some(true) { "put a Queue between them" } else { "put an Unqueue between them" };
    Diagnostic::error(message).pointing_at(connection.span).help(help)
}

/// The places whose processing must equal that of `place`: its peers, and inside the element what it flows to.
fn neighbours(class: &Described, ports: &[Vec<Port>; 2], (element, side, port): PortId) -> Vec<PortId> {
    let mut list: Vec<PortId> =
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
    for (side, word) in SIDES {
        each(ports, side, |element, number, port| {
            if port.push == (side == 1) && port.peers.len() > 1 {
                reused(graph, element, side, number, word, errors);
            }
        });
    }
    for (side, word) in SIDES {
        each(ports, side, |element, number, port| {
            if port.peers.is_empty() {
                let e = &graph.elements[element];
                let message = format!("'{}' {word} {number} unused", declaration(graph, element));
                let help = ["connect it, or feed it from Idle", "connect it, perhaps to Discard"][side];
                errors.push(Diagnostic::error(message).at(e.landmark.clone(), e.span).help(help));
            }
        });
    }
}

/// The same, behind errors about ports that are not there: of elements which have such a connection, no port is missed. It may be
/// the one that was meant.
pub(crate) fn check_others(
    graph: &Graph,
    classes: &[&'static Described],
    mut ports: Vec<[Vec<Port>; 2]>,
    errors: &mut Vec<Diagnostic>,
) {
    for (class, sides) in classes.iter().zip(&mut ports) {
        let (ins, outs) = self::sides(class.ports);
        let (inputs, outputs) = (sides[0].len(), sides[1].len());
        if inputs > range(ins, 0).1 || outputs > range(outs, inputs).1 {
            let unused = sides.iter_mut().flatten().filter(|port| port.peers.is_empty());
            unused.for_each(|port| port.peers.push((0, 0)));
        }
    }
    check(graph, &ports, errors);
}

/// The sides of an element, and how messages call their ports.
const SIDES: [(usize, &str); 2] = [(0, "input"), (1, "output")];

/// Calls `f` with element, number and port for each port of one side of the elements.
fn each(ports: &[[Vec<Port>; 2]], side: usize, mut f: impl FnMut(usize, usize, &Port)) {
    for (element, sides) in ports.iter().enumerate() {
        sides[side].iter().enumerate().for_each(|(number, port)| f(element, number, port));
    }
}

/// Complains about each connection of an active port but the first.
fn reused(
    graph: &Graph,
    element: usize,
    side: usize,
    number: usize,
    word: &str,
    errors: &mut Vec<Diagnostic>,
) {
    let (kind, help) = if side == 1 {
        ("push", "put a Tee between them")
    } else {
        ("pull", "put a scheduler such as RoundRobinSched between them")
    };
    let message = format!("illegal reuse of '{}' {kind} {word} {number}", declaration(graph, element));
    let leads_there = |c: &&Connection| {
        let end = if side == 0 { c.to } else { c.from };
        end.element == element && end.port as usize == number
    };
    let landmark = &graph.elements[element].landmark;
    errors.extend(graph.connections.iter().filter(leads_there).skip(1).map(|connection| {
        Diagnostic::error(message.clone()).at(landmark.clone(), connection.span).help(help)
    }));
}
