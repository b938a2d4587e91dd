//! The lists that records are in: those of the wheel, and that of the unconfirmed flows in the order in which they came.
//!
//! A record is in one list at most. Lists are linked both ways, so that a record leaves without a search; the first record's link backwards
//! names the list.

use crate::records::{END, MARK, Records};
use crate::time::Instant;

/// Lists of the wheel.
const WHEEL: usize = 4096;
/// The list of unconfirmed flows.
const QUEUE: usize = WHEEL;

/// Where a record without a list leads back to.
pub(crate) const NO_LIST: u32 = END;

/// The lists' ends.
pub(crate) struct Lists {
    heads: Box<[u32]>,
    /// The last of the unconfirmed flows.
    last: u32,
    /// Records in the wheel.
    turning: usize,
    /// The list of the wheel that is looked at next, as lists are numbered that never end.
    next: i64,
}

impl Lists {
    pub(crate) fn new() -> Lists {
        Lists { heads: vec![END; WHEEL + 1].into(), last: END, turning: 0, next: 0 }
    }

    /// Puts a record into the wheel, to be looked at after so many steps or soon after; not before, but for times that are longer than
    /// the wheel turns.
    pub(crate) fn turn<K: Copy, V: Default, const N: usize>(
        &mut self,
        records: &mut Records<K, V, N>,
        number: u32,
        now: Instant,
        steps: i64,
    ) {
        if self.turning == 0 {
            self.next = now.list();
        }
        let list = now.later(steps).list() + 1;
        let list = list.clamp(self.next, self.next + WHEEL as i64 - 1);
        self.turning += 1;
        self.push(records, number, list.rem_euclid(WHEEL as i64) as usize);
    }

    fn push<K: Copy, V: Default, const N: usize>(
        &mut self,
        records: &mut Records<K, V, N>,
        number: u32,
        list: usize,
    ) {
        let second = std::mem::replace(&mut self.heads[list], number);
        if let Some(record) = records.get_mut(second) {
            record.before = number;
        }
        if let Some(record) = records.get_mut(number) {
            (record.before, record.after) = (MARK | list as u32, second);
        }
    }

    /// Puts a record behind all unconfirmed ones.
    pub(crate) fn queue<K: Copy, V: Default, const N: usize>(
        &mut self,
        records: &mut Records<K, V, N>,
        number: u32,
    ) {
        let last = std::mem::replace(&mut self.last, number);
        let before = match records.get_mut(last) {
            Some(record) => {
                record.after = number;
                last
            }
            None => {
                self.heads[QUEUE] = number;
                MARK | QUEUE as u32
            }
        };
        if let Some(record) = records.get_mut(number) {
            (record.before, record.after) = (before, END);
        }
    }

    /// The unconfirmed one that came first.
    #[inline]
    pub(crate) fn oldest(&self) -> Option<u32> {
        let first = self.heads[QUEUE];
        (first != END).then_some(first)
    }

    /// The first keys of all unconfirmed ones.
    pub(crate) fn queued<K: Copy, V: Default, const N: usize>(
        &self,
        records: &Records<K, V, N>,
    ) -> impl Iterator<Item = K> {
        let record = |number: u32| records.get(number);
        std::iter::successors(record(self.heads[QUEUE]), move |last| record(last.after))
            .map(|record| record.keys[0])
    }

    /// Takes a record out of the list that it is in, if it is in one: of the unconfirmed ones if `queued`.
    pub(crate) fn leave<K: Copy, V: Default, const N: usize>(
        &mut self,
        records: &mut Records<K, V, N>,
        number: u32,
        queued: bool,
    ) {
        let Some(record) = records.get_mut(number) else { return };
        let (before, after) = (record.before, record.after);
        if before == NO_LIST {
            return;
        }
        (record.before, record.after) = (NO_LIST, END);
        if before & MARK != 0 {
            self.heads[(before & !MARK) as usize] = after;
        } else if let Some(record) = records.get_mut(before) {
            record.after = after;
        }
        if let Some(record) = records.get_mut(after) {
            record.before = before;
        } else if queued {
            self.last = if before & MARK != 0 { END } else { before };
        }
        self.turning -= usize::from(!queued);
    }

    /// A record of the wheel that is due to be looked at. It stays where it is.
    pub(crate) fn due(&mut self, now: Instant) -> Option<u32> {
        let now = now.list();
        if self.turning == 0 {
            return None;
        }
        // After a long sleep each list is looked at once.
        self.next = self.next.max(now - WHEEL as i64 + 1);
        while self.next <= now {
            let first = self.heads[self.next.rem_euclid(WHEEL as i64) as usize];
            if first != END {
                return Some(first);
            }
            self.next += 1;
        }
        None
    }
}
