//! Elements that store and shape packets: queues and what pulls from them.

mod adaptive_red;
mod bandwidth_meter;
mod bandwidth_rated_splitter;
mod bandwidth_rated_unqueue;
mod bandwidth_shaper;
mod burster;
mod codel;
mod cpu_queue;
mod delay_shaper;
mod delay_unqueue;
mod drive;
#[cfg(test)]
mod end_tests;
mod exp_unqueue;
mod front_drop_queue;
mod link_unqueue;
mod meter;
mod min_batch;
mod mixed_queue;
mod multi_replay;
mod pi;
mod pipeliner;
mod queue;
mod rated_splitter;
mod rated_unqueue;
mod recording;
mod red;
mod refill;
mod replay;
mod replay_unqueue;
mod round_robin_unqueue;
mod rounds;
pub(crate) mod shaper;
mod spray;
mod storage;
mod timed_unqueue;
mod unqueue;
mod unqueue2;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &adaptive_red::CLASS,
    &bandwidth_meter::CLASS,
    &bandwidth_rated_splitter::CLASS,
    &bandwidth_rated_unqueue::CLASS,
    &bandwidth_shaper::CLASS,
    &burster::CLASS,
    &codel::CLASS,
    &cpu_queue::CLASS,
    &delay_shaper::CLASS,
    &delay_unqueue::CLASS,
    &exp_unqueue::CLASS,
    &front_drop_queue::CLASS,
    &link_unqueue::CLASS,
    &meter::CLASS,
    &min_batch::CLASS,
    &mixed_queue::CLASS,
    &multi_replay::CLASS,
    &pi::CLASS,
    &pipeliner::CLASS,
    &queue::CLASS,
    &queue::MS,
    &queue::NOTIFIER,
    &queue::QUICK_NOTE,
    &queue::SIMPLE,
    &rated_splitter::CLASS,
    &rated_unqueue::CLASS,
    &red::CLASS,
    &replay::CLASS,
    &replay_unqueue::CLASS,
    &round_robin_unqueue::CLASS,
    &shaper::CLASS,
    &spray::CLASS,
    &timed_unqueue::CLASS,
    &unqueue2::CLASS,
    &unqueue::CLASS,
];
