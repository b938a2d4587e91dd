//! A formatter for program text.
//!
//! It changes white space only. Line breaks mostly stay where they are; there is one statement on a
//! line, except between braces or parentheses that are opened and closed on the same line.

use crate::token::{Kind, Lexer};
use std::sync::Arc;

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Token(Kind),
    /// `(...)` after a class.
    Config,
    LineComment,
    BlockComment,
    /// `# 1 "file"`, which must stay at the start of its line.
    Directive,
}

#[derive(Debug)]
pub(super) struct Piece<'a> {
    pub(super) role: Role,
    pub(super) text: &'a str,
    /// Line breaks before it in the source, at most 2.
    breaks: usize,
    /// For what opens or closes braces, or parentheses of a group: whether they span several lines.
    several_lines: bool,
}

impl Piece<'_> {
    fn is(&self, c: char) -> bool {
        self.role == Role::Token(Kind::Char(c))
    }

    fn is_kind(&self, kind: Kind) -> bool {
        self.role == Role::Token(kind)
    }

    fn is_comment(&self) -> bool {
        matches!(self.role, Role::LineComment | Role::BlockComment)
    }

    fn opens(&self) -> bool {
        self.is('{') || self.is('(')
    }

    fn closes(&self) -> bool {
        self.is('}') || self.is(')')
    }

    /// Whether a statement certainly goes on around it.
    fn joins(&self) -> bool {
        let operators =
            [Kind::Arrow, Kind::DoubleArrow, Kind::ContextArrow, Kind::DoubleColon, Kind::Char(',')];
        operators.iter().any(|&k| self.is_kind(k))
    }
}

/// Formats program text. Comments and configuration strings stay as they are.
///
/// The meaning stays the same, and formatting the result again changes nothing. Text with errors is
/// formatted as far as it makes sense.
pub fn pretty(source: &str) -> String {
    let mut pieces = pieces(source);
    mark_lines(&mut pieces);
    Writer::default().run(&pieces)
}

/// The number of line breaks in `text`, at most 2.
fn count_breaks(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends = |i: &usize| bytes[*i] == b'\n' || bytes[*i] == b'\r' && bytes.get(i + 1) != Some(&b'\n');
    (0..bytes.len()).filter(ends).take(2).count()
}

/// The tokens of a text, with configuration strings, comments and directives; between them there are only blanks.
pub(super) fn pieces(source: &str) -> Vec<Piece<'_>> {
    let mut lexer = Lexer::new(0, Arc::from(""), Arc::from(source));
    let mut pieces = Vec::new();
    let mut end = 0;
    // Where a statement has begun with `elementclass`, and its braces have closed.
    let mut context = Context::default();
    loop {
        let token = lexer.next();
        let (start, stop) = (token.span.start as usize, token.span.end as usize);
        let breaks = gap(source, end, start, &mut pieces);
        if token.is(Kind::Eof) {
            return pieces;
        }
        if token.is_char('(') && context.config_follows() {
            let (_, span) = lexer.config();
            end = span.end as usize;
            if source[end..].starts_with(')') {
                end = lexer.next().span.end as usize;
            }
            pieces.push(Piece {
                role: Role::Config,
                text: &source[start..end],
                breaks,
                several_lines: false,
            });
            context.after_config();
            continue;
        }
        context.after(token.kind);
        end = stop;
        let role = Role::Token(token.kind);
        pieces.push(Piece { role, text: &source[start..stop], breaks, several_lines: false });
    }
}

