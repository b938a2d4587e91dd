//! Elements that take packets either way: those that are pushed into them, or those that their task pulls.
//!
//! Where the input is pull, the task asks for packets, and again for as long as there may be more.

use packet::Batch;
use router::{Config, Cx, Pull};

/// Whether the first input is there, and is pull.
pub(crate) fn pulls(config: &Config<'_>) -> bool {
    config.inputs() > 0 && !config.input_is_push(0)
}

/// Begins to ask, if the element `pulls`.
pub(crate) fn begin(cx: &mut Cx<'_>, pulls: bool) {
    if pulls {
        cx.listen(0);
        cx.schedule();
    }
}

/// Asks again, after these packets came, unless whoever has some will wake the task.
pub(crate) fn go_on(cx: &mut Cx<'_>, came: &Batch) {
    if !came.is_empty() || cx.may_have(0) {
        cx.schedule();
    }
}

/// How packets come to an element that looks at them, and whether they go on from there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// Whether the element asks for packets by itself.
    pulls: bool,
    passes: bool,
}

impl Way {
    pub(crate) fn of(config: &Config<'_>) -> Way {
        let passes = config.outputs() > 0;
        Way { pulls: pulls(config) && !passes, passes }
    }

    pub(crate) fn begin(self, cx: &mut Cx<'_>) {
        begin(cx, self.pulls);
    }

    /// What becomes of packets that were pushed, after they were looked at.
    pub(crate) fn pushed(self, cx: &mut Cx<'_>, batch: Batch) {
        if self.passes { cx.emit(0, batch) } else { cx.consume(batch) }
    }

    /// What becomes of packets that were pulled, after they were looked at.
    pub(crate) fn pulled(self, cx: &mut Cx<'_>, batch: Batch) -> Pull {
        if !self.pulls {
            return Pull::Give(batch);
        }
        go_on(cx, &batch);
        cx.consume(batch);
        Pull::Nothing
    }
}
