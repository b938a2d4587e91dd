//! `clique elements`: the element classes and their manual.

use crate::status::Status;
use crate::{console, remedies, report};
use router::{Class, Classes};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Arguments of `clique elements`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Print the manual of this class; without it, list all classes.
    #[arg(value_name = "CLASS")]
    class: Option<String>,

    /// Print the manual of this class, or of all, in Markdown.
    #[arg(long)]
    markdown: bool,

    /// Write the reference of all classes as pages of Markdown, one a family, into this directory.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["class", "markdown"])]
    book: Option<PathBuf>,

    /// Print what is known of this class, or of all, in JSON.
    #[arg(long, conflicts_with_all = ["markdown", "book"])]
    json: bool,
}

/// Runs `clique elements`.
pub(crate) fn run(args: &Args, known: &Classes) -> Status {
    if let Some(directory) = &args.book {
        return write_book(directory);
    }
    let form = if args.markdown { markdown } else { page };
    let Some(name) = &args.class else {
        if args.json {
            return report::print_json(&known.iter().map(json).collect());
        }
        let text = if args.markdown { known.iter().map(markdown).collect() } else { list(known) };
        return console::write_result(None, &text);
    };
    if let Some(class) = known.get(name) {
        if args.json {
            return report::print_json(&json(class));
        }
        return console::write_result(None, &form(class));
    }
    let similar = || lang::similar(name, known.names()).map(|similar| format!("; did you mean '{similar}'?"));
    let remedy = remedies::find(name).map(|remedy| format!("; {remedy}"));
    let advice = remedy.or_else(similar).unwrap_or_default();
    console::complain(&format!("unknown element class '{name}'{advice}\n"));
    Status::Usage
}

/// All classes, each with what it does.
fn list(known: &Classes) -> String {
    let width = known.names().map(str::len).max().unwrap_or(0);
    known.iter().map(|class| format!("{:width$}  {}\n", class.name, summary(class))).collect()
}

/// What programs may want to know of a class; ports, processing and flow in Click's notation.
fn json(class: &Class) -> Value {
    json!({
        "class": class.name,
        "alias_of": class.alias_of,
        "aliases": elements::aliases_of(class.name),
        "summary": summary(class),
        "ports": class.ports,
        "processing": class.processing,
        "flow": class.flow,
        "residency": format!("{:?}", class.residency).to_lowercase(),
        "makes": class.makes,
        "absorbs": class.absorbs,
        "holds": class.holds,
        "keeps": class.keeps.map(|keeps| keeps.to_string()),
        "manual": page(class),
    })
}

/// The lines of a section of the manual, without its heading.
fn section(class: &Class, heading: &str) -> impl Iterator<Item = &'static str> {
    let heading = format!("# {heading}");
    lines(class).skip_while(move |line| *line != heading).skip(1).take_while(|line| !line.starts_with("# "))
}

/// The names of the arguments that the manual describes.
pub(crate) fn arguments(class: &Class) -> impl Iterator<Item = &'static str> {
    let quoted = section(class, "Arguments").flat_map(|line| line.split('`').skip(1).step_by(2));
    quoted.filter(|word| word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_'))
}

/// What the manual says of a handler; nothing of one that all elements have.
pub(crate) fn handler(class: &Class, name: &str) -> Option<String> {
    let mut items: Vec<String> = Vec::new();
    for line in section(class, "Handlers").filter(|line| !line.is_empty()) {
        match (line.strip_prefix("- "), items.last_mut()) {
            (None, Some(item)) => item.extend([" ", line.trim()]),
            (text, _) => items.push(text.unwrap_or(line).to_owned()),
        }
    }
    let quoted = format!("`{name}`");
    // Several handlers may share an item, each with a sentence that begins with names: "`a`, `b` (read): what. `c` (write): what".
    let mut parts = items.iter().flat_map(|item| sentences(item));
    let text = parts.find(|part| part.split(": ").next().is_some_and(|names| names.contains(&quoted)))?;
    let (_, what) = text.split_once(": ").unwrap_or(("", text));
    Some(what.trim().to_owned())
}

