//! Connections: chains of element lists with ports, declarations included.

use crate::classes::{ClassKind, ERROR, TUNNEL};
use crate::diag::{Diagnostic, Landmark, Span};
use crate::graph::Port;
use crate::marks::RawMention;
use crate::parser::{Body, Frame, Parser};
use crate::scope::{ClassId, Node, Wire, redeclaration};
use crate::token::{Kind, Token};
use std::sync::Arc;

/// Ports in brackets.
#[derive(Debug, Clone, Default)]
struct Ports {
    list: Vec<u32>,
    /// Whether further ports may follow: `[]`, `[0,]`, `[0-]`.
    open: bool,
}

/// An element of a chain.
struct Item {
    name: String,
    /// The class, if the name is one.
    class: Option<ClassId>,
    /// The class after `::`.
    declared: Option<ClassId>,
    /// Whether it is only a name so far.
    bare: bool,
    /// Whether it was left out and stands for `input` or `output`.
    implicit: bool,
    config: Arc<str>,
    landmark: Landmark,
    span: Span,
    /// Where its declaration ends.
    end: u32,
    inputs: Ports,
    outputs: Ports,
    /// Its node, once it has one.
    node: usize,
}

/// What came of looking for an element.
enum ParsedItem {
    Item(Box<Item>),
    /// There is no element; the chain or list ends.
    Nothing,
}

