//! Diagnostics as text: in Click's form, and with the lines they point at.

use crate::diag::{Context, Diagnostic, Landmark, Severity, Source, Span};
use crate::secrets::without_keys;
use ariadne::{Cache, CharSet, Color, Config, IndexType, Label, Report, ReportKind};
use std::fmt::Write;
use std::ops::Range;

fn lines(out: &mut String, landmark: Option<&Landmark>, prefix: &str, message: &str) {
    for line in message.split('\n') {
        if let Some(landmark) = landmark {
            let _ = write!(out, "{landmark}: ");
        }
        let _ = writeln!(out, "{prefix}{line}");
    }
}

/// Renders diagnostics as Click prints them to a file: `file:line: message`, a line each.
///
/// A diagnostic in a context is indented under a line that names the context; consecutive diagnostics
/// share that line. What was expected and how to help is left out, since Click does not say it.
pub fn render_click(diagnostics: &[Diagnostic]) -> String {
    let mut out = String::new();
    let mut shown: Option<&Context> = None;
    for d in diagnostics {
        let context = d.context.as_ref();
        if let Some(context) = context.filter(|c| shown != Some(c)) {
            lines(&mut out, context.landmark.as_ref(), "", &context.message);
        }
        shown = context;
        // Under a context that names the place, the place is not said again.
        let own = |l: &&Landmark| context.is_none_or(|c| c.landmark.as_ref() != Some(*l));
        let mut prefix = String::from(if context.is_some() { "  " } else { "" });
        if d.severity == Severity::Warning {
            prefix.push_str("warning: ");
        }
        lines(&mut out, d.landmark.as_ref().filter(own), &prefix, &d.message);
        let prefix = if context.is_some() { "  " } else { "" };
        for note in &d.notes {
            lines(&mut out, note.landmark.as_ref().filter(own), prefix, &note.message);
        }
    }
    without_keys(&out).into_owned()
}

/// Longest line that is shown whole.
const LONGEST_LINE: usize = 500;

/// Renders diagnostics with file, line and column, the line with a caret, what was expected, advice.
///
/// `sources` are those of the parse that gave the diagnostics. Messages are shown as Click shows them.
/// What may be a key is not repeated ([`without_keys`]).
pub fn render_fancy(diagnostics: &[Diagnostic], sources: &[Source], color: bool) -> String {
    let mut cache = SourceCache::new(sources);
    let mut out = String::new();
    for d in diagnostics {
        let place = d.span.and_then(|span| cache.place(span));
        match place {
            _ if d.is_message() => out.push_str(&render_click(std::slice::from_ref(d))),
            Some(place) if !cache.long_line(&place) => fancy(&mut out, d, place, &mut cache, color),
            place => plain(&mut out, d, place, sources),
        }
    }
    without_keys(&out).into_owned()
}

type SourceRange = (usize, Range<usize>);

struct SourceCache<'a> {
    sources: &'a [Source],
    parsed: Vec<Option<ariadne::Source<String>>>,
}

impl<'a> SourceCache<'a> {
    fn new(sources: &'a [Source]) -> Self {
        Self { sources, parsed: sources.iter().map(|_| None).collect() }
    }

    /// A range that is safe to show: inside the text and at character boundaries.
    fn place(&self, span: Span) -> Option<SourceRange> {
        let source = span.source as usize;
        let text = &self.sources.get(source)?.text;
        let fit = |i: u32| {
            let mut i = (i as usize).min(text.len());
            while !text.is_char_boundary(i) {
                i -= 1;
            }
            i
        };
        let start = fit(span.start);
        Some((source, start..fit(span.end).max(start)))
    }

    fn long_line(&self, place: &SourceRange) -> bool {
        let text = &self.sources[place.0].text;
        let before = text[..place.1.start].rfind('\n').map_or(0, |i| i + 1);
        let after = text[place.1.end..].find('\n').map_or(text.len(), |i| place.1.end + i);
        after - before > LONGEST_LINE
    }
}

