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
//! FastClick's classifiers look for strings ([`strings`]) and regular expressions ([`regexes`]) anywhere in packets.

mod arguments;
mod assertion;
mod classes;
mod classifier;
mod compiled;
mod context_rule;
mod ctx_dispatcher;
mod cuts;
mod expr;
mod filter;
mod group_regex_classifier;
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
mod optimise;
mod pattern;
mod primitive;
mod program;
mod ranks;
mod regex_classifier;
mod regex_matcher;
mod regexes;
mod repeats;
mod search;
mod string_classifier;
mod string_matcher;
mod strings;
mod terms;
mod usual;
mod vectors;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &classifier::CLASS,
    &ctx_dispatcher::CLASS,
    &ctx_dispatcher::CONTEXT,
    &ctx_dispatcher::FLOW,
    &group_regex_classifier::CLASS,
    &group_regex_classifier::MP,
    &ip6_classifier::CLASS,
    &ip6_filter::CLASS,
    &ip_classifier::CLASS,
    &ip_filter::CLASS,
    &regex_classifier::CLASS,
    &regex_classifier::MP,
    &regex_matcher::CLASS,
    &regex_matcher::MP,
    &string_classifier::CLASS,
    &string_classifier::MP,
    &string_matcher::CLASS,
    &string_matcher::MP,
];