impl Parser<'_> {
    /// Parses a declaration or connection.
    pub(crate) fn chain(&mut self, frame: &mut Frame) {
        let mut last: Vec<Item> = Vec::new();
        let mut arrow: Option<Token> = None;
        while let Some(mut items) = self.items(frame, arrow.as_ref()) {
            self.declare(&mut items, arrow.is_none());
            match &arrow {
                None => {
                    self.useless_ports(&items, |item| &item.inputs, "input ports ignored at start of chain")
                }
                Some(arrow) => self.connect_all(&last, &items, arrow),
            }
            last = items;
            arrow = self.connector();
            if arrow.is_none() {
                break;
            }
        }
        self.useless_ports(&last, |item| &item.outputs, "output ports ignored at end of chain");
        let output = self.scope().index.get("output").copied();
        frame.ended_in_output = matches!(last.as_slice(), [one] if Some(one.node) == output);
    }

    fn useless_ports(&mut self, items: &[Item], side: impl Fn(&Item) -> &Ports, message: &str) {
        if let Some(item) = items.iter().find(|item| !side(item).list.is_empty()) {
            self.report_consequence_here(Diagnostic::error(message).at(self.lexer.landmark(), item.span));
        }
    }

    /// Reads an arrow, or what ends the chain.
    fn connector(&mut self) -> Option<Token> {
        loop {
            let token = self.next();
            match token.kind {
                Kind::Arrow | Kind::DoubleArrow | Kind::ContextArrow => return Some(token),
                Kind::Char(',') | Kind::DoubleColon => self.syntax_error(&token, "'->' or ';'"),
                Kind::Char(';') | Kind::Eof => return None,
                Kind::Char('{' | '}' | '[' | ')') | Kind::Ident | Kind::DoubleBar => {
                    self.lexer.unlex(token);
                    return None;
                }
                Kind::Char(_) => {
                    self.syntax_error(&token, "'->' or ';'");
                    return None;
                }
                Kind::Elementclass | Kind::Require | Kind::Provide | Kind::Define => {
                    self.lexer.unlex(token);
                    return None;
                }
                _ => {
                    self.syntax_error(&token, "'->' or ';'");
                    self.lexer.unlex(token);
                    return None;
                }
            }
        }
    }

    /// Parses a list of elements; nothing if there is none.
    fn items(&mut self, frame: &Frame, arrow: Option<&Token>) -> Option<Vec<Item>> {
        let mut items = Vec::new();
        loop {
            match self.item(frame, arrow, items.is_empty()) {
                ParsedItem::Item(item) => items.push(*item),
                ParsedItem::Nothing if items.is_empty() => return None,
                ParsedItem::Nothing => return Some(items),
            }
            let Some(_) = self.lexer.accept(Kind::Char(',')) else { return Some(items) };
        }
    }

    fn item(&mut self, frame: &Frame, arrow: Option<&Token>, first_of_list: bool) -> ParsedItem {
        let inputs = self.ports();
        let token = self.next();
        let item = |name: String, class| Item {
            name,
            class,
            declared: None,
            bare: false,
            implicit: false,
            config: Arc::from(""),
            landmark: token.landmark.clone(),
            span: token.span,
            end: token.span.end,
            inputs: inputs.clone(),
            outputs: Ports::default(),
            node: usize::MAX,
        };
        let item = match token.kind {
            Kind::Ident => {
                let name = self.lexer.text(&token).to_owned();
                let class = self.classes.find(&name);
                if let Some(id) = class {
                    self.mark(token.span, RawMention::Class(id));
                }
                Item { bare: true, ..item(name, class) }
            }
            Kind::Char('{') => {
                let class = self.compound("");
                self.mark(token.span, RawMention::ClassDeclaration(class));
                let (landmark, end) = (self.lexer.landmark(), self.lexer.position());
                Item { landmark, end, ..item(String::new(), Some(class)) }
            }
            Kind::Char('(') => {
                let name = self.scope().anonymous_name("");
                let mut item = item(name, None);
                self.group(&mut item);
                item
            }
            _ => {
                let start = arrow.is_none();
                if !self.stands_for_pseudo(frame, &token, start, first_of_list, !inputs.list.is_empty()) {
                    return self.no_item(frame, token, start, first_of_list, &inputs);
                }
                let mut item = item(if start { "input" } else { "output" }.to_owned(), None);
                item.implicit = true;
                if start {
                    std::mem::swap(&mut item.inputs, &mut item.outputs);
                }
                self.lexer.unlex(token);
                return ParsedItem::Item(Box::new(item));
            }
        };
        ParsedItem::Item(Box::new(self.rest_of_item(item)))
    }

    /// Whether an element left out before `token` means `input` or `output`.
    fn stands_for_pseudo(
        &mut self,
        frame: &Frame,
        token: &Token,
        start: bool,
        first_of_list: bool,
        ports: bool,
    ) -> bool {
        if !frame.nested {
            return false;
        }
        if token.is_arrow() {
            let implicit = start && (ports || first_of_list);
            if implicit && !ports && !frame.ended_in_output {
                let sign = self.lexer.text(token).to_owned();
                let text = format!("suggest 'input {sign}' or '[0] {sign}' to start connection");
                self.report(Diagnostic::warning(text).at(token.landmark.clone(), token.span));
            }
            implicit
        } else if token.is_char(',') {
            ports
        } else {
            !token.is(Kind::DoubleColon) && !start && (ports || first_of_list)
        }
    }

    fn no_item(
        &mut self,
        frame: &Frame,
        token: Token,
        start: bool,
        first: bool,
        ports: &Ports,
    ) -> ParsedItem {
        if !ports.list.is_empty() {
            self.error_at(&token, "stranded port ignored");
        }
        if first && !(frame.nested && start) && !self.stopped {
            self.syntax_error(&token, "an element");
            // What closes or begins a statement is still wanted.
            let wanted = matches!(token.kind, Kind::Char('}' | ')') | Kind::Eof);
            let closes = frame.body != Body::File || token.is(Kind::Eof);
            if wanted && closes || token.kind == Kind::Elementclass || token.kind == Kind::Define {
                self.lexer.unlex(token);
            }
        } else {
            self.lexer.unlex(token);
        }
        ParsedItem::Nothing
    }

    /// Parses what may follow a name, compound or group: class, configuration string and ports.
    fn rest_of_item(&mut self, mut item: Item) -> Item {
        let mut token = self.next();
        if token.is(Kind::DoubleColon) {
            item.bare = false;
            let class = self.next();
            item.declared = Some(match class.kind {
                Kind::Ident => {
                    let name = self.lexer.text(&class).to_owned();
                    self.force_class(&name, &class)
                }
                Kind::Char('{') => {
                    let id = self.compound("");
                    self.mark(class.span, RawMention::ClassDeclaration(id));
                    id
                }
                _ => {
                    let message = "missing element type in declaration";
                    let diagnostic = Diagnostic::error(message).expecting("an element class or '{'");
                    self.report(diagnostic.at(class.landmark.clone(), class.span));
                    self.lexer.unlex(class);
                    ERROR
                }
            });
            token = self.next();
        }
        if token.is_char('(') {
            if self.scope().index.contains_key(&item.name) {
                self.error_at(&token, "configuration string ignored on element reference");
            }
            let (config, span, is_closed) = self.config();
            if is_closed || !self.options.causes_only {
                // With the parenthesis behind it.
                (item.config, item.end) = (config.into(), span.end + 1);
            } else if item.declared.is_some() {
                // What it swallowed is none of its arguments.
                item.declared = Some(ERROR);
            } else {
                item.class = item.class.map(|_| ERROR);
            }
            item.bare = false;
            token = self.next();
        }
        let ports = token.is_char('[');
        self.lexer.unlex(token);
        if ports {
            item.outputs = self.ports();
        }
        item
    }

    /// Parses ports in brackets, if there are any.
    fn ports(&mut self) -> Ports {
        let mut ports = Ports::default();
        if self.lexer.accept(Kind::Char('[')).is_none() {
            return ports;
        }
        // Whether the next port ends a range: `[0-3]`.
        let mut range = false;
        loop {
            let token = self.next();
            match token.kind {
                Kind::Ident => {
                    let port = self.port_number(&token);
                    match ports.list.last().filter(|_| range) {
                        Some(&first) => self.range(&mut ports.list, first, port, &token),
                        None => ports.list.push(port),
                    }
                }
                Kind::Char(']') => {
                    if ports.list.is_empty() {
                        ports.list.push(0);
                    }
                    ports.open = true;
                    return ports;
                }
                _ => {
                    self.error_at(&token, "syntax error: expected port number");
                    self.lexer.unlex(token);
                    return ports;
                }
            }
            let token = self.next();
            if token.is_char(']') {
                return ports;
            }
            let dash = token.is_char('-') && !range;
            range = range && !token.is_char(',') || dash;
            if !dash && !token.is_char(',') {
                self.error_at(&token, "syntax error: expected ','");
                self.lexer.unlex(token);
                if self.options.causes_only {
                    return ports; // what follows an unclosed bracket is no port
                }
            }
        }
    }

    /// Adds the ports behind `first` up to `last`, as long as ranges do not name too many of them.
    fn range(&mut self, list: &mut Vec<u32>, first: u32, last: u32, token: &Token) {
        self.ranged += last.saturating_sub(first) as usize;
        if self.ranged <= self.limits().connections {
            list.extend(first + 1..=last);
        } else if !self.stopped {
            self.error_at(token, "too many ports in ranges");
            self.stop();
        }
    }

    fn port_number(&mut self, token: &Token) -> u32 {
        let text = self.lexer.text(token);
        let (digits, radix) = match text.as_bytes() {
            [b'0', b'x' | b'X', ..] => (&text[2..], 16),
            [b'0', _, ..] => (&text[1..], 8),
            _ => (text, 10),
        };
        let max = self.limits().port;
        match u32::from_str_radix(digits, radix) {
            Ok(port) if port <= max => port,
            Ok(_) => {
                self.error_at(token, format!("port number should be at most {max}"));
                0
            }
            Err(_) => {
                self.error_at(token, "syntax error: port number should be integer");
                0
            }
        }
    }

    /// Parses a group after its opening parenthesis: statements of the same scope with an `input` and
    /// an `output` of their own.
    fn group(&mut self, item: &mut Item) {
        let nodes: Vec<usize> = ["", "/input", "/output"]
            .iter()
            .map(|side| self.add_node(Node::tunnel(format!("{}{side}", item.name), item)))
            .collect();
        let saved = ["input", "output"].map(|name| self.scope().index.remove(name));
        for (name, node) in ["input", "output"].into_iter().zip(&nodes[1..]) {
            self.scope().index.insert(name.to_owned(), *node);
        }
        let first_wire = self.scope().wires.len();
        if self.enter("maximum element group nesting depth exceeded", &item.landmark, item.span) {
            self.statements(Body::Group, true);
        }
        self.leave();
        for (side, output) in [(0, false), (1, true)] {
            let scope = self.scope();
            let (ports, errors) =
                scope.check_pseudo(nodes[1 + side], output, "<anonymous group>", first_wire);
            let complete = errors.is_empty();
            for message in errors {
                self.report_consequence(Diagnostic::error(message).at(self.lexer.landmark(), item.span));
            }
            let implied = if output { &mut item.outputs } else { &mut item.inputs };
            if implied.list.is_empty() && complete {
                implied.list = (0..ports).collect();
            }
        }
        for (name, before) in ["input", "output"].into_iter().zip(saved) {
            match before {
                Some(node) => self.scope().index.insert(name.to_owned(), node),
                None => self.scope().index.remove(name),
            };
        }
    }

    /// Adds a node to the current scope and checks its name.
    fn add_node(&mut self, node: Node) -> usize {
        if node.name.split('/').any(|part| part.bytes().all(|b| b.is_ascii_digit())) {
            let message = format!("element name '{}' has all-digit component", node.name);
            self.report(Diagnostic::error(message).at(self.lexer.landmark(), node.span));
        }
        self.scope().add(node)
    }

    /// Finds or makes the nodes of a list.
    fn declare(&mut self, items: &mut [Item], start: bool) {
        let token = self.next();
        let connected = token.is_arrow();
        if connected && !start && items.iter().any(|item| item.implicit) {
            self.error_at(&token, "implicit ports used in the middle of a chain");
        }
        self.lexer.unlex(token);
        if start && !connected {
            spread_class(items);
        }
        for item in items {
            item.node = self.node_of(item);
        }
    }

    fn node_of(&mut self, item: &mut Item) -> usize {
        let existing = self.scope().index.get(&item.name).copied();
        if let (None, Some(node)) = (item.class, existing) {
            if item.declared.is_some() {
                let old = &self.scope().nodes[node];
                let old = (old.class != TUNNEL).then(|| (old.landmark.clone(), old.span));
                let diagnostic = redeclaration(&item.name, old);
                self.report(diagnostic.at(item.landmark.clone(), item.span));
                if self.options.causes_only {
                    self.add_unnamed(item);
                }
            }
            if !item.implicit {
                self.mark(item.span, RawMention::Element(node));
            }
            return node;
        }
        match (item.declared, item.class) {
            (Some(_), Some(_)) => {
                let message = format!("class '{}' used as element name", item.name);
                self.report(Diagnostic::error(message).at(item.landmark.clone(), item.span));
                if self.options.causes_only {
                    // The arguments are those of the class that is declared.
                    item.class = item.declared;
                }
            }
            (None, None) if self.classes.open() => {
                let id = self.classes.primitive(&item.name);
                self.mark(item.span, RawMention::Class(id));
                item.class = Some(id);
            }
            (None, None) => item.class = Some(self.undeclared(item)),
            _ => {}
        }
        let class = match (item.class, item.declared) {
            (Some(class), _) => {
                item.name = self.scope().anonymous_name(&item.name);
                class
            }
            (None, Some(class)) => class,
            (None, None) => ERROR,
        };
        let node = self.add_node(Node::of(item, class));
        self.mark(item.span, RawMention::ElementDeclaration(node, item.end));
        node
    }

    /// Adds an element that is declared again, whose arguments may be wrong, too; its name means the first one still.
    fn add_unnamed(&mut self, item: &Item) {
        let node = Node::of(item, item.declared.unwrap_or(ERROR));
        self.scope().nodes.push(node);
    }

    /// Reports a name that is neither an element's nor a class's, and makes it a class.
    fn undeclared(&mut self, item: &Item) -> ClassId {
        let name = &item.name;
        let mut diagnostic = Diagnostic::error(format!("undeclared element '{name}'"));
        let class = self.similar_class(name);
        let element = self.similar_element(name);
        if let Some(remedy) = self.classes.remedy(name) {
            diagnostic = diagnostic.help(format!("unknown element class '{name}'; {remedy}"));
        } else if let Some(class) = class {
            diagnostic = diagnostic.help(format!("unknown element class '{name}'; did you mean '{class}'?"));
        } else if let Some(element) = element {
            diagnostic = diagnostic.help(format!("did you mean element '{element}'?"));
        } else {
            diagnostic = diagnostic.expecting(format!(
                "the name of an element declared before, or of an element class; declare it with '{name} :: CLASS'"
            ));
        }
        let diagnostic = diagnostic.at(item.landmark.clone(), item.span);
        self.report_name(name, diagnostic);
        self.classes.define(name, ClassKind::Error)
    }

    fn similar_element(&mut self, name: &str) -> Option<String> {
        const MAX_NAMES: usize = 2_000;
        let names = &self.scope().index;
        if names.len() > MAX_NAMES {
            return None;
        }
        crate::classes::similar(name, names.keys().map(String::as_str).filter(|n| !n.starts_with(';')))
    }

    /// Connects two lists.
    fn connect_all(&mut self, from: &[Item], to: &[Item], arrow: &Token) {
        let (plan, errors) = Plan::new(from, to, arrow.is(Kind::DoubleArrow));
        for message in errors {
            self.report(Diagnostic::error(message).at(self.lexer.landmark(), arrow.span));
        }
        let context: Option<Arc<str>> = arrow.is(Kind::ContextArrow).then(|| self.lexer.text(arrow).into());
        let mut outputs = Ends::new(from, |item| &item.outputs, plan.outputs);
        let mut inputs = Ends::new(to, |item| &item.inputs, plan.inputs);
        while let (Some(from), Some(to)) = (outputs.current(), inputs.current()) {
            let max = self.limits().port;
            if from.port > max || to.port > max {
                self.error_at(arrow, format!("port number should be at most {max}"));
                return;
            }
            let (landmark, span) = (arrow.landmark.clone(), arrow.span);
            let context = context.clone();
            self.scope().connect(Wire { from, to, landmark, span, context });
            outputs.advance();
            inputs.advance();
        }
    }
}

