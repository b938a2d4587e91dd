//! The receiving side of a queue.

use std::sync::Arc;

use super::feeder::Feeder;
use super::interface::{Interface, lock};
use crate::frames::FrameSet;

/// A receive queue, owned by the worker that took it.
#[derive(Debug)]
pub struct RxQueue {
    interface: Arc<Interface>,
    queue: usize,
    feeder: Feeder,
}

impl Interface {
    /// Takes receive queue `queue`; `None` if there is none or it is taken. Dropping it gives it back, and
    /// the next owner goes on where it stopped.
    pub fn take_rx(self: &Arc<Self>, queue: usize) -> Option<RxQueue> {
        let feeder = lock(&self.rx.get(queue)?.waiting).take()?;
        Some(RxQueue { interface: Arc::clone(self), queue, feeder })
    }
}

impl RxQueue {
    /// Shows up to `count` frames to `f`, one after the other; returns how many there were.
    pub fn next_burst(&mut self, count: usize, mut f: impl FnMut(&[u8])) -> usize {
        let mut bytes = 0;
        let mut show = |frame: &[u8]| {
            bytes += frame.len() as u64;
            f(frame);
        };
        let shown = match &mut self.feeder {
            Feeder::Frames { set, next, left } => walk(set, next, left, count, &mut show),
            Feeder::Ring(ring) => (0..count).map_while(|_| ring.pop(&mut show)).count(),
        };
        self.interface.rx_slot(self.queue).counters.add(shown as u64, bytes);
        shown
    }

    /// Whether the next burst would be empty, for now (a ring) or for ever (a set of frames).
    pub fn is_empty(&self) -> bool {
        match &self.feeder {
            Feeder::Frames { set, left, .. } => set.is_empty() || *left == Some(0),
            Feeder::Ring(ring) => ring.is_empty(),
        }
    }

    /// Whether no frame will ever come again.
    pub fn is_exhausted(&self) -> bool {
        matches!(self.feeder, Feeder::Frames { .. }) && self.is_empty()
    }

    /// The interface it belongs to.
    pub fn interface(&self) -> &Arc<Interface> {
        &self.interface
    }

    /// Its number.
    pub fn queue(&self) -> usize {
        self.queue
    }
}

impl Drop for RxQueue {
    fn drop(&mut self) {
        *lock(&self.interface.rx_slot(self.queue).waiting) = Some(self.feeder.clone());
    }
}

/// Shows frames from `next` on, going round at the end of the set.
fn walk(
    set: &FrameSet,
    next: &mut usize,
    left: &mut Option<u64>,
    count: usize,
    show: &mut impl FnMut(&[u8]),
) -> usize {
    if set.is_empty() {
        return 0;
    }
    let count = match *left {
        Some(left) => usize::try_from(left).map_or(count, |left| left.min(count)),
        None => count,
    };
    let mut shown = 0;
    while shown < count {
        let slices = set.slices(*next, count - shown);
        let here = slices.len();
        slices.for_each(&mut *show);
        shown += here;
        *next += here;
        if *next == set.len() {
            *next = 0;
        }
    }
    if let Some(left) = left {
        *left -= shown as u64;
    }
    shown
}
