//! The search for what a new flow may become: number by number, until it shows that little is left of a range. From then on what is taken of
//! that is remembered ([`super::crowds`]).

use super::crowds::Crowd;
use super::exhausted::Domain;
use super::flow_set::FlowSet;
use super::nat::Nat;
use super::pattern::{Free, Pattern};
use elements_shared::flow_id::{FlowId, Key};
use rcu::Turn;

/// Numbers that were others' before little seems to be left.
pub(super) const TRIES: u32 = 16;
/// Numbers that are then looked at with the lock of a lane, for this flow and those that come after it.
const LEARNED: u32 = 256;

/// A search in a range, or in what is no range.
pub(super) struct Search<'t> {
    pub(super) nat: &'t Nat,
    pub(super) set: &'t FlowSet,
    pub(super) turn: Turn<'t>,
    pub(super) pattern: &'t Pattern,
    pub(super) key: Key,
    pub(super) domain: Option<Domain>,
    /// The worker whose lane may be locked; `None` for who has all lanes.
    pub(super) worker: Option<usize>,
    /// What is remembered of the range.
    pub(super) crowd: Option<&'t Crowd>,
    /// The hash of what replies are found by, of what was looked at last.
    pub(super) reply: Option<u64>,
    /// Numbers in a row that were others', since the last look at several.
    pub(super) tries: u32,
    /// The first one of them; `None` before the first. The flow's own port, which is looked at before, is not among them.
    pub(super) from: Option<u32>,
}

impl Search<'_> {
    fn find(&self, id: FlowId) -> (u64, bool) {
        let reply = self.nat.reply_key(self.key.map(), id);
        let hash = self.set.hash(reply);
        steps::count(1);
        (hash, self.set.find_hashed(self.turn, reply, hash).is_some())
    }

    /// Remembers what is taken of the numbers from the first that was another's on.
    #[cold]
    fn learn(&mut self) {
        let Some(domain) = self.domain else { return };
        let map = self.key.map();
        if self.crowd.is_none() && self.worker.is_some() {
            self.set.add_crowd(self.turn, map, domain);
            self.crowd = self.set.crowd(self.turn, map, domain);
        }
        let (Some(crowd), Some(first)) = (self.crowd, self.from) else { return };
        let note = || {
            let mut from = first;
            for _ in 0..LEARNED {
                let Some(number) = crowd.next(from, &mut 0) else { return };
                if self.find(self.pattern.numbered(self.key.id(), number)).1 {
                    crowd.note(number);
                }
                from = number.saturating_add(1);
            }
        };
        match self.worker {
            Some(worker) => self.set.while_none_goes(worker, note),
            None => note(),
        }
    }
}

impl Free for Search<'_> {
    fn is_free(&mut self, id: FlowId) -> bool {
        let (hash, is_taken) = self.find(id);
        self.reply = Some(hash);
        self.tries += u32::from(is_taken);
        !is_taken
    }

    fn next(&mut self, from: u32) -> Option<u32> {
        if self.from.is_none() {
            self.tries = 0;
        }
        if self.tries >= TRIES {
            self.tries = 0;
            self.learn();
        }
        let mut words = 0;
        let next = self.crowd.map_or(Some(from), |crowd| crowd.next(from, &mut words));
        steps::count(words);
        self.from = next.filter(|_| self.tries == 0).or(self.from);
        next
    }
}

/// Counts what tests ask for: looks at numbers and at words.
pub(super) mod steps {
    #[cfg(test)]
    thread_local! {
        pub(in crate::rewrite) static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    #[inline(always)] // nothing outside of tests
    pub(super) fn count(steps: usize) {
        let _ = steps;
        #[cfg(test)]
        STEPS.set(STEPS.get() + steps);
    }
}
