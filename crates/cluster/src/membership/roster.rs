//! Which nodes there are.
//!
//! ```text
//! # anything behind '#' is a comment
//! version 3
//! node 0 alpha ports 1
//! node 1 beta ports 2
//! node 2 gamma ports 1 drain
//! ```

use crate::{NodeId, PortId};
use std::collections::{BTreeMap, BTreeSet};

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is called.
    pub name: String,
    /// Its external ports.
    pub ports: PortId,
    /// Whether it shall drain.
    pub drain: bool,
}

/// The nodes of the cluster, as of a version. Nodes that a node has no cable to do not concern it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    /// The version: a later one has a larger number.
    pub version: u64,
    /// The nodes, by number.
    pub nodes: BTreeMap<NodeId, Entry>,
}

impl Roster {
    /// Nodes 0 to `nodes` - 1 with one port each.
    pub fn simple(nodes: NodeId) -> Roster {
        let entry = |node| (node, Entry { name: format!("n{node}"), ports: 1, drain: false });
        Roster { version: 1, nodes: (0..nodes).map(entry).collect() }
    }

    /// The roster, if the nodes that it names are among the `nodes` of the cluster, whose numbers are below that.
    ///
    /// # Errors
    /// Every node that is not.
    pub fn within(self, nodes: usize) -> Result<Roster, Vec<String>> {
        let strange = self.nodes.keys().filter(|&&node| usize::from(node) >= nodes);
        let errors: Vec<String> = strange
            .map(|node| format!("node {node}: the cluster has nodes 0 to {} only", nodes.max(1) - 1))
            .collect();
        if errors.is_empty() { Ok(self) } else { Err(errors) }
    }

    /// Reads a roster.
    ///
    /// # Errors
    /// Every mistake, each with its line.
    pub fn parse(text: &str) -> Result<Roster, Vec<String>> {
        let (mut roster, mut version) = (Roster { version: 0, nodes: BTreeMap::new() }, None);
        let (mut names, mut errors) = (BTreeSet::new(), Vec::new());
        for (number, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = content.split_whitespace().collect();
            let done = match words[..] {
                [] => Ok(()),
                ["version", word] if version.is_none() => word
                    .parse()
                    .map(|number| version = Some(number))
                    .map_err(|_| format!("'{word}' is not a number")),
                ["version", _] => Err("a second 'version'".to_owned()),
                ["node", ref rest @ ..] => roster.add(rest, &mut names),
                _ => Err(format!(
                    "'version N' or 'node N NAME ports N [drain]' expected, not '{}'",
                    content.trim()
                )),
            };
            errors.extend(done.err().map(|error| format!("line {}: {error}", number + 1)));
        }
        match version {
            Some(version) => roster.version = version,
            None if errors.is_empty() => errors.push("no 'version' line".to_owned()),
            None => (),
        }
        if roster.nodes.is_empty() && errors.is_empty() {
            errors.push("no 'node' line".to_owned());
        }
        if errors.is_empty() { Ok(roster) } else { Err(errors) }
    }

    fn add<'t>(&mut self, words: &[&'t str], names: &mut BTreeSet<&'t str>) -> Result<(), String> {
        let (fields, drain) = match words {
            [fields @ .., "drain"] => (fields, true),
            fields => (fields, false),
        };
        let &[number, name, "ports", ports] = fields else {
            return Err("'node N NAME ports N [drain]' expected".to_owned());
        };
        let node: NodeId = number.parse().map_err(|_| format!("'{number}' is not a node number"))?;
        let ports = ports.parse().map_err(|_| format!("'{ports}' is not a number of ports"))?;
        if !names.insert(name) {
            return Err(format!("a second node named '{name}'"));
        }
        match self.nodes.insert(node, Entry { name: name.to_owned(), ports, drain }) {
            Some(_) => Err(format!("a second node {node}")),
            None => Ok(()),
        }
    }

    /// The roster as text.
    pub fn render(&self) -> String {
        let line = |(node, entry): (&NodeId, &Entry)| {
            let drain = if entry.drain { " drain" } else { "" };
            format!("node {node} {} ports {}{drain}\n", entry.name, entry.ports)
        };
        format!("version {}\n", self.version) + &self.nodes.iter().map(line).collect::<String>()
    }
}

/// Keeps the last good roster: what comes from a file or a server may be broken, late, or missing, and nothing changes then.
#[derive(Debug)]
pub struct Holder {
    current: Roster,
}

impl Holder {
    /// Starts with a roster.
    pub fn new(roster: Roster) -> Holder {
        Holder { current: roster }
    }

    /// The last good one.
    pub fn current(&self) -> &Roster {
        &self.current
    }

    /// A text that may be a newer roster; whether it is.
    ///
    /// # Errors
    /// Why it is not taken: mistakes in it, or an older version, or the same version with other contents.
    pub fn offer(&mut self, text: &str) -> Result<bool, Vec<String>> {
        let roster = Roster::parse(text)?;
        if roster == self.current {
            return Ok(false);
        }
        if roster.version <= self.current.version {
            let (new, old) = (roster.version, self.current.version);
            return Err(vec![format!(
                "version {new} does not follow version {old}: raise it with every change"
            )]);
        }
        self.current = roster;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "version 3 # as of today\n\nnode 0 alpha ports 1\nnode 7 beta ports 300 drain\n";

    /// A roster is read and written, and every mistake in another is told with its line.
    #[test]
    fn a_roster_is_read_and_written_and_mistakes_named() {
        let roster = Roster::parse(GOOD).expect("good");
        assert_eq!((roster.nodes[&7].ports, roster.nodes[&7].drain), (300, true));
        assert_eq!(Roster::parse(&roster.render()), Ok(roster));
        let errors = Roster::parse("version x\nnode 0 a ports 1\nnode 0 b ports 1\nnode 1 b ports 1\nnod")
            .unwrap_err();
        assert_eq!(
            errors[..3],
            ["line 1: 'x' is not a number", "line 3: a second node 0", "line 4: a second node named 'b'"]
        );
        assert_eq!(errors.len(), 4);
        assert_eq!(Roster::parse("").unwrap_err(), ["no 'version' line"]);
        let nine = Roster::parse("version 1\nnode 9 a ports 1").expect("a roster, of a large cluster");
        assert_eq!(nine.clone().within(4), Err(vec!["node 9: the cluster has nodes 0 to 3 only".to_owned()]));
        assert_eq!(nine.clone().within(10), Ok(nine));
        assert!(Roster::parse("version 1\nnode 65535 a ports 1").is_ok());
    }

    /// What is broken or old changes nothing.
    #[test]
    fn the_last_good_one_stays() {
        let mut holder = Holder::new(Roster::parse(GOOD).expect("good"));
        assert!(holder.offer("rubbish").is_err());
        assert!(holder.offer("version 2\nnode 0 alpha ports 1\n").is_err());
        assert!(holder.offer("version 3\nnode 0 alpha ports 1\n").is_err());
        assert_eq!((holder.offer(GOOD), holder.current().nodes.len()), (Ok(false), 2));
        assert_eq!(
            (holder.offer("version 4\nnode 0 alpha ports 1\n"), holder.current().nodes.len()),
            (Ok(true), 1)
        );
    }
}
