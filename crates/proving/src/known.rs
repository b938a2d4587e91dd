//! Faults of the product that are known and not mended yet. A story that shows one is red on purpose: it is told here, never silently.

use crate::story::{Step, Story};

/// A fault that stories show.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The story's file in `stories/`, without its ending.
    pub story: &'static str,
    /// What a fault's text contains when it is this one: one of these.
    pub says: &'static [&'static str],
    /// The family whose stories show it.
    pub family: &'static str,
    /// The knob, and the position to which it has to be turned, at first or by a swap; without one, there has to be some swap.
    pub knob: Option<(&'static str, u32)>,
    /// Why it is so.
    pub reason: &'static str,
}

/// Those that are known.
pub const KNOWN: &[Known] = &[Known {
    story: "flow-changes-worker",
    says: &["its worker is another one"],
    family: "balancer",
    knob: Some(("tap", 2)),
    reason: "flow managers keep a table on each worker, and a swap that places them elsewhere leaves flows behind",
}];

impl Known {
    /// Whether a fault of a story is this one.
    pub fn explains(&self, story: &Story, what: &str) -> bool {
        let turns = |step: &Step| match (step, self.knob) {
            (Step::Swap { .. }, None) => true,
            (Step::Swap { knob, value, .. }, Some(wanted)) => (knob.as_str(), *value) == wanted,
            _ => false,
        };
        let turned = self.knob.is_some_and(|(name, position)| story.knobs.get(name) == position);
        let can_show = story.family == self.family && (turned || story.steps.iter().any(turns));
        can_show && self.says.iter().any(|says| what.contains(says))
    }
}

/// The known fault that a fault of a story is.
pub fn find(story: &Story, what: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.explains(story, what))
}
