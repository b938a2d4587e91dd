//! `click-pretty`: a configuration as a page of HTML.

use super::line::{CLICKPATH, EXPRESSION, FILE, HELP, Id, Line, OUTPUT, VERSION};
use super::load::{Loaded, load, ports, write_text};
use super::{End, Tool};
use crate::clp::{Item, Spec, Takes};
use lang::{Graph, print::escape_markup};
use router::{Classes, Port};
use std::collections::BTreeMap;
use std::fmt::Write;

pub(super) const TOOL: Tool = Tool {
    name: "click-pretty",
    usage: "[OPTION]... [ROUTERFILE]",
    about: "\
Prints a configuration as a page of HTML: its text, an index of its elements, and
what each of their ports is connected to. There are no templates here.
",
    help: "\
      --dot                     Print it in the language of Graphviz instead.
  -u, --class-docs URL          Link classes to URL, with their name for '%s'.
",
    options: &[
        Spec::new("bsdmodule", Some('b'), Id::Ignored, Takes::Nothing),
        CLICKPATH,
        Spec::new("class-docs", Some('u'), Id::ClassDocs, Takes::Text),
        Spec::new("define", Some('d'), Id::Template, Takes::Text),
        Spec::new("dot", None, Id::Dot, Takes::Nothing),
        EXPRESSION,
        FILE,
        Spec::new("gml", None, Id::OtherForm, Takes::Nothing),
        Spec::new("graphml", None, Id::OtherForm, Takes::Nothing),
        HELP,
        Spec::new("kernel", Some('k'), Id::Ignored, Takes::Nothing),
        Spec::new("linuxmodule", Some('l'), Id::Ignored, Takes::Nothing),
        OUTPUT,
        Spec::new("package-docs", None, Id::Ignored, Takes::Text),
        Spec::new("template", Some('t'), Id::Template, Takes::Text),
        Spec::new("userlevel", None, Id::Ignored, Takes::Nothing),
        VERSION,
        Spec::new("write-template", None, Id::Template, Takes::Nothing),
    ],
    run,
};

const HEAD: &str = "\
<!DOCTYPE html>
<html><head>
<meta charset='utf-8'>
<title>Configuration</title>
<style>
.c-kw { font-weight: bold }
.c-cfg { color: green }
.c-cmt { color: gray }
.ei, .et { font-family: sans-serif }
.conntable td { padding-right: 1em }
</style>
</head><body>
";

fn run(line: &Line, known: &Classes) -> Result<(), End> {
    let failed = |message: &str| {
        line.say(message);
        Err(End::Failed)
    };
    if line.has(Id::Template) {
        return failed("there are no templates here; the page is always the same");
    }
    if line.has(Id::OtherForm) {
        return failed("there is neither GML nor GraphML here; '--dot' and 'clique graph --format json' are");
    }
    let loaded = load(line, line.source()?, None)?;
    if line.has(Id::Dot) {
        return write_text(line, lang::graph::dot(&loaded.expanded));
    }
    let documentation = line.items.iter().rev().find_map(|item| match item {
        Item::Option { id: Id::ClassDocs, value, .. } => value.clone(),
        _ => None,
    });
    let page = Page {
        ports: ports(&loaded.expanded, known),
        documentation: documentation.unwrap_or_default(),
        loaded,
    };
    write_text(line, page.html())
}

struct Page {
    loaded: Loaded,
    ports: Vec<[Vec<Port>; 2]>,
    /// Where classes are documented.
    documentation: String,
}

impl Page {
    fn html(&self) -> String {
        let graph = &self.loaded.expanded;
        let names: BTreeMap<&str, usize> =
            graph.elements.iter().enumerate().map(|(i, element)| (element.name.as_str(), i)).collect();
        let mut out = format!("{HEAD}<h1>Configuration</h1>\n");
        out.push_str(&lang::print::html(&self.loaded.text.text, graph));
        out.push_str("<h1><a name='index'>Element index</a></h1>\n");
        for (&name, &element) in &names {
            let name = escape_markup(name);
            let _ = writeln!(
                out,
                "<p class='ei'><b>{name}</b> :: {} - {}<a href='#et-{name}'><i>table</i></a></p>",
                self.class(element),
                self.declaration(element)
            );
        }
        out.push_str("<h1><a name='tables'>Element tables</a></h1>\n");
        let used = graph.used_ports();
        for (&name, &element) in &names {
            let name = escape_markup(name);
            let _ = writeln!(
                out,
                "<p class='et'><a name='et-{name}'><b>{name}</b></a> :: {}</p>\n<table class='conntable'>",
                self.class(element)
            );
            self.side(&mut out, element, 0, used[element].0);
            self.side(&mut out, element, 1, used[element].1);
            out.push_str("</table>\n");
        }
        out.push_str("</body></html>\n");
        out
    }

    /// The class of an element, perhaps as a link.
    fn class(&self, element: usize) -> String {
        let class = escape_markup(&self.loaded.expanded.elements[element].class);
        if self.documentation.is_empty() {
            return class;
        }
        format!("<a href='{}'>{class}</a>", escape_markup(&self.documentation.replacen("%s", &class, 1)))
    }

    /// A link to where an element is declared, if the text shows it.
    fn declaration(&self, element: usize) -> String {
        let element = &self.loaded.expanded.elements[element];
        if element.span.source == 0 && !element.name.contains('/') {
            format!("<a href='#e-{}'><i>config</i></a>, ", escape_markup(&element.name))
        } else {
            String::new()
        }
    }

    /// The rows of an element's table for its inputs or outputs.
    fn side(&self, out: &mut String, element: usize, side: usize, count: u32) {
        let what = ["input", "output"][side];
        if count == 0 {
            let _ = writeln!(out, "<tr><td colspan='4'>no {what}s</td></tr>");
        }
        for port in 0..count {
            let kind = match self.ports[element][side].get(port as usize) {
                Some(port) if port.push => "push",
                Some(_) => "pull",
                None => "agnostic",
            };
            let ends = ends(&self.loaded.expanded, lang::Port { element, port }, side);
            let arrow = ["&lt;-", "-&gt;"][side];
            let _ = writeln!(
                out,
                "<tr><td>{what} {port}</td><td>({kind})</td><td>{arrow}</td><td>{ends}</td></tr>"
            );
        }
    }
}

/// Links to what a port is connected to.
fn ends(graph: &Graph, port: lang::Port, side: usize) -> String {
    let link = |end: lang::Port| {
        let name = escape_markup(&graph.elements[end.element].name);
        let (link, number) = (format!("<a href='#et-{name}'>{name}</a>"), end.port);
        if side == 0 { format!("{link} [{number}]") } else { format!("[{number}] {link}") }
    };
    let connections = graph.connections.iter();
    let ends: Vec<String> = match side {
        0 => connections.filter(|c| c.to == port).map(|c| link(c.from)).collect(),
        _ => connections.filter(|c| c.from == port).map(|c| link(c.to)).collect(),
    };
    if ends.is_empty() { "not connected".to_owned() } else { ends.join(", ") }
}
