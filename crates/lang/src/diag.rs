//! Diagnostics: what is wrong, where, and what would be right.

use std::fmt;
use std::sync::Arc;

/// A place as Click names it: `file:line`.
///
/// The line obeys `# line` directives, so it may differ from the line of the [`Span`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Landmark {
    /// File name as given by the caller or by a line directive.
    pub file: Arc<str>,
    /// Line, from 1; 0 means that no line is known.
    pub line: u32,
}

impl Landmark {
    /// A landmark for `line` of `file`.
    pub fn new(file: impl Into<Arc<str>>, line: u32) -> Self {
        Self { file: file.into(), line }
    }
}

impl fmt::Display for Landmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.file.ends_with(|c: char| c == ':' || c.is_ascii_whitespace());
        match (self.line, open) {
            (0, _) => f.write_str(&self.file),
            (line, true) => write!(f, "{}{line}", self.file),
            (line, false) => write!(f, "{}:{line}", self.file),
        }
    }
}

/// A range of bytes in one of the sources of a [`Parsed`](crate::Parsed) configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// Index of the source: 0 is the configuration itself, the others are libraries.
    pub source: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A text that was parsed, kept so that diagnostics can show its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// File name.
    pub name: Arc<str>,
    /// Contents.
    pub text: Arc<str>,
}

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The configuration cannot run.
    Error,
    /// The configuration can run, but perhaps not as meant.
    Warning,
    /// The configuration has something to say.
    Message,
}

/// A further remark that belongs to a diagnostic, such as the place of an earlier declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Place, if the remark has one.
    pub landmark: Option<Landmark>,
    /// Bytes to point at, if the remark has any.
    pub span: Option<Span>,
    /// Text.
    pub message: String,
}

/// What was being done when a diagnostic arose, such as `While configuring 'x :: Y':`.
///
/// Consecutive diagnostics with equal contexts are printed under one context line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Place of the element concerned.
    pub landmark: Option<Landmark>,
    /// Text, usually ending in a colon.
    pub message: String,
}

impl Context {
    /// The context of configuring an element, in Click's words.
    pub fn configuring(name: &str, class: &str, landmark: Landmark) -> Self {
        Self { landmark: Some(landmark), message: format!("While configuring '{name} :: {class}':") }
    }

    /// The context of initializing an element, in Click's words.
    pub fn initializing(name: &str, class: &str, landmark: Landmark) -> Self {
        Self { landmark: Some(landmark), message: format!("While initializing '{name} :: {class}':") }
    }
}

/// One error, warning or message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Bytes to point at, if known.
    pub span: Option<Span>,
    /// Place, if known.
    pub landmark: Option<Landmark>,
    /// What is wrong, in Click's words where Click has a message for it; may have several lines.
    pub message: String,
    /// What was expected instead.
    pub expected: Option<String>,
    /// What to do about it, such as a similar name.
    pub help: Option<String>,
    /// Further remarks.
    pub notes: Vec<Note>,
    /// What was being done.
    pub context: Option<Context>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            span: None,
            landmark: None,
            message: message.into(),
            expected: None,
            help: None,
            notes: Vec::new(),
            context: None,
        }
    }

    /// A warning without a place.
    pub fn warning(message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(message) }
    }

    /// A message without a place.
    pub fn message(message: impl Into<String>) -> Self {
        Self { severity: Severity::Message, ..Self::error(message) }
    }

    /// The same with a place.
    pub fn at(mut self, landmark: Landmark, span: Span) -> Self {
        self.landmark = Some(landmark);
        self.span = Some(span);
        self
    }

    /// The same with bytes to point at, of an error for which Click names no place.
    pub fn pointing_at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// The same with what was expected.
    pub fn expecting(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// The same with advice.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same with a further remark.
    pub fn note(mut self, landmark: Landmark, span: Span, message: impl Into<String>) -> Self {
        self.notes.push(Note { landmark: Some(landmark), span: Some(span), message: message.into() });
        self
    }

    /// The same in a context.
    pub fn within(mut self, context: Context) -> Self {
        self.context = Some(context);
        self
    }

    /// Whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Whether this is neither an error nor a warning.
    pub fn is_message(&self) -> bool {
        self.severity == Severity::Message
    }
}
