//! A scope: the elements, connections and variables of the file or of one compound element.

use crate::conf;
use crate::diag::{Diagnostic, Landmark, Span};
use crate::graph::Port;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Index of a class in [`Classes`](crate::classes::Classes).
pub(crate) type ClassId = usize;

/// An element of a scope.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// Name; begins with ';' while it is generated and not yet final.
    pub(crate) name: String,
    pub(crate) class: ClassId,
    /// Shared, since a declaration of many names gives all of them the same.
    pub(crate) config: Arc<str>,
    pub(crate) landmark: Landmark,
    pub(crate) span: Span,
    /// How many inputs and outputs connections use.
    pub(crate) ports: [u32; 2],
}

/// A connection of a scope.
#[derive(Debug, Clone)]
pub(crate) struct Wire {
    pub(crate) from: Port,
    pub(crate) to: Port,
    pub(crate) landmark: Landmark,
    pub(crate) span: Span,
    /// The arrow's text if it is a context arrow.
    pub(crate) context: Option<Arc<str>>,
}

/// Index of a scope's pseudoelement `input`; `output` follows it.
pub(crate) const INPUT: usize = 0;

/// One scope.
#[derive(Debug)]
pub(crate) struct Scope {
    /// Class name; empty for the file and for anonymous compounds.
    pub(crate) name: String,
    pub(crate) landmark: Landmark,
    pub(crate) span: Span,
    pub(crate) depth: usize,
    /// Which scope of the text it is: 0 for the file.
    pub(crate) number: usize,
    /// Formal parameters with their keywords, then definitions with their values.
    pub(crate) variables: Vec<(String, String)>,
    variable_index: HashMap<String, usize>,
    keywords: HashMap<String, usize>,
    /// How many of the variables are formal parameters.
    pub(crate) formals: usize,
    order_error: bool,
    pub(crate) nodes: Vec<Node>,
    pub(crate) index: HashMap<String, usize>,
    /// For the part of a generated name before its number, a range of numbers known to be taken.
    taken: HashMap<String, (u64, u64)>,
    /// How many names were tried in vain.
    pub(crate) tries: usize,
    /// How many nodes do not count for generated names.
    offset: usize,
    pub(crate) wires: Vec<Wire>,
    /// The next overloading.
    pub(crate) overload: Option<ClassId>,
    /// Numbers of inputs and outputs seen from outside.
    pub(crate) ports: [u32; 2],
}

impl Scope {
    pub(crate) fn new(name: String, landmark: Landmark, span: Span, depth: usize) -> Self {
        Self {
            name,
            landmark,
            span,
            depth,
            number: 0,
            variables: Vec::new(),
            variable_index: HashMap::new(),
            keywords: HashMap::new(),
            formals: 0,
            order_error: false,
            nodes: Vec::new(),
            index: HashMap::new(),
            taken: HashMap::new(),
            tries: 0,
            offset: 0,
            wires: Vec::new(),
            overload: None,
            ports: [0, 0],
        }
    }

    /// Makes nodes so far not count for generated names.
    pub(crate) fn set_offset(&mut self) {
        self.offset = self.nodes.len();
    }

    /// The name for messages.
    pub(crate) fn printable(&self) -> &str {
        if self.name.is_empty() { "<anonymous>" } else { &self.name }
    }

    /// Sets a variable, replacing an older value.
    pub(crate) fn set_variable(&mut self, name: &str, value: &str) {
        match self.variable_index.get(name) {
            Some(&i) => self.variables[i].1 = value.to_owned(),
            None => self.push_variable(name, value),
        }
    }

