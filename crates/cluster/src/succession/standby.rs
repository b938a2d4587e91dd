//! What a node holds for others, until they are gone.
//!
//! A stream may begin anew, since too much has changed. What was told before stays until the new stream has said all that is there; what
//! of it has not been said again then goes, a little at a time.

use super::message::{Duty, Entry, Part, entries};
use super::stream::WINDOW;
use std::collections::BTreeMap;
use std::ops::Bound;

/// What a stream has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is kept aside.
    Kept,
    /// It goes into this node's own tables, piece by piece; and so does what comes after.
    Adopted,
}

/// An entry's name: this node's number of its table, and its key.
type Name = (u8, Box<[u8]>);

/// What was told of an entry, and in which of the streams, as they are counted here.
#[derive(Debug)]
struct Told {
    round: u32,
    value: Box<[u8]>,
}

/// Entries that are looked at to make room for one.
const LOOKS: usize = 64;

/// What one other node has told.
#[derive(Debug)]
pub(super) struct Standby {
    /// The sender's life, and the stream in it.
    pub(super) stream: (u64, u64),
    /// The number of the part that is expected.
    pub(super) next: u64,
    /// Parts that came before it.
    early: BTreeMap<u64, Part>,
    /// The sender's tables, by their place among this node's.
    tables: Vec<Option<u8>>,
    entries: BTreeMap<Name, Told>,
    /// How many streams there were before, and how many entries were told only in those.
    round: u32,
    former: usize,
    /// Whether all that is there has been told in this one, and the last one in which it was: what none since has told of is gone.
    pub(super) is_whole: bool,
    whole_round: u32,
    /// Where the look at what is held goes on, and whether the entries of this stream were taken out before those of former ones.
    cursor: Option<Name>,
    has_passed: bool,
    pub(super) stage: Stage,
    /// What was handed over.
    pub(super) handed: Option<Vec<Duty>>,
    /// Entries that there was no room or no table for.
    pub(super) lost: u64,
}

impl Standby {
    /// A stream begins.
    pub(super) fn new(stream: (u64, u64)) -> Standby {
        Standby {
            stream,
            next: 0,
            early: BTreeMap::new(),
            tables: Vec::new(),
            entries: BTreeMap::new(),
            round: 0,
            former: 0,
            is_whole: false,
            whole_round: 0,
            cursor: None,
            has_passed: false,
            stage: Stage::Kept,
            handed: None,
            lost: 0,
        }
    }

    /// Another stream begins: what was told before stays until that is whole.
    pub(super) fn begin_anew(&mut self, stream: (u64, u64)) {
        let fresh = Standby::new(stream);
        let entries = std::mem::take(&mut self.entries);
        let (round, former, whole_round) = (self.round + 1, entries.len(), self.whole_round);
        *self = Standby { entries, round, former, whole_round, lost: self.lost, ..fresh };
    }

    /// From now on what is held goes into this node's tables.
    pub(super) fn begin_adoption(&mut self) {
        (self.stage, self.cursor) = (Stage::Adopted, None);
    }

    /// Forgets some entries that only former streams have told of, once this one is whole: looks at `most` entries.
    pub(super) fn sweep(&mut self, most: usize) {
        if self.is_whole && self.stage == Stage::Kept {
            self.forget_former(most, most);
        }
    }

    /// Looks at `looks` entries, and forgets up to `most` that only former streams have told of. How many that were.
    fn forget_former(&mut self, looks: usize, most: usize) -> usize {
        if self.former == 0 {
            return 0;
        }
        let former = self.look(looks, most, |told, round| told.round != round);
        former.iter().for_each(|name| drop(self.entries.remove(name)));
        self.former -= former.len();
        former.len()
    }

    /// Goes on looking at entries: at `looks` of them, for up to `most` of a kind. From the last one on it begins again.
    fn look(&mut self, looks: usize, most: usize, is: impl Fn(&Told, u32) -> bool) -> Vec<Name> {
        let from = self.cursor.take().map_or(Bound::Unbounded, Bound::Excluded);
        let (mut found, mut looked_at) = (Vec::new(), 0);
        for (name, told) in self.entries.range((from, Bound::Unbounded)) {
            if is(told, self.round) {
                found.push(name.clone());
            }
            looked_at += 1;
            if looked_at == looks || found.len() == most {
                self.cursor = Some(name.clone());
                break;
            }
        }
        found
    }

