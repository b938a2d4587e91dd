//! Expansion of compound elements and variables into the scope of the file.

use crate::classes::{ClassKind, ERROR, TUNNEL};
use crate::conf;
use crate::diag::{Diagnostic, Landmark, Span};
use crate::expand::expand_within;
use crate::graph::Port;
use crate::parser::Parser;
use crate::scope::{ClassId, INPUT, Node, Scope, Wire};
use std::collections::{HashMap, HashSet};

/// The variables of one expanded scope.
struct Environment {
    depth: usize,
    parent: Option<usize>,
    variables: HashMap<String, String>,
}

/// The state of an expansion.
pub(crate) struct Expander<'p, 'a> {
    parser: &'p mut Parser<'a>,
    environments: Vec<Environment>,
    /// For a tunnel, the tunnel where packets that enter it leave.
    exits: HashMap<usize, usize>,
    /// The nodes and the wires as Click's tools come to them: of a compound element in another one before what follows, and
    /// its wires before those of the other one.
    nodes: Vec<usize>,
    wires: Vec<usize>,
    /// Bytes and steps that the expansion may still take.
    budget: usize,
    stopped: bool,
    /// Variables that were reported because they contain themselves.
    looped: HashSet<String>,
}

/// A compound class and the arguments it is expanded with.
struct Match {
    compound: usize,
    arguments: Vec<String>,
}

/// What a use of a compound class turned out to mean.
enum Resolved {
    Compound(Match),
    Other(ClassId),
}

impl<'p, 'a> Expander<'p, 'a> {
    pub(crate) fn new(parser: &'p mut Parser<'a>) -> Self {
        let budget = parser.limits().expansion;
        Self {
            parser,
            environments: Vec::new(),
            exits: HashMap::new(),
            nodes: Vec::new(),
            wires: Vec::new(),
            budget,
            stopped: false,
            looped: HashSet::new(),
        }
    }

    /// Expands everything in the scope of the file.
    pub(crate) fn run(&mut self) {
        for (name, value) in self.parser.options.params {
            self.parser.scope().set_variable(name, value);
        }
        let keep = self.parser.options.keep_variables;
        let value = |(name, value): &(String, String)| {
            (name.clone(), if keep { format!("${name}") } else { value.clone() })
        };
        let variables = self.scope().variables.iter().map(value).collect();
        self.environments.push(Environment { depth: 0, parent: None, variables });
        self.pair_groups();
        self.nodes.extend(0..self.scope().nodes.len());
        self.wires.extend(0..self.scope().wires.len());
        for i in 0..self.scope().nodes.len() {
            if self.stopped {
                return;
            }
            self.expand(i, 0, 0);
        }
    }

    fn scope(&self) -> &Scope {
        &self.parser.scopes[0]
    }

    fn scope_mut(&mut self) -> &mut Scope {
        &mut self.parser.scopes[0]
    }

    /// Connects the outside of groups with their `input` and `output`, which follow them directly.
    fn pair_groups(&mut self) {
        let tunnels =
            |n: &Node| n.class == TUNNEL && !n.name.ends_with("/input") && !n.name.ends_with("/output");
        let groups: Vec<usize> =
            (0..self.scope().nodes.len()).filter(|&i| tunnels(&self.scope().nodes[i])).collect();
        for group in groups {
            self.pair(group, group + 1);
        }
    }

    /// Makes what enters `outer` leave from `inputs`, and what enters the node after it leave `outer`.
    fn pair(&mut self, outer: usize, input: usize) {
        self.exits.insert(outer, input);
        self.exits.insert(input + 1, outer);
    }

    /// [`pair`](Self::pair), if the nodes exist.
    fn pair_all(&mut self, outer: Option<usize>, input: Option<usize>, output: Option<usize>) {
        if let (Some(outer), Some(input), Some(_)) = (outer, input, output) {
            self.pair(outer, input);
        }
    }

    /// Takes `cost` off the budget, or reports that it is spent and stops.
    fn spend(&mut self, cost: usize, place: &(Landmark, Span)) -> bool {
        match self.budget.checked_sub(cost) {
            Some(left) if !self.stopped => {
                self.budget = left;
                true
            }
            _ => {
                self.fail("configuration expands too far", place);
                false
            }
        }
    }

    fn fail(&mut self, message: &str, place: &(Landmark, Span)) {
        if !self.stopped {
            let help = "look for compound elements or variables that contain several others over and over";
            self.parser.report(Diagnostic::error(message).at(place.0.clone(), place.1).help(help));
        }
        self.stopped = true;
    }

    fn value(&self, environment: usize, name: &str) -> Option<String> {
        let mut at = Some(environment);
        while let Some(i) = at {
            if let Some(value) = self.environments[i].variables.get(name) {
                return Some(value.clone());
            }
            at = self.environments[i].parent;
        }
        None
    }

