//! `xml2click`: a configuration from XML, as `click2xml` writes it.

mod document;
mod text;

use super::line::{CLICKPATH, EXPRESSION, FILE, HELP, Id, Line, OUTPUT, VERSION};
use super::load::{Reader, read, write_text};
use super::tool::{End, Tool};
use crate::clp::{Spec, Takes};
use crate::input::Text;
use crate::text::tool_text;
use lang::{Diagnostic, Landmark, Span};
use roxmltree::Node;

pub(super) const TOOL: Tool = Tool {
    name: "xml2click",
    usage: "[OPTION]... [XMLFILE]",
    about: "Prints a configuration that is given as XML.\n",
    help: "  -F, --flatten                 Print it without compound elements.\n",
    options: &[
        CLICKPATH,
        EXPRESSION,
        FILE,
        Spec::new("flatten", Some('F'), Id::Flatten, Takes::Nothing).negatable(),
        HELP,
        OUTPUT,
        VERSION,
    ],
    run,
};

fn run(line: &Line<'_>) -> Result<(), End> {
    let (xml, _) = read(line, &line.source()?.input)?;
    let mut problems = Problems::new(&xml);
    let written = document::read(&xml.text, &mut problems)
        .filter(|_| problems.found.is_empty())
        .and_then(|document| text::write(&document, &mut problems));
    let Some(written) = written.filter(|_| problems.found.is_empty()) else {
        line.report(&problems.found);
        return Err(End::Failed);
    };
    // What is written must be a configuration.
    let text = Text { name: xml.name, text: written };
    let parsed = Reader::new(line, &[]).parse(&text);
    if line.report(&parsed.diagnostics) {
        return Err(End::Failed);
    }
    write_text(line, if line.has(Id::Flatten) { tool_text(&parsed.graph) } else { text.text })
}

/// What is wrong with a document.
struct Problems {
    file: String,
    /// Where its lines end.
    breaks: Vec<usize>,
    found: Vec<Diagnostic>,
}

impl Problems {
    fn new(xml: &Text) -> Problems {
        let breaks = xml.text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at);
        Problems { file: xml.name.clone(), breaks: breaks.collect(), found: Vec::new() }
    }

    /// The line that a tag stands in.
    fn line(&self, node: &Node<'_, '_>) -> u32 {
        self.breaks.partition_point(|&at| at < node.range().start) as u32 + 1
    }

    fn add_at(&mut self, node: &Node<'_, '_>, message: impl Into<String>) {
        self.add(self.line(node), message);
    }

    fn add(&mut self, line: u32, message: impl Into<String>) {
        let place = Landmark::new(self.file.clone(), line);
        self.found.push(Diagnostic::error(message).at(place, Span::default()));
    }
}
