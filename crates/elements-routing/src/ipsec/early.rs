//! Packets that come before their association is in the table.
//!
//! A peer may protect packets by new keys as soon as it has the answer of this side's IKE daemon (RFC 7296, section 2.8), and the daemon answers as soon as
//! the kernel has the association. The thread that brings it here runs a moment later; on a busy machine that is long enough for packets to come. They
//! wait for it, for a short time and in a bounded number, so that a renewal of keys loses none.
//!
//! Packets of one association leave in the order in which they came, although it appears in the table at any moment, also between two of them: one that
//! finds it waits nevertheless, behind the others, if the association is younger than the table was when those were looked up. Ages grow, and the
//! table says which age is in it only when that is so.

use std::collections::VecDeque;

/// Packets that wait, at most.
pub(crate) const MOST: usize = 256;
/// How long a packet waits, in nanoseconds.
pub(crate) const PATIENCE_NS: i64 = 1_000_000_000;

/// Packets that wait, the oldest first.
pub(crate) struct Early<P> {
    /// Each with the time at which it is given up, in nanoseconds since the epoch.
    waiting: VecDeque<(i64, P)>,
    /// The age of the youngest association that was in the table when they were looked up.
    newest: u64,
}

/// Without room: what an element has that is not to hold any more.
impl<P> Default for Early<P> {
    fn default() -> Early<P> {
        Early { waiting: VecDeque::new(), newest: 0 }
    }
}

impl<P> Early<P> {
    /// Room for [`MOST`] packets.
    pub(crate) fn new() -> Early<P> {
        Early { waiting: VecDeque::with_capacity(MOST), newest: 0 }
    }

    /// How many wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Notes the age of the youngest association in the table, before packets are looked up; whether that is cause to call [`Early::again`] first.
    #[inline]
    pub(crate) fn note(&mut self, newest: u64) -> bool {
        let is_new = newest != self.newest && !self.waiting.is_empty();
        self.newest = newest;
        is_new
    }

    /// Whether packets may wait that an association of this age is for.
    #[inline]
    pub(crate) fn may_wait_for(&self, age: u64) -> bool {
        age > self.newest && !self.waiting.is_empty()
    }

    /// Lets a packet wait until a time. It comes back if there is no room.
    pub(crate) fn push(&mut self, until_ns: i64, packet: P) -> Result<(), P> {
        if self.waiting.len() >= MOST {
            return Err(packet);
        }
        self.waiting.push_back((until_ns, packet));
        Ok(())
    }

    /// Hands each packet that waits to `look`, the oldest first, and says whether its time is over; what comes back goes on waiting. [`Early::note`] was
    /// called before.
    pub(crate) fn again(&mut self, now_ns: i64, mut look: impl FnMut(&Early<P>, P, bool) -> Option<P>) {
        for _ in 0..self.waiting.len() {
            let Some((until_ns, packet)) = self.waiting.pop_front() else { return };
            if let Some(packet) = look(self, packet, now_ns >= until_ns) {
                self.waiting.push_back((until_ns, packet));
            }
        }
    }

    /// Takes over what waits in another, which came before; what there is no room for goes to `give_up`.
    pub(crate) fn adopt(&mut self, other: Early<P>, mut give_up: impl FnMut(P)) {
        for (until_ns, packet) in other.waiting {
            if let Err(packet) = self.push(until_ns, packet) {
                give_up(packet);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    /// A table that another thread adds to while packets are looked up: what is added is seen at once, and its age said some steps later.
    struct Table {
        /// The age of each association, by number; 0 if it is not there.
        ages: Vec<Cell<u64>>,
        /// What becomes of it at each step.
        plan: Vec<Option<usize>>,
        step: Cell<usize>,
        last: Cell<u64>,
        said: Cell<u64>,
    }

    impl Table {
        fn step(&self) {
            let step = self.step.get();
            self.step.set(step + 1);
            match self.plan.get(step).copied().flatten() {
                Some(number) if self.ages[number].get() == 0 => {
                    self.last.set(self.last.get() + 1);
                    self.ages[number].set(self.last.get());
                }
                _ => self.said.set(self.last.get()),
            }
        }

        fn find(&self, number: usize) -> Option<u64> {
            self.step();
            let age = self.ages[number].get();
            self.step();
            (age > 0).then_some(age)
        }
    }

    /// A packet: its association, and which of it.
    type Numbered = (usize, u64);

    fn look(
        table: &Table,
        early: &Early<Numbered>,
        packet: Numbered,
        came: &mut Vec<Numbered>,
    ) -> Option<Numbered> {
        match table.find(packet.0) {
            Some(age) if !early.may_wait_for(age) => {
                came.push(packet);
                None
            }
            _ => Some(packet),
        }
    }

    proptest! {
        /// Batches of packets of four associations, which appear at any step: each packet comes once, and those of an association in order.
        #[test]
        fn each_once_and_in_order(
            batches in prop::collection::vec(prop::collection::vec(0usize..4, 0..6), 1..12),
            plan in prop::collection::vec(prop::option::weighted(0.2, 0usize..4), 0..120),
        ) {
            let all: Vec<Option<usize>> = (0..4).map(Some).chain([None]).collect();
            let steps = batches.concat().len() * (batches.len() + 2) * 2;
            let mut plan = plan;
            plan.truncate(steps);
            let table = Table {
                ages: vec![Cell::new(0); 4], plan, step: Cell::new(0), last: Cell::new(0), said: Cell::new(0)
            };
            let (mut early, mut came, mut sent) = (Early::new(), Vec::new(), [0u64; 4]);
            for batch in &batches {
                if early.note(table.said.get()) {
                    early.again(0, |early, packet, _| look(&table, early, packet, &mut came));
                }
                for &number in batch {
                    sent[number] += 1;
                    if let Some(packet) = look(&table, &early, (number, sent[number]), &mut came) {
                        early.push(1, packet).expect("room");
                    }
                }
            }
            // In the end all are there.
            let table = Table { plan: all, step: Cell::new(0), ..table };
            (0..5).for_each(|_| table.step());
            early.note(table.said.get());
            early.again(0, |early, packet, _| look(&table, early, packet, &mut came));
            prop_assert_eq!(early.len(), 0);
            for (number, &sent) in sent.iter().enumerate() {
                let of: Vec<u64> = came.iter().filter(|packet| packet.0 == number).map(|packet| packet.1).collect();
                prop_assert_eq!(of, (1..=sent).collect::<Vec<_>>());
            }
        }
    }

    /// No more than there is room for, and none for longer than it may.
    #[test]
    fn bounds() {
        let mut early = Early::new();
        let refused = (0..1000).filter(|&number| early.push(number, number).is_err()).count();
        assert_eq!((early.len(), refused), (MOST, 1000 - MOST));
        assert!(early.note(1) && !early.note(1));
        let mut given_up = Vec::new();
        early.again(9, |_, number, is_over| {
            given_up.extend(is_over.then_some(number));
            (!is_over).then_some(number)
        });
        assert_eq!((given_up, early.len()), ((0..10).collect(), MOST - 10));
        let mut other = Early::new();
        (0..20).for_each(|number| other.push(number, number).expect("room"));
        let mut refused = 0;
        early.adopt(other, |_| refused += 1);
        assert_eq!((early.len(), refused), (MOST, 10));
    }
}
