//! Elements that take packets either way: those that are pushed into them, or those that their task pulls.
//!
//! Where the input is pull, the task asks for packets, and again for as long as there may be more.

use packet::Batch;
use router::{Config, Cx, Pull};

/// Whether the first input is there, and is pull.
pub fn pulls(config: &Config<'_>) -> bool {
    config.inputs() > 0 && !config.input_is_push(0)
}

/// Begins to ask, if the element `pulls`.
pub fn begin(cx: &mut Cx<'_>, pulls: bool) {
    if pulls {
        cx.signals().listen(0);
        cx.tasks().schedule();
    }
}

/// Asks again, after these packets came, unless the element that has some will wake the task.
pub fn go_on(cx: &mut Cx<'_>, came: &Batch) {
    if !came.is_empty() || cx.signals().may_have(0) {
        cx.tasks().schedule();
    }
}

/// How packets come to an element that looks at them, and whether they go on from there.
#[derive(Clone, Copy, Debug)]
pub struct Intake {
    /// Whether the element asks for packets by itself.
    pulls: bool,
    passes: bool,
}

impl Intake {
    /// How they come to the element that is being configured.
    pub fn of(config: &Config<'_>) -> Intake {
        let passes = config.outputs() > 0;
        Intake { pulls: pulls(config) && !passes, passes }
    }

    /// Whether packets go on from the element.
    pub fn passes(self) -> bool {
        self.passes
    }

    /// Begins to ask, if the element asks by itself.
    pub fn begin(self, cx: &mut Cx<'_>) {
        begin(cx, self.pulls);
    }

    /// What becomes of packets that were pushed, after they were looked at.
    pub fn pushed(self, cx: &mut Cx<'_>, batch: Batch) {
        if self.passes { cx.emit(0, batch) } else { cx.consume(batch) }
    }

    /// What becomes of packets that were pulled, after they were looked at.
    pub fn pulled(self, cx: &mut Cx<'_>, batch: Batch) -> Pull {
        if !self.pulls {
            return Pull::Give(batch);
        }
        go_on(cx, &batch);
        cx.consume(batch);
        Pull::Nothing
    }
}
