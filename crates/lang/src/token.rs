//! The lexer: program text to tokens, and configuration strings between parentheses.

use crate::conf;
use crate::diag::{Landmark, Span};
use std::sync::Arc;

/// Kinds of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Eof,
    Ident,
    Variable,
    Arrow,
    DoubleArrow,
    /// FastClick's `~>`, `~tcp>` or `~/tcp>`.
    ContextArrow,
    DoubleColon,
    DoubleBar,
    Dots,
    Elementclass,
    Require,
    Provide,
    Define,
    /// Any other character.
    Char(char),
}

impl Kind {
    /// How messages call it.
    pub(crate) fn describe(self) -> String {
        match self {
            Kind::Eof => "end of file".into(),
            Kind::Ident => "identifier".into(),
            Kind::Variable => "variable".into(),
            Kind::Arrow => "'->'".into(),
            Kind::DoubleArrow => "'=>'".into(),
            Kind::ContextArrow => "'~>'".into(),
            Kind::DoubleColon => "'::'".into(),
            Kind::DoubleBar => "'||'".into(),
            Kind::Dots => "'...'".into(),
            Kind::Elementclass => "'elementclass'".into(),
            Kind::Require => "'require'".into(),
            Kind::Provide => "'provide'".into(),
            Kind::Define => "'define'".into(),
            Kind::Char(c) => format!("'{}'", c.escape_debug()),
        }
    }
}

/// A token with its place.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    pub(crate) landmark: Landmark,
}

impl Token {
    pub(crate) fn is(&self, kind: Kind) -> bool {
        self.kind == kind
    }

    pub(crate) fn is_char(&self, c: char) -> bool {
        self.kind == Kind::Char(c)
    }

    pub(crate) fn is_arrow(&self) -> bool {
        matches!(self.kind, Kind::Arrow | Kind::DoubleArrow | Kind::ContextArrow)
    }
}

/// Reads tokens of one source.
pub(crate) struct Lexer {
    source: u32,
    text: Arc<str>,
    pos: usize,
    original: Arc<str>,
    file: Arc<str>,
    line: u32,
    pushed: Vec<Token>,
    /// Places of malformed line directives, for the parser to report.
    pub(crate) bad_directives: Vec<(Landmark, Span)>,
}

impl Lexer {
    pub(crate) fn new(source: u32, name: Arc<str>, text: Arc<str>) -> Self {
        let file = name.clone();
        Self {
            source,
            text,
            pos: 0,
            original: name,
            file,
            line: 1,
            pushed: Vec::new(),
            bad_directives: Vec::new(),
        }
    }

    /// Where in the text the lexer is.
    pub(crate) fn position(&self) -> u32 {
        self.pos as u32
    }

    /// The text of a token; variables without their dollar sign.
    pub(crate) fn text(&self, token: &Token) -> &str {
        let start = token.span.start as usize + usize::from(token.is(Kind::Variable));
        &self.text[start..token.span.end as usize]
    }

    /// Where the lexer is: the line of the last token that was read from the text, be it put back. Click says so of many
    /// errors; what is wrong can be on a line before.
    pub(crate) fn landmark(&self) -> Landmark {
        Landmark { file: self.file.clone(), line: self.line }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span { source: self.source, start: start as u32, end: end as u32 }
    }

    /// Goes to the end of the source.
    pub(crate) fn stop(&mut self) {
        self.pos = self.text.len();
        self.pushed.clear();
    }

    /// Puts a token back.
    pub(crate) fn unlex(&mut self, token: Token) {
        self.pushed.push(token);
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Token {
        match self.pushed.pop() {
            Some(token) => token,
            None => self.scan(),
        }
    }

    /// The next token, if it has this kind.
    pub(crate) fn accept(&mut self, kind: Kind) -> Option<Token> {
        let token = self.next();
        if token.is(kind) {
            return Some(token);
        }
        self.unlex(token);
        None
    }

    fn count_lines(&mut self, from: usize, to: usize) {
        let s = &self.text.as_bytes()[from..to];
        let line_feed = |i: usize| s[i] == b'\n' && (i == 0 || s[i - 1] != b'\r');
        let ends = (0..s.len()).filter(|&i| s[i] == b'\r' || line_feed(i)).count();
        self.line = self.line.saturating_add(ends as u32);
    }

    /// Moves to `to`, counting lines. `to` must not be between a carriage return and its line feed.
    fn advance(&mut self, to: usize) {
        self.count_lines(self.pos, to);
        self.pos = to;
    }

    fn skip_blanks(&mut self) {
        loop {
            let s = self.text.as_bytes();
            let to = conf::skip_blank(s, self.pos);
            // A directive ends a run of blanks only at the start of a line; blanks never contain '#'.
            self.advance(to);
            if !self.at_directive() {
                return;
            }
            self.directive();
        }
    }

    fn at_directive(&self) -> bool {
        let s = self.text.as_bytes();
        s.get(self.pos) == Some(&b'#') && (self.pos == 0 || matches!(s[self.pos - 1], b'\n' | b'\r'))
    }

    /// Obeys the line directive here; stops before the end of its line.
    fn directive(&mut self) {
        let text = self.text.clone();
        let s = text.as_bytes();
        let start = self.pos;
        let end = s[start..].iter().position(|b| b"\r\n".contains(b)).map_or(s.len(), |n| start + n);
        self.pos = end;
        if start == 0 && text.starts_with("#!") {
            return; // the file can be run as a program
        }
        let line = text[start + 1..end].trim_start_matches([' ', '\t']);
        let line = match line.strip_prefix("line") {
            Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start_matches([' ', '\t']),
            _ => line,
        };
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            self.bad_directives.push((self.landmark(), self.span(start, end)));
            return;
        }
        // The end of this line will be counted, so the line before is set here.
        self.line = line[..digits].parse::<u32>().unwrap_or(u32::MAX).saturating_sub(1);
        if let Some(rest) = line[digits..].trim_start_matches([' ', '\t']).strip_prefix('"') {
            let name = conf::unquote(&format!("\"{}\"", quoted_name(rest)));
            self.file = if name.is_empty() { self.original.clone() } else { name.into() };
        }
    }

