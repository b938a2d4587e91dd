//! Elements that store, shape and schedule packets: queues and what pulls from them.

mod bandwidth_shaper;
mod prio_sched;
mod queue;
pub(crate) mod rate;
mod round_robin_sched;
pub(crate) mod shaper;
mod static_thread_sched;
mod unqueue;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &bandwidth_shaper::CLASS,
    &prio_sched::CLASS,
    &queue::CLASS,
    &queue::SIMPLE,
    &queue::THREAD_SAFE,
    &round_robin_sched::CLASS,
    &shaper::CLASS,
    &static_thread_sched::CLASS,
    &unqueue::CLASS,
];
