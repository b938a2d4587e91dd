//! Replacing patterns.

use super::draft::Draft;
use lang::{Connection, Element, Graph, Landmark, Port, Span, conf};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A pattern of elements and what takes its place: [bodies](lang::Compound) of compound classes.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    /// Its name, of which those of new elements are made.
    pub(crate) name: String,
    /// What is looked for.
    pub(crate) pattern: Graph,
    /// What takes its place.
    pub(crate) replacement: Graph,
}

/// The pseudoelements of a body.
const INPUT: usize = 0;
const OUTPUT: usize = 1;

/// Replaces patterns until none is found any more, as Click's `click-xform` does.
///
/// A pattern matches elements of the same classes with the same arguments, where `$name` in the pattern stands for any
/// argument, the same one everywhere, and in the replacement for what it stood for. All connections of the pattern have
/// to be there, and no others between the elements; those from and to other elements have to correspond to ports of the
/// pattern, all of which have to be in use. Elements that all came from a pattern's replacement are not matched by it.
///
/// # Errors
/// That there were `max` replacements and still no end: the name of the last pattern.
pub(crate) fn xform(graph: &Graph, patterns: &[Pattern], max: usize) -> Result<Graph, String> {
    let mut work = Work::new(graph);
    for _ in 0..max {
        let found = (patterns.iter().enumerate()).find_map(|(i, pattern)| {
            let fresh = |element: &Element| work.origins.get(&element.name) != Some(&i);
            Some((i, pattern, Matcher::new(&work.graph, &pattern.pattern, &fresh).find()?))
        });
        let Some((i, pattern, found)) = found else { return Ok(work.finish()) };
        let names = work.replace(pattern, &found);
        work.origins.extend(names.into_iter().map(|name| (name, i)));
    }
    Err(patterns.last().map(|pattern| pattern.name.clone()).unwrap_or_default())
}

/// Where a pattern was found.
struct Match {
    /// For each element of the pattern, an element of the graph; nothing for the pseudoelements.
    elements: Vec<Option<usize>>,
    /// What variables stand for.
    values: BTreeMap<String, String>,
    /// Outputs outside that lead to inputs of the pattern.
    entering: Vec<(Port, u32)>,
    /// Outputs of the pattern, and inputs outside that they lead to.
    leaving: Vec<(u32, Port)>,
}