/// Takes comments and directives out of the text between two tokens; gives the line breaks after them.
fn gap<'a>(source: &'a str, mut from: usize, to: usize, pieces: &mut Vec<Piece<'a>>) -> usize {
    let mut blank = from;
    while from < to {
        let rest = &source[from..to];
        let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let (role, len) = if rest.starts_with("//") {
            (Role::LineComment, line)
        } else if let Some(inner) = rest.strip_prefix("/*") {
            (Role::BlockComment, inner.find("*/").map_or(rest.len(), |n| n + 4))
        } else if rest.starts_with('#') {
            (Role::Directive, line)
        } else {
            // Blanks are ASCII.
            from += 1;
            continue;
        };
        let text = source[from..from + len].trim_end();
        pieces.push(Piece { role, text, breaks: count_breaks(&source[blank..from]), several_lines: false });
        from += len;
        blank = from;
    }
    count_breaks(&source[blank.min(to)..to])
}

/// Tells configuration strings from groups.
#[derive(Default)]
struct Context {
    /// Whether an open parenthesis would begin a configuration string.
    config: bool,
    /// Names still to come in an `elementclass` statement.
    elementclass: u8,
    /// For each open brace, whether it is that of an `elementclass` statement.
    braces: Vec<bool>,
}

impl Context {
    fn config_follows(&self) -> bool {
        self.config
    }

    fn after_config(&mut self) {
        self.config = false;
    }

    fn after(&mut self, kind: Kind) {
        self.config = false;
        match kind {
            Kind::Elementclass => self.elementclass = 2,
            Kind::Require | Kind::Provide | Kind::Define | Kind::DoubleColon => self.config = true,
            Kind::Ident => {
                self.config = self.elementclass == 0;
                self.elementclass = self.elementclass.saturating_sub(1);
            }
            Kind::Char('{') => {
                self.braces.push(self.elementclass > 0);
                self.elementclass = 0;
            }
            Kind::Char('}') => self.config = self.braces.pop() == Some(false),
            _ => self.elementclass = 0,
        }
    }
}

