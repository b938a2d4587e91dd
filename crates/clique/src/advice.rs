//! What the finder of an error does not know: which argument may have been meant, and which errors only follow from others.

use crate::manual;
use lang::{Diagnostic, Graph, Span, conf};
use router::Classes;
use std::collections::{HashMap, HashSet};

/// How a message ends about an argument that the element has not.
const UNKNOWN: &str = ": unknown argument";
/// Arguments that are listed, at most.
const LISTED: usize = 8;
/// The classes whose arguments begin with a name that they define.
const DEFINES: [&str; 3] = ["AddressInfo", "PortInfo", "AnnotationInfo"];

/// What is known of a configuration's elements, by the place of their names.
pub(crate) struct Advice {
    elements: HashMap<Span, (String, String)>,
    known: Classes,
}

impl Advice {
    pub(crate) fn new(graph: &Graph, known: &Classes) -> Advice {
        let element = |e: &lang::Element| (e.span, (e.class.clone(), e.config.clone()));
        Advice { elements: graph.elements.iter().map(element).collect(), known: known.clone() }
    }

    /// Adds advice to errors about elements, and leaves out those that only follow. Errors point at elements' names still.
    pub(crate) fn apply(&self, found: &mut Vec<Diagnostic>) {
        let undefined = self.undefined(found);
        found.retain(|error| {
            let is_cause = self.class(error).is_some_and(|class| DEFINES.contains(&class));
            is_cause || error.context.is_none() || !self.follows(error, &undefined)
        });
        for error in found.iter_mut().filter(|error| error.is_error() && error.help.is_none()) {
            error.help = self.arguments(error);
        }
    }

    fn class(&self, error: &Diagnostic) -> Option<&str> {
        Some(self.elements.get(&error.span?)?.0.as_str())
    }

    /// The names that are not defined because their definition is wrong.
    fn undefined(&self, found: &[Diagnostic]) -> HashSet<String> {
        let wrong = found.iter().filter(|error| error.is_error() && error.context.is_some());
        let definitions = wrong.filter_map(|error| self.elements.get(&error.span?));
        let definitions = definitions.filter(|(class, _)| DEFINES.contains(&class.as_str()));
        let arguments = definitions.flat_map(|(_, config)| conf::split_args(config));
        arguments.filter_map(|argument| argument.split_whitespace().next().map(str::to_owned)).collect()
    }

    /// What to say of an argument that the class has not: one that is called similarly, or those that there are, if they are few.
    fn arguments(&self, error: &Diagnostic) -> Option<String> {
        let argument = error.message.strip_suffix(UNKNOWN)?;
        let class = self.known.get(self.class(error)?)?;
        if let Some(name) = lang::similar(argument, manual::arguments(class)) {
            return Some(format!("did you mean '{name}'?"));
        }
        let mut names: Vec<&str> = Vec::new();
        for name in manual::arguments(class) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let few = (1..=LISTED).contains(&names.len());
        few.then(|| format!("{} has the arguments {}", class.name, names.join(", ")))
    }

    /// Whether an error is about a name that is not defined: it quotes it, perhaps with a kind of address behind it, or the argument that it
    /// counts has it.
    fn follows(&self, error: &Diagnostic, undefined: &HashSet<String>) -> bool {
        if undefined.is_empty() {
            return false;
        }
        let names_any = |text: &str| {
            let mut words = text.split(|c: char| c.is_whitespace() || c == ',');
            words.any(|word| undefined.contains(word.split([':', '/']).next().unwrap_or(word)))
        };
        let quotes = |text: &str| text.split('\'').skip(1).step_by(2).any(names_any);
        let counted = || {
            let number =
                error.message.strip_prefix("argument ")?.split(|c: char| !c.is_ascii_digit()).next()?;
            let (_, config) = self.elements.get(&error.span?)?;
            conf::split_args(config).get(number.parse::<usize>().ok()?).cloned()
        };
        quotes(&error.message)
            || quotes(error.expected.as_deref().unwrap_or_default())
            || counted().is_some_and(|argument| names_any(&argument))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every class whose manual has a section on arguments names some there, but for those that say in words that there are none.
    #[test]
    fn manuals_name_arguments() {
        let known = crate::classes(&[]);
        let queue: Vec<&str> = manual::arguments(known.get("InfiniteSource").unwrap()).collect();
        assert!(queue.contains(&"LIMIT") && queue.contains(&"BURST"), "{queue:?}");
        let named = known.iter().filter(|class| manual::arguments(class).next().is_some()).count();
        assert!(named > 200, "{named}");
    }
}
