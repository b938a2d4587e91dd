//! Elements that choose whose packets, or whose tasks, come next.

mod balanced_thread_sched;
mod block_thread;
mod drr_sched;
mod handler_task;
mod null_task;
mod prio_sched;
mod round_robin_multi_sched;
mod round_robin_sched;
mod schedule_info;
mod static_thread_sched;
mod stride_sched;
mod stride_switch;
mod strides;
mod thread_monitor;
mod time_sorted_sched;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &balanced_thread_sched::CLASS,
    &block_thread::CLASS,
    &drr_sched::CLASS,
    &handler_task::CLASS,
    &null_task::CLASS,
    &prio_sched::CLASS,
    &round_robin_multi_sched::CLASS,
    &round_robin_sched::CLASS,
    &schedule_info::CLASS,
    &static_thread_sched::CLASS,
    &stride_sched::CLASS,
    &stride_switch::CLASS,
    &thread_monitor::CLASS,
    &time_sorted_sched::CLASS,
    &time_sorted_sched::MERGE,
];
