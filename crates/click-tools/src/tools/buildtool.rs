//! `click-buildtool`: says what the program has. Its other commands make or find C++ and are refused.

use super::line::{Id, Line, VERSION};
use super::load::write_text;
use super::{End, Tool};
use crate::clp::{Item, Spec, Takes};
use crate::input::Input;
use std::collections::BTreeSet;

pub(super) const TOOL: Tool = Tool {
    name: "click-buildtool",
    usage: "provides [OPTION]... [REQUIREMENT]...\n   or: click-buildtool prefix",
    about: "\
'provides' succeeds if the program has all these element classes and features, so
that scripts can ask; 'prefix' prints the directory that the program is installed in.
Whatever builds packages in C++ fails.
",
    help: "  -q, --query                   Print all classes and features, a line each.
  -l, --print                   Print 1 if all requirements are met, 0 otherwise.
  -r, --provide REQUIREMENTS    Take these as met.
  -e, --elementmap FILE         Take what an element map in XML lists as met.
  -                             Read requirements from standard input as well.
",
    options: &[
        Spec::new("elementmap", Some('e'), Id::Elementmap, Takes::Text),
        Spec::new("help", Some('h'), Id::Help, Takes::Nothing),
        Spec::new("print", Some('l'), Id::Print, Takes::Nothing),
        Spec::new("provide", Some('r'), Id::Provide, Takes::Text),
        Spec::new("query", Some('q'), Id::Query, Takes::Nothing),
        Spec::new("verbose", Some('V'), Id::Verbose, Takes::Nothing),
        VERSION,
    ],
    run,
};

/// What Click and FastClick call a feature, as far as it is one of this program: its driver, batches of packets, flow managers,
/// several threads, and groups of elements.
const FEATURES: &[&str] = &[
    "analysis",
    "batch",
    "flow",
    "int64",
    "ip6",
    "linux",
    "umultithread",
    "userlevel",
    std::env::consts::ARCH,
];

/// Drivers, which an element map names although they are no features of its package.
const DRIVERS: [&str; 4] = ["userlevel", "linuxmodule", "bsdmodule", "ns"];

fn run(line: &Line<'_>) -> Result<(), End> {
    let place = line.items.iter().position(|item| matches!(item, Item::Word(_)));
    let (before, rest) = line.items.split_at(place.unwrap_or(line.items.len()));
    if before.iter().any(|item| !matches!(item, Item::Option { id: Id::Verbose, .. })) {
        return Err(End::Usage("options come after the command".to_owned()));
    }
    let Some((Item::Word(command), arguments)) = rest.split_first() else {
        return Err(End::Usage("command expected".to_owned()));
    };
    match command.as_str() {
        "provides" => provides(line, arguments),
        "prefix" if arguments.is_empty() => write_text(line, prefix() + "\n"),
        "prefix" => Err(End::Usage("'prefix' takes no arguments".to_owned())),
        "findelem" | "elem2make" | "elem2export" | "elem2package" | "findpackage" | "quietlink"
        | "kversion" | "kbuild" | "makepackage" => Err(line.fail(
            "cannot build packages in C++: write elements in Rust, as docs/src/write-an-element.md shows",
        )),
        _ => Err(End::Usage(format!("unknown command '{command}'"))),
    }
}

fn provides(line: &Line<'_>, arguments: &[Item<Id>]) -> Result<(), End> {
    let mut there: BTreeSet<String> =
        FEATURES.iter().copied().chain(line.classes().names()).map(str::to_owned).collect();
    let mut wanted = Vec::new();
    let (mut query, mut answer) = (false, false);
    for item in arguments {
        match item {
            Item::Option { id: Id::Query, .. } => query = true,
            Item::Option { id: Id::Print, .. } => answer = true,
            Item::Option { id: Id::Provide, value, .. } => {
                there.extend(words(value.as_deref().unwrap_or("")))
            }
            Item::Option { id: Id::Elementmap, value, .. } => {
                there.extend(listed(line, value.as_deref().unwrap_or("")));
            }
            Item::Word(word) if word == "-" => wanted.extend(words(&read(line, "-"))),
            Item::Word(word) => wanted.extend(words(word)),
            Item::Option { .. } => return Err(End::Usage("'provides' does not take this option".to_owned())),
        }
    }
    let met = wanted.iter().all(|word| there.contains(word));
    let mut text = String::new();
    if query {
        text.extend(there.iter().map(|name| format!("{name}\n")));
    }
    if answer {
        text.push_str(if met { "1\n" } else { "0\n" });
    }
    write_text(line, text)?;
    if met { Ok(()) } else { Err(End::Failed) }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The directory above that of the program: `/usr/local` if it lies in `/usr/local/bin`.
fn prefix() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let above = program.parent().and_then(std::path::Path::parent);
    above.map_or_else(|| "/usr/local".to_owned(), |above| above.display().to_string())
}

/// A file, or standard input; what cannot be read is empty, and said.
fn read(line: &Line<'_>, file: &str) -> String {
    match line.host.read(&Input::named(file.to_owned())) {
        Ok((text, _)) => text.text,
        Err(message) => {
            line.say(&message);
            String::new()
        }
    }
}

/// What an element map lists: the classes of its entries, and what the package and they provide besides.
fn listed(line: &Line<'_>, file: &str) -> Vec<String> {
    let text = read(line, file);
    let tags = text.split('<').filter(|tag| tag.starts_with("entry ") || tag.starts_with("elementmap "));
    let mut names: Vec<String> =
        tags.flat_map(|tag| ["name", "provides"].map(|name| attribute(tag, name))).flat_map(words).collect();
    names.retain(|name| !DRIVERS.contains(&name.as_str()));
    names
}

/// The value of an attribute of a tag, empty if it has none.
fn attribute<'a>(tag: &'a str, name: &str) -> &'a str {
    let value = tag.split_once(&format!(" {name}=\"")).map_or("", |(_, value)| value);
    value.split_once('"').map_or("", |(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_there_once() {
        let mut seen = BTreeSet::new();
        assert!(FEATURES.iter().all(|name| seen.insert(name)));
    }

    #[test]
    fn an_attribute_is_found_by_its_name() {
        let tag = "entry name=\"Foo\" docname=\"Bar\" provides=\"a b\"/>";
        assert_eq!(
            ["name", "docname", "provides", "x"].map(|name| attribute(tag, name)),
            ["Foo", "Bar", "a b", ""]
        );
    }
}