struct Matcher<'a> {
    graph: &'a Graph,
    pattern: &'a Graph,
    /// Whether an element did not come from a replacement of this pattern.
    fresh: &'a dyn Fn(&Element) -> bool,
    connections: HashSet<(Port, Port)>,
    inside: HashSet<(Port, Port)>,
    /// Elements of each class.
    by_class: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Matcher<'a> {
    fn new(graph: &'a Graph, pattern: &'a Graph, fresh: &'a dyn Fn(&Element) -> bool) -> Matcher<'a> {
        let pairs = |graph: &Graph| graph.connections.iter().map(|c| (c.from, c.to)).collect();
        let mut by_class: HashMap<&str, Vec<usize>> = HashMap::new();
        for (i, element) in graph.elements.iter().enumerate() {
            by_class.entry(&element.class).or_default().push(i);
        }
        Matcher { graph, pattern, fresh, connections: pairs(graph), inside: pairs(pattern), by_class }
    }

    /// The first match, in the order of the elements.
    fn find(&self) -> Option<Match> {
        let mut elements = vec![None; self.pattern.elements.len()];
        (self.pattern.elements.len() > OUTPUT + 1).then_some(())?;
        self.extend(OUTPUT + 1, &mut elements, &BTreeMap::new())
    }

    /// Completes a match of the elements before `next`.
    fn extend(
        &self,
        next: usize,
        elements: &mut Vec<Option<usize>>,
        values: &BTreeMap<String, String>,
    ) -> Option<Match> {
        let Some(wanted) = self.pattern.elements.get(next) else { return self.complete(elements, values) };
        for &candidate in self.by_class.get(wanted.class.as_str())? {
            if elements.contains(&Some(candidate)) {
                continue;
            }
            let mut values = values.clone();
            if !matches_config(&wanted.config, &self.graph.elements[candidate].config, &mut values) {
                continue;
            }
            elements[next] = Some(candidate);
            if self.fits(next, elements)
                && let Some(found) = self.extend(next + 1, elements, &values)
            {
                return Some(found);
            }
            elements[next] = None;
        }
        None
    }

    /// Whether the connections between an element of the pattern and those before it are there.
    fn fits(&self, element: usize, elements: &[Option<usize>]) -> bool {
        let place = |port: Port| Some(Port { element: elements[port.element]?, ..port });
        (self.pattern.connections.iter())
            .filter(|c| c.from.element == element || c.to.element == element)
            .all(|c| match (place(c.from), place(c.to)) {
                (Some(from), Some(to)) => self.connections.contains(&(from, to)),
                _ => true,
            })
    }

    /// Checks the connections around elements that match.
    fn complete(&self, elements: &[Option<usize>], values: &BTreeMap<String, String>) -> Option<Match> {
        let matched = || elements.iter().flatten().map(|&element| &self.graph.elements[element]);
        if !matched().any(self.fresh) {
            return None;
        }
        let back: HashMap<usize, usize> =
            elements.iter().enumerate().filter_map(|(i, element)| Some(((*element)?, i))).collect();
        let place = |port: Port| Some(Port { element: *back.get(&port.element)?, ..port });
        let (mut entering, mut leaving) = (Vec::new(), Vec::new());
        for c in &self.graph.connections {
            match (place(c.from), place(c.to)) {
                (None, None) => {}
                (Some(from), Some(to)) => {
                    self.inside.contains(&(from, to)).then_some(())?;
                }
                (None, Some(to)) => entering.push((c.from, self.entry(c.from, to, elements)?)),
                (Some(from), None) => leaving.push((self.exit(from, c.to, elements)?, c.to)),
            }
        }
        let all_used = self.pattern.connections.iter().all(|c| {
            (c.from.element != INPUT || entering.iter().any(|(_, port)| *port == c.from.port))
                && (c.to.element != OUTPUT || leaving.iter().any(|(port, _)| *port == c.to.port))
        });
        all_used.then(|| Match { elements: elements.to_vec(), values: values.clone(), entering, leaving })
    }

    /// The input of the pattern through which an output outside leads to this place in it.
    fn entry(&self, outside: Port, to: Port, elements: &[Option<usize>]) -> Option<u32> {
        let from_input = || self.pattern.connections.iter().filter(|c| c.from.element == INPUT);
        let leads = |c: &Connection| {
            let element = elements[c.to.element];
            element.is_some_and(|element| self.connections.contains(&(outside, Port { element, ..c.to })))
        };
        let whole = |port: u32| from_input().filter(|c| c.from.port == port).all(leads);
        from_input().filter(|c| c.to == to).map(|c| c.from.port).filter(|&port| whole(port)).min()
    }

    /// The output of the pattern through which this place in it leads to an input outside.
    fn exit(&self, from: Port, outside: Port, elements: &[Option<usize>]) -> Option<u32> {
        let to_output = || self.pattern.connections.iter().filter(|c| c.to.element == OUTPUT);
        let leads = |c: &Connection| {
            let element = elements[c.from.element];
            element.is_some_and(|element| self.connections.contains(&(Port { element, ..c.from }, outside)))
        };
        let whole = |port: u32| to_output().filter(|c| c.to.port == port).all(leads);
        to_output().filter(|c| c.from == from).map(|c| c.to.port).filter(|&port| whole(port)).min()
    }
}

fn is_variable(argument: &str) -> bool {
    argument
        .strip_prefix('$')
        .is_some_and(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

/// Whether arguments match those of a pattern; adds what its variables stand for.
fn matches_config(pattern: &str, config: &str, values: &mut BTreeMap<String, String>) -> bool {
    let (pattern, config) = (conf::split_args(pattern), conf::split_args(config));
    pattern.len() == config.len()
        && pattern.into_iter().zip(config).all(|(wanted, found)| {
            wanted == found
                || is_variable(&wanted) && *values.entry(wanted).or_insert_with(|| found.clone()) == found
        })
}

/// Puts values in the place of arguments that are variables.
fn fill(config: &str, values: &BTreeMap<String, String>) -> String {
    let arguments = conf::split_args(config);
    if !arguments.iter().any(|argument| values.contains_key(argument)) {
        return config.to_owned();
    }
    let filled: Vec<&String> =
        arguments.iter().map(|argument| values.get(argument).unwrap_or(argument)).collect();
    conf::join_args(&filled)
}

/// A graph in which patterns are replaced. The order of elements and connections decides what is found first and what the result
/// looks like, so both are kept as Click keeps them.
struct Work {
    /// Elements by their places, connections in the order in which they came.
    graph: Graph,
    places: Vec<usize>,
    table: Table,
    /// The pattern that made an element.
    origins: HashMap<String, usize>,
    /// For each name of a pattern, the number of the next prefix.
    numbers: HashMap<String, usize>,
    /// The order of the next connection.
    next: u32,
}

/// The places that elements can have. Those of elements that are gone are given to new ones, the last one first, until so many
/// new ones have come that all elements move together.
struct Table {
    size: usize,
    capacity: usize,
    free: Vec<usize>,
}

/// Empty places at which elements move together.
const GAPS: usize = 500;

impl Table {
    fn new(size: usize) -> Table {
        Table { size, capacity: size.next_power_of_two(), free: Vec::new() }
    }

    fn take(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.size += 1;
            self.size - 1
        })
    }
}

