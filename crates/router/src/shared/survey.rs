//! What a worker is asked about its state and that of its elements, and what it answers.

use crate::handlers::metric::Metric;
use crate::handlers::response::Merge;
use crate::shared::account::Account;
use crate::shared::observing::Cost;
use std::sync::mpsc::Sender;

/// A worker's state.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WorkerState {
    /// What it has done.
    pub account: Account,
    /// Free buffers that it keeps at hand, small and large.
    pub buffers: (usize, usize),
    /// Allocations of packets that failed for lack of memory.
    pub failed: u64,
    /// Its tasks.
    pub tasks: usize,
}

/// A request to a worker: its elements from this one on.
pub(crate) struct Request {
    pub(crate) from: usize,
    pub(crate) reply: Sender<Part>,
}

/// A worker's answer.
#[derive(Default)]
pub(crate) struct Part {
    pub(crate) state: WorkerState,
    pub(crate) readings: Vec<(usize, &'static Metric, Merge, String)>,
    pub(crate) drops: Vec<(usize, &'static str, u64)>,
    pub(crate) told: Vec<(usize, &'static str, u64)>,
    pub(crate) runs: Vec<(usize, u64)>,
    pub(crate) costs: Vec<(usize, Cost)>,
    /// The first element that it does not cover.
    pub(crate) next: usize,
}
