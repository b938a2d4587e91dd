//! Resolution of connections through compound elements and groups.

use crate::diag::Diagnostic;
use crate::graph::{Connection, Port};
use crate::scope::{Scope, Wire};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Connections between elements proper, and errors.
pub(crate) struct Resolution {
    pub(crate) connections: Vec<Connection>,
    /// Those of context arrows with the arrows' texts, in the order of the text.
    pub(crate) contexts: Vec<(Connection, Arc<str>)>,
    pub(crate) errors: Vec<Diagnostic>,
    /// Steps taken.
    pub(crate) work: usize,
}

/// Steps that may be taken for each of the connections that there may be.
const WORK_PER_CONNECTION: usize = 8;

struct Resolver<'a> {
    scope: &'a Scope,
    exits: &'a HashMap<usize, usize>,
    entries: HashMap<usize, usize>,
    /// Wires that enter a port of a tunnel, the last one first.
    arriving: HashMap<Port, Vec<usize>>,
    /// Ports of tunnels that some wire leaves.
    left: HashSet<Port>,
    /// Ports of tunnels that were complained about.
    reported: HashSet<(usize, usize, u32)>,
    /// The wires from elements proper by which packets come that leave a port of a tunnel.
    sources: HashMap<Port, Vec<usize>>,
    is_tunnel: &'a dyn Fn(usize) -> bool,
    contexts: Vec<(Connection, Arc<str>)>,
    errors: Vec<Diagnostic>,
    work: usize,
    max_work: usize,
}

/// Replaces connections to and from tunnels by connections between what they join.
///
/// `exits` gives the tunnel where packets leave that enter another; `order` the wires in the order in which Click's tools
/// come to them; `max` bounds the connections.
pub(crate) fn resolve(
    scope: &Scope,
    exits: &HashMap<usize, usize>,
    order: &[usize],
    is_tunnel: &dyn Fn(usize) -> bool,
    max: usize,
) -> Resolution {
    let mut known = HashSet::new();
    let ends = |i: usize| (scope.wires[i].from, scope.wires[i].to, &scope.wires[i].context);
    let order: Vec<usize> = order.iter().copied().filter(|&i| known.insert(ends(i))).collect();
    let mut arriving: HashMap<Port, Vec<usize>> = HashMap::new();
    for &i in order.iter().rev().filter(|&&i| is_tunnel(scope.wires[i].to.element)) {
        arriving.entry(scope.wires[i].to).or_default().push(i);
    }
    let left = scope.wires.iter().map(|wire| wire.from).filter(|port| is_tunnel(port.element)).collect();
    let mut resolver = Resolver {
        scope,
        exits,
        entries: exits.iter().map(|(&entry, &exit)| (exit, entry)).collect(),
        arriving,
        left,
        reported: HashSet::new(),
        sources: HashMap::new(),
        is_tunnel,
        contexts: Vec::new(),
        errors: Vec::new(),
        work: 0,
        max_work: WORK_PER_CONNECTION * max,
    };
    let connections = resolver.run(&order, max);
    Resolution { connections, contexts: resolver.contexts, errors: resolver.errors, work: resolver.work }
}