impl Work {
    fn new(graph: &Graph) -> Work {
        let graph = graph.as_written();
        let size = graph.elements.len();
        let next = graph.connections.iter().map(|c| c.order + 1).max().unwrap_or(0);
        Work {
            graph,
            places: (0..size).collect(),
            table: Table::new(size),
            origins: HashMap::new(),
            numbers: HashMap::new(),
            next,
        }
    }

    /// Puts a replacement in the place of what matched; the names of the new elements.
    fn replace(&mut self, pattern: &Pattern, found: &Match) -> Vec<String> {
        let mut old_names: HashMap<&str, String> = HashMap::new();
        let prefix = self.prefix(&pattern.name);
        let mut elements: Vec<Option<Element>> =
            std::mem::take(&mut self.graph.elements).into_iter().map(Some).collect();
        for (element, place) in pattern.pattern.elements.iter().zip(&found.elements) {
            if let Some(gone) = place.and_then(|place| elements[place].take()) {
                old_names.insert(&element.name, gone.name);
                self.table.free.extend(place.map(|place| self.places[place]));
            }
        }
        let connections = self.joined(pattern, found, elements.len());
        // The compound element, its input and its output have places for a moment.
        let mut passing = [(); 3].map(|()| self.table.take());
        let mut names = Vec::new();
        for element in &pattern.replacement.elements[OUTPUT + 1..] {
            let name = match old_names.get(element.name.as_str()) {
                Some(old) => old.clone(),
                None => format!("{prefix}/{}", element.name),
            };
            names.push(name.clone());
            let config = fill(&element.config, &found.values);
            elements.push(Some(Element { name, config, ..element.clone() }));
            self.places.push(self.table.take());
        }
        passing.sort_unstable();
        self.table.free.extend(passing);
        self.settle(elements, connections);
        names
    }

    /// The connections that are left, and those of the replacement, whose elements come behind `base` others.
    fn joined(&mut self, pattern: &Pattern, found: &Match, base: usize) -> Vec<Connection> {
        let is_gone = |port: &Port| found.elements.contains(&Some(port.element));
        let mut connections: Vec<Connection> =
            (self.graph.connections.drain(..)).filter(|c| !is_gone(&c.from) && !is_gone(&c.to)).collect();
        let mut known: HashSet<(Port, Port)> = connections.iter().map(|c| (c.from, c.to)).collect();
        for (from, to) in new_connections(&pattern.replacement, found, base) {
            if known.insert((from, to)) {
                let (landmark, span, order) = (Landmark::new("", 0), Span::default(), self.next);
                self.next += 1;
                connections.push(Connection { from, to, landmark, span, order });
            }
        }
        connections
    }

    /// Puts what is left and what is new in order.
    fn settle(&mut self, elements: Vec<Option<Element>>, connections: Vec<Connection>) {
        let mut placed: Vec<(usize, usize, Element)> = (elements.into_iter().zip(&self.places).enumerate())
            .filter_map(|(old, (element, &place))| Some((place, old, element?)))
            .collect();
        placed.sort_by_key(|&(place, ..)| place);
        let index: HashMap<usize, usize> =
            placed.iter().enumerate().map(|(new, &(_, old, _))| (old, new)).collect();
        self.graph.connections = connections;
        for end in self.graph.connections.iter_mut().flat_map(|c| [&mut c.from, &mut c.to]) {
            end.element = index[&end.element];
        }
        let live = placed.len();
        self.places = placed.iter().map(|&(place, ..)| place).collect();
        self.graph.elements = placed.into_iter().map(|(.., element)| element).collect();
        if self.table.size > self.table.capacity || self.table.size >= live + GAPS {
            self.places = (0..live).collect();
            self.table = Table::new(live);
        }
    }

