//! Resolution of connections through compound elements and groups.

use crate::diag::Diagnostic;
use crate::graph::{Connection, Port};
use crate::scope::{Scope, Wire};
use std::collections::{HashMap, HashSet};

/// Connections between elements proper, and errors.
pub(crate) struct Resolution {
    pub(crate) connections: Vec<Connection>,
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
    /// Wires that leave a port of a tunnel.
    leaving: HashMap<Port, Vec<usize>>,
    /// Ports of tunnels that some wire enters.
    entered: HashSet<Port>,
    /// Ports of tunnels that were complained about.
    reported: HashSet<(usize, usize, u32)>,
    /// Where packets end up that enter a port of a tunnel.
    targets: HashMap<Port, Vec<Port>>,
    is_tunnel: &'a dyn Fn(usize) -> bool,
    errors: Vec<Diagnostic>,
    work: usize,
    max_work: usize,
}

/// Replaces connections to and from tunnels by connections between what they join.
///
/// `exits` gives the tunnel where packets leave that enter another; `max` bounds the connections.
pub(crate) fn resolve(
    scope: &Scope,
    exits: &HashMap<usize, usize>,
    is_tunnel: &dyn Fn(usize) -> bool,
    max: usize,
) -> Resolution {
    let mut leaving: HashMap<Port, Vec<usize>> = HashMap::new();
    let mut entered = HashSet::new();
    for (i, wire) in scope.wires.iter().enumerate() {
        if is_tunnel(wire.from.element) {
            leaving.entry(wire.from).or_default().push(i);
        }
        if is_tunnel(wire.to.element) {
            entered.insert(wire.to);
        }
    }
    let entries = exits.iter().map(|(&entry, &exit)| (exit, entry)).collect();
    let mut resolver = Resolver {
        scope,
        exits,
        entries,
        leaving,
        entered,
        reported: HashSet::new(),
        targets: HashMap::new(),
        is_tunnel,
        errors: Vec::new(),
        work: 0,
        max_work: WORK_PER_CONNECTION * max,
    };
    let connections = resolver.run(max);
    Resolution { connections, errors: resolver.errors, work: resolver.work }
}

impl Resolver<'_> {
    fn run(&mut self, max: usize) -> Vec<Connection> {
        let mut found: Vec<Connection> = Vec::new();
        for wire in &self.scope.wires {
            let (from_tunnel, to_tunnel) =
                ((self.is_tunnel)(wire.from.element), (self.is_tunnel)(wire.to.element));
            if from_tunnel {
                self.check_source(wire);
            }
            if to_tunnel {
                self.check_target(wire);
            }
            if from_tunnel {
                continue;
            }
            let targets = if to_tunnel { self.targets(wire.to) } else { vec![wire.to] };
            self.work += 1 + targets.len();
            if self.work > self.max_work || found.len() + targets.len() > max {
                self.too_many(wire);
                break;
            }
            found.extend(targets.into_iter().map(|to| Connection {
                from: wire.from,
                to,
                landmark: wire.landmark.clone(),
                span: wire.span,
            }));
        }
        found.sort_by_key(|c| (c.to, c.from));
        found.dedup_by_key(|c| (c.to, c.from));
        found
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
                if !self.entered.contains(&Port { element: entry, port: wire.from.port }) {
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
                if !self.leaving.contains_key(&Port { element: exit, port: wire.to.port }) {
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

    /// Where packets end up that enter `start`, a port of a tunnel.
    fn targets(&mut self, start: Port) -> Vec<Port> {
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
                    if self.targets.contains_key(&port) {
                        continue;
                    } else if !open.insert(port) {
                        cycle = true;
                        continue;
                    }
                    steps.push(Step::Collect(port));
                    let tunnels = self.next(port).into_iter().filter(|p| (self.is_tunnel)(p.element));
                    steps.extend(tunnels.map(Step::Enter));
                }
                Step::Collect(port) => {
                    let all = self.collect(port);
                    self.targets.insert(port, all);
                    collected.push(port);
                }
            }
        }
        let result = self.targets.get(&start).cloned().unwrap_or_default();
        if cycle {
            // In a cycle, what was collected on the way lacks what comes after the way back.
            for port in collected {
                self.targets.remove(&port);
            }
        }
        result
    }

    /// The ports one step after entering `port`.
    fn next(&self, port: Port) -> Vec<Port> {
        let Some(&exit) = self.exits.get(&port.element) else { return Vec::new() };
        let wires = self.leaving.get(&Port { element: exit, port: port.port });
        wires.into_iter().flatten().map(|&i| self.scope.wires[i].to).collect()
    }

    fn collect(&mut self, port: Port) -> Vec<Port> {
        let mut all = Vec::new();
        for next in self.next(port) {
            if !(self.is_tunnel)(next.element) {
                all.push(next);
            } else if let Some(further) = self.targets.get(&next).filter(|_| self.work <= self.max_work) {
                self.work += further.len();
                all.extend_from_slice(further);
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}
