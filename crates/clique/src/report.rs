//! Showing diagnostics, or keeping them for a report in JSON.

use crate::console;
use crate::status::Status;
use lang::secrets::{KeyNames, Secrets};
use lang::{Diagnostic, Graph, Source};
use router::{Classes, Level};
use serde_json::Value;

/// How diagnostics are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// As Click prints them: a line each.
    Click,
    /// With the lines that they point at.
    Excerpts,
    /// Not at once, but in the report.
    Json,
}

/// The variables of a configuration that have keys.
pub(crate) fn key_names(graph: &Graph) -> KeyNames {
    KeyNames::of(graph.elements.iter().map(|element| element.config.as_str()))
}

/// What the classes of a configuration's elements hide of their arguments.
pub(crate) fn secrets(graph: &Graph, known: &Classes) -> Secrets {
    let mut secrets = Secrets::default();
    let names = key_names(graph);
    for element in &graph.elements {
        if let Some(class) = known.get(&element.class) {
            secrets.add(&element.config, &class.shown(&element.config, &names));
        }
    }
    secrets
}

/// Takes the diagnostics of one configuration, in the order in which they arise.
pub(crate) struct Reporter {
    style: Style,
    warnings: bool,
    sources: Vec<Source>,
    /// What is shown of none of this.
    secrets: Secrets,
    all: Vec<Diagnostic>,
}

/// Writes a diagnostic as a message of its own.
fn print_record(diagnostic: &Diagnostic) {
    let level = match diagnostic {
        diagnostic if diagnostic.is_error() => Level::Error,
        diagnostic if diagnostic.is_message() => Level::Info,
        _ => Level::Warning,
    };
    console::say(level, &lang::bytes::without_bytes(&lang::render_click(std::slice::from_ref(diagnostic))));
}

impl Reporter {
    /// A reporter that shows warnings, too, if `warnings` says so.
    pub(crate) fn new(style: Style, warnings: bool) -> Reporter {
        Reporter { style, warnings, sources: Vec::new(), secrets: Secrets::default(), all: Vec::new() }
    }

    /// Sets the texts that diagnostics point into.
    pub(crate) fn sources(&mut self, sources: Vec<Source>) {
        self.sources = sources;
        for source in &mut self.sources {
            if source.text.contains(is_harmful) {
                source.text = source.text.chars().map(printable).collect::<String>().into();
            }
        }
    }

    /// Hides from now on what the classes of a configuration's elements hide. The texts were set before.
    pub(crate) fn hide(&mut self, graph: &Graph, known: &Classes) {
        self.secrets = secrets(graph, known);
        self.secrets.mask_sources(&mut self.sources);
    }

    /// Shows or keeps diagnostics; says whether errors were among them.
    pub(crate) fn take(&mut self, diagnostics: Vec<Diagnostic>) -> bool {
        let failed = diagnostics.iter().any(Diagnostic::is_error);
        let mut shown: Vec<Diagnostic> =
            diagnostics.into_iter().filter(|d| self.warnings || d.is_error() || d.is_message()).collect();
        shown.iter_mut().for_each(|diagnostic| self.secrets.mask_diagnostic(diagnostic));
        if !self.is_like_click() {
            self.drop_repeated(&mut shown);
        }
        let text = match self.style {
            Style::Click | Style::Excerpts if console::is_json() => {
                shown.iter().for_each(print_record);
                String::new()
            }
            Style::Click => lang::render_click(&shown),
            Style::Excerpts => lang::render_fancy(&shown, &self.sources, console::color()),
            Style::Json => String::new(),
        };
        // Bytes that are no text could make a terminal do something, too.
        console::show(&lang::bytes::without_bytes(&text));
        self.all.extend(shown);
        failed
    }

    /// Leaves one of the errors that several copies of a compound element have at one place.
    fn drop_repeated(&self, found: &mut Vec<Diagnostic>) {
        let place = |d: &Diagnostic| (d.span, d.message.clone(), d.expected.clone());
        let mut seen: Vec<_> = self.all.iter().filter(|d| d.is_error()).map(place).collect();
        found.retain(|diagnostic| {
            let place = place(diagnostic);
            let is_repeated = diagnostic.is_error() && place.0.is_some() && seen.contains(&place);
            seen.push(place);
            !is_repeated
        });
    }

