//! Changes of TCP sequence numbers, where an element has made a stream longer or shorter.
//!
//! Each direction of a flow has a list of steps: from a sequence number on, as the sender counts, this much is added.

use rcu::Weigh;
use router::{BadState, StateReader, StateWriter};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Steps that are remembered, at most: senders do not retransmit what lies further back.
const STEPS: usize = 64;

/// A step that lies this far back is of no interest any more: no window is larger (RFC 7323 2.3).
const HORIZON: i32 = 1 << 30;

/// The steps of one direction.
#[derive(Debug, Default)]
struct Steps {
    /// What is added in front of the first step.
    base: i32,
    /// Where each step begins, and what is added from there on.
    list: Vec<(u32, i32)>,
    /// All steps lie so far back that what was sent before them comes no more. Sequence numbers that come round again must not
    /// be taken for such. It is set once, by the packet that gets so far.
    settled: AtomicBool,
}

impl Clone for Steps {
    fn clone(&self) -> Steps {
        let settled = self.settled.load(Relaxed).into();
        Steps { base: self.base, list: self.list.clone(), settled }
    }
}

/// Whether a sequence number is not in front of another.
fn reaches(sequence: u32, other: u32) -> bool {
    sequence.wrapping_sub(other) as i32 >= 0
}

impl Steps {
    fn newest(&self) -> i32 {
        self.list.last().map_or(self.base, |step| step.1)
    }

    /// Notes how far a sender has got.
    fn note(&self, sequence: u32) {
        if let Some(&(last, _)) = self.list.last()
            && sequence.wrapping_sub(last) as i32 >= HORIZON
            && !self.settled.load(Relaxed)
        {
            self.settled.store(true, Relaxed);
        }
    }

    /// What is added at the newest step for which `holds`.
    fn find(&self, holds: impl Fn(u32, i32) -> bool) -> i32 {
        if self.settled.load(Relaxed) {
            return self.newest();
        }
        let found = self.list.iter().rev().find(|&&(from, delta)| holds(from, delta));
        found.map_or(self.base, |step| step.1)
    }

    fn add(&mut self, from: u32, change: i32) -> bool {
        if std::mem::take(self.settled.get_mut()) {
            self.base = self.newest();
            self.list.clear();
        }
        match self.list.last() {
            Some(&(last, _)) if !reaches(from, last) => return false,
            Some(&(last, _)) if last == from => drop(self.list.pop()), // the same again
            _ => {}
        }
        let delta = self.newest().wrapping_add(change);
        self.list.push((from, delta));
        let old = |&&(step, _): &&(u32, i32)| from.wrapping_sub(step) as i32 >= HORIZON;
        let gone = self.list.iter().take_while(old).count().max(self.list.len().saturating_sub(STEPS));
        if let Some((_, delta)) = self.list.drain(..gone).next_back() {
            self.base = delta;
        }
        true
    }

    fn is_empty(&self) -> bool {
        self.base == 0 && self.list.is_empty()
    }
}

/// The changes of a flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Deltas {
    steps: [Steps; 2],
}

impl Weigh for Deltas {
    fn heap_bytes(&self) -> usize {
        self.steps.iter().map(|steps| steps.list.heap_bytes()).sum()
    }
}

impl Deltas {
    /// Writes them for another process.
    pub(super) fn write(&self, out: &mut StateWriter) {
        for steps in &self.steps {
            out.u32(steps.base.cast_unsigned());
            out.u32(u32::from(steps.settled.load(Relaxed)));
            out.u32(steps.list.len() as u32);
            for &(from, delta) in &steps.list {
                out.u32(from);
                out.u32(delta.cast_unsigned());
            }
        }
    }

    /// Reads what another process has written.
    pub(super) fn read(state: &mut StateReader) -> Result<Deltas, BadState> {
        let mut deltas = Deltas::default();
        for steps in &mut deltas.steps {
            steps.base = state.u32()?.cast_signed();
            steps.settled = (state.u32()? != 0).into();
            for _ in 0..state.u32()? {
                steps.list.push((state.u32()?, state.u32()?.cast_signed()));
            }
        }
        Ok(deltas)
    }

    /// From `from` on, packets of a direction count `change` more. False, and nothing changed, if a later step exists.
    pub(super) fn add(&mut self, direction: usize, from: u32, change: i32) -> bool {
        self.steps[direction].add(from, change)
    }