    /// Entries that are held.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// A part has come. `own`: the names of this node's tables. There is room for `room` further entries.
    pub(super) fn take(&mut self, number: u64, part: Part, own: &[String], room: usize) {
        if number < self.next || number >= self.next + WINDOW as u64 {
            return;
        }
        let most = self.entries.len() + room;
        self.early.insert(number, part);
        while let Some(part) = self.early.remove(&self.next) {
            self.next += 1;
            self.read(&part, own, most);
        }
    }

    fn read(&mut self, part: &Part, own: &[String], most: usize) {
        match part {
            Part::Begin(names) => {
                let place = |name: &String| own.iter().position(|table| table == name).map(|at| at as u8);
                self.tables = names.iter().map(place).collect();
            }
            Part::Entries(bytes) => {
                entries(bytes).flatten().for_each(|entry| self.note(entry, most));
            }
            Part::Whole => (self.is_whole, self.whole_round, self.cursor) = (true, self.round, None),
            Part::HandOver(duties) => self.handed = Some(duties.clone()),
        }
    }

    fn note(&mut self, entry: Entry<'_>, most: usize) {
        let Some(&Some(table)) = self.tables.get(usize::from(entry.table)) else {
            self.lost += u64::from(entry.value.is_some());
            return;
        };
        let name = (table, entry.key.into());
        let round = self.round;
        let before = match entry.value {
            None => self.entries.remove(&name),
            Some(value) => {
                let has_room = self.entries.contains_key(&name)
                    || self.entries.len() < most
                    || self.forget_former(LOOKS, 1) > 0;
                if !has_room {
                    self.lost += 1;
                    return;
                }
                self.entries.insert(name, Told { round, value: value.into() })
            }
        };
        self.former -= usize::from(before.is_some_and(|told| told.round != round));
    }

    /// Takes out some entries of one table: looks at `most`. Where the stream is not whole, first those that it has told of: what former ones
    /// have said may be over, and others have its ports.
    pub(super) fn pop(&mut self, most: usize) -> Option<Popped> {
        if self.former > 0 && !self.is_whole && !self.has_passed {
            let names = self.look(most, most, |told, round| told.round == round);
            self.has_passed = self.cursor.is_none();
            return Some(self.take_out(names, most));
        }
        let &(table, _) = self.entries.first_key_value()?.0;
        let (mut list, mut looks) = (Vec::new(), 0);
        while looks < most
            && let Some(first) = self.entries.first_entry().filter(|first| first.key().0 == table)
        {
            let ((_, key), told) = first.remove_entry();
            self.former -= usize::from(told.round != self.round);
            if told.round >= self.whole_round {
                list.push((key, told.value));
            }
            looks += 1;
        }
        Some(Popped { table, list, looks })
    }

    /// Takes out entries of this stream that were found by a look at `looks`, as far as they are of one table.
    fn take_out(&mut self, names: Vec<Name>, looks: usize) -> Popped {
        let table = names.first().map_or(0, |name| name.0);
        let mut list: Vec<Held> = Vec::new();
        for name in names {
            if name.0 != table {
                // The next look begins with it.
                self.cursor = list.last().map(|(key, _)| (table, key.clone()));
                self.has_passed = false;
                break;
            }
            list.extend(self.entries.remove(&name).map(|told| (name.1, told.value)));
        }
        Popped { table, list, looks }
    }
}

/// Entries that were taken out.
pub(super) struct Popped {
    pub(super) table: u8,
    pub(super) list: Vec<Held>,
    /// How many were looked at.
    pub(super) looks: usize,
}

/// A key and its value.
pub type Held = (Box<[u8]>, Box<[u8]>);

#[cfg(test)]
mod tests {
    use super::super::message::add_entry;
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn part(table: u8, key: u8, value: Option<u8>) -> Part {
        let mut bytes = Vec::new();
        assert!(add_entry(
            &mut bytes,
            Entry { table, key: &[key], value: value.as_ref().map(std::slice::from_ref) }
        ));
        Part::Entries(bytes)
    }

