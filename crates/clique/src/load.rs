//! From a configuration's text to a graph, and on to a router.

use crate::advice::Advice;
use crate::library;
use crate::pinpoint::Arguments;
use crate::remedies;
use click_tools::{Parameter, Text};
use lang::{Diagnostic, Parsed, Source};
use router::{Classes, Options, Router};

/// The program's element classes, for the language.
struct Known<'a>(&'a Classes);

impl lang::ClassSet for Known<'_> {
    fn contains(&self, name: &str) -> bool {
        self.0.get(name).is_some()
    }

    fn names(&self) -> Vec<&str> {
        self.0.names().collect()
    }

    fn remedy(&self, name: &str) -> Option<&str> {
        remedies::find(name)
    }
}

/// Parses a configuration. With `known` classes others are errors; without, every name may be a class. If it is to be `like_click`, errors that
/// only follow from others are reported, too.
pub(crate) fn parse(
    text: &Text,
    params: &[Parameter],
    clickpath: &str,
    known: Option<&Classes>,
    like_click: bool,
) -> Parsed {
    let known = known.map(Known);
    let find = |name: &str, from: &str| library::find(clickpath, name, from);
    let options = lang::Options {
        params,
        classes: known.as_ref().map(|known| known as &dyn lang::ClassSet),
        library: Some(&find),
        // All element classes are in the program; there are no packages to load.
        causes_only: !like_click,
        package: if known.is_some() { Some(&|_: &str| false) } else { None },
        ..lang::Options::default()
    };
    lang::parse_with(&text.text, &text.name, &options)
}

/// Warnings of parameters that no text uses: misspelt, probably.
pub(crate) fn unused_parameters(params: &[Parameter], sources: &[Source]) -> Vec<Diagnostic> {
    let unused = params.iter().filter(|(key, _)| !sources.iter().any(|source| uses(&source.text, key)));
    unused
        .map(|(key, _)| Diagnostic::warning(format!("the configuration has no parameter '${key}'")))
        .collect()
}

/// Whether a text has the variable `$KEY` or `${KEY}` in it.
pub(crate) fn uses(text: &str, key: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let plain = format!("${key}");
    text.match_indices(&plain).any(|(at, _)| !goes_on(&text[at + plain.len()..]))
        || text.contains(&format!("${{{key}}}"))
}

/// What is wrong with a text that has errors, with what else is wrong as far as that can be judged: all of it if only names are unknown, and the
/// arguments if statements are lost.
pub(crate) fn all_errors(parsed: Parsed, text: &str, known: &Classes, options: Options) -> Vec<Diagnostic> {
    let Parsed { graph, mut diagnostics, sources, is_incomplete, .. } = parsed;
    if is_incomplete {
        let (advice, arguments) = (Advice::new(&graph, known), Arguments::new(&graph, &sources));
        let mut more = router::argument_errors(&graph, text, known, &options);
        advice.apply(&mut more);
        arguments.pinpoint(&mut more);
        diagnostics.extend(more);
    } else {
        add_errors(&mut diagnostics, graph, &sources, text, known, options);
    }
    diagnostics
}

/// Adds to what was found what else is wrong with a graph: no error hides another.
pub(crate) fn add_errors(
    found: &mut Vec<Diagnostic>,
    graph: lang::Graph,
    sources: &[Source],
    text: &str,
    known: &Classes,
    options: Options,
) {
    let (advice, arguments) = (Advice::new(&graph, known), Arguments::new(&graph, sources));
    let mut more = router::errors(graph, text.to_owned(), known, options);
    more.retain(|error| !found.contains(error));
    advice.apply(&mut more);
    arguments.pinpoint(&mut more);
    found.extend(more);
}

/// Makes a router of a graph without errors. `tell` takes what is odd about the configuration, before elements are initialised. If it is to be `like_click`,
/// only the first kind of errors is reported.
///
/// # Errors
/// Everything that is wrong, with what is odd unless that was told.
pub(crate) fn build(
    graph: lang::Graph,
    sources: &[Source],
    text: &Text,
    known: &Classes,
    options: Options,
    like_click: bool,
    tell: impl FnOnce(Vec<Diagnostic>),
) -> Result<Router, Vec<Diagnostic>> {
    let (advice, arguments) = (Advice::new(&graph, known), Arguments::new(&graph, sources));
    let pinpoint = |mut found: Vec<Diagnostic>| {
        if !like_click {
            advice.apply(&mut found);
        }
        arguments.pinpoint(&mut found);
        found
    };
    let layout = match router::layout(graph.clone(), known, options.workers) {
        Ok(layout) => layout,
        Err(mut errors) => {
            if !like_click {
                add_errors(&mut errors, graph, sources, &text.text, known, options);
            }
            return Err(errors);
        }
    };
    let (configured, found) =
        router::configure(layout, text.text.clone(), known, options).map_err(pinpoint)?;
    tell(pinpoint(found));
    configured.initialize().map_err(pinpoint)
}
