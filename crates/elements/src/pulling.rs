//! Elements that take packets either way: those that are pushed into them, or those that their task pulls.
//!
//! Where the input is pull, the task asks for packets, and again for as long as there may be more.

use packet::Batch;
use router::{Config, Cx};

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
