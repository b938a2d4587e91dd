//! Where in the text a bad argument stands.
//!
//! An error about an argument is known by the element's name, which may stand many lines before the argument. The
//! error names the argument's keyword or quotes its text; if exactly one argument fits, and the text behind the
//! element's name has it literally, the error is made to point there. Otherwise it stays where it is.

use lang::{Diagnostic, Graph, Source, Span};
use std::collections::HashMap;

/// Bytes of a configuration string's source beyond its own length that are looked at: comments between arguments.
const COMMENTS: usize = 2_000;

/// The configuration strings of a graph, by the place of the element's name.
pub(crate) struct Arguments {
    configs: HashMap<Span, String>,
    sources: Vec<Source>,
}

impl Arguments {
    /// Those of a graph that was parsed from these sources.
    pub(crate) fn new(graph: &Graph, sources: &[Source]) -> Arguments {
        let configs = graph.elements.iter().map(|element| (element.span, element.config.clone())).collect();
        Arguments { configs, sources: sources.to_vec() }
    }

    /// Makes diagnostics that arose while an element was configured point at its arguments.
    pub(crate) fn pinpoint(&self, diagnostics: &mut [Diagnostic]) {
        for diagnostic in diagnostics.iter_mut().filter(|d| d.context.is_some()) {
            let message =
                format!("{} {}", diagnostic.message, diagnostic.expected.as_deref().unwrap_or_default());
            if let Some(span) = diagnostic.span.and_then(|span| self.place(span, &message)) {
                diagnostic.span = Some(span);
            }
        }
    }

    /// Where the argument stands that a message about the element at `name` means.
    fn place(&self, name: Span, message: &str) -> Option<Span> {
        let argument = meant(&lang::conf::split_args(self.configs.get(&name)?), message)?;
        let text = &self.sources.get(name.source as usize)?.text;
        let behind = text.get(name.end as usize..)?;
        let open = behind.find('(')?;
        let mut end = (open + self.configs[&name].len() + COMMENTS).min(behind.len());
        while !behind.is_char_boundary(end) {
            end -= 1;
        }
        let region = &behind[open..end];
        let (at, _) = region.match_indices(&argument).find(|&(at, _)| !is_comment(&region[..at]))?;
        let start = name.end as usize + open + at;
        // The quoted part, if there is just one such part in the argument.
        let (from, length) = quoted(message)
            .filter_map(|part| only(argument.match_indices(part)))
            .next()
            .map_or((0, argument.len()), |(at, part)| (at, part.len()));
        let span = |at: usize| u32::try_from(at).ok();
        Some(Span { source: name.source, start: span(start + from)?, end: span(start + from + length)? })
    }
}

/// Whether what follows this text may belong to a comment. Quotes are not looked at, so it need not.
fn is_comment(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or("");
    line.contains("//") || before.rfind("/*") > before.rfind("*/")
}

/// The argument that a message means: the one with the keyword that it starts with, or the one that it quotes from.
fn meant(arguments: &[String], message: &str) -> Option<String> {
    let keyword = message.split_once(": ").map(|(keyword, _)| keyword);
    let named =
        |argument: &&String| lang::conf::keyword(argument).is_some_and(|(word, _)| Some(word) == keyword);
    only(arguments.iter().filter(named))
        .or_else(|| quoted(message).find_map(|part| only(arguments.iter().filter(|a| a.contains(part)))))
        .cloned()
}

/// The parts of a message between quotes.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('\'').skip(1).step_by(2).filter(|part| !part.is_empty())
}

/// The item of an iterator that has only one.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next();
    if items.next().is_some() { None } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lang::Context;

    /// What an error with this message, about the first element of a configuration, is made to point at.
    fn place(config: &str, message: &str) -> Option<std::ops::Range<usize>> {
        let parsed = lang::parse(config, "config", &[]);
        let element = &parsed.graph.elements[0];
        let context = Context::configuring(&element.name, &element.class, element.landmark.clone());
        let mut errors =
            [Diagnostic::error(message).at(element.landmark.clone(), element.span).within(context)];
        Arguments::new(&parsed.graph, &parsed.sources).pinpoint(&mut errors);
        let span = errors[0].span.filter(|span| *span != element.span)?;
        Some(span.start as usize..span.end as usize)
    }

    fn pointed_at<'a>(config: &'a str, message: &str) -> &'a str {
        place(config, message).map_or("", |range| &config[range])
    }

    #[test]
    fn arguments_are_found() {
        let config = "a :: X(five, // LIMIT six\n LIMIT six,\n ROUTE 1.0.0.0/33 0, \"a b\")";
        assert_eq!(pointed_at(config, "LIMIT: integer expected, not 'six'"), "six");
        assert_eq!(pointed_at(config, "LIMIT: what is this"), "LIMIT six");
        assert_eq!(pointed_at(config, "DATA: integer expected, not 'five'"), "five");
        assert_eq!(pointed_at(config, "bad route '1.0.0.0/33 0'"), "1.0.0.0/33 0");
        assert_eq!(pointed_at("X(12/0800, 12/08zz, -)", "bad pattern '12/08zz'"), "12/08zz");
        let commented = "X(// six\n /* six */ six)";
        assert_eq!(place(commented, "'six' is bad"), commented.rfind("six").map(|at| at..at + 3));
        assert_eq!(pointed_at("a, b :: X(\u{e9}, y\u{e9} z)", "'y\u{e9}' is bad"), "y\u{e9}");
    }

    /// What cannot be told apart, or is not in the text, stays with the name.
    #[test]
    fn doubts_change_nothing() {
        assert_eq!(pointed_at("X(six, six)", "bad number 'six'"), "");
        assert_eq!(pointed_at("X(six)", "LIMIT: required argument missing"), "");
        assert_eq!(pointed_at("X", "too few arguments"), "");
        assert_eq!(pointed_at("elementclass C { $n | X(LIMIT $n) } C(six)", "LIMIT: not 'six'"), "");
        assert_eq!(pointed_at("X(a'b)", "'''"), "");
    }
}