/// The parts of an item that begin with names of handlers.
fn sentences(item: &str) -> Vec<&str> {
    let begins = |at: &usize| {
        let (names, rest) = item[*at..].split_once(" (").unwrap_or(("", ""));
        let kinds = ["read", "write"];
        names.starts_with('`')
            && names.split(", ").all(|name| name.starts_with('`') && name.ends_with('`'))
            && kinds.iter().any(|kind| rest.starts_with(kind))
    };
    let starts = item.match_indices(". `").map(|(at, _)| at + 2);
    let mut starts: Vec<usize> = std::iter::once(0).chain(starts.filter(begins)).collect();
    starts.push(item.len());
    starts.windows(2).map(|pair| &item[pair[0]..pair[1]]).collect()
}

/// What a class is for, in one sentence.
pub(crate) fn sentence(class: &Class) -> String {
    summary(class)
}

/// What the manual of another name says first.
fn real_name(class: &Class) -> String {
    let Some(name) = class.alias_of else { return String::new() };
    format!("{} is another name of {name}.\n\n", class.name)
}

/// What the manual says of a class whose elements do more than hand packets on or drop them: a section with this heading.
fn packets(class: &Class, heading: &str) -> String {
    let told = [("Makes", class.makes), ("Absorbs", class.absorbs), ("Holds", class.holds)];
    let told = told.iter().filter(|(_, what)| !what.is_empty());
    let mut told: Vec<String> = told.map(|(verb, what)| format!("{verb} {what}.")).collect();
    told.extend(class.keeps.map(|keeps| format!("Keeps at most {keeps}.")));
    if told.is_empty() { String::new() } else { format!("\n{heading}\n{}\n", told.join(" ")) }
}

/// What the manual says last of a class that has other names: a section with this heading.
fn other_names(class: &Class, heading: &str) -> String {
    let aliases = elements::aliases_of(class.name);
    if aliases.is_empty() { String::new() } else { format!("\n{heading}\n{}\n", aliases.join(", ")) }
}

/// What the manual of a class says whose elements take new arguments while they run.
const LIVE: &str = "- `config` (write): replaces all arguments; the element keeps its state.";

/// The lines of a class's documentation: the comment that its file starts with.
fn lines(class: &Class) -> impl Iterator<Item = &'static str> {
    let comment = class.doc.lines().map_while(|line| line.strip_prefix("//!"));
    let mut lines: Vec<&str> = comment.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    if class.live {
        add_live(&mut lines);
    }
    lines.into_iter()
}

/// Adds the handler that elements of live classes have to those of the manual.
fn add_live(lines: &mut Vec<&'static str>) {
    if lines.iter().any(|line| line.starts_with("- `config` (write")) {
        return; // it says more
    }
    let find = |heading| lines.iter().position(|line| *line == heading);
    match (find("# Handlers"), find("# Example")) {
        (Some(at), _) if lines.get(at + 1) == Some(&"None.") => lines[at + 1] = LIVE,
        (Some(at), _) => {
            let end = lines[at..].iter().position(|line| line.is_empty()).map_or(lines.len(), |len| at + len);
            lines.insert(end, LIVE);
        }
        (None, Some(at)) => {
            lines.splice(at..at, ["# Handlers", LIVE, ""]);
        }
        (None, None) => lines.extend(["", "# Handlers", LIVE]),
    }
}

/// The first sentence of the documentation.
fn summary(class: &Class) -> String {
    let paragraph: Vec<&str> = lines(class).take_while(|line| !line.is_empty()).collect();
    let mut text = paragraph.join(" ");
    if let Some(end) = text.find(". ") {
        text.truncate(end + 1);
    }
    text
}

/// The manual page: headings in capitals, code indented.
fn page(class: &Class) -> String {
    let mut text = format!("{}\n\n{}", class.name.to_uppercase(), real_name(class));
    let mut code = false;
    for line in lines(class) {
        if line.starts_with("```") {
            code = !code;
        } else if code && !line.is_empty() {
            text.extend(["    ", line, "\n"]);
        } else if let Some(heading) = line.strip_prefix("# ").filter(|_| !code) {
            text.extend([&heading.to_uppercase(), "\n"]);
        } else {
            text.extend([line, "\n"]);
        }
    }
    text + &packets(class, "PACKETS") + &other_names(class, "OTHER NAMES")
}