    /// What was told of an entry: when, counted in streams, and its value.
    type Naive = BTreeMap<(u8, u8), (u32, u8)>;

    #[derive(Clone, Debug)]
    enum Op {
        Tell(u8, u8, Option<u8>),
        Anew,
        Whole,
        Sweep(usize),
    }

    fn ops() -> impl Strategy<Value = Vec<Op>> {
        let op = prop_oneof![
            12 => (0..2u8, 0..30u8, proptest::option::of(any::<u8>())).prop_map(|(t, k, v)| Op::Tell(t, k, v)),
            1 => Just(Op::Anew),
            1 => Just(Op::Whole),
            2 => (1..9usize).prop_map(Op::Sweep),
        ];
        vec(op, 0..120)
    }

    proptest! {
        /// Whatever streams say, all is held that the last whole one and those since have, and in the end what comes out is that: first what
        /// was told last.
        #[test]
        fn holds_what_was_told(ops in ops(), most in 1..7usize) {
            let (own, mut round) = (["a".to_owned(), "b".to_owned()], 0);
            let mut naive = Naive::new();
            let mut standby = Standby::new((1, 0));
            let begin = |standby: &mut Standby| standby.take(standby.next, Part::Begin(own.to_vec()), &own, 100);
            begin(&mut standby);
            for op in ops {
                match op {
                    Op::Tell(table, key, value) => {
                        standby.take(standby.next, part(table, key, value), &own, 100);
                        match value {
                            Some(value) => _ = naive.insert((table, key), (round, value)),
                            None => _ = naive.remove(&(table, key)),
                        }
                    }
                    Op::Anew => {
                        round += 1;
                        standby.begin_anew((1, round.into()));
                        begin(&mut standby);
                    }
                    Op::Whole => {
                        naive.retain(|_, told| told.0 == round);
                        standby.take(standby.next, Part::Whole, &own, 100);
                    }
                    Op::Sweep(most) => standby.sweep(most),
                }
                let held = standby.entries.iter().map(|((table, key), told)| ((*table, key[0]), (told.round, told.value[0])));
                let held: Naive = held.collect();
                let whole = standby.whole_round;
                prop_assert!(held.iter().all(|(name, told)| told.0 < whole || naive.get(name) == Some(told)));
                prop_assert!(naive.iter().all(|(name, told)| held.get(name) == Some(told)));
                prop_assert_eq!(standby.former, held.values().filter(|told| told.0 < round).count());
            }
            standby.begin_adoption();
            let mut out = Vec::new();
            while let Some(Popped { table, list, looks }) = standby.pop(most) {
                prop_assert!(looks > 0 && list.len() <= most);
                out.extend(list.iter().map(|(key, value)| ((table, key[0]), value[0])));
            }
            let rounds: Vec<bool> = out.iter().map(|(name, _)| naive[name].0 == round).collect();
            prop_assert!(rounds.is_sorted_by(|one, other| one >= other));
            let expected: BTreeMap<_, _> = naive.iter().map(|(name, told)| (*name, told.1)).collect();
            prop_assert_eq!(out.len(), expected.len());
            prop_assert_eq!(out.into_iter().collect::<BTreeMap<_, _>>(), expected);
        }
    }

    /// What only former streams have told of gives way where there is no room.
    #[test]
    fn what_is_former_gives_way() {
        let own = ["a".to_owned()];
        let mut standby = Standby::new((1, 0));
        let tell = |standby: &mut Standby, part| {
            let room = 10 - standby.len();
            standby.take(standby.next, part, &own, room);
        };
        tell(&mut standby, Part::Begin(own.to_vec()));
        (0..10).for_each(|key| tell(&mut standby, part(0, key, Some(1))));
        standby.begin_anew((1, 1));
        tell(&mut standby, Part::Begin(own.to_vec()));
        (10..20).for_each(|key| tell(&mut standby, part(0, key, Some(2))));
        assert_eq!((standby.len(), standby.former, standby.lost), (10, 0, 0));
        tell(&mut standby, part(0, 20, Some(2)));
        assert_eq!((standby.len(), standby.lost), (10, 1));
    }
}
