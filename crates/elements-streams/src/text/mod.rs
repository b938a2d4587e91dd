//! Strings and regular expressions, looked for anywhere in packets.

mod group_regex_classifier;
mod regex_classifier;
mod regex_matcher;
mod regexes;
mod string_classifier;
mod string_matcher;
mod strings;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &group_regex_classifier::CLASS,
    &regex_classifier::CLASS,
    &regex_matcher::CLASS,
    &string_classifier::CLASS,
    &string_matcher::CLASS,
];
