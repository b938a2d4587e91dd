//! Diagnostics as JSON.

use crate::diag::{Diagnostic, Landmark, Severity, Source, Span};
use crate::graph::json::{list, string};

/// Diagnostics as JSON: an object with `diagnostics`, a list of objects.
///
/// Each has `severity`, `message`, `landmark`, `expected`, `help`, `context`, `notes`, and for the
/// place in the text `file`, `line` and `column` (in characters; all from 1) and the byte range
/// `start` and `end`. What is not known is null.
pub fn render_json(diagnostics: &[Diagnostic], sources: &[Source]) -> String {
    let lines: Vec<Vec<usize>> = sources.iter().map(|s| line_starts(&s.text)).collect();
    let all = diagnostics.iter().map(|d| object(d, sources, &lines)).collect();
    // A backslash is two of them here, so that data looks as in the text all the same.
    crate::secrets::without_keys(&format!("{{\n{}\n}}\n", list("diagnostics", all))).into_owned()
}

fn line_starts(text: &str) -> Vec<usize> {
    [0].into_iter().chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect()
}

fn optional(text: Option<&String>) -> String {
    text.map_or("null".into(), |text| string(text))
}

fn landmark(landmark: Option<&Landmark>) -> String {
    landmark.map_or("null".into(), |l| string(&l.to_string()))
}

fn object(d: &Diagnostic, sources: &[Source], lines: &[Vec<usize>]) -> String {
    let severity = match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Message => "message",
    };
    let note = |n: &crate::diag::Note| {
        format!("{{\"landmark\": {}, \"message\": {}}}", landmark(n.landmark.as_ref()), string(&n.message))
    };
    let notes: Vec<String> = d.notes.iter().map(note).collect();
    format!(
        "{{\"severity\": \"{severity}\", \"message\": {}, \"landmark\": {}, {}, \"expected\": {}, \
         \"help\": {}, \"context\": {}, \"notes\": [{}]}}",
        string(&d.message),
        landmark(d.landmark.as_ref()),
        place(d.span, sources, lines),
        optional(d.expected.as_ref()),
        optional(d.help.as_ref()),
        optional(d.context.as_ref().map(|c| &c.message)),
        notes.join(", ")
    )
}

fn place(span: Option<Span>, sources: &[Source], lines: &[Vec<usize>]) -> String {
    let found = span.and_then(|span| {
        let source = sources.get(span.source as usize)?;
        let starts = lines.get(span.source as usize)?;
        let line = starts.partition_point(|&start| start <= span.start as usize);
        let before = source.text.get(starts[line - 1]..span.start as usize)?;
        Some((string(&source.name), line, before.chars().count() + 1, span.start, span.end))
    });
    match found {
        Some((file, line, column, start, end)) => format!(
            "\"file\": {file}, \"line\": {line}, \"column\": {column}, \"start\": {start}, \"end\": {end}"
        ),
        None => "\"file\": null, \"line\": null, \"column\": null, \"start\": null, \"end\": null".into(),
    }
}
