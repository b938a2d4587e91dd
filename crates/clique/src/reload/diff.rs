//! What is different between two configurations, and what of the old one's state no element of the new one takes over.

use super::request::{Amount, Arguments, Difference, Lost, Named};
use crate::report;
use lang::secrets::KeyNames;
use lang::{Graph, conf};
use router::metric::Kind;
use router::{Call, Classes, Handle, Survey};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What elements measure that says how much there is room for, or was, and not what there is.
const NO_STATE: [&str; 3] =
    ["clique_flow_capacity", "clique_queue_capacity_packets", "clique_queue_highwater_packets"];

/// State that elements do not measure but tell by a handler: class, handler, and what it is.
const TOLD: [(&str, &str, &str); 1] = [(
    "ESPEncap",
    "sequence",
    "The tunnel's sequence number, without which numbers are used twice with one key",
)];

/// How the names of elements begin that the command line asks for.
const DOORS: [&str; 2] = ["click_driver@@", "clique@@"];

/// The elements of a configuration by name, without those of the command line.
fn elements(graph: &Graph) -> BTreeMap<&str, &lang::Element> {
    let own = |element: &&lang::Element| !DOORS.iter().any(|door| element.name.starts_with(door));
    graph.elements.iter().filter(own).map(|element| (element.name.as_str(), element)).collect()
}

/// What is known of a configuration when its elements are shown: the classes, and the variables that have keys.
struct Showing<'k>(&'k Classes, KeyNames);

impl Showing<'_> {
    /// An element's configuration string as its class shows it, without keys.
    fn shown(&self, element: &lang::Element) -> String {
        let class = self.0.get(&element.class);
        class.map_or_else(|| element.config.clone(), |class| class.shown(&element.config, &self.1))
    }

    /// The arguments of an element. Classes hide parts of them, and leave none out.
    fn pairs(&self, element: &lang::Element) -> Vec<Pair> {
        conf::split_args(&element.config).into_iter().zip(conf::split_args(&self.shown(element))).collect()
    }
}

/// What `new` has that `old` has not, and the other way round. Keys that `known` classes hide are compared, and not shown.
pub(super) fn difference(old: &Graph, new: &Graph, known: &Classes) -> Difference {
    let (was, is) = (elements(old), elements(new));
    let [before_it, behind_it] = [old, new].map(|graph| Showing(known, report::key_names(graph)));
    let named = |element: &lang::Element, showing: &Showing<'_>| Named {
        name: element.name.clone(),
        class: element.class.clone(),
        arguments: showing.shown(element),
    };
    let missing = |from: &BTreeMap<&str, &lang::Element>,
                   to: &BTreeMap<&str, &lang::Element>,
                   showing: &Showing<'_>| {
        let gone = |(name, element): (&&str, &&lang::Element)| {
            let same = to.get(name).is_some_and(|other| other.class == element.class);
            (!same).then(|| named(element, showing))
        };
        from.iter().filter_map(gone).collect()
    };
    let arguments = |(name, before): (&&str, &&lang::Element)| {
        let after =
            is.get(name).filter(|after| after.class == before.class && after.config != before.config)?;
        let (removed, added) = changed(before_it.pairs(before), behind_it.pairs(after));
        let some = !removed.is_empty() || !added.is_empty();
        some.then(|| Arguments { name: (*name).to_owned(), class: before.class.clone(), removed, added })
    };
    let (from, to) = (connections(old), connections(new));
    Difference {
        elements_added: missing(&is, &was, &behind_it),
        elements_removed: missing(&was, &is, &before_it),
        arguments: was.iter().filter_map(arguments).collect(),
        connections_added: to.difference(&from).cloned().collect(),
        connections_removed: from.difference(&to).cloned().collect(),
        state_lost: Vec::new(),
    }
}

/// An argument, and what is shown of it.
type Pair = (String, String);

/// What is shown of the arguments that are gone, and of those that are new.
fn changed(old: Vec<Pair>, new: Vec<Pair>) -> (Vec<String>, Vec<String>) {
    let (mut removed, mut added) = (old, Vec::new());
    for (argument, shown) in new {
        match removed.iter().position(|(other, _)| *other == argument) {
            Some(at) => drop(removed.remove(at)),
            None => added.push(shown),
        }
    }
    (removed.into_iter().map(|(_, shown)| shown).collect(), added)
}

/// The connections of a configuration, as they are written.
fn connections(graph: &Graph) -> BTreeSet<String> {
    let line = |connection: &lang::Connection| {
        let name = |port: &lang::Port| &graph.elements[port.element].name;
        let (from, to) = (&connection.from, &connection.to);
        let output = if from.port == 0 { String::new() } else { format!(" [{}]", from.port) };
        let input = if to.port == 0 { String::new() } else { format!("[{}] ", to.port) };
        format!("{}{output} -> {input}{}", name(from), name(to))
    };
    graph.connections.iter().map(line).collect()
}