    fn scan(&mut self) -> Token {
        self.skip_blanks();
        let landmark = self.landmark();
        let text = self.text.clone();
        let s = text.as_bytes();
        let start = self.pos;
        let (kind, len) = match s.get(start) {
            None => (Kind::Eof, 0),
            Some(&b) if is_word(b) => {
                let len = word_length(&s[start..]);
                let kind = match &text[start..start + len] {
                    "elementclass" => Kind::Elementclass,
                    "require" => Kind::Require,
                    "provide" => Kind::Provide,
                    "define" => Kind::Define,
                    _ => Kind::Ident,
                };
                (kind, len)
            }
            Some(b'$') if s.get(start + 1).is_some_and(|&b| is_name(b)) => {
                (Kind::Variable, 1 + s[start + 1..].iter().take_while(|&&b| is_name(b)).count())
            }
            Some(_) => symbol(&text[start..]),
        };
        self.pos = start + len;
        Token { kind, span: self.span(start, self.pos), landmark }
    }

    /// Reads a configuration string, up to but not including the parenthesis that closes it.
    ///
    /// The opening parenthesis must be the last token read. Line directives are obeyed and left out.
    pub(crate) fn config(&mut self) -> (String, Span) {
        let start = self.pos;
        let mut out = String::new();
        let mut from = start;
        let mut depth = 1u32;
        let text = self.text.clone();
        let s = text.as_bytes();
        let mut i = start;
        while i < s.len() {
            match s[i] {
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                b'#' if i > 0 && matches!(s[i - 1], b'\n' | b'\r') => {
                    self.advance(i);
                    out.push_str(&text[from..i]);
                    self.directive();
                    i = self.pos;
                    from = i;
                    continue;
                }
                _ => {}
            }
            i = conf::skip_config_unit(s, i);
        }
        self.advance(i);
        out.push_str(&text[from..i]);
        (out, self.span(start, i))
    }
}

/// The part of `rest` before the closing quote.
fn quoted_name(rest: &str) -> &str {
    let s = rest.as_bytes();
    let mut i = 0;
    while i < s.len() && s[i] != b'"' {
        i += if s[i] == b'\\' { 2 } else { 1 };
    }
    rest.get(..i).unwrap_or(rest)
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'@'
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// The length of the identifier at the start of `s`.
fn word_length(s: &[u8]) -> usize {
    let mut i = 0;
    loop {
        i += s[i..].iter().take_while(|&&b| is_word(b)).count();
        match s.get(i + 1) {
            Some(&b) if s[i] == b'/' && is_word(b) => i += 1,
            _ => return i,
        }
    }
}

/// The length of the context arrow at the start of `text`, if there is one.
fn context_arrow(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('~')?;
    let name = rest.bytes().take_while(|&b| b.is_ascii_alphanumeric() || b == b'/').count();
    rest[name..].starts_with('>').then_some(name + 2)
}

fn symbol(text: &str) -> (Kind, usize) {
    if let Some(len) = context_arrow(text) {
        return (Kind::ContextArrow, len);
    }
    for (sign, kind) in [
        ("->", Kind::Arrow),
        ("=>", Kind::DoubleArrow),
        ("::", Kind::DoubleColon),
        ("||", Kind::DoubleBar),
        ("...", Kind::Dots),
    ] {
        if text.starts_with(sign) {
            return (kind, sign.len());
        }
    }
    let c = text.chars().next().unwrap_or('\0');
    (Kind::Char(c), c.len_utf8())
}
