//! `click-flatten`: a configuration without compound elements.

use super::line::{CLICKPATH, EXPRESSION, FILE, HELP, Id, Line, OUTPUT, VERSION};
use super::load::{load, write_text, write_wanted};
use super::tool::{End, Tool};
use crate::clp::{Item, Spec, Takes};
use std::collections::BTreeSet;

pub(super) const TOOL: Tool = Tool {
    name: "click-flatten",
    usage: "[OPTION]... [ROUTERFILE]",
    about: "Prints a configuration without compound elements.\n",
    help: "  -c, --classes                 Print the element classes that it uses.
  -n, --names                   Print the names of its elements.
  -d, --declarations            Print the declarations of its elements.
      --config                  Print the configuration only, not an archive.
      --expand-vars             Put values in the place of variables.
",
    options: &[
        Spec::new("classes", Some('c'), Id::Classes, Takes::Nothing),
        CLICKPATH,
        Spec::new("config", None, Id::Config, Takes::Nothing),
        Spec::new("decls", Some('d'), Id::Declarations, Takes::Nothing),
        Spec::new("declarations", Some('d'), Id::Declarations, Takes::Nothing),
        Spec::new("elements", Some('n'), Id::Names, Takes::Nothing),
        Spec::new("expand-vars", None, Id::ExpandVariables, Takes::Nothing).negatable(),
        EXPRESSION,
        FILE,
        HELP,
        Spec::new("names", Some('n'), Id::Names, Takes::Nothing),
        OUTPUT,
        VERSION,
    ],
    run,
};

fn run(line: &Line<'_>) -> Result<(), End> {
    let loaded = load(line, &line.source()?)?;
    let graph = if line.has(Id::ExpandVariables) { loaded.expanded } else { loaded.graph };
    let elements = graph.elements.iter();
    match action(line) {
        Some(Id::Classes) => {
            let classes: BTreeSet<&str> = elements.map(|element| element.class.as_str()).collect();
            write_text(line, lines(classes))
        }
        Some(Id::Names) => write_text(line, sorted(elements.map(|element| element.name.clone()))),
        Some(Id::Declarations) => {
            write_text(line, sorted(elements.map(|element| format!("{} :: {}", element.name, element.class))))
        }
        _ => write_wanted(line, &graph, &loaded.archive),
    }
}

/// What is asked for, the last time that something is.
fn action(line: &Line<'_>) -> Option<Id> {
    const ACTIONS: [Id; 4] = [Id::Classes, Id::Names, Id::Declarations, Id::Config];
    line.items.iter().rev().find_map(|item| match item {
        Item::Option { id, .. } => ACTIONS.contains(id).then_some(*id),
        Item::Word(_) => None,
    })
}

fn sorted(texts: impl Iterator<Item = String>) -> String {
    let mut texts: Vec<String> = texts.collect();
    texts.sort_unstable();
    lines(&texts)
}

fn lines(texts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    texts.into_iter().map(|text| format!("{}\n", text.as_ref())).collect()
}
