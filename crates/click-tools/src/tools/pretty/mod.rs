//! `click-pretty`: a configuration as a page of HTML, or in the languages of programs that draw graphs.

mod graphs;
mod html;
mod tag;
mod template;

use super::line::{BSD, CLICKPATH, EXPRESSION, FILE, HELP, Id, KERNEL, LINUX, Line, OUTPUT, VERSION};
use super::load::{load_anyhow, write_text};
use super::nest::Nest;
use super::tool::{End, Tool};
use crate::clp::{Item, Spec, Takes};
use crate::input::Input;
use crate::wiring::check_wiring;
use html::Anchors;
use lang::Diagnostic;
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
    help: "  -t, --template FILE           Use the template in FILE; for graphs, as what stands
                                in the place of each element.
  -T, --template-text TEXT      Use TEXT itself as the template.
  -d, --define NAME=TEXT        Put TEXT in the place of the tag '<~NAME>'.
      --write-template          Print the template.
      --dot                     Print the graph in the language of Graphviz.
      --gml, --graphml          Print the graph in one of these languages.
  -u, --class-docs URL          Link classes to URL, with their name for '%s'.
",
    options: &[
        BSD,
        CLICKPATH,
        Spec::new("class-docs", Some('u'), Id::ClassDocs, Takes::Text),
        Spec::new("define", Some('d'), Id::Define, Takes::Text),
        Spec::new("dot", None, Id::Dot, Takes::Nothing),
        EXPRESSION,
        FILE,
        Spec::new("gml", None, Id::Gml, Takes::Nothing),
        Spec::new("graphml", None, Id::GraphMl, Takes::Nothing),
        HELP,
        KERNEL,
        LINUX,
        OUTPUT,
        Spec::new("package-docs", None, Id::PackageDocs, Takes::Text),
        Spec::new("template", Some('t'), Id::Template, Takes::Text).preferred(),
        Spec::new("template-text", Some('T'), Id::TemplateText, Takes::Text),
        Spec::new("userlevel", None, Id::Userlevel, Takes::Nothing),
        VERSION,
        Spec::new("write-template", None, Id::WriteTemplate, Takes::Nothing),
    ],
    run,
};

/// The template that is used unless another one is given.
const DEFAULT: &str = include_str!("default.html");

/// What graphs say of an element unless another template is given.
const GRAPH: &str = r#"<~if test="<~anonymous>" then="<~type>" else="<~name> :: <~type>">"#;

fn run(line: &Line<'_>) -> Result<(), End> {
    line.one_driver()?;
    let action = action(line)?;
    let graph = matches!(action, Some(Id::Dot | Id::Gml | Id::GraphMl));
    let template = template(line)?.unwrap_or_else(|| if graph { GRAPH } else { DEFAULT }.to_owned());
    if action == Some(Id::WriteTemplate) {
        return write_text(line, template);
    }
    let source = line.source()?;
    let loaded = load_anyhow(line, &source)?;
    let nest = Nest::new(line, &source, &loaded);
    // What is wrong with the text is marked in it; what is wrong with its ports is said.
    let legible = !nest.nested.diagnostics.iter().any(Diagnostic::is_error);
    let known = line.classes();
    let wrong = legible && line.report(&check_wiring(&loaded.expanded, known));
    let page = Page {
        nest: &nest,
        text: &loaded.text.text,
        anchors: Anchors::new(&nest.nested),
        documentation: values(line, Id::ClassDocs).last().cloned().unwrap_or_default(),
        definitions: definitions(line),
        codes: &|class| known.get(class).map(|class| (class.processing, class.flow)),
    };
    let label = |element: usize| page.label(&template, element);
    let text = match action {
        Some(Id::Dot) => graphs::dot(&nest, &label),
        Some(Id::Gml) => graphs::gml(&nest, &label),
        Some(Id::GraphMl) => graphs::graphml(&nest, &label),
        _ => page.fill(&template),
    };
    write_text(line, text)?;
    if wrong { Err(End::Failed) } else { Ok(()) }
}

/// What is to be printed instead of a page.
fn action(line: &Line<'_>) -> Result<Option<Id>, End> {
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
fn values(line: &Line<'_>, wanted: Id) -> Vec<String> {
    let value = |item: &Item<Id>| match item {
        Item::Option { id, value, .. } if *id == wanted => value.clone(),
        _ => None,
    };
    line.items.iter().filter_map(value).collect()
}

/// The text of the template, the last one that is given.
fn template(line: &Line<'_>) -> Result<Option<String>, End> {
    let given = line.items.iter().rev().find_map(|item| match item {
        Item::Option { id, value, .. } if [Id::Template, Id::TemplateText].contains(id) => {
            Some((*id, value.clone().unwrap_or_default()))
        }
        _ => None,
    });
    let Some((Id::Template, file)) = given else { return Ok(given.map(|(_, text)| text)) };
    let read = line.host.read(&Input::named(file)).map_err(|message| line.fail(&message));
    read.map(|(text, _)| Some(text.text))
}

/// The tags that the command line defines; without an equals sign, as nothing.
fn definitions(line: &Line<'_>) -> HashMap<String, String> {
    let define = |value: String| {
        let (name, text) = value.split_once('=').unwrap_or((&value, ""));
        (name.to_ascii_lowercase(), text.to_owned())
    };
    values(line, Id::Define).into_iter().map(define).collect()
}
