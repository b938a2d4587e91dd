//! Elements that store and shape packets: queues and what pulls from them.

mod bandwidth_shaper;
mod queue;
pub(crate) mod rate;
pub(crate) mod shaper;
mod unqueue;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &bandwidth_shaper::CLASS,
    &queue::CLASS,
    &queue::MS,
    &queue::SIMPLE,
    &queue::THREAD_SAFE,
    &shaper::CLASS,
    &unqueue::CLASS,
];
