//! What RatedUnqueue and EXPUnqueue share: whether they are active, and what their tasks did.

use router::{Flags, Handlers};
use std::any::Any;

/// Of a task that pulls.
pub(super) struct Drive {
    pub(super) active: bool,
    pub(super) runs: u64,
    /// Runs without a packet.
    pub(super) empty_runs: u64,
    pub(super) pushes: u64,
    pub(super) failed_pulls: u64,
}

impl Drive {
    /// One that has done nothing yet.
    pub(super) fn new(active: bool) -> Drive {
        Drive { active, runs: 0, empty_runs: 0, pushes: 0, failed_pulls: 0 }
    }

    /// What it did, as a handler `calls` says it.
    pub(super) fn text(&self) -> String {
        let Drive { runs, empty_runs, pushes, failed_pulls, .. } = self;
        format!(
            "{runs} calls to run_task()\n{empty_runs} empty runs\n{pushes} pushes\n{failed_pulls} failed pulls\n"
        )
    }

    /// Declares the handler `active`.
    pub(super) fn handlers<E: Any>(h: &mut Handlers, of: fn(&mut E) -> &mut Drive) {
        h.read("active", move |e: &mut E, _| of(e).active).flagged(Flags::CHECKBOX);
        h.write("active", move |e: &mut E, cx, text| {
            of(e).active = router::value(cx, text)?;
            if of(e).active {
                cx.tasks().schedule();
            }
            Ok(())
        });
    }
}
