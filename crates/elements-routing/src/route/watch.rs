//! Which remembered flows are established, go another way or are gone, for a copy of them at another node of a cluster. A flow that had one
//! packet only is in no copy: its next one goes where its hash says.
//!
//! A worker's table is its own, so each worker writes notes of it, which the copy's keeper takes. When VLBState begins to ask, each
//! worker also goes through what it has, piece by piece.

use super::family::Family;
use super::target::Hop;
use elements_shared::notes::Notes;
use elements_shared::state_port::Overrun;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};

/// Notes of each worker that wait, at most.
const NOTES: usize = 16_384;
/// Flows that a worker shows at once, at most.
const AT_ONCE: usize = 4_096;
/// The lane of flows that no worker has.
pub(super) const PARKED: u16 = 0;
/// Nothing asks.
pub(super) const NOTHING: u64 = 0;

/// A flow's next hop, and when that was true: at its packet that is known of last.
pub(super) type Went<F> = (Hop<<F as Family>::Gateway>, i64);

/// What is true of a flow now: where it went, or that it is gone.
pub(super) struct Note<F: Family> {
    pub(super) key: F::Tuple,
    pub(super) went: Option<Went<F>>,
}

struct Lane<F: Family> {
    notes: Notes<Note<F>>,
    /// Which demand all of the worker's flows were shown for.
    shown: AtomicU64,
}

impl<F: Family> Lane<F> {
    fn new() -> Lane<F> {
        Lane { notes: Notes::new(NOTES), shown: AtomicU64::new(NOTHING) }
    }

    /// Takes up to `most` notes. How many those were.
    fn take(&self, most: usize, each: impl FnMut(Note<F>)) -> usize {
        self.notes.take(most, each).unwrap_or_else(|Overrun| {
            // Other lanes have told theirs: it is said the next time.
            self.notes.lose();
            0
        })
    }
}

/// The notes of an element's workers, and of flows that wait for one of them.
pub(super) struct Watch<F: Family> {
    /// The number of the demand; [`NOTHING`] if there is none.
    asked: AtomicU64,
    demands: AtomicU64,
    is_expected: AtomicBool,
    lanes: Box<[Lane<F>]>,
}

impl<F: Family> Watch<F> {
    /// For so many workers.
    pub(super) fn new(workers: usize) -> Watch<F> {
        Watch {
            asked: AtomicU64::new(NOTHING),
            demands: AtomicU64::new(NOTHING),
            is_expected: AtomicBool::new(false),
            lanes: (0..=workers).map(|_| Lane::new()).collect(),
        }
    }

    /// Says that another element will ask.
    pub(super) fn expect(&self) {
        self.is_expected.store(true, Relaxed);
    }

    /// Whether another element may ask.
    pub(super) fn is_expected(&self) -> bool {
        self.is_expected.load(Relaxed)
    }

    /// What is asked for.
    #[inline]
    pub(super) fn asked(&self) -> u64 {
        self.asked.load(Acquire)
    }

    /// Begins or ends to note changes. False if that is done for another already.
    pub(super) fn want(&self, is_wanted: bool) -> bool {
        if is_wanted && self.asked() != NOTHING {
            return false;
        }
        let asked = if is_wanted { self.demands.fetch_add(1, Relaxed) + 1 } else { NOTHING };
        self.lanes.iter().for_each(|lane| lane.notes.want(is_wanted));
        self.asked.store(asked, Release);
        true
    }

    /// Notes what is true of a flow now.
    pub(super) fn note(&self, lane: u16, key: F::Tuple, went: Option<Went<F>>) {
        if let Some(lane) = self.lanes.get(usize::from(lane)) {
            lane.notes.add(|| true, || Note { key, went });
        }
    }

    /// How many flows a worker may show now: half of the room is for what changes meanwhile.
    pub(super) fn room(&self, lane: u16) -> usize {
        let room = self.lanes.get(usize::from(lane)).map_or(0, |lane| lane.notes.room());
        room.saturating_sub(NOTES / 2).min(AT_ONCE)
    }

    /// A worker has shown all that it has, for a demand.
    pub(super) fn shown(&self, lane: u16, asked: u64) {
        if let Some(lane) = self.lanes.get(usize::from(lane)) {
            lane.shown.store(asked, Release);
        }
    }

    /// Whether all workers have.
    pub(super) fn is_shown(&self) -> bool {
        let asked = self.asked();
        self.lanes.iter().skip(1).all(|lane| lane.shown.load(Acquire) == asked)
    }

    /// Takes up to `most` of what has been noted, with the lanes. Whether more waits.
    ///
    /// # Errors
    /// Something was lost: then nothing is told.
    pub(super) fn take(&self, most: usize, mut each: impl FnMut(u16, Note<F>)) -> Result<bool, Overrun> {
        if self.lanes.iter().any(|lane| lane.notes.is_lost()) {
            self.lanes.iter().for_each(|lane| lane.notes.forget());
            return Err(Overrun);
        }
        // A flow that a worker takes over is noted there before it is gone from those that wait. So of those only what is gone by now is
        // told, after all that workers have noted.
        let parked = self.lanes.first().map_or(0, |lane| lane.notes.len());
        let mut left = most;
        for (lane, at) in self.lanes.iter().zip(0..).skip(1) {
            left -= lane.take(left, |note| each(at, note));
        }
        if let Some(lane) = self.lanes.first().filter(|_| left > 0) {
            lane.take(left.min(parked), |note| each(PARKED, note));
        }
        Ok(self.lanes.iter().any(|lane| !lane.notes.is_empty()))
    }

    /// Says that something was lost.
    pub(super) fn lose(&self) {
        self.lanes.iter().take(1).for_each(|lane| lane.notes.lose());
    }
}
