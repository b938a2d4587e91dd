//! `click-uncombine`: one router out of a configuration that has several.

use super::combine::{COMPONENTS, ELEMENTMAP, components};
use super::line::{FILE, HELP, Id, Line, OUTPUT, Source, VERSION};
use super::load::{load, write};
use super::tool::{End, Tool};
use crate::archive::Member;
use crate::clp::{Item, Spec, Takes};
use crate::input::Input;
use crate::transform::{LINK, uncombine};
use lang::Graph;

pub(super) const TOOL: Tool = Tool {
    name: "click-uncombine",
    usage: "[OPTION]... [ROUTERFILE [ROUTERNAME]]",
    about: "Prints one of the routers that 'click-combine' has combined.\n",
    help: "  -n, --name NAME               Print the router called NAME.\n",
    options: &[FILE, HELP, Spec::new("name", Some('n'), Id::Name, Takes::Text), OUTPUT, VERSION],
    run,
};

fn run(line: &Line<'_>) -> Result<(), End> {
    let (input, name) = arguments(line)?;
    let file = input.name().to_owned();
    let loaded = load(line, &Source::without_parameters(input))?;
    let failed = |message: String| {
        line.complain(&message);
        Err(End::Failed)
    };
    let Some(mut names) = components(&loaded.archive) else {
        return failed(format!("{file}: not created by 'click-combine' (no '{COMPONENTS}')"));
    };
    let Some(name) = name else {
        return Err(line.fail("no component specified"));
    };
    let mut graph: Graph = loaded.expanded;
    // Routers inside of others come out of these first.
    for part in name.split('/') {
        if !names.iter().any(|name| name == part) {
            return failed(format!("{file}: no '{name}' component"));
        }
        graph = match uncombine(&graph, part) {
            Ok(graph) => graph,
            Err(link) => return failed(format!("RouterLink '{link}' has strange configuration")),
        };
        let inner = |name: &String| Some(name.strip_prefix(part)?.strip_prefix('/')?.to_owned());
        names = names.iter().filter_map(inner).collect();
    }
    let mut archive: Vec<Member> = loaded.archive;
    let linked = graph.elements.iter().any(|element| element.class == LINK);
    archive.retain(|member| {
        member.name() != COMPONENTS.as_bytes() && (linked || member.name() != ELEMENTMAP.as_bytes())
    });
    if !names.is_empty() {
        let list: String = names.iter().map(|name| format!("{name}\n")).collect();
        archive.push(Member::new(COMPONENTS, 0o600, list.into_bytes()));
    }
    write(line, &graph, &archive)
}

/// The configuration and the router's name.
fn arguments(line: &Line<'_>) -> Result<(Input, Option<String>), End> {
    let (mut file, mut name): (Option<String>, Option<String>) = (None, None);
    let twice = |what: &str| Err(End::Usage(format!("{what} specified twice")));
    for item in &line.items {
        match item {
            Item::Option { id: Id::File, .. } if file.is_some() => return twice("combined router"),
            Item::Option { id: Id::File, value, .. } => file.clone_from(value),
            Item::Option { id: Id::Name, .. } if name.is_some() => return twice("component name"),
            Item::Option { id: Id::Name, value, .. } => name.clone_from(value),
            Item::Option { .. } => {}
            Item::Word(word) if file.is_none() => file = Some(word.clone()),
            Item::Word(_) if name.is_some() => return twice("component name"),
            Item::Word(word) => name = Some(word.clone()),
        }
    }
    Ok((file.map_or(Input::Stdin, Input::named), name))
}
