//! Elements that choose between paths: switches, tees, paint.

mod paint_switch;
mod paint_tee;
mod pull_tee;
mod round_robin_switch;
mod suppressor;
mod switch;
mod tee;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &paint_switch::CLASS,
    &paint_tee::CLASS,
    &pull_tee::CLASS,
    &round_robin_switch::CLASS,
    &suppressor::CLASS,
    &switch::CLASS,
    &tee::CLASS,
];