impl Difference {
    /// Adds what elements of the running router have gathered that no namesake of the same class takes over. Of a router that did not
    /// answer nothing is known.
    pub(super) fn add_lost(&mut self, handle: &Handle, survey: &Survey) {
        let info = handle.info();
        for gone in &self.elements_removed {
            let Some(element) = info.find(&gone.name, None) else { continue };
            let counts = survey.readings.iter().filter(|reading| {
                reading.element == element
                    && !matches!(reading.metric.kind, Kind::Text(_))
                    && !NO_STATE.contains(&reading.metric.name)
                    && reading.value.trim().parse::<f64>().is_ok_and(|value| value != 0.0)
            });
            let amount = |reading: &router::Reading| Amount {
                what: reading.metric.help.trim_end_matches('.').to_owned(),
                value: reading.value.trim().to_owned(),
            };
            let mut amounts: Vec<Amount> = counts.map(amount).collect();
            let told = TOLD.iter().filter(|(class, ..)| *class == gone.class);
            amounts.extend(told.filter_map(|(_, handler, what)| {
                let value = handle.call(Call::read(format!("{}.{handler}", gone.name), "")).ok()?;
                Some(Amount { what: (*what).to_owned(), value: value.trim().to_owned() })
            }));
            let class = info.nodes[element].class;
            let is_measured = survey.readings.iter().any(|reading| {
                let is_gauge = matches!(reading.metric.kind, Kind::Gauge);
                reading.element == element && is_gauge && !NO_STATE.contains(&reading.metric.name)
            });
            if !is_measured && (!class.holds.is_empty() || class.keeps.is_some()) {
                let kept = class.keeps.map(|keeps| keeps.what.to_owned());
                let what = kept.unwrap_or_else(|| class.holds.to_owned());
                amounts.push(Amount { what, value: "perhaps".to_owned() });
            }
            if !amounts.is_empty() {
                let why = self.why_lost(gone);
                self.state_lost.push(Lost {
                    name: gone.name.clone(),
                    class: gone.class.clone(),
                    why,
                    amounts,
                });
            }
        }
    }

    /// Why nothing takes over from an element.
    fn why_lost(&self, gone: &Named) -> String {
        let namesake = self.elements_added.iter().find(|added| added.name == gone.name);
        let mut alike = self.elements_added.iter().filter(|added| added.class == gone.class);
        match (namesake, alike.next(), alike.next()) {
            (Some(namesake), ..) => format!("it becomes a {}", namesake.class),
            (None, Some(other), None) => format!("state does not follow to '{}': names differ", other.name),
            _ => "no element has this name".to_owned(),
        }
    }

    fn is_empty(&self) -> bool {
        *self == Difference::default()
    }

    /// For people, in lines.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if self.is_empty() {
            return "no differences\n".to_owned();
        }
        let element = |sign: &str, named: &Named| match named.arguments.as_str() {
            "" => format!("  {sign} {} :: {}\n", named.name, named.class),
            arguments => format!("  {sign} {} :: {}({})\n", named.name, named.class, short(arguments)),
        };
        let removed = self.elements_removed.iter().map(|named| element("-", named));
        section(&mut text, "elements", removed.chain(self.elements_added.iter().map(|n| element("+", n))));
        section(
            &mut text,
            "arguments",
            self.arguments.iter().map(|changed| {
                let mut lines = format!("  {} :: {}\n", changed.name, changed.class);
                let old = changed.removed.iter().map(|argument| ("-", argument));
                for (sign, argument) in old.chain(changed.added.iter().map(|argument| ("+", argument))) {
                    let _ = writeln!(lines, "    {sign} {}", short(argument));
                }
                lines
            }),
        );
        let old = self.connections_removed.iter().map(|line| format!("  - {line}\n"));
        let new = self.connections_added.iter().map(|line| format!("  + {line}\n"));
        section(&mut text, "connections", old.chain(new));
        section(
            &mut text,
            "state that is lost",
            self.state_lost.iter().map(|lost| {
                let mut lines = format!("  {} :: {} ({})\n", lost.name, lost.class, lost.why);
                for Amount { what, value } in &lost.amounts {
                    let _ = writeln!(lines, "    {value}  {what}");
                }
                lines
            }),
        );
        text
    }
}

fn section(text: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: String = lines.collect();
    if !lines.is_empty() {
        let _ = write!(text, "{title}\n{lines}");
    }
}

/// A configuration string on one line, not longer than a terminal's.
fn short(config: &str) -> String {
    const LONGEST: usize = 100;
    let line = config.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(old: &str, new: &str) -> Difference {
        let graph = |text: &str| lang::parse(text, "config", &[]).graph;
        difference(&graph(old), &graph(new), &elements::classes())
    }

    #[test]
    fn keys_are_not_shown() {
        let with = |key: &str, secret: &str, name: &str| {
            format!(
                "e :: ESPEncap(300, \\<{key}>); i :: IPsec(SA a b 1 aes-gcm key {key}, MTU 1400); v :: VLBNode(0, 2, KEY {secret});
                 {name} :: VLBFly(0, 2, 2, {secret})"
            )
        };
        let text =
            between(&with("00112233445566778899", "one", "x"), &with("99112233445566778800", "other", "y"))
                .text();
        let expected = "elements\n  - x :: VLBFly(0, 2, 2, ***)\n  + y :: VLBFly(0, 2, 2, ***)\narguments\n\
                        \x20 e :: ESPEncap\n    - ***\n    + ***\n\
                        \x20 i :: IPsec\n    - SA a b 1 aes-gcm key ***\n    + SA a b 1 aes-gcm key ***\n\
                        \x20 v :: VLBNode\n    - KEY ***\n    + KEY ***\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn differences_are_found() {
        let found = between(
            "a :: A(1, LIMIT 2) -> b :: B -> [1] c :: C; d :: D; x :: X",
            "c :: C; a :: A(LIMIT 3, 1) -> d :: E -> b :: B; x :: X;",
        );
        assert_eq!(
            found.text(),
            "elements\n  - d :: D\n  + d :: E\narguments\n  a :: A\n    - LIMIT 2\n    + LIMIT 3\n\
             connections\n  - a -> b\n  - b -> [1] c\n  + a -> d\n  + d -> b\n"
        );
    }

    /// Neither places nor blanks nor the sockets of the command line make a difference.
    #[test]
    fn the_same_is_the_same() {
        let found = between(
            "a :: A( 1 ,2) -> b :: B",
            "b::B;\n a :: A(1, 2); a -> b; click_driver@@ControlSocket :: X",
        );
        assert_eq!(found.text(), "no differences\n");
    }
}
