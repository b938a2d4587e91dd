//! An element of a configuration, without its instances.

use crate::configuration::class::Described;
use lang::{Landmark, Span};

/// A port of an element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Port {
    /// Push, or pull.
    pub push: bool,
    /// The ports at the other end: element and port.
    pub peers: Vec<(usize, usize)>,
}

/// An element of the configuration, before and beside its instances.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its full name.
    pub name: String,
    /// Its class.
    pub class: &'static Described,
    /// Its configuration string.
    pub config: String,
    /// Where it was declared.
    pub landmark: Landmark,
    /// Where it was declared, in bytes.
    pub span: Span,
    /// Its inputs in use.
    pub inputs: Vec<Port>,
    /// Its outputs in use.
    pub outputs: Vec<Port>,
    /// The workers that have an instance of it.
    pub workers: Vec<usize>,
    /// The one of them that its own work is for, if it has work of its own.
    pub home: usize,
}

impl Node {
    /// `name :: Class`, as messages say it.
    pub fn declaration(&self) -> String {
        format!("{} :: {}", self.name, self.class.name)
    }

    /// A message of the element, which names it, and the reason if there is one.
    pub(crate) fn in_its_name(&self, message: String, reason: Option<&str>) -> String {
        in_the_name_of(&self.name, self.class.name, message, reason)
    }
}

/// A message of an element with the element's name and the reason. Some of Click's messages have the name already: in a declaration somewhere in the
/// first line, or at the beginning, with a colon. An indented message belongs to the one before.
fn in_the_name_of(name: &str, class: &str, mut message: String, reason: Option<&str>) -> String {
    if let Some(reason) = reason.filter(|reason| !message.contains(reason)) {
        message.extend([": ", reason]);
    }
    let first = message.lines().next().unwrap_or_default();
    let begins_with =
        |word: &str| first.strip_prefix(word).is_some_and(|rest| rest.trim_start().starts_with(':'));
    if first.starts_with(' ') || begins_with(name) || first.contains(&format!("{name} :: {class}")) {
        message
    } else if begins_with(class) {
        format!("{name} :: {message}")
    } else {
        format!("{name} :: {class}: {message}")
    }
}

#[cfg(test)]
mod tests {
    use super::in_the_name_of;

    #[test]
    fn messages_name_their_element() {
        for (message, reason, expected) in [
            ("odd", None, "a/c :: Check: odd"),
            ("odd", Some("too long"), "a/c :: Check: odd: too long"),
            ("odd: too long", Some("too long"), "a/c :: Check: odd: too long"),
            ("Check: odd", Some("why"), "a/c :: Check: odd: why"),
            ("Checked: odd", None, "a/c :: Check: Checked: odd"),
            ("a/c: odd", None, "a/c: odd"),
            ("a/c :: Check : odd", None, "a/c :: Check : odd"),
            ("a/co: odd", None, "a/c :: Check: a/co: odd"),
            ("f:1: While adding 'a/c :: Check':\n  odd", None, "f:1: While adding 'a/c :: Check':\n  odd"),
            ("odd\na/c :: Check", None, "a/c :: Check: odd\na/c :: Check"),
            ("  more", None, "  more"),
            ("", None, "a/c :: Check: "),
        ] {
            assert_eq!(in_the_name_of("a/c", "Check", message.to_owned(), reason), expected);
        }
    }
}