impl Resolver<'_> {
    fn run(&mut self, order: &[usize], max: usize) -> Vec<Connection> {
        let scope = self.scope;
        for wire in &scope.wires {
            if (self.is_tunnel)(wire.from.element) {
                self.check_source(wire);
                if let Some(arrow) = &wire.context {
                    self.inside(wire, arrow);
                }
            }
            if (self.is_tunnel)(wire.to.element) {
                self.check_target(wire);
            }
        }
        // As in Click's tools: first what needs no tunnel, then what comes out of one.
        let (through, direct): (Vec<usize>, Vec<usize>) = (order.iter().copied())
            .filter(|&i| !(self.is_tunnel)(scope.wires[i].to.element))
            .partition(|&i| (self.is_tunnel)(scope.wires[i].from.element));
        let mut pairs: Vec<(usize, usize)> = direct.into_iter().map(|i| (i, i)).collect();
        self.work += order.len() + pairs.len();
        for last in through {
            let sources = self.sources(scope.wires[last].from);
            self.work += sources.len();
            if self.work > self.max_work || pairs.len() + sources.len() > max {
                self.too_many(&scope.wires[last]);
                break;
            }
            pairs.extend(sources.into_iter().map(|first| (first, last)));
        }
        // A context arrow matters where it leaves an element.
        let (mut contexts, pairs): (Vec<_>, Vec<_>) =
            (0..).zip(pairs).partition(|&(_, (first, _))| scope.wires[first].context.is_some());
        contexts.sort_by_key(|&(_, (first, _))| first);
        self.contexts = (contexts.into_iter())
            .filter_map(|(order, pair)| Some((self.join(pair, order), scope.wires[pair.0].context.clone()?)))
            .collect();
        let mut found: Vec<Connection> =
            pairs.into_iter().map(|(order, pair)| self.join(pair, order)).collect();
        found.sort_by_key(|c| (c.to, c.from, c.order));
        found.dedup_by_key(|c| (c.to, c.from));
        found
    }

    /// The connection that begins with one wire and ends with another, or the same one.
    fn join(&self, (first, last): (usize, usize), order: u32) -> Connection {
        let (first, last) = (&self.scope.wires[first], &self.scope.wires[last]);
        let (landmark, span) = (first.landmark.clone(), first.span);
        Connection { from: first.from, to: last.to, landmark, span, order }
    }

    /// A context arrow sorts what one element sends, and there is none here.
    fn inside(&mut self, wire: &Wire, arrow: &str) {
        let message = format!("'{arrow}' should leave an element, not the input of a compound element");
        self.errors.push(Diagnostic::error(message).at(wire.landmark.clone(), wire.span));
    }

    fn too_many(&mut self, wire: &Wire) {
        let message = "compound elements and groups multiply connections beyond the limit";
        self.errors.push(Diagnostic::error(message).at(wire.landmark.clone(), wire.span));
    }

    /// Complains if nothing feeds the tunnel that `wire` comes from.
    fn check_source(&mut self, wire: &Wire) {
        let exit = wire.from.element;
        match self.entries.get(&exit) {
            Some(&entry) => {
                if !self.arriving.contains_key(&Port { element: entry, port: wire.from.port }) {
                    self.report(entry, exit, wire.from.port, true);
                }
            }
            None => self.misused(exit, "output", wire),
        }
    }

    /// Complains if nothing leaves the tunnel that `wire` leads to.
    fn check_target(&mut self, wire: &Wire) {
        let entry = wire.to.element;
        match self.exits.get(&entry) {
            Some(&exit) => {
                if !self.left.contains(&Port { element: exit, port: wire.to.port }) {
                    self.report(entry, exit, wire.to.port, false);
                }
            }
            None => self.misused(entry, "input", wire),
        }
    }

    fn misused(&mut self, node: usize, side: &str, wire: &Wire) {
        if self.reported.insert((node, node, 0)) {
            let message = format!("'{}' used as {side}", self.scope.nodes[node].name);
            self.errors.push(Diagnostic::error(message).at(wire.landmark.clone(), wire.span));
        }
    }

    /// Reports that a port of the tunnel from `entry` to `exit` is used on one side only.
    fn report(&mut self, entry: usize, exit: usize, port: u32, at_exit: bool) {
        if !self.reported.insert((entry, exit, port)) {
            return;
        }
        let nodes = &self.scope.nodes;
        let (inner, outer) = (&nodes[entry], &nodes[exit]);
        let (node, message) = if outer.name.strip_suffix("/input") == Some(&inner.name) {
            let text = if at_exit { format!("input {port} unused") } else { format!("has no input {port}") };
            (inner, format!("'{}' {text}", inner.name))
        } else {
            let text =
                if at_exit { format!("has no output {port}") } else { format!("output {port} unused") };
            (outer, format!("'{}' {text}", outer.name))
        };
        self.errors.push(Diagnostic::error(message).at(node.landmark.clone(), node.span));
    }

    /// The first wires by which packets come that leave `start`, a port of a tunnel.
    fn sources(&mut self, start: Port) -> Vec<usize> {
        enum Step {
            Enter(Port),
            Collect(Port),
        }
        let mut open: HashSet<Port> = HashSet::new();
        let mut collected: Vec<Port> = Vec::new();
        let mut cycle = false;
        let mut steps = vec![Step::Enter(start)];
        while let Some(step) = steps.pop() {
            self.work += 1;
            match step {
                Step::Enter(port) => {
                    if self.sources.contains_key(&port) {
                        continue;
                    } else if !open.insert(port) {
                        cycle = true;
                        continue;
                    }
                    steps.push(Step::Collect(port));
                    let wires = self.before(port).iter().map(|&i| self.scope.wires[i].from);
                    let tunnels: Vec<Port> = wires.filter(|from| (self.is_tunnel)(from.element)).collect();
                    steps.extend(tunnels.into_iter().map(Step::Enter));
                }
                Step::Collect(port) => {
                    let all = self.collect(port);
                    self.sources.insert(port, all);
                    collected.push(port);
                }
            }
        }
        let result = self.sources.get(&start).cloned().unwrap_or_default();
        if cycle {
            // In a cycle, what was collected on the way lacks what comes after the way back.
            for port in collected {
                self.sources.remove(&port);
            }
        }
        result
    }

    /// The wires by which packets enter the tunnel that leave it at `port`.
    fn before(&self, port: Port) -> &[usize] {
        let entry = self.entries.get(&port.element);
        let wires = entry.and_then(|&entry| self.arriving.get(&Port { element: entry, ..port }));
        wires.map_or(&[], Vec::as_slice)
    }

    fn collect(&mut self, port: Port) -> Vec<usize> {
        let (mut all, mut known) = (Vec::new(), HashSet::new());
        let mut further_work = 0;
        for &i in self.before(port) {
            let from = self.scope.wires[i].from;
            let wires = if (self.is_tunnel)(from.element) {
                let within = self.work + further_work <= self.max_work;
                self.sources.get(&from).filter(|_| within).map_or(&[][..], Vec::as_slice)
            } else {
                &[i]
            };
            further_work += wires.len();
            all.extend(wires.iter().filter(|&&wire| known.insert(self.scope.wires[wire].from)));
        }
        self.work += further_work;
        all
    }
}