/// The manual page as a section of a document: the class is a heading, its parts are headings below it.
fn markdown(class: &Class) -> String {
    let mut text = format!("## {}\n\n{}", class.name, real_name(class));
    let mut code = false;
    for line in lines(class) {
        code ^= line.starts_with("```");
        if line.starts_with('#') && !code {
            text.push_str("##");
        }
        text.extend([line, "\n"]);
    }
    text + &packets(class, "### Packets") + &other_names(class, "### Other names") + "\n"
}

/// Titles of families, each by a class that belongs to it.
const TITLES: &[(&str, &str)] = &[
    ("InfiniteSource", "Sources"),
    ("Discard", "Sinks"),
    ("Counter", "Counting, printing, bytes"),
    ("Tee", "Switches, tees, paint"),
    ("Queue", "Queues and rates"),
    ("PrioSched", "Scheduling"),
    ("Classifier", "Classification"),
    ("EtherEncap", "Ethernet and VLAN"),
    ("CheckIPHeader", "IPv4"),
    ("CheckIP6Header", "IPv6"),
    ("WifiEncap", "Wireless networks"),
    ("IPsec", "IPsec gateways"),
    ("ESPEncap", "IPsec"),
    ("ARPQuerier", "Neighbours: ARP and neighbour discovery"),
    ("IPRewriter", "Address translation"),
    ("ConnTrack", "Connection tracking"),
    ("FlowExporter", "Accounting"),
    ("IPLoadBalancer", "Load balancers"),
    ("TCPIn", "TCP and HTTP streams"),
    ("StringMatcher", "Strings and regular expressions"),
    ("RadixIPsecLookup", "Click's IPsec"),
    ("RadixIPLookup", "Route tables"),
    ("FlowIPManager", "Flows"),
    ("FromDump", "Captures and interfaces in memory"),
    ("FromDevice", "Network interfaces"),
    ("AverageCounter", "Measurement"),
    ("ToIPSummaryDump", "Packet summaries"),
    ("Script", "Scripts and information"),
    ("VLBEncap", "Cluster"),
    ("ControlSocket", "Control"),
];

/// The title of families that have none.
const UNTITLED: &str = "Further elements";

/// The title of a family.
fn title(family: &[&Class]) -> &'static str {
    let found = TITLES.iter().find(|(known, _)| family.iter().any(|class| class.name == *known));
    found.map_or(UNTITLED, |(_, title)| title)
}

/// Writes the reference, a page for each family, named after its title.
fn write_book(directory: &Path) -> Status {
    for family in elements::families().into_iter().chain([control::CLASSES]) {
        let file = directory.join(format!("{}.md", slug(title(family))));
        let name = file.display().to_string();
        let status = console::write_result(Some(&name), &family_page(family));
        if status != Status::Fine {
            return status;
        }
    }
    Status::Fine
}

/// A title as a file's name: its words in lower case, with hyphens between them.
fn slug(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// A family's page: what its classes do, a line each, then their manuals.
fn family_page(family: &[&Class]) -> String {
    let mut classes = family.to_vec();
    classes.sort_by_key(|class| class.name);
    let mut text = format!("# {}\n\n", title(family));
    for class in &classes {
        text.push_str(&format!("- [{}](#{}): {}\n", class.name, class.name.to_lowercase(), summary(class)));
    }
    text.push('\n');
    classes.into_iter().for_each(|class| text.push_str(&markdown(class)));
    text.truncate(text.trim_end().len());
    text + "\n"
}

#[cfg(test)]
mod tests {
    #[test]
    fn handlers_are_described() {
        let known = crate::classes(&[]);
        let said = |class: &str, name: &str| super::handler(known.get(class).unwrap(), name);
        assert_eq!(said("RadixIPLookup", "table").as_deref(), Some("all routes, or those inside a prefix."));
        assert_eq!(said("RadixIPLookup", "length").as_deref(), Some("how many there are."));
        assert_eq!(said("RadixIPLookup", "nothing"), None);
        let all = known.iter().filter(|class| super::section(class, "Handlers").count() > 1).count();
        assert!(all > 100, "{all}");
    }

    #[test]
    fn families_have_titles() {
        let untitled =
            elements::families().into_iter().filter(|family| super::title(family) == super::UNTITLED);
        assert_eq!(untitled.map(|family| family[0].name).collect::<Vec<_>>(), [""; 0]);
    }
}
