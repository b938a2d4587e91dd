//! Reading and writing configurations.

use super::line::{Id, Line, Source};
use super::tool::End;
use crate::archive::{self, Member};
use crate::input::{Input, Parameter, Text};
use crate::text::tool_text;
use lang::{Compounds, Diagnostic, Graph, Landmark, Nested, Parsed, Span};

/// A configuration that a tool has read, without compound elements.
pub(super) struct Loaded {
    pub(super) text: Text,
    /// With variables of the outermost scope in it, as Click's tools leave them.
    pub(super) graph: Graph,
    /// What all variables stand for: the same elements and connections.
    pub(super) expanded: Graph,
    /// What else was in the archive.
    pub(super) archive: Vec<Member>,
}

/// How a tool reads a text. Every name may be a class.
pub(super) struct Reader<'a> {
    line: &'a Line<'a>,
    params: &'a [Parameter],
}

impl<'a> Reader<'a> {
    /// A reader of texts with these parameters.
    pub(super) fn new(line: &'a Line<'a>, params: &'a [Parameter]) -> Reader<'a> {
        Reader { line, params }
    }

    /// Calls `read` with options for the language.
    fn with_options<T>(&self, read: impl FnOnce(lang::Options<'_>) -> T) -> T {
        let find = |name: &str, from: &str| self.line.host.library(&self.line.clickpath, name, from);
        read(lang::Options {
            params: self.params,
            library: Some(&find),
            // Click's tools have this order of elements.
            in_place: true,
            ..lang::Options::default()
        })
    }

    /// Parses a configuration.
    pub(super) fn parse(&self, text: &Text) -> Parsed {
        self.with_options(|options| lang::parse_with(&text.text, &text.name, &options))
    }

    /// Parses a configuration, in which variables of the outermost scope stay as they are.
    fn parse_keeping_variables(&self, text: &Text) -> Parsed {
        self.with_options(|options| {
            let options = lang::Options { keep_variables: true, ..options };
            lang::parse_with(&text.text, &text.name, &options)
        })
    }

    /// The text as it is written, with what is wrong with it.
    pub(super) fn nested(&self, text: &Text) -> Nested {
        self.with_options(|options| lang::nested(&text.text, &text.name, &options))
    }

    /// The compound element classes of a text.
    pub(super) fn compounds(&self, text: &Text) -> Compounds {
        self.with_options(|options| lang::compounds(&text.text, &text.name, &options))
    }
}

/// Reads a configuration and tells what is wrong with it.
///
/// # Errors
/// That it has errors.
pub(super) fn load(line: &Line<'_>, source: &Source) -> Result<Loaded, End> {
    let (loaded, diagnostics) = parse(line, source)?;
    if line.report(&diagnostics) { Err(End::Failed) } else { Ok(loaded) }
}

/// Reads a configuration as far as it makes sense; tells only if there is none.
///
/// # Errors
/// That there is none.
pub(super) fn load_anyhow(line: &Line<'_>, source: &Source) -> Result<Loaded, End> {
    parse(line, source).map(|(loaded, _)| loaded)
}

/// A text, and what else is in its archive; tells if there is none.
///
/// # Errors
/// That it cannot be read.
pub(super) fn read(line: &Line<'_>, input: &Input) -> Result<(Text, Vec<Member>), End> {
    line.host.read(input).map_err(|message| {
        line.complain(&message);
        End::Failed
    })
}

/// What a configuration says, and what is wrong with it.
fn parse(line: &Line<'_>, source: &Source) -> Result<(Loaded, Vec<Diagnostic>), End> {
    let (text, archive) = read(line, &source.input)?;
    if text.text.is_empty() {
        let place = Landmark::new(text.name.clone(), 0);
        line.report(&[Diagnostic::warning("empty configuration").at(place, Span::default())]);
    }
    let reader = Reader::new(line, &source.params);
    let Parsed { graph: mut expanded, diagnostics, .. } = reader.parse(&text);
    expanded.defines.clear();
    let kept = reader.parse_keeping_variables(&text).graph;
    // It need not mean the same: a variable can stand for several arguments, or stand in quotes, where what a compound
    // element is given is written with a backslash.
    let again = Text { text: tool_text(&kept), ..text.clone() };
    let again = Reader::new(line, &[]).parse(&again).graph;
    let graph = if again.same_as(&expanded) { kept } else { expanded.clone() };
    Ok((Loaded { text, graph, expanded, archive }, diagnostics))
}

/// Writes a configuration to where the command line says, in an archive if it came with more.
///
/// # Errors
/// That it cannot be written.
pub(super) fn write(line: &Line<'_>, graph: &Graph, archive: &[Member]) -> Result<(), End> {
    let text = tool_text(graph);
    if archive.is_empty() {
        return write_text(line, text);
    }
    let config = Member::new("config", 0o644, lang::bytes::of_text(&text).into_owned());
    write_bytes(line, &archive::archive(std::iter::once(&config).chain(archive)))
}

/// [`write`] without the archive, if only the configuration is wanted.
///
/// # Errors
/// That it cannot be written.
pub(super) fn write_wanted(line: &Line<'_>, graph: &Graph, archive: &[Member]) -> Result<(), End> {
    write(line, graph, if line.has(Id::Config) { &[] } else { archive })
}

/// Writes what came of it to where the command line says.
///
/// # Errors
/// That it cannot be written.
pub(super) fn write_text(line: &Line<'_>, text: impl AsRef<str>) -> Result<(), End> {
    write_bytes(line, &lang::bytes::of_text(text.as_ref()))
}

fn write_bytes(line: &Line<'_>, bytes: &[u8]) -> Result<(), End> {
    if line.host.write(line.output.as_deref(), bytes) { Ok(()) } else { Err(End::Failed) }
}
