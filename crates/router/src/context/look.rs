//! What an element says of a packet that it does not get.

use crate::context::core::Core;
use crate::shared::info::Info;
use rcu::Turn;
use std::sync::Arc;

/// What an element may look at to say what it would do: nothing of it can be changed.
#[derive(Clone, Copy)]
pub struct Look<'t> {
    pub(crate) info: &'t Arc<Info>,
    pub(crate) turn: Turn<'t>,
    pub(crate) now_ns: i64,
    pub(crate) element: usize,
    pub(crate) worker: usize,
}

impl<'t> Look<'t> {
    /// That of an element on a worker.
    pub(crate) fn new(core: &'t Core, turn: Turn<'t>, element: usize) -> Look<'t> {
        Look { info: &core.info, turn, now_ns: core.now_ns, element, worker: core.worker }
    }

    /// The RCU read side: what cells are read with.
    pub fn turn(&self) -> Turn<'t> {
        self.turn
    }

    /// The time, in nanoseconds since the epoch.
    pub fn now_ns(&self) -> i64 {
        self.now_ns
    }

    /// The configuration.
    pub fn info(&self) -> &'t Arc<Info> {
        self.info
    }

    /// The element: its index in the configuration.
    pub fn index(&self) -> usize {
        self.element
    }

    /// The worker whose instance is asked.
    pub fn worker(&self) -> usize {
        self.worker
    }
}