impl Node {
    /// The element that an item of a chain declares.
    fn of(item: &Item, class: ClassId) -> Self {
        let (name, config) = (item.name.clone(), item.config.clone());
        let (landmark, span) = (item.landmark.clone(), item.span);
        Self { name, class, config, landmark, span, ports: [0, 0] }
    }

    fn tunnel(name: String, item: &Item) -> Self {
        let (landmark, span) = (item.landmark.clone(), item.span);
        Self { name, class: TUNNEL, config: Arc::from(""), landmark, span, ports: [0, 0] }
    }
}

/// In `a, b :: C(x)` the class and configuration string count for all names.
fn spread_class(items: &mut [Item]) {
    let plain = |item: &Item| item.inputs.list.is_empty() && item.outputs.list.is_empty() && !item.implicit;
    let Some((last, others)) = items.split_last_mut() else { return };
    if plain(last) && others.iter().all(|item| plain(item) && item.bare) {
        for item in others {
            item.declared = last.declared;
            item.config = last.config.clone();
            item.end = last.end;
        }
    }
}

/// How one side of a connection moves on.
#[derive(Clone, Copy, Default)]
struct Side {
    /// Whether it moves on at all; a side that does not is connected to everything on the other side.
    steps: bool,
    /// How many ports its open list still has to supply.
    extra: usize,
}

