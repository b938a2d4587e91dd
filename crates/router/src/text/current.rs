//! The current configuration strings of elements.
//!
//! A write handler with the name of an argument changes that argument: after `write e.src 1.2.3.4` the handlers
//! `config` and `flatconfig` say `SRC 1.2.3.4`, whatever the configuration said. An element's arguments are recorded
//! when it reads them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The arguments that an element reads: names, and whether they may be given by position; in order.
pub(crate) type Slots = Vec<(&'static str, bool)>;

/// What is known of the arguments of all elements.
#[derive(Default)]
pub(crate) struct Current {
    slots: Mutex<HashMap<usize, Slots>>,
    /// Configuration strings that differ from those in the configuration.
    changed: Mutex<HashMap<usize, String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Current {
    /// Notes the arguments of an element; those that it reads first count.
    pub(crate) fn note(&self, element: usize, slots: impl FnOnce() -> Slots) {
        lock(&self.slots).entry(element).or_insert_with(slots);
    }

    /// The configuration string that an element has now; `config` is that of the configuration.
    pub(crate) fn config(&self, element: usize, config: &str) -> String {
        lock(&self.changed).get(&element).cloned().unwrap_or_else(|| config.to_owned())
    }

    /// Says that a handler of an element was written to, which has this name or stands for the argument of this name;
    /// `config` is the element's string of the configuration.
    pub(crate) fn written(&self, element: usize, config: &str, handler: &str, value: &str) {
        let new = match handler {
            "config" => Some(value.to_owned()),
            _ => {
                let slots = lock(&self.slots);
                let named = slots.get(&element).filter(|slots| find(slots, handler).is_some());
                named.and_then(|slots| with(&self.config(element, config), slots, handler, value.trim()))
            }
        };
        if let Some(new) = new {
            lock(&self.changed).insert(element, new);
        }
    }

    /// The configuration's graph with the configuration strings that its elements have now.
    pub(crate) fn graph(&self, graph: &lang::Graph) -> lang::Graph {
        let mut graph = graph.clone();
        for (&element, config) in &*lock(&self.changed) {
            graph.elements[element].config.clone_from(config);
        }
        graph
    }
}

fn find(slots: &Slots, handler: &str) -> Option<usize> {
    slots.iter().position(|(name, _)| name.eq_ignore_ascii_case(handler))
}

/// A configuration string in which an argument has another value.
fn with(config: &str, slots: &Slots, handler: &str, value: &str) -> Option<String> {
    let at = find(slots, handler)?;
    let (name, _) = slots[at];
    let mut words = lang::conf::split_args(config);
    words.retain(|word| !word.is_empty());
    let keyword = |word: &String| lang::conf::keyword(word).map(|(name, _)| name.to_owned());
    let is_slot =
        |word: &String| keyword(word).is_some_and(|word| slots.iter().any(|(name, _)| *name == word));
    if let Some(word) = words.iter_mut().rev().find(|word| keyword(word).as_deref() == Some(name)) {
        *word = format!("{name} {value}");
    } else {
        let positions = words.iter().take_while(|word| !is_slot(word)).count();
        let place = slots[..at].iter().filter(|(_, positional)| *positional).count();
        match words.get_mut(place) {
            Some(word) if slots[at].1 && place < positions => *word = value.to_owned(),
            _ => words.push(format!("{name} {value}")),
        }
    }
    Some(lang::conf::join_args(&words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_change_where_they_stand() {
        let slots = vec![("SRC", true), ("DST", true), ("TTL", false)];
        let with = |config: &str, handler: &str| with(config, &slots, handler, "new");
        for (config, handler, new) in [
            ("1, 2", "src", "new, 2"),
            ("1, 2", "dst", "1, new"),
            ("1", "dst", "1, DST new"),
            ("1, 2, TTL 3", "ttl", "1, 2, TTL new"),
            ("1, 2", "ttl", "1, 2, TTL new"),
            ("DST 2, SRC 1", "src", "DST 2, SRC new"),
            ("", "src", "SRC new"),
        ] {
            assert_eq!(with(config, handler).as_deref(), Some(new), "{config} {handler}");
        }
        assert_eq!(with("1, 2", "count"), None);
    }
}