    /// Replaces the variables in `text`.
    fn substitute(&mut self, text: &str, environment: usize, place: &(Landmark, Span)) -> String {
        if !self.spend(text.len() + 1, place) {
            return String::new();
        }
        let mut budget = self.budget;
        let expanded = expand_within(text, &|name| self.value(environment, name), &mut budget);
        self.budget = budget;
        if let Some(name) = expanded.looped {
            self.report_loop(&name, budget == 0, place);
        } else if budget == 0 {
            self.spend(1, place);
        }
        expanded.text
    }

    /// A variable stands in its own value: that ends at some depth, or when too much has come of it.
    fn report_loop(&mut self, name: &str, too_much: bool, place: &(Landmark, Span)) {
        let message = format!("variable '${name}' contains itself");
        if too_much {
            return self.fail(&message, place);
        }
        if !self.looped.insert(name.to_owned()) {
            return;
        }
        let help = "it is replaced by its value a few times, and then left as it is";
        self.parser.report(Diagnostic::warning(message).at(place.0.clone(), place.1).help(help));
    }

    /// Expands node `i` with the variables of `environment`, inside `level` compound elements.
    fn expand(&mut self, i: usize, environment: usize, level: usize) {
        self.scope_mut().settle_name(i);
        let node = &self.scope().nodes[i];
        if node.class == TUNNEL {
            return;
        }
        let (class, used) = (node.class, node.ports);
        let (config, place) = (node.config.clone(), (node.landmark.clone(), node.span));
        let config = self.substitute(&config, environment, &place);
        if let ClassKind::Compound(_) = self.parser.classes.get(class).kind {
            let args = conf::split_args(&config);
            match self.resolve(class, used, &args, config.len(), &place) {
                Resolved::Other(class) => self.scope_mut().nodes[i].class = class,
                Resolved::Compound(found) => {
                    self.expand_compound(i, found, environment, level, &place);
                    return;
                }
            }
        }
        self.scope_mut().nodes[i].config = config.into();
    }

    /// Chooses the overloading that fits the ports and arguments; these have `size` bytes together.
    fn resolve(
        &mut self,
        class: ClassId,
        used: [u32; 2],
        args: &[String],
        size: usize,
        place: &(Landmark, Span),
    ) -> Resolved {
        let mut closest: Option<Match> = None;
        let mut candidates: Vec<usize> = Vec::new();
        let mut next = Some(class);
        while let Some(class) = next {
            let ClassKind::Compound(i) = self.parser.classes.get(class).kind else {
                return Resolved::Other(class);
            };
            if !self.spend(1 + args.len() + size, place) {
                return Resolved::Other(ERROR);
            }
            candidates.push(i);
            let compound = &self.parser.compounds[i];
            if let Some(arguments) = compound.assign(args) {
                let found = Match { compound: i, arguments };
                if compound.ports == used {
                    return Resolved::Compound(found);
                }
                closest = Some(found);
            }
            next = compound.overload;
        }
        if candidates.len() != 1 || closest.is_none() {
            self.report_no_match(&candidates, used, args, place);
        }
        closest.map_or(Resolved::Other(ERROR), Resolved::Compound)
    }

    fn report_no_match(
        &mut self,
        candidates: &[usize],
        used: [u32; 2],
        args: &[String],
        place: &(Landmark, Span),
    ) {
        const SHOWN: usize = 20;
        let compounds = &self.parser.compounds;
        let signature = compounds[candidates[0]].use_signature(args.len(), used);
        let mut diagnostic = Diagnostic::error(format!("no match for '{signature}'"));
        diagnostic.notes.push(crate::diag::Note {
            landmark: None,
            span: None,
            message: "candidates are:".into(),
        });
        for &i in candidates.iter().take(SHOWN) {
            let c = &compounds[i];
            diagnostic = diagnostic.note(c.landmark.clone(), c.span, format!("  {}", c.signature()));
        }
        self.parser.report_consequence(diagnostic.at(place.0.clone(), place.1));
    }

    /// Puts the elements and connections of a compound in place of node `i`.
    fn expand_compound(
        &mut self,
        i: usize,
        found: Match,
        environment: usize,
        level: usize,
        place: &(Landmark, Span),
    ) {
        let limits = self.parser.limits().clone();
        let scope = self.scope();
        let too_large = scope.nodes.len() + self.parser.compounds[found.compound].nodes.len()
            > limits.elements
            || scope.wires.len() + self.parser.compounds[found.compound].wires.len() > limits.connections;
        if level >= limits.expansion_depth {
            self.fail("compound elements are nested too deeply", place);
            return;
        } else if too_large {
            self.fail("configuration expands to too many elements or connections", place);
            return;
        }
        let inner = self.environment_for(&found, environment, place);
        let Some(map) = self.place_nodes(i, found.compound, inner, place) else { return };
        let first = self.scope().wires.len();
        self.place_wires(found.compound, &map);
        let own = first..self.scope().wires.len();
        for &node in map[INPUT + 2..].iter().flatten() {
            if self.stopped {
                return;
            }
            self.nodes.push(node);
            self.expand(node, inner, level + 1);
        }
        self.wires.extend(own);
    }

