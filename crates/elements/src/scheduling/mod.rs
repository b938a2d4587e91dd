//! Elements that choose whose packets, or whose tasks, come next.

mod drr_sched;
mod prio_sched;
mod round_robin_sched;
mod static_thread_sched;
mod stride_sched;
mod stride_switch;
mod strides;
mod time_sorted_sched;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &drr_sched::CLASS,
    &prio_sched::CLASS,
    &prio_sched::SIMPLE,
    &round_robin_sched::CLASS,
    &round_robin_sched::SIMPLE,
    &static_thread_sched::CLASS,
    &stride_sched::CLASS,
    &stride_switch::CLASS,
    &time_sorted_sched::CLASS,
];
