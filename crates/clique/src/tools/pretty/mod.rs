//! `click-pretty`: a configuration as a page of HTML, or in the languages of programs that draw graphs.

mod graphs;
mod tag;
mod template;

use super::line::{CLICKPATH, EXPRESSION, FILE, HELP, Id, Line, OUTPUT, VERSION};
use super::load::{Reading, load, write_text};
use super::nest::Nest;
use super::{End, Tool};
use crate::clp::{Item, Spec, Takes};
use crate::input::Input;
use router::Classes;
use std::collections::HashMap;
use template::Page;

pub(super) const TOOL: Tool = Tool {
    name: "click-pretty",
    usage: "[OPTION]... [ROUTERFILE]",
    about: "\
Prints a configuration as a page of HTML: its text, an index of its elements, and
what each of their ports is connected to. A template says what the page looks like;
'--write-template' shows that which is used unless another one is given.
",
    help: "  -t, --template FILE           Use the template in FILE.
  -d, --define NAME=TEXT        Put TEXT in the place of the tag '<~NAME>'.
      --write-template          Print the template.
      --dot                     Print the graph in the language of Graphviz.
      --gml, --graphml          Print the graph in one of these languages.
  -u, --class-docs URL          Link classes to URL, with their name for '%s'.
",
    options: &[
        Spec::new("bsdmodule", Some('b'), Id::Ignored, Takes::Nothing),
        CLICKPATH,
        Spec::new("class-docs", Some('u'), Id::ClassDocs, Takes::Text),
        Spec::new("define", Some('d'), Id::Define, Takes::Text),
        Spec::new("dot", None, Id::Dot, Takes::Nothing),
        EXPRESSION,
        FILE,
        Spec::new("gml", None, Id::Gml, Takes::Nothing),
        Spec::new("graphml", None, Id::GraphMl, Takes::Nothing),
        HELP,
        Spec::new("kernel", Some('k'), Id::Ignored, Takes::Nothing),
        Spec::new("linuxmodule", Some('l'), Id::Ignored, Takes::Nothing),
        OUTPUT,
        Spec::new("package-docs", None, Id::PackageDocs, Takes::Text),
        Spec::new("template", Some('t'), Id::Template, Takes::Text),
        Spec::new("userlevel", None, Id::Ignored, Takes::Nothing),
        VERSION,
        Spec::new("write-template", None, Id::WriteTemplate, Takes::Nothing),
    ],
    run,
};

/// The template that is used unless another one is given.
const DEFAULT: &str = include_str!("default.html");

fn run(line: &Line, known: &Classes) -> Result<(), End> {
    let action = action(line)?;
    let template = template(line)?;
    if action == Some(Id::WriteTemplate) {
        return write_text(line, template);
    }
    let source = line.source()?;
    let reading = Reading::new(line, &source);
    let loaded = load(line, source, None)?;
    let nest = Nest::new(&reading, &loaded, known);
    write_text(
        line,
        match action {
            Some(Id::Dot) => graphs::dot(&nest),
            Some(Id::Gml) => graphs::gml(&nest),
            Some(Id::GraphMl) => graphs::graphml(&nest),
            _ => {
                let page = Page {
                    nest: &nest,
                    config: lang::print::html(&loaded.text.text, &nest.nested),
                    documentation: values(line, Id::ClassDocs).last().cloned().unwrap_or_default(),
                    definitions: definitions(line),
                    codes: &|class| known.get(class).map(|class| (class.processing, class.flow)),
                };
                page.fill(&template)
            }
        },
    )
}

/// What is to be printed instead of a page.
fn action(line: &Line) -> Result<Option<Id>, End> {
    const ACTIONS: [Id; 4] = [Id::WriteTemplate, Id::Dot, Id::Gml, Id::GraphMl];
    if values(line, Id::PackageDocs).iter().any(|value| !value.contains('=')) {
        return Err(End::Usage("'--package-docs' option must contain an equals sign".to_owned()));
    }
    let mut actions = line.items.iter().filter_map(|item| match item {
        Item::Option { id, .. } if ACTIONS.contains(id) => Some(*id),
        _ => None,
    });
    let action = actions.next();
    match actions.next() {
        Some(_) => Err(End::Usage("action specified twice".to_owned())),
        None => Ok(action),
    }
}

/// The values of an option, in order.
fn values(line: &Line, wanted: Id) -> Vec<String> {
    let value = |item: &Item<Id>| match item {
        Item::Option { id, value, .. } if *id == wanted => value.clone(),
        _ => None,
    };
    line.items.iter().filter_map(value).collect()
}

/// The text of the template.
fn template(line: &Line) -> Result<String, End> {
    let Some(file) = values(line, Id::Template).pop() else { return Ok(DEFAULT.to_owned()) };
    Input::named(file).read().map(|text| text.text).map_err(|message| {
        line.say(&message);
        End::Failed
    })
}

/// The tags that the command line defines; without an equals sign, as nothing.
fn definitions(line: &Line) -> HashMap<String, String> {
    let define = |value: String| {
        let (name, text) = value.split_once('=').unwrap_or((&value, ""));
        (name.to_ascii_lowercase(), text.to_owned())
    };
    values(line, Id::Define).into_iter().map(define).collect()
}