    /// The sequence number of a packet of a direction, as it leaves.
    pub(super) fn sequence(&self, direction: usize, sequence: u32) -> u32 {
        let steps = &self.steps[direction];
        steps.note(sequence);
        let delta = steps.find(|from, _| reaches(sequence, from));
        sequence.wrapping_add_signed(delta)
    }

    /// The acknowledgement number of a packet of a direction, as it leaves: it counts what the other direction sends.
    pub(super) fn acknowledgement(&self, direction: usize, number: u32) -> u32 {
        let steps = &self.steps[1 - direction];
        let delta = steps.find(|from, delta| reaches(number.wrapping_sub(delta as u32), from));
        number.wrapping_sub(delta as u32)
    }

    /// Whether sequence numbers of a direction change.
    pub(super) fn changes(&self, direction: usize) -> bool {
        !self.steps[direction].is_empty()
    }

    /// What is added to sequence numbers of a direction now.
    pub(super) fn newest(&self, direction: usize) -> i32 {
        self.steps[direction].newest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes before a step are not moved, bytes after it are, also across the wrap; acknowledgements are the inverse.
    #[test]
    fn bytes_move_from_their_step_on() {
        let mut d = Deltas::default();
        let start = u32::MAX - 10;
        assert!(d.add(0, start, 3) && d.add(0, 20, -5));
        assert!(!d.add(0, 0, 1), "steps come in order");
        assert_eq!(d.sequence(0, start - 1), start - 1);
        assert_eq!(d.sequence(0, start), start + 3);
        assert_eq!(d.sequence(0, 19), 22);
        assert_eq!(d.sequence(0, 20), 18);
        for sequence in [start - 1, start, start + 8, 0, 12, 25] {
            assert_eq!(d.acknowledgement(1, d.sequence(0, sequence)), sequence);
        }
        assert_eq!((d.sequence(1, 7), d.acknowledgement(0, 7)), (7, 7));
        assert!(d.changes(0) && !d.changes(1));
    }

    /// A stream that is longer than sequence numbers keeps its shift, in both directions, and can be shifted again.
    #[test]
    fn a_long_stream_keeps_its_shift() {
        let mut d = Deltas::default();
        assert!(d.add(0, 1_000, 7));
        let step = 100_000_007;
        let mut sequence = 1_000_u32;
        for bytes in (0..10_000_000_000_u64).step_by(step as usize) {
            assert_eq!(d.sequence(0, sequence), sequence.wrapping_add(7), "after {bytes} bytes");
            assert_eq!(d.acknowledgement(1, sequence.wrapping_add(7)), sequence, "after {bytes} bytes");
            // A copy, as a new configuration makes it, knows it, too.
            d = d.clone();
            sequence = sequence.wrapping_add(step);
        }
        assert!(d.add(0, sequence, 2));
        assert_eq!(d.sequence(0, sequence.wrapping_sub(1)), sequence.wrapping_add(6));
        assert_eq!(d.sequence(0, sequence), sequence.wrapping_add(9));
        assert_eq!(d.acknowledgement(1, sequence.wrapping_add(6)), sequence.wrapping_sub(1));
        assert_eq!(d.acknowledgement(1, sequence.wrapping_add(9)), sequence);
    }

    /// A retransmission asks for the same step again: it counts once.
    #[test]
    fn a_repeated_step_counts_once() {
        let mut d = Deltas::default();
        assert!(d.add(0, 100, 2) && d.add(0, 200, 2) && d.add(0, 200, 2));
        assert_eq!(d.newest(0), 4);
    }

    /// However many steps there are, memory is bounded, and what is forgotten stays added.
    #[test]
    fn the_list_of_steps_is_bounded() {
        let mut d = Deltas::default();
        for n in 0..1000 {
            assert!(d.add(0, n * 10, 1));
        }
        assert_eq!(d.steps[0].list.len(), STEPS);
        assert_eq!((d.newest(0), d.sequence(0, 0)), (1000, 936));
        assert!(d.add(0, 9990 + (1 << 30), 1));
        assert_eq!(d.steps[0].list.len(), 1);
        assert_eq!((d.newest(0), d.sequence(0, 9000)), (1001, 10_000));
    }
}
