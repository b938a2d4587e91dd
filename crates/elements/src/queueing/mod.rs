//! Elements that store and shape packets: queues and what pulls from them.

mod bandwidth_shaper;
mod front_drop_queue;
mod mixed_queue;
mod queue;
pub(crate) mod rate;
pub(crate) mod shaper;
mod unqueue;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &bandwidth_shaper::CLASS,
    &front_drop_queue::CLASS,
    &mixed_queue::CLASS,
    &queue::CLASS,
    &queue::FULL_NOTE,
    &queue::MS,
    &queue::NOTIFIER,
    &queue::QUICK_NOTE,
    &queue::SIMPLE,
    &queue::THREAD_SAFE,
    &shaper::CLASS,
    &unqueue::CLASS,
];
