//! How many flows there are, and how many there may be, in numbers that workers do not share.
//!
//! A lane takes room for flows in blocks. What it has not used is as good as used, so that there are never more flows than the
//! capacity; and two workers that add flows change the same number once in a block only. Near the capacity blocks get smaller. Who
//! finds no room takes back what all lanes have left, with all of them in hand, so that none is lost.

use super::sync::{AtomicU32, AtomicUsize, LANES, PART, ROOM, recalled};
use crate::end::End;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What is written while flows come and go: apart from what look-ups read, and from what others write.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Apart<T>(pub(super) T);

/// A number of flows. Who changes it holds the lock of its lane; all may read it.
#[derive(Default)]
pub(super) struct Tally(AtomicU32);

impl Tally {
    /// There are so many more.
    pub(super) fn add(&self, by: i32) {
        self.0.store(self.0.load(Relaxed).wrapping_add_signed(by), Relaxed);
    }

    /// How many there are.
    pub(super) fn get(&self) -> u32 {
        self.0.load(Relaxed)
    }
}

/// The room in a table: what lanes have taken of it, for flows that are there or may come.
#[derive(Default)]
pub(super) struct Room {
    taken: AtomicUsize,
}

/// The block that a lane takes where so much is left.
fn block(left: usize) -> usize {
    left.div_ceil(PART).min(ROOM)
}

impl Room {
    /// Takes a block of room for a lane whose lock the caller holds. 0 if nothing is left.
    pub(super) fn take(&self, capacity: i32) -> usize {
        let left = |taken: usize| (capacity.max(0) as usize).saturating_sub(taken);
        let more = |taken: usize| Some(taken + block(left(taken))).filter(|&more| more > taken);
        self.taken.fetch_update(Relaxed, Relaxed, more).map_or(0, |taken| block(left(taken)))
    }

    /// A flow more or less is there, whose room was no lane's. For who holds all lanes.
    pub(super) fn add(&self, by: i32) {
        self.taken.fetch_add(by as isize as usize, Relaxed); // wraps: subtracts
    }

    /// Takes back what lanes have left, if nothing else is. For who holds all lanes.
    pub(super) fn recall<'l>(&self, capacity: i32, lanes: impl Iterator<Item = &'l mut usize>) {
        if self.taken.load(Relaxed) < capacity.max(0) as usize {
            return;
        }
        for left in lanes {
            self.taken.fetch_sub(recalled(left), Relaxed);
        }
    }

    /// What lanes have taken.
    #[cfg(test)]
    pub(super) fn taken(&self) -> usize {
        self.taken.load(Relaxed)
    }
}

/// Why flows were not made, as far as it is no want of ports or addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Refusal {
    /// There is no room for another.
    Full,
    /// The prefix of the source has as many as it may.
    OverQuota,
}

/// What happened to flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) made: u64,
    /// By [`End`].
    pub(super) ended: [u64; End::ALL.len()],
    /// By [`Refusal`].
    pub(super) refused: [u64; 2],
}

impl Totals {
    fn numbers(&mut self) -> impl Iterator<Item = &mut u64> {
        std::iter::once(&mut self.made).chain(&mut self.ended).chain(&mut self.refused)
    }
}

/// What is counted in a lane for an input.
#[derive(Default)]
struct Counts {
    flows: Tally,
    failures: AtomicU32,
    /// As in [`Totals`].
    totals: [AtomicU64; 7],
}

/// Where in [`Counts::totals`] those begin that ended, and those that were refused.
const ENDED: usize = 1;
const REFUSED: usize = 5;

/// What is counted for each input of a rewriter.
#[derive(Default)]
pub(super) struct InputCounts {
    lanes: [Apart<Counts>; LANES],
}

impl InputCounts {
    /// Flows that the input's specification has made, and that are there.
    pub(super) fn flows(&self) -> u32 {
        self.lanes.iter().fold(0, |sum, lane| sum.wrapping_add(lane.0.flows.get()))
    }