/// Finds out which braces and groups span several lines.
fn mark_lines(pieces: &mut [Piece<'_>]) {
    let mut open: Vec<usize> = Vec::new();
    let mut lines: Vec<usize> = Vec::with_capacity(pieces.len());
    let mut line = 0;
    for i in 0..pieces.len() {
        line += pieces[i].breaks;
        lines.push(line);
        line += pieces[i].text.bytes().filter(|b| b"\r\n".contains(b)).count();
        // A comment to the end of the line, or a directive, ends its line in any case.
        line += usize::from(matches!(pieces[i].role, Role::LineComment | Role::Directive));
        if pieces[i].opens() {
            open.push(i);
        } else if let Some(start) = open.pop_if(|_| pieces[i].closes()) {
            let several = lines[start] != lines[i];
            pieces[start].several_lines = several;
            pieces[i].several_lines = several;
        }
    }
    for start in open {
        pieces[start].several_lines = true;
    }
}

/// Levels of indentation; deeper text cannot be parsed anyway.
const MAX_INDENT: usize = 50;

/// Braces or a group that were opened and not closed yet.
struct Open {
    several_lines: bool,
    /// Indentation of the line that they began on.
    indent: usize,
}

#[derive(Default)]
struct Writer {
    out: String,
    open: Vec<Open>,
    /// Indentation of the line on which the brace or group began that was closed last.
    closed: usize,
    /// Indentation of the line being written, in levels.
    line_indent: usize,
    /// Whether the last piece ended the parameters of a compound element.
    after_parameters: bool,
    in_parameters: bool,
}

impl Writer {
    fn run(mut self, pieces: &[Piece<'_>]) -> String {
        for (i, piece) in pieces.iter().enumerate() {
            let before = i.checked_sub(1).map(|k| &pieces[k]);
            if piece.closes() {
                self.closed = self.open.pop().map_or(0, |open| open.indent);
            }
            match before {
                None => self.indent(pieces, i),
                Some(before) if self.breaks(before, piece, pieces.get(i + 1)) => {
                    self.out.push('\n');
                    if piece.breaks > 1 && !before.opens() && !piece.closes() {
                        self.out.push('\n');
                    }
                    self.indent(pieces, i);
                }
                Some(before) if spaced(before, piece) => self.out.push(' '),
                Some(_) => {}
            }
            self.write(piece);
            self.follow(piece);
        }
        self.out.truncate(self.out.trim_ascii_end().len());
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    /// Updates what is known after `piece`.
    fn follow(&mut self, piece: &Piece<'_>) {
        if piece.opens() {
            self.open.push(Open { several_lines: piece.several_lines, indent: self.line_indent });
        }
        self.after_parameters = self.in_parameters && piece.is('|');
        self.in_parameters = piece.is('{')
            || self.in_parameters
                && (piece.is(',') || piece.is_kind(Kind::Variable) || piece.is_kind(Kind::Ident));
    }

    fn several_lines(&self) -> bool {
        self.open.last().is_none_or(|open| open.several_lines)
    }

    /// Whether `piece` begins a line.
    fn breaks(&self, before: &Piece<'_>, piece: &Piece<'_>, after: Option<&Piece<'_>>) -> bool {
        if matches!(before.role, Role::LineComment | Role::Directive) || piece.role == Role::Directive {
            return true;
        }
        if piece.role == Role::Config {
            return false;
        }
        if piece.closes() {
            return piece.several_lines;
        }
        if !self.several_lines() {
            return false;
        }
        if piece.is_comment() {
            return piece.breaks > 0;
        }
        let parameter = piece.is_kind(Kind::Variable)
            || piece.is('|')
            || piece.is_kind(Kind::Ident) && after.is_some_and(|a| a.is_kind(Kind::Variable));
        let opened = before.opens() && !(before.is('{') && parameter);
        let bar = piece.is_kind(Kind::DoubleBar) || before.is_kind(Kind::DoubleBar) && !parameter;
        let forced = before.is(';') && !piece.is(';') || opened || self.after_parameters || bar;
        forced || piece.breaks > 0 && !piece.is(';') && !piece.is(',')
    }

    fn indent(&mut self, pieces: &[Piece<'_>], i: usize) {
        let piece = &pieces[i];
        if piece.role == Role::Directive {
            return;
        }
        let inside = self.open.last().map_or(0, |open| open.indent + 1).min(MAX_INDENT);
        let bar = piece.is_kind(Kind::DoubleBar);
        let solid = |p: &&Piece<'_>| !p.is_comment() && p.role != Role::Directive;
        let before = pieces[..i].iter().rev().take(100).find(solid);
        let here = pieces[i..].iter().take(100).find(solid);
        let goes_on = before.is_some_and(Piece::joins) || here.is_some_and(Piece::joins);
        let begins = before.is_some_and(|b| b.opens() || b.is(';') || b.is_kind(Kind::DoubleBar));
        let goes_on = goes_on && !begins && !self.after_parameters;
        self.line_indent = match () {
            () if piece.closes() => self.closed,
            () if bar => inside.saturating_sub(1),
            () => inside + usize::from(goes_on),
        };
        self.out.push_str(&"    ".repeat(self.line_indent));
        // At the start of a line this would be a directive.
        if piece.is('#') && (self.out.is_empty() || self.out.ends_with('\n')) {
            self.out.push(' ');
        }
    }

    fn write(&mut self, piece: &Piece<'_>) {
        match piece.role {
            Role::Config if !piece.text.contains(['\n', '\r']) && piece.text.ends_with(')') => {
                let inner = &piece.text[1..piece.text.len() - 1];
                self.out.push('(');
                self.out.push_str(inner.trim_matches([' ', '\t']));
                self.out.push(')');
            }
            _ => self.out.push_str(piece.text),
        }
    }
}

/// Whether there is a space between two pieces on a line.
fn spaced(before: &Piece<'_>, piece: &Piece<'_>) -> bool {
    let tight_after = before.is('[') || before.is('(');
    let tight_before =
        piece.is(',') || piece.is(';') || piece.is(']') || piece.is(')') || piece.role == Role::Config;
    let list = before.is(',') && piece.is(']');
    !(tight_after || tight_before || list)
}
