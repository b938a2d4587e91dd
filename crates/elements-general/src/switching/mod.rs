//! Elements that choose between paths: switches, tees, paint.

mod block;
mod bypass;
mod check_paint;
mod compare_block;
mod cpu_switch;
mod exact_cpu_switch;
mod exact_paint_switch;
mod hash_switch;
mod hub;
mod input_switch;
mod paint_rr;
mod paint_switch;
mod paint_tee;
mod pull_switch;
mod pull_tee;
mod random_sample;
mod random_switch;
mod round_robin_switch;
mod static_pull_switch;
mod static_switch;
mod suppressor;
mod switch;
mod tee;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &block::CLASS,
    &bypass::CLASS,
    &check_paint::CLASS,
    &compare_block::CLASS,
    &cpu_switch::CLASS,
    &exact_cpu_switch::CLASS,
    &exact_paint_switch::CLASS,
    &hash_switch::CLASS,
    &hub::CLASS,
    &input_switch::CLASS,
    &paint_rr::CLASS,
    &paint_switch::CLASS,
    &paint_tee::CLASS,
    &pull_switch::CLASS,
    &pull_tee::CLASS,
    &random_sample::CLASS,
    &random_switch::CLASS,
    &round_robin_switch::CLASS,
    &static_pull_switch::CLASS,
    &static_switch::CLASS,
    &suppressor::CLASS,
    &switch::CLASS,
    &tee::CLASS,
    &tee::DUPLICATE,
];
