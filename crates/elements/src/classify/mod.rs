//! Classifiers.
//!
//! A classifier's patterns become a *program* ([`program`]): tests of 32-bit words that lead to further tests or to
//! outputs, always forward. The program is simplified ([`optimise`]), which is what the `program` handler prints, and
//! then laid out for speed ([`compiled`]).

mod classifier;
mod compiled;
mod optimise;
mod pattern;
mod program;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&classifier::CLASS];