struct Plan {
    outputs: Side,
    inputs: Side,
}

impl Plan {
    /// Decides how two lists are connected; `many` is for `=>`.
    fn new(from: &[Item], to: &[Item], many: bool) -> (Self, Vec<String>) {
        let mut errors = Vec::new();
        let (outs, mut outs_open) = count_ports(from.iter().map(|item| &item.outputs));
        let (ins, mut ins_open) = count_ports(to.iter().map(|item| &item.inputs));
        if outs_open + ins_open > 1 {
            errors.push("at most one expandable port allowed per connection".to_owned());
            if ins < outs {
                outs_open = 0;
            } else {
                ins_open = 0;
            }
        }
        if many {
            // A single element without ports supplies as many as the other side has.
            if outs == 1 && ins > 1 && from[0].outputs.list.is_empty() {
                outs_open = 1;
            }
            if ins == 1 && outs > 1 && to[0].inputs.list.is_empty() {
                ins_open = 1;
            }
        }
        let side = |own: usize, other: usize, open: usize| Side {
            steps: own > 1 || open > 0,
            extra: if open > 0 { other.saturating_sub(own) } else { 0 },
        };
        let mut plan = Self { outputs: side(outs, ins, outs_open), inputs: side(ins, outs, ins_open) };
        if plan.outputs.steps && plan.inputs.steps {
            if !many {
                errors.push("syntax error: many-to-many connections require '=>'".to_owned());
            }
            errors.extend(mismatch(outs, outs_open > 0, ins, ins_open > 0));
        } else if !plan.outputs.steps && !plan.inputs.steps {
            plan.inputs.steps = true;
        }
        (plan, errors)
    }
}

