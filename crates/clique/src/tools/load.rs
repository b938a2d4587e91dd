//! Reading and writing configurations.

use super::End;
use super::line::{Line, Source};
use crate::archive::{self, Member};
use crate::console;
use crate::input::{Input, Parameter, Text};
use crate::load::Reader;
use crate::report::{Reporter, Style};
use crate::status::Status;
use lang::{Diagnostic, Graph, Landmark, Nested, Parsed};
use router::{Classes, Port};

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

/// How a tool reads a text.
pub(super) struct Reading {
    params: Vec<Parameter>,
    clickpath: String,
}

impl Reading {
    pub(super) fn new(line: &Line, source: &Source) -> Reading {
        Reading { params: source.params.clone(), clickpath: line.clickpath.clone() }
    }

    /// The text as it is written; what is wrong with it was told when it was loaded.
    pub(super) fn nested(&self, text: &Text) -> Nested {
        Reader { params: &self.params, clickpath: &self.clickpath, ..Reader::default() }.nested(text)
    }
}

/// Reads a configuration and tells what is wrong with it. With `known` classes others are errors.
///
/// # Errors
/// That it has errors.
pub(super) fn load(line: &Line, source: Source, known: Option<&Classes>) -> Result<Loaded, End> {
    let (text, archive) = read(source.input)?;
    let (loaded, diagnostics) = parse(line, &source.params, known, text, archive);
    let mut reporter = Reporter::new(Style::Click, true);
    if reporter.take(diagnostics) { Err(End::Failed) } else { Ok(loaded) }
}

/// Reads a configuration as far as it makes sense; tells only if there is none.
///
/// # Errors
/// That there is none.
pub(super) fn load_anyhow(line: &Line, source: Source) -> Result<Loaded, End> {
    let (text, archive) = read(source.input)?;
    Ok(parse(line, &source.params, None, text, archive).0)
}

/// A configuration's text, and what else is in its archive; tells if there is none.
fn read(input: Input) -> Result<(Text, Vec<Member>), End> {
    let mut reporter = Reporter::new(Style::Click, true);
    let (text, archive) = input.read_with_archive().map_err(|message| {
        reporter.error(message);
        End::Failed
    })?;
    if text.text.is_empty() {
        let place = Landmark::new(text.name.clone(), 0);
        reporter.take(vec![Diagnostic::warning("empty configuration").at(place, lang::Span::default())]);
    }
    Ok((text, archive))
}

/// What a text says, and what is wrong with it.
fn parse(
    line: &Line,
    params: &[Parameter],
    known: Option<&Classes>,
    text: Text,
    archive: Vec<Member>,
) -> (Loaded, Vec<Diagnostic>) {
    let reader = Reader { params, clickpath: &line.clickpath, known, keep_variables: false, in_place: true };
    let Parsed { graph: mut expanded, diagnostics, .. } = reader.parse(&text);
    expanded.defines.clear();
    let kept = Reader { keep_variables: true, ..reader }.parse(&text).graph;
    // It need not mean the same: a variable can stand for several arguments, or stand in quotes, where what a compound
    // element is given is written with a backslash.
    let again = Text { text: lang::tool_text(&kept), ..text.clone() };
    let again = Reader { params: &[], ..reader }.parse(&again).graph;
    let graph = if again.same_as(&expanded) { kept } else { expanded.clone() };
    (Loaded { text, graph, expanded, archive }, diagnostics)
}

/// Inputs and outputs of each element, push or pull; none as long as the classes are not known or do not fit.
pub(super) fn ports(graph: &Graph, known: &Classes) -> Vec<[Vec<Port>; 2]> {
    match router::layout(graph.clone(), known, 1) {
        Ok(layout) => layout.ports,
        Err(_) => vec![Default::default(); graph.elements.len()],
    }
}

/// Writes a configuration to where the command line says, in an archive if it came with more.
///
/// # Errors
/// That it cannot be written.
pub(super) fn write(line: &Line, graph: &Graph, archive: &[Member]) -> Result<(), End> {
    let text = lang::tool_text(graph);
    if archive.is_empty() {
        return write_text(line, text);
    }
    let config = Member::new("config", 0o644, lang::bytes::of_text(&text).into_owned());
    let archive = archive::archive(std::iter::once(&config).chain(archive));
    finish(console::write_bytes(line.output.as_deref(), &archive))
}

/// Writes what came of it to where the command line says.
///
/// # Errors
/// That it cannot be written.
pub(super) fn write_text(line: &Line, text: impl AsRef<str>) -> Result<(), End> {
    finish(console::write_result(line.output.as_deref(), text.as_ref()))
}

fn finish(written: Status) -> Result<(), End> {
    match written {
        Status::Fine => Ok(()),
        _ => Err(End::Failed),
    }
}
