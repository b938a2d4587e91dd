//! The Click configuration language: text to configuration graph.
//!
//! [`parse`] reads a configuration in the language of Click 2.1, expands its compound elements and
//! variables, and returns a flat [`Graph`] of elements and connections together with all diagnostics.
//! Further modules split configuration strings into arguments ([`conf`]), replace variables and handler
//! calls in them ([`mod@expand`]), and print graphs and texts ([`mod@print`], [`graph`]).
//!
//! The crate does not know which element classes exist, what their arguments mean, how many ports they
//! have, or how files are found: callers supply that. Tests of the whole crate are in `tests/`, those
//! of single rules beside the code.
//!
//! ```
//! # use clique_lang as lang;
//! let parsed = lang::parse("a, b :: Queue; x :: { -> Null -> }; a -> x -> b", "config", &[]);
//! assert!(parsed.diagnostics.is_empty());
//! assert_eq!(parsed.graph.elements[2].name, "x/Null@1");
//! ```

#![forbid(unsafe_code)]

pub mod bytes;
mod chain;
mod classes;
mod compounds;
pub mod conf;
mod context;
mod diag;
mod elaborate;
pub mod expand;
pub mod graph;
mod marks;
mod nested;
mod options;
mod parse;
mod parser;
pub mod print;
mod render;
mod render_json;
mod scope;
pub mod secrets;
mod token;
mod tunnel;

pub use classes::{ClassSet, Kind, similar};
pub use compounds::{Compound, Compounds, compounds};
pub use diag::{Context, Diagnostic, Landmark, Note, Severity, Source, Span};
pub use expand::expand;
pub use graph::{Connection, Element, Graph, Port, Requirement};
pub use marks::{ElementRef, Mark, Mention};
pub use nested::{Body, Nested, NestedClass, NestedElement, nested};
pub use options::{FindLibrary, Limits, Options};
pub use parse::{Parsed, parse, parse_with};
pub use print::{flatten, pretty};
pub use render::{render_click, render_fancy};
pub use render_json::render_json;

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
