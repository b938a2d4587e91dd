//! Classifiers.
//!
//! A classifier's patterns become a *program* ([`program`]): tests of 32-bit words that lead to further tests or to
//! outputs, always forward. The program is simplified ([`optimise`]), which is what the `program` handler prints, and
//! then laid out for speed ([`compiled`]).
//!
//! The classifiers of IP packets read a language of their own ([`language`]; its words are in [`names`], what
//! primitives are in [`primitive`] and [`assertion`]). A pattern is an expression ([`expr`]), and expressions become
//! a program, too. Where there are many, packets are not sent through the program: [`terms`] makes sets of values of
//! them, [`cuts`] finds the first rule that accepts a packet by the field that tells most, and where that does not
//! help [`vectors`] does ([`classes`], [`search`] and [`ranks`] find the set that a value is in, [`kinds`] what
//! fields say that most rules want the same of). [`filter`] is what the four classes have in common.
//!
//! FastClick's classifiers of strings and regular expressions are in `elements-streams`.

#![forbid(unsafe_code)]

mod aliases;
mod assertion;
mod classes;
mod classifier;
mod compiled;
mod context_rule;
mod ctx_dispatcher;
mod cuts;
mod expr;
mod filter;
mod grouped;
mod ip6_classifier;
mod ip6_filter;
mod ip_classifier;
mod ip_filter;
#[cfg(test)]
mod ip_tests;
mod kinds;
mod language;
mod names;
mod observed;
mod optimise;
mod pattern;
mod primitive;
mod program;
mod ranks;
mod repeats;
mod search;
mod tally;
mod terms;
mod usual;
mod vectors;
mod ways;

#[cfg(test)]
mod testing;

pub use observed::filter;

use router::Class;
use std::sync::LazyLock;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &classifier::CLASS,
    &ctx_dispatcher::CLASS,
    &ctx_dispatcher::CONTEXT,
    &ip6_classifier::CLASS,
    &ip6_filter::CLASS,
    &ip_classifier::CLASS,
    &ip_filter::CLASS,
];

/// The classes, by family.
pub static FAMILIES: &[&[&Class]] = &[CLASSES];

/// The classes by their other names.
pub static ALIASES: LazyLock<Vec<Class>> = LazyLock::new(|| Class::aliases(FAMILIES, aliases::NAMES));
