//! From a configuration's text to a graph, and on to a router.

use crate::input::{Parameter, Text};
use crate::library;
use crate::pinpoint::Arguments;
use crate::remedies;
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

/// Parses a configuration. With `known` classes others are errors; without, every name may be a class.
pub(crate) fn parse(text: &Text, params: &[Parameter], clickpath: &str, known: Option<&Classes>) -> Parsed {
    parse_for(text, params, clickpath, known, false)
}

/// [`parse`], perhaps with variables of the outermost scope left as they are.
pub(crate) fn parse_for(
    text: &Text,
    params: &[Parameter],
    clickpath: &str,
    known: Option<&Classes>,
    keep_variables: bool,
) -> Parsed {
    let known = known.map(Known);
    let find = |name: &str, from: &str| library::find(clickpath, name, from);
    let options = lang::Options {
        params,
        classes: known.as_ref().map(|known| known as &dyn lang::ClassSet),
        library: Some(&find),
        // All element classes are in the program; there are no packages to load.
        package: if known.is_some() { Some(&|_: &str| false) } else { None },
        keep_variables,
        ..lang::Options::default()
    };
    lang::parse_with(&text.text, &text.name, &options)
}

/// Makes a router of a graph without errors.
///
/// # Errors
/// Everything that is wrong.
pub(crate) fn build(
    graph: lang::Graph,
    sources: &[Source],
    text: &Text,
    known: &Classes,
    options: Options,
) -> Result<(Router, Vec<Diagnostic>), Vec<Diagnostic>> {
    let arguments = Arguments::new(&graph, sources);
    let layout = router::layout(graph, known, options.workers)?;
    let mut built = router::build(layout, text.text.clone(), known, options);
    match &mut built {
        Ok((_, found)) | Err(found) => arguments.pinpoint(found),
    }
    built
}