    /// Prints what elements say of themselves at once, however diagnostics are shown.
    pub(crate) fn say(&self, found: &[Diagnostic]) {
        let mut said: Vec<Diagnostic> = found.iter().filter(|said| said.is_message()).cloned().collect();
        said.iter_mut().for_each(|diagnostic| self.secrets.mask_diagnostic(diagnostic));
        if self.is_like_click() {
            console::complain(&lang::render_click(&said));
        } else {
            said.iter().for_each(print_record);
        }
    }

    /// Whether a message has this text in it.
    pub(crate) fn says(&self, text: &str) -> bool {
        self.all.iter().any(|diagnostic| diagnostic.message.contains(text))
    }

    /// Whether diagnostics are shown as Click prints them.
    pub(crate) fn is_like_click(&self) -> bool {
        self.style == Style::Click
    }

    /// Takes an error without a place.
    pub(crate) fn error(&mut self, message: impl Into<String>) {
        let message = self.secrets.mask(&message.into()).into_owned();
        if self.style != Style::Json {
            console::show(&format!("{message}\n"));
        }
        self.all.push(Diagnostic::error(message));
    }

    /// Number of errors and of warnings so far.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let count = |what: fn(&Diagnostic) -> bool| self.all.iter().filter(|d| what(d)).count();
        (count(Diagnostic::is_error), count(|d| !d.is_error() && !d.is_message()))
    }

    /// All diagnostics so far, a line each.
    pub(crate) fn lines(&self) -> String {
        lang::render_click(&self.all)
    }

    /// Why a configuration is refused.
    pub(crate) fn refusal(&self) -> Refusal {
        let shown = |color| {
            lang::bytes::without_bytes(&lang::render_fancy(&self.all, &self.sources, color)).into_owned()
        };
        Refusal { lines: self.lines(), plain: shown(false), colored: shown(true), diagnostics: self.json() }
    }

    /// All warnings so far, in lines.
    pub(crate) fn warning_lines(&self) -> Vec<String> {
        let is_warning = |found: &&Diagnostic| !found.is_error() && !found.is_message();
        let warnings: Vec<Diagnostic> = self.all.iter().filter(is_warning).cloned().collect();
        lang::render_click(&warnings).lines().map(str::to_owned).collect()
    }

    /// All diagnostics so far as a JSON list; see [`lang::render_json`].
    pub(crate) fn json(&self) -> Value {
        let text = lang::render_json(&self.all, &self.sources);
        let mut report: Value = serde_json::from_str(&text).unwrap_or_default();
        report["diagnostics"].take()
    }
}

/// Why a configuration does not run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refusal {
    /// A line for each error, as Click has them and scripts hear them.
    pub(crate) lines: String,
    /// With the lines that errors point at, for people; and the same in colours.
    pub(crate) plain: String,
    pub(crate) colored: String,
    /// The errors as a list.
    pub(crate) diagnostics: Value,
}

impl From<&str> for Refusal {
    /// What has no place in the text.
    fn from(message: &str) -> Refusal {
        let text = message.to_owned();
        Refusal {
            lines: text.clone(),
            plain: text.clone(),
            colored: text,
            diagnostics: Value::Array(Vec::new()),
        }
    }
}

/// Whether a character could make a terminal do something when a line is shown.
fn is_harmful(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

/// The character, or one as long in its place, since diagnostics point at bytes.
fn printable(c: char) -> char {
    match (is_harmful(c), c.len_utf8()) {
        (false, _) => c,
        (true, 1) => '?',
        (true, _) => '\u{bf}', // all control characters of two bytes
    }
}

/// Prints a report in JSON on standard output.
pub(crate) fn print_json(report: &Value) -> Status {
    console::write_result(None, &lang::bytes::without_bytes(&format!("{report:#}\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing moves, and only what is harmful changes.
    #[test]
    fn replacements_are_as_long() {
        for c in (0..=0x10_ffff).filter_map(char::from_u32) {
            assert_eq!(printable(c).len_utf8(), c.len_utf8(), "{c:?}");
            assert!(!is_harmful(printable(c)), "{c:?}");
            assert!(is_harmful(c) || printable(c) == c, "{c:?}");
        }
    }
}