    /// Flows that could not be made.
    pub(super) fn failures(&self) -> u32 {
        self.lanes.iter().fold(0, |sum, lane| sum.wrapping_add(lane.0.failures.load(Relaxed)))
    }

    /// A lane, whose lock the caller holds, has so many flows more.
    pub(super) fn count(&self, lane: usize, by: i32) {
        self.lanes[lane % LANES].0.flows.add(by);
    }

    /// A worker could not make a flow.
    pub(super) fn fail(&self, worker: usize) {
        self.lanes[worker % LANES].0.failures.fetch_add(1, Relaxed);
    }

    /// A lane, whose lock the caller holds, has made a flow.
    #[inline]
    pub(super) fn made(&self, lane: usize) {
        self.one_more(lane, 0);
    }

    /// A flow of a lane, whose lock the caller holds, has ended.
    pub(super) fn ended(&self, lane: usize, end: End) {
        self.one_more(lane, ENDED + end as usize);
    }

    /// Only who holds a lane's lock counts these.
    #[inline]
    fn one_more(&self, lane: usize, at: usize) {
        let total = &self.lanes[lane % LANES].0.totals[at];
        total.store(total.load(Relaxed) + 1, Relaxed);
    }

    /// A worker could not make a flow, and this is why; that it could not, it has counted.
    pub(super) fn refuse(&self, worker: usize, why: Refusal) {
        self.lanes[worker % LANES].0.totals[REFUSED + why as usize].fetch_add(1, Relaxed);
    }

    /// Adds what happened to the input's flows.
    pub(super) fn add_to(&self, totals: &mut Totals) {
        for lane in &self.lanes {
            let counts = lane.0.totals.iter().map(|count| count.load(Relaxed));
            totals.numbers().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }

    /// Goes on with what another process has counted.
    pub(super) fn go_on(&self, failures: u32) {
        self.lanes[0].0.failures.fetch_add(failures, Relaxed);
    }

    /// Goes on with another configuration's count of failures, however often it is told so.
    pub(super) fn adopt(&self, old: &InputCounts) {
        let failures = old.failures();
        let most = |known: u32| Some(known.max(failures));
        let _ = self.lanes[0].0.failures.fetch_update(Relaxed, Relaxed, most);
        let mut before = Totals::default();
        old.add_to(&mut before);
        let totals = &self.lanes[0].0.totals;
        totals.iter().zip(before.numbers()).for_each(|(total, before)| _ = total.fetch_max(*before, Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All room is given, in blocks that get smaller, and comes back when it is short.
    #[test]
    fn blocks() {
        let room = Room::default();
        let capacity = 3000;
        let mut lanes = [0; LANES];
        let mut blocks = Vec::new();
        while let more @ 1.. = room.take(capacity) {
            blocks.push(more);
            lanes[blocks.len() % LANES] += more;
        }
        assert_eq!((room.taken(), blocks.iter().sum::<usize>()), (3000, 3000));
        assert_eq!((blocks[0], blocks.last()), (ROOM, Some(&1)));
        assert!(blocks.is_sorted_by(|a, b| a >= b));
        lanes[0] -= 7; // flows
        room.recall(capacity + 1, lanes.iter_mut());
        assert_eq!(room.taken(), 3000, "it is not short");
        room.recall(capacity, lanes.iter_mut());
        assert_eq!((room.taken(), lanes), (7, [0; LANES]));
        assert_eq!([room.take(7), room.take(-1), room.take(8)], [0, 0, 1]);
    }

    /// Failures of the configuration before are counted once, whichever instances say so.
    #[test]
    fn failures_go_on() {
        let (old, new) = (InputCounts::default(), InputCounts::default());
        (0..3 * LANES).for_each(|worker| old.fail(worker));
        new.adopt(&old);
        new.adopt(&old);
        assert_eq!(new.failures(), 3 * LANES as u32);
    }
}
