//! Elements that choose whose packets, or whose tasks, come next.

mod prio_sched;
mod round_robin_sched;
mod static_thread_sched;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&prio_sched::CLASS, &round_robin_sched::CLASS, &static_thread_sched::CLASS];
