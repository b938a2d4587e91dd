//! `click2xml`: a configuration as XML, in the form of Click's `clickconfig.dtd`.

use super::line::{CLICKPATH, EXPRESSION, FILE, HELP, Id, Line, OUTPUT, VERSION};
use super::load::{load, ports, write_text};
use super::{End, Tool};
use crate::clp::{Spec, Takes};
use lang::{Graph, Landmark};
use router::{Classes, Port};
use std::fmt::Write;

pub(super) const TOOL: Tool = Tool {
    name: "click2xml",
    usage: "[OPTION]... [ROUTERFILE]",
    about: "Prints a configuration without compound elements as XML.\n",
    help: "",
    options: &[
        Spec::new("bsdmodule", Some('b'), Id::Bsd, Takes::Nothing),
        CLICKPATH,
        EXPRESSION,
        FILE,
        Spec::new("flatten", Some('F'), Id::Ignored, Takes::Nothing).negatable(),
        HELP,
        Spec::new("kernel", Some('k'), Id::Linux, Takes::Nothing),
        Spec::new("linuxmodule", Some('l'), Id::Linux, Takes::Nothing),
        OUTPUT,
        Spec::new("userlevel", None, Id::Userlevel, Takes::Nothing),
        VERSION,
    ],
    run,
};

fn run(line: &Line, known: &Classes) -> Result<(), End> {
    let loaded = load(line, line.source()?, None)?;
    for (driver, name) in [(Id::Linux, "linuxmodule"), (Id::Bsd, "bsdmodule")] {
        if line.has(driver) {
            line.say(&format!("warning: there is no {name} driver here"));
        }
    }
    let ports = ports(&loaded.expanded, known);
    write_text(line, xml(&loaded.expanded, &ports))
}

/// The letter for a port: push, pull, or, where it is not known, agnostic.
fn letter(ports: &[Port], port: u32) -> char {
    ports.get(port as usize).map_or('a', |port| if port.push { 'h' } else { 'l' })
}

fn xml(graph: &Graph, ports: &[[Vec<Port>; 2]]) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n\
         <!DOCTYPE configuration SYSTEM \"http://www.pdos.lcs.mit.edu/click/clickconfig.dtd\">\n\
         <configuration xmlns=\"http://www.lcdf.org/click/xml/\">\n",
    );
    for ((element, (inputs, outputs)), sides) in graph.elements.iter().zip(graph.used_ports()).zip(ports) {
        let (name, class) = (quote(&element.name), quote(&element.class));
        let _ = write!(out, "<element name=\"{name}\" classname=\"{class}\"{}", place(&element.landmark));
        let _ = write!(out, " ninputs=\"{inputs}\" noutputs=\"{outputs}\"");
        if inputs + outputs > 0 {
            let code = |side: usize, count: u32| (0..count).map(|port| letter(&sides[side], port)).collect();
            let (inputs, outputs): (String, String) = (code(0, inputs), code(1, outputs));
            let _ = write!(out, " processing=\"{inputs}/{outputs}\"");
        }
        if !element.config.is_empty() {
            let _ = write!(out, " config=\"{}\"", quote(&element.config));
        }
        out.push_str(" />\n");
    }
    for c in &graph.connections {
        let _ = writeln!(
            out,
            "<connection from=\"{}\" fromport=\"{}\" to=\"{}\" toport=\"{}\" processing=\"{}\" />",
            quote(&graph.elements[c.from.element].name),
            c.from.port,
            quote(&graph.elements[c.to.element].name),
            c.to.port,
            letter(&ports[c.from.element][1], c.from.port)
        );
    }
    out.push_str("</configuration>\n");
    out
}

fn place(landmark: &Landmark) -> String {
    match landmark.line {
        0 => String::new(),
        line => format!(" file=\"{}\" line=\"{line}\"", quote(&landmark.file)),
    }
}

/// The value of an attribute. Line breaks and tabs would be read as blanks otherwise.
fn quote(text: &str) -> String {
    lang::print::escape_markup(text).replace('\n', "&#10;").replace('\r', "&#13;").replace('\t', "&#9;")
}
