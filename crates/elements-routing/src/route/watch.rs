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

#[cfg(test)]
mod tests {
    use super::super::family::{Parts, V4};
    use super::*;

    type Told = Vec<(u16, u8, bool)>;

    /// A flow that is told from others by its last address octet.
    fn key(number: u8) -> <V4 as Family>::Tuple {
        let ends = ([10, 0, 0, 1].into(), [10, 0, 1, number].into());
        V4::whole(Parts { ends, ports: (1, 2), protocol: 17, label: 0 })
    }

    fn number(key: <V4 as Family>::Tuple) -> u8 {
        V4::parts(key).ends.1.octets()[3]
    }

    fn watch() -> Watch<V4> {
        let watch = Watch::new(2);
        assert!(watch.want(true));
        watch
    }

    fn went() -> Option<Went<V4>> {
        Some((Hop { gateway: V4::DIRECT, port: 0 }, 7))
    }

    /// What is told: the lane, the flow and whether it is there. `meanwhile` sees each note as it is told.
    fn take(watch: &Watch<V4>, mut meanwhile: impl FnMut(u16)) -> Result<(Told, bool), Overrun> {
        let mut told = Told::new();
        let has_more = watch.take(100, |lane, note| {
            told.push((lane, number(note.key), note.went.is_some()));
            meanwhile(lane);
        })?;
        Ok((told, has_more))
    }

    /// A flow that waited and that a worker has taken over is there, whatever the order in which that is read.
    #[test]
    fn what_is_taken_over_is_not_gone() {
        let watch = watch();
        watch.note(1, key(1), went());
        watch.note(PARKED, key(1), None);
        // While that is told a worker takes over another one.
        let mut is_first = true;
        let told = take(&watch, |_| {
            if std::mem::take(&mut is_first) {
                watch.note(1, key(2), went());
                watch.note(PARKED, key(2), None);
            }
        });
        assert_eq!(told, Ok((vec![(1, 1, true), (PARKED, 1, false)], true)));
        assert_eq!(take(&watch, |_| ()), Ok((vec![(1, 2, true), (PARKED, 2, false)], false)));
    }

    /// What a lane loses while others tell theirs is said the next time.
    #[test]
    fn a_loss_meanwhile_is_said_the_next_time() {
        let watch = watch();
        watch.note(1, key(1), went());
        watch.note(2, key(2), went());
        let told = take(&watch, |_| watch.lanes[2].notes.lose());
        assert_eq!(told.map(|(told, _)| told), Ok(vec![(1, 1, true)]));
        assert_eq!(take(&watch, |_| ()), Err(Overrun));
        assert_eq!(take(&watch, |_| ()), Ok((vec![], false)));
    }

    /// Where one lane has lost something none tells anything: all is looked at anew.
    #[test]
    fn a_loss_of_one_is_that_of_all() {
        let watch = watch();
        watch.note(1, key(1), went());
        (0..=NOTES).for_each(|_| watch.note(2, key(2), went()));
        assert_eq!(take(&watch, |_| ()), Err(Overrun));
        assert_eq!(take(&watch, |_| ()), Ok((vec![], false)));
    }

    /// No more is looked at than is asked for, over all lanes together.
    #[test]
    fn what_is_taken_is_bounded() {
        let watch = watch();
        (0..3).for_each(|lane| (0..4).for_each(|flow| watch.note(lane, key(flow), went())));
        let mut told = Vec::new();
        assert_eq!(watch.take(6, |lane, _| told.push(lane)), Ok(true));
        assert_eq!(told, [1, 1, 1, 1, 2, 2]);
        told.clear();
        assert_eq!(watch.take(6, |lane, _| told.push(lane)), Ok(false));
        assert_eq!(told, [2, 2, PARKED, PARKED, PARKED, PARKED]);
    }

    /// Half of a worker's room is for what changes while it shows what it has.
    #[test]
    fn what_is_shown_leaves_half_the_room() {
        let watch = watch();
        assert_eq!((watch.room(1), watch.room(3)), (AT_ONCE, 0));
        (0..NOTES / 2 - 5).for_each(|_| watch.note(1, key(1), went()));
        assert_eq!(watch.room(1), 5);
        (0..5).for_each(|_| watch.note(1, key(1), went()));
        assert_eq!((watch.room(1), watch.room(2)), (0, AT_ONCE));
    }

    /// One asks at a time, and it is shown once each worker has said so for this demand.
    #[test]
    fn one_asks_at_a_time() {
        let watch = watch();
        assert!(!watch.want(true));
        (1..3).for_each(|lane| watch.shown(lane, watch.asked()));
        assert!(watch.is_shown());
        assert!(watch.want(false) && watch.want(true));
        watch.shown(1, watch.asked());
        assert!(!watch.is_shown());
        watch.shown(2, watch.asked());
        assert!(watch.is_shown());
    }
}
