//! The parser: statements, compound elements and groups. Connections are in [`chain`](crate::chain).

use crate::classes::{ClassKind, Classes, TUNNEL};
use crate::conf;
use crate::diag::{Diagnostic, Landmark, Source, Span};
use crate::graph::Requirement;
use crate::marks::{RawMark, RawMention};
use crate::options::{Limits, Options};
use crate::scope::{ClassId, INPUT, Node, Scope};
use crate::token::{Kind, Lexer, Token};
use std::sync::Arc;

/// What kind of text a run of statements is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    File,
    Compound,
    Group,
}

/// How a run of statements ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Closed,
    Bar,
}

/// What the parser knows about the run of statements it is in.
pub(crate) struct Frame {
    pub(crate) body: Body,
    /// Whether `input` and `output` may be left out.
    pub(crate) nested: bool,
    /// Whether the last connection ended in `output`, or none came yet.
    pub(crate) ended_in_output: bool,
}

/// The state of a parse.
pub(crate) struct Parser<'a> {
    pub(crate) options: &'a Options<'a>,
    pub(crate) lexer: Lexer,
    pub(crate) sources: Vec<Source>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) classes: Classes<'a>,
    /// Finished compound classes.
    pub(crate) compounds: Vec<Scope>,
    /// Open scopes; the last one is current.
    pub(crate) scopes: Vec<Scope>,
    pub(crate) requirements: Vec<Requirement>,
    pub(crate) provides: Vec<String>,
    /// Statements around the current ones.
    depth: usize,
    /// Set when a statement is lost: an error other than an unknown name was found.
    pub(crate) lost: bool,
    /// Set when something is lost of the statement that is read.
    lost_here: bool,
    /// Set when a name may mean anything from here on, because what might declare it is lost.
    any_name: bool,
    /// The index of the last diagnostic, if that is an unknown name.
    unknown_name: Option<usize>,
    /// Set when the rest of the input is not worth looking at.
    pub(crate) stopped: bool,
    libraries: usize,
    /// Tokens read and names tried.
    pub(crate) work: usize,
    /// Ports that ranges have added.
    pub(crate) ranged: usize,
    /// Mentions of classes and elements, if they are wanted.
    pub(crate) marks: Option<Vec<RawMark>>,
    /// Scopes that were opened.
    opened: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(source: Source, options: &'a Options<'a>) -> Self {
        let landmark = Landmark { file: source.name.clone(), line: 0 };
        Self {
            options,
            lexer: Lexer::new(0, source.name.clone(), source.text.clone()),
            sources: vec![source],
            diagnostics: Vec::new(),
            classes: Classes::new(options.classes),
            compounds: Vec::new(),
            scopes: vec![Scope::new(String::new(), landmark, Span::default(), 0)],
            requirements: Vec::new(),
            provides: Vec::new(),
            depth: 0,
            lost: false,
            lost_here: false,
            any_name: false,
            unknown_name: None,
            stopped: false,
            libraries: 0,
            work: 0,
            ranged: 0,
            marks: None,
            opened: 0,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// The current scope.
    pub(crate) fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the scope of the file is never closed")
    }

    /// Reports something. After an error a statement counts as lost.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        if diagnostic.is_error() {
            (self.lost, self.lost_here) = (true, true);
            self.retract_name(&diagnostic);
        }
        self.tell(diagnostic);
    }

    /// Reports something that may follow from a statement that was lost before, unless only causes are wanted.
    pub(crate) fn report_consequence(&mut self, diagnostic: Diagnostic) {
        if !(self.lost && self.options.causes_only) {
            self.report(diagnostic);
        }
    }

    /// Reports something that may follow from what is lost of the same statement, unless only causes are wanted.
    pub(crate) fn report_consequence_here(&mut self, diagnostic: Diagnostic) {
        if !(self.lost_here && self.options.causes_only) {
            self.report(diagnostic);
        }
    }

    /// Reports a name that is not known, unless what might declare it is lost.
    pub(crate) fn report_name(&mut self, name: &str, diagnostic: Diagnostic) {
        // A number can be left over of ports that cannot be read.
        let is_left_over = self.lost_here && name.bytes().all(|b| b.is_ascii_digit());
        if !(self.options.causes_only && (self.any_name || is_left_over)) {
            self.unknown_name = Some(self.diagnostics.len());
            self.tell(diagnostic);
        }
    }

    /// Says that what is lost here might declare any name.
    fn lose_names(&mut self) {
        self.any_name = true;
    }

    /// Takes back that the name directly before an error is unknown: what the error is about may be its declaration.
    fn retract_name(&mut self, error: &Diagnostic) {
        let Some(last) = self.unknown_name.filter(|&last| last + 1 == self.diagnostics.len()) else { return };
        let (Some(name), Some(error)) = (self.diagnostics[last].span, error.span) else { return };
        let source = &self.sources[name.source as usize].text;
        let between = source.get(name.end as usize..error.start as usize);
        let is_next = |between: &str| between.chars().all(|c| c.is_whitespace() || c == ',');
        if self.options.causes_only && name.source == error.source && between.is_some_and(is_next) {
            self.diagnostics.pop();
        }
    }

    /// Adds a diagnostic, unless there are too many already.
    fn tell(&mut self, diagnostic: Diagnostic) {
        let max = self.limits().diagnostics;
        if self.diagnostics.len() < max {
            self.diagnostics.push(diagnostic);
        } else if !self.stopped {
            self.diagnostics.push(Diagnostic::error("too many errors, the rest is not shown"));
            self.stop();
        }
    }

    /// Notes a mention of something, if mentions are wanted.
    pub(crate) fn mark(&mut self, span: Span, mention: RawMention) {
        let scope = self.scope().number;
        if let Some(marks) = &mut self.marks {
            marks.push(RawMark::new(span, scope, mention));
        }
    }

    /// Gives up on the rest of the input.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
        self.lexer.stop();
    }

    pub(crate) fn error_at(&mut self, token: &Token, message: impl Into<String>) {
        self.report(Diagnostic::error(message).at(token.landmark.clone(), token.span));
    }

    /// Says that `token` cannot stand where it does.
    pub(crate) fn syntax_error(&mut self, token: &Token, expected: &str) {
        let text: String = match token.kind {
            Kind::Eof => String::new(),
            _ => self.lexer.text(token).escape_debug().collect(),
        };
        let mut diagnostic = Diagnostic::error(format!("syntax error near '{text}'"));
        if !expected.is_empty() {
            diagnostic = diagnostic.expecting(expected);
        }
        self.report(diagnostic.at(token.landmark.clone(), token.span));
    }

    pub(crate) fn next(&mut self) -> Token {
        self.work += 1;
        let token = self.lexer.next();
        self.lost_here &= !token.is_char(';');
        for (landmark, span) in std::mem::take(&mut self.lexer.bad_directives) {
            let diagnostic = Diagnostic::error("unknown preprocessor directive")
                .expecting("'# LINE \"FILE\"' or '#line LINE \"FILE\"'");
            self.report(diagnostic.at(landmark, span));
        }
        token
    }

    /// Reads a token of this kind, or reports that it is missing and reads nothing.
    pub(crate) fn expect(&mut self, kind: Kind) -> bool {
        let place = self.lexer.landmark();
        let token = self.next();
        if token.is(kind) {
            return true;
        }
        if !self.stopped {
            let message = format!("expected {}", kind.describe());
            let found = if token.is(Kind::Eof) {
                Diagnostic::error(message)
            } else {
                let near = format!("found '{}'", self.lexer.text(&token).escape_debug());
                Diagnostic::error(message).expecting(format!("{}, {near}", kind.describe()))
            };
            self.report(found.at(place, token.span));
        }
        self.lexer.unlex(token);
        false
    }

    /// Parses the file.
    pub(crate) fn file(&mut self) {
        self.statements(Body::File, false);
    }

    /// Parses statements up to what ends them.
    pub(crate) fn statements(&mut self, body: Body, nested: bool) -> End {
        let mut frame = Frame { body, nested, ended_in_output: true };
        loop {
            let token = self.next();
            match token.kind {
                Kind::Ident
                | Kind::Arrow
                | Kind::DoubleArrow
                | Kind::ContextArrow
                | Kind::Char('[' | '{' | '(') => {
                    self.lexer.unlex(token);
                    self.chain(&mut frame);
                }
                Kind::Elementclass => self.elementclass(),
                Kind::Require => self.require(),
                Kind::Provide => self.provide(),
                Kind::Define => self.define(),
                Kind::Char(';') => {}
                Kind::Char('}') if body == Body::Compound => return End::Closed,
                Kind::DoubleBar if body == Body::Compound => return End::Bar,
                Kind::Char(')') if body == Body::Group => return End::Closed,
                Kind::Char('}') | Kind::DoubleBar if body == Body::Group => {
                    self.syntax_error(&token, "')'");
                    self.lexer.unlex(token);
                    return End::Closed;
                }
                Kind::Eof => {
                    let closer = match body {
                        Body::File => return End::Closed,
                        Body::Group => "expected ')'",
                        Body::Compound => "expected '}'",
                    };
                    if !self.stopped {
                        self.error_at(&token, closer);
                    }
                    return End::Closed;
                }
                _ => self.syntax_error(&token, "a declaration or connection"),
            }
        }
    }

    /// The class that `name` must mean; reports an error if there is none.
    pub(crate) fn force_class(&mut self, name: &str, place: &Token) -> ClassId {
        if let Some(id) = self.classes.find_or_assume(name) {
            self.mark(place.span, RawMention::Class(id));
            return id;
        }
        let mut diagnostic = Diagnostic::error(format!("unknown element class '{name}'"));
        if let Some(remedy) = self.classes.remedy(name) {
            diagnostic = diagnostic.help(remedy);
        } else if let Some(similar) = self.similar_class(name) {
            diagnostic = diagnostic.help(format!("did you mean '{similar}'?"));
        }
        self.report_name(name, diagnostic.at(place.landmark.clone(), place.span));
        // Said once is enough.
        self.classes.define(name, ClassKind::Error)
    }

    /// A class similar to `name`, as long as looking for one is not too much work.
    pub(crate) fn similar_class(&self, name: &str) -> Option<String> {
        const MAX_LOOKS: usize = 30;
        if self.diagnostics.len() > MAX_LOOKS { None } else { self.classes.similar(name) }
    }

    fn elementclass(&mut self) {
        let place = self.next();
        let mut name = String::new();
        if place.is(Kind::Ident) {
            self.lexer.text(&place).clone_into(&mut name);
        } else {
            self.lose_names();
            self.error_at(&place, "expected element type name");
            self.lexer.unlex(place.clone());
        }
        let token = self.next();
        match token.kind {
            Kind::Char('{') => {
                let id = self.compound(&name);
                let span = if name.is_empty() { token.span } else { place.span };
                self.mark(span, RawMention::ClassDeclaration(id));
            }
            Kind::Ident => {
                let original = self.lexer.text(&token).to_owned();
                let id = self.force_class(&original, &token);
                self.classes.bind(&name, id);
                if !name.is_empty() {
                    self.mark(place.span, RawMention::ClassDeclaration(id));
                }
            }
            _ => {
                self.syntax_error(&token, "'{' or the name of an element class");
                if !name.is_empty() {
                    self.classes.define(&name, ClassKind::Error);
                }
            }
        }
    }

    /// Parses the overloadings of a compound element after its opening brace, and defines its class.
    pub(crate) fn compound(&mut self, name: &str) -> ClassId {
        let mut overloads: Vec<usize> = Vec::new();
        let mut extended = None;
        loop {
            let token = self.next();
            if token.is(Kind::Dots) {
                extended = Some(self.extension(name, &token));
                match self.next() {
                    close if close.is_char('}') && !overloads.is_empty() => break,
                    other => {
                        self.error_at(&token, "'...' should occur last, after one or more compounds");
                        let closed = other.is_char('}');
                        self.lexer.unlex(other);
                        if closed && !overloads.is_empty() {
                            break;
                        }
                    }
                }
                continue;
            }
            let (landmark, span) = (token.landmark.clone(), token.span);
            self.lexer.unlex(token);
            let end = self.overloading(name, landmark, span);
            overloads.push(self.compounds.len() - 1);
            if end == End::Closed {
                break;
            }
        }
        self.link(name, &overloads, extended)
    }

    /// The class that `...` extends.
    fn extension(&mut self, name: &str, place: &Token) -> ClassId {
        match self.classes.find_or_assume(name) {
            Some(id) if !name.is_empty() => {
                self.mark(place.span, RawMention::Class(id));
                id
            }
            _ => {
                self.error_at(place, format!("cannot extend unknown element class '{name}'"));
                self.classes.define(name, ClassKind::Error)
            }
        }
    }

    /// Chains overloadings together; gives the class of the first.
    fn link(&mut self, name: &str, overloads: &[usize], extended: Option<ClassId>) -> ClassId {
        let mut next = extended;
        for &i in overloads[1..].iter().rev() {
            self.compounds[i].overload = next;
            next = Some(self.classes.anonymous(name, ClassKind::Compound(i)));
        }
        self.compounds[overloads[0]].overload = next;
        self.classes.define(name, ClassKind::Compound(overloads[0]))
    }

    /// Parses one overloading with its parameters.
    fn overloading(&mut self, name: &str, landmark: Landmark, span: Span) -> End {
        let mark = self.classes.mark();
        let depth = self.scopes.len();
        let mut scope = Scope::new(name.to_owned(), landmark.clone(), span, depth);
        self.opened += 1;
        scope.number = self.opened;
        for pseudo in ["input", "output"] {
            scope.add(Node {
                name: pseudo.to_owned(),
                class: TUNNEL,
                config: Arc::from(""),
                landmark: landmark.clone(),
                span,
                ports: [0, 0],
            });
        }
        scope.set_offset();
        self.scopes.push(scope);
        self.parameters();
        let end = if self.enter("maximum compound element nesting depth exceeded", &landmark, span) {
            self.statements(Body::Compound, true)
        } else {
            End::Closed
        };
        self.depth -= 1;
        self.classes.restore(mark);
        if let Some(mut scope) = self.scopes.pop() {
            self.finish(&mut scope);
            self.work += scope.tries;
            self.compounds.push(scope);
        }
        end
    }

    /// Goes one level deeper, or reports that this is too deep and stops the parse.
    pub(crate) fn enter(&mut self, message: &str, landmark: &Landmark, span: Span) -> bool {
        self.depth += 1;
        if self.depth < self.limits().nesting {
            return true;
        }
        if !self.stopped {
            self.report(Diagnostic::error(message).at(landmark.clone(), span));
        }
        self.stop();
        false
    }

    /// Goes back up from where [`enter`](Self::enter) went.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Checks a complete compound element and gives its elements their final names.
    fn finish(&mut self, scope: &mut Scope) {
        for (side, output) in [(0, false), (1, true)] {
            let (ports, errors) = scope.check_pseudo(INPUT + side, output, scope.printable(), 0);
            scope.ports[side] = ports;
            for message in errors {
                self.report_consequence(Diagnostic::error(message).at(scope.landmark.clone(), scope.span));
            }
        }
        for i in 0..scope.nodes.len() {
            scope.settle_name(i);
        }
    }

    fn parameters(&mut self) {
        loop {
            let first = self.next();
            let keyword = first.is(Kind::Ident).then(|| self.lexer.text(&first).to_owned());
            let variable = if keyword.is_some() { self.next() } else { first.clone() };
            if keyword.is_none() && first.is_char('|') {
                return;
            }
            if !variable.is(Kind::Variable) {
                if self.scope().formals > 0 {
                    self.error_at(&variable, "expected variable");
                }
                self.lexer.unlex(variable);
                if keyword.is_some() {
                    self.lexer.unlex(first);
                }
                return;
            }
            let name = self.lexer.text(&variable).to_owned();
            for message in self.scope().define(&name, &keyword.unwrap_or_default(), true) {
                self.error_at(&variable, message);
            }
            let separator = self.next();
            if separator.is_char('|') {
                return;
            }
            if !separator.is_char(',') {
                self.error_at(&separator, "expected ',' or '|'");
                self.lexer.unlex(separator);
                return;
            }
        }
    }

    /// Reads a configuration string and its closing parenthesis, after the opening one; and whether that is there. Without it the string has swallowed
    /// what follows.
    pub(crate) fn config(&mut self) -> (String, Span, bool) {
        let (text, span) = self.lexer.config();
        (text, span, self.expect(Kind::Char(')')))
    }

    /// Reads `( ... )` after a keyword and splits it at commas; also gives the place for what is wrong with it, on the line
    /// where it ends.
    fn arguments(&mut self) -> Option<(Vec<String>, Token)> {
        let place = self.next();
        self.lexer.unlex(place.clone());
        if !self.expect(Kind::Char('(')) {
            self.lose_names();
            return None;
        }
        let (text, _, is_closed) = self.config();
        if !is_closed && self.options.causes_only {
            return None;
        }
        Some((conf::split_args(&text), Token { landmark: self.lexer.landmark(), ..place }))
    }

    fn define(&mut self) {
        let Some((args, place)) = self.arguments() else { return };
        for arg in args.iter().filter(|arg| !arg.is_empty()) {
            let mut value = arg.as_str();
            let word = conf::pop_space(&mut value);
            let name = word.strip_prefix('$').filter(|name| {
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            });
            let Some(name) = name else {
                self.error_at(&place, "bad 'define' declaration: not a variable");
                continue;
            };
            for message in self.scope().define(name, value, false) {
                self.error_at(&place, message);
            }
        }
    }

    fn provide(&mut self) {
        if let Some((args, _)) = self.arguments() {
            self.provides.extend(args);
        }
    }

    fn require(&mut self) {
        let Some((args, mut place)) = self.arguments() else { return };
        if let Some(semicolon) = self.lexer.accept(Kind::Char(';')) {
            place.landmark = semicolon.landmark;
        }
        for arg in &args {
            let words = conf::split_spaces(arg);
            let words: Vec<String> = words.iter().map(|w| conf::unquote(w)).collect();
            let requirement =
                |kind: &str, value: &str| Requirement { kind: kind.into(), value: value.into() };
            match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                [] => {}
                ["compact_config"] => self.requirements.push(requirement("compact_config", "")),
                ["package", name] => self.package(name, &place),
                ["library", name] => self.library(name, &place),
                [name] if conf::is_word(name) && name != "package" && name != "library" => {
                    self.package(name, &place);
                }
                _ => {
                    self.lose_names();
                    let diagnostic = Diagnostic::error("syntax error at requirement")
                        .expecting("'package NAME', 'library FILE' or 'compact_config'");
                    self.report(diagnostic.at(place.landmark.clone(), place.span));
                }
            }
        }
    }

    fn package(&mut self, name: &str, place: &Token) {
        if self.options.package.is_some_and(|there| !there(name)) {
            // What the package would bring may be there anyway; if not, an unknown class says so.
            let message =
                format!("package '{name}' is not loaded: all element classes are part of the program");
            self.report(Diagnostic::warning(message).at(place.landmark.clone(), place.span));
        }
        self.requirements.push(Requirement { kind: "package".into(), value: name.into() });
    }

    /// Reads a library file at this place, unless it was read before.
    fn library(&mut self, name: &str, place: &Token) {
        const MAX_LIBRARIES: usize = 100;
        if self.scopes.len() > 1 {
            self.lose_names();
            self.error_at(place, "'require library' must be used at file scope");
            return;
        }
        let found = self.options.library.and_then(|find| find(name, &place.landmark.file));
        let Some((file, text)) = found else {
            self.lose_names();
            self.error_at(place, format!("library '{}' not found in CLICKPATH/conf", name.escape_debug()));
            return;
        };
        if self.sources[1..].iter().any(|s| *s.name == *file) {
            return;
        }
        self.libraries += 1;
        if self.libraries > MAX_LIBRARIES {
            self.error_at(place, "too many libraries");
            return;
        }
        let source = Source { name: Arc::from(file), text: Arc::from(text) };
        let index = self.sources.len() as u32;
        let inner = Lexer::new(index, source.name.clone(), source.text.clone());
        self.sources.push(source);
        let outer = std::mem::replace(&mut self.lexer, inner);
        if self.enter("libraries are nested too deeply", &place.landmark, place.span) {
            self.statements(Body::File, false);
        }
        self.leave();
        self.lexer = outer;
        if self.stopped {
            self.lexer.stop();
        }
    }
}
