//! Classifies packets by groups of regular expressions, all of which have to match.
//!
//! ```click
//! GroupRegexClassifier(PATTERN1 GROUP1, ..., PATTERNN GROUPN)
//! ```
//!
//! A packet leaves by the output of the first group whose patterns all match somewhere in it, and is dropped if there
//! is no such group. See RegexMatcher for the syntax of patterns. GroupRegexClassifierMP is another name. They are
//! FastClick's elements.
//!
//! Ports: 1 input, as many outputs as groups. Processing: push. Workers: replicated.
//!
//! # Arguments
//! Patterns, each followed by the number of its group; every group has at least one.
//!
//! # Handlers
//! - `pattern0`, `pattern1` and so on, as many as outputs (read, write): the arguments, one by one.
//! - `config` (read, write): all arguments.
//!
//! # Example
//! ```click
//! InfiniteSource(DATA "hello net", LIMIT 1) -> r :: GroupRegexClassifier("net" 0, "he.*o" 0, ".*" 1);
//! r[0] -> Print -> Discard; r[1] -> Discard
//! ```
//!
//! # See also
//! RegexClassifier, RegexMatcher

use super::regexes::{MEMORY, Regexes, Rule, create};
use regex_automata::PatternSet;
use router::{Class, ConfigError, Scope};

/// The class.
pub(crate) const CLASS: Class = Class::new("GroupRegexClassifier", create::<Groups>)
    .ports("1/-")
    .processing("h/h")
    .doc(router::manual!("group_regex_classifier.rs"));
struct Groups {
    /// Places of the patterns of each group.
    members: Vec<Vec<usize>>,
}

impl Rule for Groups {
    fn read(words: Vec<String>, _scope: Scope<'_>, outputs: usize) -> Result<(Self, Regexes), ConfigError> {
        let (mut members, mut patterns) = (vec![Vec::new(); outputs], Vec::new());
        for (place, word) in words.iter().enumerate() {
            let mut rest = word.as_str();
            patterns.push(lang::conf::pop_space(&mut rest).to_owned());
            let group: usize = rest.parse().unwrap_or(0); // as of a text without a number in Click
            match members.get_mut(group) {
                Some(group) => group.push(place),
                None => {
                    let fault = "group number is larger then noutputs";
                    return Err(format!("Error with pattern {place}, {fault}").into());
                }
            }
        }
        if let Some(empty) = members.iter().position(Vec::is_empty) {
            return Err(format!("Group {empty} has no patterns").into());
        }
        Ok((Groups { members }, Regexes::new(&patterns, MEMORY)?))
    }

    fn output(&self, matching: &PatternSet) -> Option<usize> {
        let matches = |place: &usize| matching.contains(regex_automata::PatternID::must(*place));
        self.members.iter().position(|places| places.iter().all(matches))
    }
}
