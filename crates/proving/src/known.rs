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
    /// What a story that shows it does.
    pub cause: Cause,
    /// Why it is so.
    pub reason: &'static str,
}

/// What has to be in a story for a fault to show.
#[derive(Clone, Copy, Debug)]
pub enum Cause {
    /// A knob that is turned to a position, at first or by a swap.
    Knob(&'static str, u32),
    /// A capture, for which the elements around it come to one worker.
    Capture,
}

/// Those that are known.
pub const KNOWN: &[Known] = &[Known {
    story: "capture-parts-memory",
    says: &["routes.flows was", "routes6.flows was"],
    family: "paths",
    cause: Cause::Capture,
    reason: "a lookup with FLOWS remembers on each worker, and a swap that places it elsewhere leaves flows behind",
}];

impl Known {
    /// Whether a fault of a story is this one.
    pub fn explains(&self, story: &Story, what: &str) -> bool {
        let can_show = story.family == self.family
            && match self.cause {
                Cause::Knob(wanted, position) => {
                    let turns = |step: &Step| matches!(step, Step::Swap { knob, value, .. } if (knob.as_str(), *value) == (wanted, position));
                    story.knobs.get(wanted) == position || story.steps.iter().any(turns)
                }
                Cause::Capture => story.steps.iter().any(|step| matches!(step, Step::Capture { .. })),
            };
        can_show && self.says.iter().any(|says| what.contains(says))
    }
}

/// The known fault that a fault of a story is.
pub fn find(story: &Story, what: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.explains(story, what))
}
