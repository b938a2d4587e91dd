//! What a node holds for others, until they are gone.

use super::message::{Duty, Entry, Part, entries};
use super::stream::WINDOW;
use std::collections::BTreeMap;

/// What a stream has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is kept aside.
    Kept,
    /// It goes into this node's own tables, piece by piece; and so does what comes after.
    Adopted,
}

/// Entries by this node's number of their table and by their keys.
type Entries = BTreeMap<(u8, Box<[u8]>), Box<[u8]>>;

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
    entries: Entries,
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
            stage: Stage::Kept,
            handed: None,
            lost: 0,
        }
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
            Part::HandOver(duties) => self.handed = Some(duties.clone()),
        }
    }

    fn note(&mut self, entry: Entry<'_>, most: usize) {
        let Some(&Some(table)) = self.tables.get(usize::from(entry.table)) else {
            self.lost += u64::from(entry.value.is_some());
            return;
        };
        let key = (table, entry.key.into());
        match entry.value {
            None => drop(self.entries.remove(&key)),
            Some(value) if self.entries.len() < most || self.entries.contains_key(&key) => {
                self.entries.insert(key, value.into());
            }
            Some(_) => self.lost += 1,
        }
    }

    /// Takes out some entries of one table.
    pub(super) fn pop(&mut self, most: usize) -> Option<(u8, Vec<Held>)> {
        let &(table, _) = self.entries.first_key_value()?.0;
        let mut list = Vec::new();
        while list.len() < most
            && let Some(first) = self.entries.first_entry().filter(|first| first.key().0 == table)
        {
            let ((_, key), value) = first.remove_entry();
            list.push((key, value));
        }
        Some((table, list))
    }
}

/// A key and its value.
pub type Held = (Box<[u8]>, Box<[u8]>);