    fn push_variable(&mut self, name: &str, value: &str) {
        self.variable_index.insert(name.to_owned(), self.variables.len());
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Defines a variable or, if `formal`, a parameter whose keyword is `value`.
    ///
    /// # Errors
    /// Messages about redefinition, repeated keywords and wrong order.
    pub(crate) fn define(&mut self, name: &str, value: &str, formal: bool) -> Vec<String> {
        if self.variable_index.contains_key(name) {
            return vec![format!("parameter '${name}' multiply defined")];
        }
        let mut errors = Vec::new();
        let previous = self.variables.last().map(|(_, keyword)| keyword.clone());
        self.push_variable(name, value);
        if !formal {
            return errors;
        }
        self.formals = self.variables.len();
        if !value.is_empty() && self.keywords.insert(value.to_owned(), self.formals - 1).is_some() {
            errors.push(format!("repeated keyword parameter '{value}' in compound element"));
        }
        let disorder = |before: String| before == "__REST__" || value.is_empty() && !before.is_empty();
        if !self.order_error && previous.is_some_and(disorder) {
            self.order_error = true;
            errors.push(
                "compound element parameters out of order\n\
                 (The correct order is '[positional], [keywords], [__REST__]'.)"
                    .into(),
            );
        }
        errors
    }

    /// A generated name for an element of class `class`.
    pub(crate) fn anonymous_name(&self, class: &str) -> String {
        format!(";{class}@{}", self.nodes.len() - self.offset + 1)
    }

    /// Gives node `i` its final name: the generated one or, if that is taken, one with a higher number.
    pub(crate) fn settle_name(&mut self, i: usize) {
        let Some(base) = self.nodes[i].name.strip_prefix(';') else { return };
        let mut name = base.to_owned();
        if self.index.contains_key(&name) {
            let at = name.rfind('@').map_or(0, |at| at + 1);
            let digits = name[at..].bytes().take_while(u8::is_ascii_digit).count();
            let start: u64 = name[at..at + digits].parse().unwrap_or(0);
            let prefix = name[..at].to_owned();
            // Numbers only grow, so what was found taken before need not be tried again.
            let mut range = match self.taken.get(&prefix) {
                Some(&(from, to)) if (from..=to).contains(&start) => (from, to),
                _ => (start, start),
            };
            while self.index.contains_key(&name) {
                range.1 += 1;
                self.tries += 1;
                name = format!("{prefix}{}", range.1);
            }
            self.taken.insert(prefix, range);
        }
        self.index.insert(name.clone(), i);
        self.nodes[i].name = name;
    }

    /// Adds a node.
    pub(crate) fn add(&mut self, node: Node) -> usize {
        let index = self.nodes.len();
        self.index.insert(node.name.clone(), index);
        self.nodes.push(node);
        index
    }

    /// Adds a connection.
    pub(crate) fn connect(&mut self, wire: Wire) {
        let inputs = &mut self.nodes[wire.to.element].ports[0];
        *inputs = (*inputs).max(wire.to.port + 1);
        let outputs = &mut self.nodes[wire.from.element].ports[1];
        *outputs = (*outputs).max(wire.from.port + 1);
        self.wires.push(wire);
    }

    /// Checks the pseudoelement `node` of a compound or group called `name`, whose connections are
    /// those from index `first` on. Returns its number of ports and what is wrong.
    pub(crate) fn check_pseudo(
        &self,
        node: usize,
        output: bool,
        name: &str,
        first: usize,
    ) -> (u32, Vec<String>) {
        const SIDES: [&str; 2] = ["input", "output"];
        const MISSING: usize = 10;
        let (this, other) = (SIDES[usize::from(output)], SIDES[usize::from(!output)]);
        let mut errors = Vec::new();
        if self.nodes[node].ports[usize::from(output)] > 0 {
            errors.push(format!("'{name}' pseudoelement '{this}' may only be used as {other}"));
        }
        let ends = self.wires[first..].iter().map(|w| if output { w.to } else { w.from });
        let used: BTreeSet<u32> = ends.filter(|p| p.element == node).map(|p| p.port).collect();
        let ports = self.nodes[node].ports[usize::from(!output)];
        let mut expected = 0;
        for &port in used.iter().chain([&ports]) {
            let gap = (expected..port).take(MISSING.saturating_sub(errors.len()));
            errors.extend(gap.map(|p| format!("'{name}' {this} {p} missing")));
            expected = port + 1;
        }
        (ports, errors)
    }

    /// Assigns arguments to the formal parameters; nothing if they do not fit.
    pub(crate) fn assign(&self, args: &[String]) -> Option<Vec<String>> {
        let formals = &self.variables[..self.formals];
        if formals.last().is_none_or(|(_, keyword)| keyword.is_empty()) {
            return (args.len() == formals.len()).then(|| args.to_vec());
        }
        let rest = formals.last().is_some_and(|(_, keyword)| keyword == "__REST__");
        let fixed = formals.len() - usize::from(rest);
        let positional = formals[..fixed].iter().take_while(|(_, keyword)| keyword.is_empty()).count();
        let mut values: Vec<Option<&str>> = vec![None; formals.len()];
        let mut left_over: Vec<&str> = Vec::new();
        let mut supplied = 0;
        for arg in args {
            if supplied < positional {
                values[supplied] = Some(arg);
                supplied += 1;
                continue;
            }
            let known = conf::keyword(arg).and_then(|(word, value)| Some((*self.keywords.get(word)?, value)));
            match known {
                Some((slot, value)) if slot < fixed => values[slot] = Some(value),
                _ if rest => left_over.push(arg),
                _ => return None,
            }
        }
        if values[..fixed].iter().any(Option::is_none) {
            return None;
        }
        let mut out: Vec<String> = values[..fixed].iter().flatten().map(|&v| v.to_owned()).collect();
        if rest {
            out.push(conf::join_args(&left_over));
        }
        Some(out)
    }

    /// How messages describe this overloading.
    pub(crate) fn signature(&self) -> String {
        let formal = |(_, keyword): &(String, String)| match keyword.as_str() {
            "" => "<arg>".to_owned(),
            "__REST__" => "...".to_owned(),
            other => other.to_owned(),
        };
        let formals: Vec<String> = self.variables[..self.formals].iter().map(formal).collect();
        let list = if formals.is_empty() { String::new() } else { format!("({})", formals.join(", ")) };
        format!("{}{list}[{}]", self.printable(), ports(self.ports))
    }

    /// How messages describe a use with `args` arguments and these ports.
    pub(crate) fn use_signature(&self, args: usize, used: [u32; 2]) -> String {
        let arguments = match args {
            0 => String::new(),
            1 => "1 argument, ".into(),
            n => format!("{n} arguments, "),
        };
        format!("{}[{arguments}{}]", self.printable(), ports(used))
    }
}

fn ports([inputs, outputs]: [u32; 2]) -> String {
    let plural = |n: u32| if n == 1 { "" } else { "s" };
    format!("{inputs} input{}, {outputs} output{}", plural(inputs), plural(outputs))
}

/// The pair of messages about something declared twice.
pub(crate) fn redeclaration(name: &str, old: Option<(Landmark, Span)>) -> Diagnostic {
    let diagnostic = Diagnostic::error(format!("redeclaration of element '{name}'"));
    match old {
        Some((landmark, span)) => {
            diagnostic.note(landmark, span, format!("element '{name}' previously declared here"))
        }
        None => diagnostic,
    }
}
