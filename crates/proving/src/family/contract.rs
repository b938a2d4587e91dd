//! What a family of configurations is.

use crate::model::Model;
use crate::story::{Knob, Knobs, Step, Story};
use crate::world::Network;
use fastrand::Rng;

/// A family of configurations.
pub trait Family: Sync {
    /// What stories call it.
    fn name(&self) -> &'static str;

    /// The choices that make one of its configurations.
    fn knobs(&self) -> &'static [Knob];

    /// Hosts, links and routers.
    fn network(&self, knobs: &Knobs) -> Network;

    /// The configuration of a router, by its place in the network.
    fn config(&self, machine: usize, knobs: &Knobs) -> String;

    /// What the routers must do at first.
    fn model(&self, knobs: &Knobs) -> Box<dyn Model>;

    /// A step that only this family has, or traffic that suits it; `story` is what there is so far.
    fn step(&self, story: &Story, rng: &mut Rng) -> Step;

    /// How long routers need to find each other before a story begins, in nanoseconds.
    fn warm_up_ns(&self) -> i64 {
        0
    }

    /// How long routers hold packets back on purpose, at most, in nanoseconds.
    fn held_ns(&self) -> i64 {
        0
    }
}

/// Puts another text in the place of a part of a shipped configuration.
///
/// # Panics
/// When the configuration has no such part any more: then the family no longer tries what is shipped.
pub(super) fn replace(text: &mut String, old: &str, new: &str) {
    assert!(text.contains(old), "the shipped configuration has no '{old}' any more");
    *text = text.replace(old, new);
}
