//! `click2xml`: a configuration as XML, in the form of Click's `clickconfig.dtd`.

use super::line::{BSD, CLICKPATH, EXPRESSION, FILE, HELP, Id, KERNEL, LINUX, Line, OUTPUT, VERSION};
use super::load::{load, write_text};
use super::markup::escape;
use super::nest::Nest;
use super::tool::{End, Tool};
use crate::clp::{Spec, Takes};
use crate::text::tool_text;
use crate::wiring::check_wiring;
use lang::{Body, Kind, Landmark, Port};
use std::collections::HashMap;
use std::fmt::Write;

pub(super) const TOOL: Tool = Tool {
    name: "click2xml",
    usage: "[OPTION]... [ROUTERFILE]",
    about: "Prints a configuration as XML.\n",
    help: "  -F, --flatten                 Print it without compound elements.\n",
    options: &[
        BSD,
        CLICKPATH,
        EXPRESSION,
        FILE,
        Spec::new("flatten", Some('F'), Id::Flatten, Takes::Nothing).negatable(),
        HELP,
        KERNEL,
        LINUX,
        OUTPUT,
        Spec::new("userlevel", None, Id::Userlevel, Takes::Nothing),
        VERSION,
    ],
    run,
};

fn run(line: &Line<'_>) -> Result<(), End> {
    line.one_driver()?;
    let source = line.source()?;
    let mut loaded = load(line, &source)?;
    for driver in line.absent_drivers() {
        line.say(&format!("warning: there is no {driver} driver here"));
    }
    if line.has(Id::Flatten) {
        // Without compound elements, but with the places that directives name, and with variables.
        loaded.text.text = tool_text(&loaded.graph);
    }
    let mut nest = Nest::new(line, &source, &loaded);
    if line.has(Id::Flatten) {
        // In the text they stand in chains.
        let order: HashMap<(Port, Port), u32> =
            loaded.graph.connections.iter().map(|c| ((c.from, c.to), c.order)).collect();
        nest.nested.body.connections.sort_by_key(|c| order.get(&(c.from, c.to)));
    }
    // Without compound elements, ports are checked as Click's tool does.
    let flat = line.has(Id::Flatten) || nest.nested.classes.is_empty();
    let failed = flat && line.report(&check_wiring(&loaded.graph, line.classes()));
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n\
         <!DOCTYPE configuration SYSTEM \"http://www.pdos.lcs.mit.edu/click/clickconfig.dtd\">\n\
         <configuration xmlns=\"http://www.lcdf.org/click/xml/\">\n",
    );
    let classes: Vec<usize> = nest.declared(None).collect();
    Xml { nest: &nest, out: &mut out }.body(&nest.nested.body, &classes, Some(""), "");
    out.push_str("</configuration>\n");
    write_text(line, out)?;
    if failed { Err(End::Failed) } else { Ok(()) }
}

struct Xml<'a> {
    nest: &'a Nest,
    out: &'a mut String,
}

impl Xml<'_> {
    /// The classes that are declared beside a body's elements, the elements, and their connections. `prefix` is what the names of
    /// the body's elements begin with, if it is known.
    fn body(&mut self, body: &Body, classes: &[usize], prefix: Option<&str>, indent: &str) {
        for &class in classes {
            self.class(class, indent);
        }
        // What nothing decides becomes push.
        let letter = |element: usize, side: usize, port: u32| {
            let push = prefix.and_then(|prefix| self.nest.is_push(body, prefix, element, side, port));
            if push == Some(false) { 'l' } else { 'h' }
        };
        for (i, element) in body.elements.iter().enumerate() {
            if element.kind == Kind::Pseudo {
                continue;
            }
            let (name, [inputs, outputs]) = (quote(&element.name), element.ports);
            let class = self.reference(&element.kind, "class");
            let _ = write!(self.out, "{indent}<element name=\"{name}\" {class}{}", place(&element.landmark));
            let _ = write!(self.out, " ninputs=\"{inputs}\" noutputs=\"{outputs}\"");
            if inputs + outputs > 0 {
                let code = |side: usize, count: u32| -> String {
                    (0..count).map(|port| letter(i, side, port)).collect()
                };
                let _ = write!(self.out, " processing=\"{}/{}\"", code(0, inputs), code(1, outputs));
            }
            if !element.config.is_empty() {
                let _ = write!(self.out, " config=\"{}\"", quote(&element.config));
            }
            self.out.push_str(" />\n");
        }
        for c in &body.connections {
            let (from, to) = (c.from, c.to);
            // What comes from an `input` is what the other end says.
            let kind = match body.elements[from.element].kind {
                Kind::Pseudo => letter(to.element, 0, to.port),
                _ => letter(from.element, 1, from.port),
            };
            let _ = writeln!(
                self.out,
                "{indent}<connection from=\"{}\" fromport=\"{}\" to=\"{}\" toport=\"{}\" processing=\"{kind}\" />",
                quote(&body.elements[from.element].name),
                from.port,
                quote(&body.elements[to.element].name),
                to.port,
            );
        }
    }

    fn class(&mut self, index: usize, indent: &str) {
        let class = &self.nest.nested.classes[index];
        let _ = write!(self.out, "{indent}<elementclass ");
        if !class.name.is_empty() {
            let _ = write!(self.out, "classname=\"{}\" ", quote(&class.name));
        }
        let _ = writeln!(self.out, "classid=\"c{index}\"{}>", place(&class.landmark));
        let overload =
            class.overload.as_ref().map(|next| format!(" {}", self.reference(next, "overloadclass")));
        let _ = writeln!(
            self.out,
            "{indent}  <compound{} ninputs=\"{}\" noutputs=\"{}\" nformals=\"{}\">",
            overload.unwrap_or_default(),
            class.ports[0],
            class.ports[1],
            class.formals.len()
        );
        let inner = format!("{indent}    ");
        for (number, (name, keyword)) in class.formals.iter().enumerate() {
            let key = if keyword.is_empty() { String::new() } else { format!("key=\"{}\" ", quote(keyword)) };
            let _ = writeln!(self.out, "{inner}<formal number=\"{number}\" name=\"{}\" {key}/>", quote(name));
        }
        let classes: Vec<usize> = self.nest.declared(Some(index)).collect();
        self.body(&class.body, &classes, self.nest.instance(index), &inner);
        let _ = writeln!(self.out, "{indent}  </compound>\n{indent}</elementclass>");
    }

    /// The attribute that says which class is meant; `what` is the beginning of its name.
    fn reference(&self, kind: &Kind, what: &str) -> String {
        match kind {
            Kind::Compound(index) => format!("{what}id=\"c{index}\""),
            kind => format!("{what}name=\"{}\"", quote(self.nest.nested.class_name(kind))),
        }
    }
}

fn place(landmark: &Landmark) -> String {
    match landmark.line {
        0 => String::new(),
        line => format!(" file=\"{}\" line=\"{line}\"", quote(&landmark.file)),
    }
}

/// The value of an attribute. Line breaks and tabs would be read as blanks otherwise.
fn quote(text: &str) -> String {
    escape(text).replace('\n', "&#10;").replace('\r', "&#13;").replace('\t', "&#9;")
}