fn mismatch(outs: usize, outs_open: bool, ins: usize, ins_open: bool) -> Option<String> {
    let or_more = match () {
        () if !outs_open && !ins_open && outs != ins => ("", ""),
        () if !ins_open && ins < outs => (" or more", ""),
        () if !outs_open && outs < ins => ("", " or more"),
        () => return None,
    };
    Some(format!("connection mismatch: {outs}{} outputs connected to {ins}{} inputs", or_more.0, or_more.1))
}

/// How many ports lists have at least, and how many of the lists are open.
fn count_ports<'a>(lists: impl Iterator<Item = &'a Ports>) -> (usize, usize) {
    lists.fold((0, 0), |(n, open), ports| (n + ports.list.len().max(1), open + usize::from(ports.open)))
}

/// Walks over the ports of one side of a connection.
struct Ends<'a> {
    items: &'a [Item],
    ports: fn(&Item) -> &Ports,
    side: Side,
    item: usize,
    position: usize,
}

impl<'a> Ends<'a> {
    fn new(items: &'a [Item], ports: fn(&Item) -> &Ports, side: Side) -> Self {
        Self { items, ports, side, item: 0, position: 0 }
    }

    fn current(&self) -> Option<Port> {
        let item = self.items.get(self.item)?;
        let list = &(self.ports)(item).list;
        let port = match list.get(self.position) {
            Some(&port) => port,
            // Beyond the list, ports count up from its last one, or from 0 without a list.
            None => {
                let beyond = (self.position + 1 - list.len().max(1)) as u32;
                list.last().copied().unwrap_or(0).saturating_add(beyond)
            }
        };
        Some(Port { element: item.node, port })
    }

    fn advance(&mut self) {
        if !self.side.steps {
            return;
        }
        self.position += 1;
        let ports = (self.ports)(&self.items[self.item]);
        if self.position < ports.list.len() {
            return;
        }
        if self.side.extra > 0 && (ports.open || ports.list.is_empty() && self.items.len() == 1) {
            self.side.extra -= 1;
            return;
        }
        self.item += 1;
        self.position = 0;
    }
}