impl Cache<usize> for &mut SourceCache<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &usize) -> Result<&ariadne::Source<String>, impl std::fmt::Debug> {
        let sources = self.sources;
        let Some(slot) = self.parsed.get_mut(*id) else { return Err("no such source") };
        Ok(slot.get_or_insert_with(|| ariadne::Source::from(without_keys(&sources[*id].text).into_owned())))
    }

    fn display<'b>(&self, id: &'b usize) -> Option<impl std::fmt::Display + 'b> {
        self.sources.get(*id).map(|s| s.name.to_string())
    }
}

/// The text at the caret, and the advice that it leaves to be said.
fn caret_text(d: &Diagnostic) -> (String, Option<&String>) {
    match (&d.expected, &d.help) {
        (Some(expected), help) => (format!("expected {expected}"), help.as_ref()),
        (None, Some(help)) => (help.clone(), None),
        (None, None) => ("here".to_owned(), None),
    }
}

fn fancy(out: &mut String, d: &Diagnostic, place: SourceRange, cache: &mut SourceCache<'_>, color: bool) {
    let (kind, paint) = match d.severity {
        Severity::Error => (ReportKind::Error, Color::Red),
        Severity::Warning => (ReportKind::Warning, Color::Yellow),
        Severity::Message => (ReportKind::Advice, Color::Blue),
    };
    let config = Config::default()
        .with_color(color)
        .with_index_type(IndexType::Byte)
        .with_char_set(if color { CharSet::Unicode } else { CharSet::Ascii });
    let mut message = d.message.clone();
    if let Some(context) = &d.context {
        message = format!("{} {message}", context.message);
    }
    let (text, help) = caret_text(d);
    let caret = Label::new(place.clone()).with_message(text).with_color(paint);
    let mut labels = vec![(place.clone(), caret)];
    let mut report = Report::build(kind, place.clone()).with_config(config).with_message(message);
    for note in &d.notes {
        match note.span.and_then(|span| cache.place(span)).filter(|p| !cache.long_line(p)) {
            Some(at) => labels.push((at.clone(), Label::new(at).with_message(note.message.trim_start()))),
            None => report.add_note(&note.message),
        }
    }
    // Lines of a file are shown together only if they come in order.
    labels.sort_by_key(|((source, range), _)| (*source, range.start));
    report.add_labels(labels.into_iter().map(|(_, label)| label));
    if let Some(landmark) = d.landmark.as_ref().filter(|l| *l.file != *cache.sources[place.0].name) {
        report.add_note(format!("this is {landmark}"));
    }
    if let Some(help) = help {
        report.set_help(help);
    }
    let mut bytes = Vec::new();
    if report.finish().write(&mut *cache, &mut bytes).is_ok() {
        out.push_str(&String::from_utf8_lossy(&bytes));
    }
}

/// For diagnostics without a place, or on a line too long to show.
fn plain(out: &mut String, d: &Diagnostic, place: Option<SourceRange>, sources: &[Source]) {
    let kind = if d.is_error() { "Error" } else { "Warning" };
    let mut message = d.message.clone();
    if let Some(context) = &d.context {
        message = format!("{} {message}", context.message);
    }
    let _ = writeln!(out, "{kind}: {message}");
    if let Some((source, range)) = place {
        let text = &sources[source].text;
        let line_start = text[..range.start].rfind('\n').map_or(0, |i| i + 1);
        let line = text[..range.start].matches('\n').count() + 1;
        let column = text[line_start..range.start].chars().count() + 1;
        let _ = writeln!(out, "  at {}:{line}:{column}", sources[source].name);
        let excerpt: String = text[range.start..].chars().take_while(|c| *c != '\n').take(60).collect();
        let expected = d.expected.as_ref().map(|e| format!(" expected {e}")).unwrap_or_default();
        let _ = writeln!(out, "  | {excerpt}\n  | ^{expected}");
    } else if let Some(landmark) = &d.landmark {
        let _ = writeln!(out, "  at {landmark}");
    }
    for note in &d.notes {
        let place = note.landmark.as_ref().map(|l| format!("{l}: ")).unwrap_or_default();
        let _ = writeln!(out, "  note: {place}{}", note.message.trim_start());
    }
    if let Some(help) = &d.help {
        let _ = writeln!(out, "  help: {help}");
    }
}