    /// The variables inside a compound: arguments, then definitions, then those around its class.
    fn environment_for(&mut self, found: &Match, environment: usize, place: &(Landmark, Span)) -> usize {
        let compound = &self.parser.compounds[found.compound];
        let (depth, formals) = (compound.depth, compound.formals);
        let definitions = compound.variables[formals..].to_vec();
        let names = compound.variables[..formals].iter().map(|(name, _)| name.clone());
        let variables = names.zip(found.arguments.iter().cloned()).collect();
        let mut parent = Some(environment);
        while let Some(i) = parent.filter(|&i| self.environments[i].depth >= depth) {
            parent = self.environments[i].parent;
        }
        let inner = self.environments.len();
        self.environments.push(Environment { depth, parent, variables });
        for (name, value) in definitions {
            let value = self.substitute(&value, inner, place);
            self.environments[inner].variables.insert(name, value);
        }
        inner
    }

    /// Adds the nodes of a compound; gives for each node of the compound the one that stands for it.
    fn place_nodes(
        &mut self,
        i: usize,
        compound: usize,
        environment: usize,
        place: &(Landmark, Span),
    ) -> Option<Vec<Option<usize>>> {
        let outer = self.scope().nodes[i].name.clone();
        self.scope_mut().nodes[i].class = TUNNEL;
        let mut map = Vec::new();
        // Taken out for the while, since it cannot contain itself.
        let nodes = std::mem::take(&mut self.parser.compounds[compound].nodes);
        for (k, node) in nodes.iter().enumerate() {
            let name = format!("{outer}/{}", node.name);
            if !self.spend(name.len() + 1, place) {
                break;
            }
            let taken = self.scope().index.get(&name).copied();
            if let Some(old) = taken {
                let old = &self.scope().nodes[old];
                let diagnostic = Diagnostic::error(format!("redeclaration of element '{name}'")).note(
                    old.landmark.clone(),
                    old.span,
                    format!("'{name}' previously declared here"),
                );
                self.parser.report_consequence(diagnostic.at(place.0.clone(), place.1));
                map.push(None);
                continue;
            }
            if self.parser.classes.find(&name).is_some() {
                let message = format!("'{name}' is an element class");
                self.parser.report(Diagnostic::error(message).at(place.0.clone(), place.1));
            }
            let config = self.substitute(&node.config, environment, place).into();
            let placed = Node { name, config, ports: [0, 0], ..node.clone() };
            map.push(Some(self.scope_mut().add(placed)));
            if k == INPUT + 1 {
                self.pair_all(Some(i), map[INPUT], map[k]);
            } else if k > INPUT + 1 && is_group_output(&nodes, k) {
                self.pair_all(map[k - 2], map[k - 1], map[k]);
            }
        }
        self.parser.compounds[compound].nodes = nodes;
        (!self.stopped).then_some(map)
    }

    fn place_wires(&mut self, compound: usize, map: &[Option<usize>]) {
        let wires = std::mem::take(&mut self.parser.compounds[compound].wires);
        for wire in &wires {
            if let (Some(from), Some(to)) = (map[wire.from.element], map[wire.to.element]) {
                let port = |element, port| Port { element, port };
                let (from, to) = (port(from, wire.from.port), port(to, wire.to.port));
                self.scope_mut().connect(Wire { from, to, ..wire.clone() });
            }
        }
        self.parser.compounds[compound].wires = wires;
    }

    /// What is known of the expanded scope, or nothing if a limit was exceeded; and the steps taken.
    pub(crate) fn finish(self) -> (Option<Expanded>, usize) {
        let steps = self.parser.limits().expansion - self.budget;
        let expanded = Expanded { exits: self.exits, nodes: self.nodes, wires: self.wires };
        ((!self.stopped).then_some(expanded), steps)
    }
}

/// What is known of an expanded scope besides its elements and wires.
pub(crate) struct Expanded {
    /// For each tunnel that packets enter, the one where they leave.
    pub(crate) exits: HashMap<usize, usize>,
    /// The nodes and the wires in the order of Click's tools.
    pub(crate) nodes: Vec<usize>,
    pub(crate) wires: Vec<usize>,
}

/// Whether node `k` of a compound is the `output` of a group, which follows the group's `input`.
fn is_group_output(nodes: &[Node], k: usize) -> bool {
    let group = &nodes[k - 2].name;
    nodes[k].class == TUNNEL && nodes[k].name.strip_suffix("/output") == Some(group)
}