    /// A prefix for names that no element has yet.
    fn prefix(&mut self, name: &str) -> String {
        let elements = &self.graph.elements;
        let taken = |prefix: &str| {
            elements.iter().any(|e| e.name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/')))
        };
        let next = self.numbers.entry(name.to_owned()).or_insert(1);
        loop {
            let prefix = format!("{name}@{next}");
            *next += 1;
            if !taken(&prefix) {
                return prefix;
            }
        }
    }

    fn finish(self) -> Graph {
        // A draft knows how connections of a graph are sorted.
        Draft::new(&self.graph).finish()
    }
}

/// The connections of a replacement with others and between its elements, which come behind `base` others: first those within,
/// then those from outside, then those that leave.
fn new_connections(replacement: &Graph, found: &Match, base: usize) -> Vec<(Port, Port)> {
    let place = |port: Port| {
        (port.element > OUTPUT).then(|| Port { element: base + port.element - OUTPUT - 1, ..port })
    };
    let outside = |input: u32| {
        found.entering.iter().rev().filter(move |(_, port)| *port == input).map(|(from, _)| *from)
    };
    let inner = replacement.as_written().connections;
    let within = inner.iter().filter_map(|c| Some((place(c.from)?, place(c.to)?)));
    let mut connections: Vec<(Port, Port)> = within.collect();
    for c in inner.iter().filter(|c| c.from.element == INPUT) {
        let Some(to) = place(c.to) else { continue };
        connections.extend(outside(c.from.port).map(|from| (from, to)));
    }
    for &(output, to) in &found.leaving {
        for c in inner.iter().filter(|c| c.to == Port { element: OUTPUT, port: output }) {
            match place(c.from) {
                Some(from) => connections.push((from, to)),
                None => connections.extend(outside(c.from.port).map(|from| (from, to))),
            }
        }
    }
    connections
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn patterns(text: &str) -> Vec<Pattern> {
        let compounds = lang::compounds(text, "patterns", &lang::Options::default()).compounds;
        let graph = |name: &str| Some(compounds.iter().find(|c| c.name == name)?.graph.clone());
        let pattern = |c: &lang::Compound| {
            let replacement = graph(&format!("{}_Replacement", c.name))?;
            Some(Pattern { name: c.name.clone(), pattern: c.graph.clone(), replacement })
        };
        compounds.iter().filter_map(pattern).collect()
    }

    fn check(text: &str, source: &str, expected: Expect) {
        let graph = lang::parse(source, "config", &[]).graph;
        let changed = xform(&graph, &patterns(text), 100);
        expected.assert_eq(&changed.map_or_else(|name| name, |graph| lang::flatten(&graph)));
    }

    #[test]
    fn examples_of_clicks_manual_page_are_transformed() {
        check(
            "elementclass QueuePattern { input -> Queue -> output; }
             elementclass QueuePattern_Replacement { input -> Queue -> Shaper(200) -> output; }",
            "Idle, Idle => [0, 0] q :: Queue -> Discard; Idle -> Queue(7) -> Discard; Idle -> Queue -> Discard",
            expect![[r#"
                Idle@1 :: Idle;
                Idle@2 :: Idle;
                Queue@9 :: Queue;
                Discard@4 :: Discard;
                Idle@5 :: Idle;
                Queue@6 :: Queue(7);
                Discard@7 :: Discard;
                Idle@8 :: Idle;
                Discard@10 :: Discard;
                q :: Queue;
                QueuePattern@1/Shaper@2 :: Shaper(200);
                QueuePattern@2/Shaper@2 :: Shaper(200);

                Idle@8 -> Queue@9
                    -> QueuePattern@2/Shaper@2
                    -> Discard@10;
                Idle@5 -> Queue@6
                    -> Discard@7;
                Idle@1 -> q
                    -> QueuePattern@1/Shaper@2
                    -> Discard@4;
                Idle@2 -> q;
            "#]],
        );
        check(
            "elementclass Meters { input -> Meter($a) -> Shaper($b) -> output; }
             elementclass Meters_Replacement { input -> Meter($b) -> SlowShaper($a) -> output; }",
            "Idle -> Meter(1000) -> Shaper(2000) -> Discard",
            expect![[r#"
                Idle@1 :: Idle;
                Discard@4 :: Discard;
                Meter@2 :: Meter(2000);
                Meters@1/SlowShaper@2 :: SlowShaper(1000);

                Idle@1 -> Meter@2
                    -> Meters@1/SlowShaper@2
                    -> Discard@4;
            "#]],
        );
        check(
            "elementclass Evil1 { input -> Queue -> output; } elementclass Evil1_Replacement { input -> Queue -> output; }
             elementclass Evil2 { input -> Queue -> output; } elementclass Evil2_Replacement { input -> Queue -> output; }",
            "Idle -> Queue -> Discard",
            expect!["Evil2"],
        );
    }

    #[test]
    fn a_match_has_the_patterns_ports_connections_and_arguments() {
        let text = "elementclass P { input -> A($x, 2) -> b :: B($x) [1] -> output; b -> [1] output }
                    elementclass P_Replacement { input -> output; D($x, $y) -> [1] output }";
        for (source, matches) in [
            ("Idle -> A(1, 2) -> b :: B(1) -> X; b [1] -> Y", true),
            ("Idle -> A(1, 2) -> b :: B(2) -> X; b [1] -> Y", false),
            ("Idle -> A(1, 3) -> b :: B(1) -> X; b [1] -> Y", false),
            ("Idle -> A(1, 2, 3) -> b :: B(1) -> X; b [1] -> Y", false),
            ("Idle -> A(1, 2) -> b :: B(1) -> X", false),
            ("A(1, 2) -> b :: B(1) -> X; b [1] -> Y", false),
            ("Idle -> a :: A(1, 2) -> b :: B(1) -> X; b [1] -> Y; a -> X", false),
            ("Idle -> A(1, 2) -> b :: B(1) -> X; b [1] -> Y; Idle -> b", false),
            ("Idle -> a :: A(1, 2) -> b :: B(1) -> X; b [1] -> Y; b [2] -> [1] a", false),
            ("Idle, Idle => [0, 0] A(1, 2) -> b :: B(1) => X, Y; b -> Z", true),
            ("Idle -> A(1, 2) -> b :: B(1) -> X; b [1] -> Y; A(1, 2) -> C", true),
        ] {
            let graph = lang::parse(source, "config", &[]).graph;
            let changed = xform(&graph, &patterns(text), 10).unwrap();
            assert_eq!(!changed.same_as(&graph), matches, "{source}");
        }
        check(
            text,
            "Idle, Idle => [0, 0] A(1, 2) -> b :: B(1) => X, Y; b -> Z",
            expect![[r#"
            Idle@1 :: Idle;
            Idle@2 :: Idle;
            X@5 :: X;
            Y@6 :: Y;
            Z@7 :: Z;
            P@1/D@1 :: D(1, $y);

            P@1/D@1 -> X@5;
            Idle@1 -> Y@6;
            Idle@2 -> Y@6;
            P@1/D@1 -> Z@7;
        "#]],
        );
    }

    /// What a pattern makes can be what another looks for.
    #[test]
    fn one_after_the_other() {
        check(
            "elementclass P { input -> A -> A -> output } elementclass P_Replacement { input -> a :: A -> output }
             elementclass R { input -> A -> D -> output } elementclass R_Replacement { input -> output }",
            "s :: S -> A -> A -> A -> A -> d :: D -> e :: E",
            expect![[r#"
                s :: S;
                e :: E;
                P@1/a :: A;

                s -> P@1/a
                    -> e;
            "#]],
        );
    }

    /// A number that a prefix had once is not given again; what comes takes the place of what went.
    #[test]
    fn prefixes_and_places() {
        check(
            "elementclass R { input -> B -> Z -> output } elementclass R_Replacement { input -> output }
             elementclass P { input -> A -> output } elementclass P_Replacement { input -> b :: B -> output }",
            "s :: S -> A -> Z -> A -> e :: E",
            expect![[r#"
                s :: S;
                P@2/b :: B;
                e :: E;

                s -> P@2/b
                    -> e;
            "#]],
        );
    }
}
