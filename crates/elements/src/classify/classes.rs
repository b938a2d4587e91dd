//! Classes of a field's values: the values that the same entries accept.

use super::expr::Parts;
use super::program::part_of;
use super::search::SearchTree;
use super::terms::{Field, Term};
use super::vectors::{Bits, flip};
use std::collections::HashMap;

/// The class of packets that have only a part of the field.
const PARTIAL: usize = 0;
/// The class of packets that do not have the field.
const ABSENT: usize = 1;

/// Tells the class of a packet.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    part: usize,
    /// Where the word ends.
    end: usize,
    shift: u32,
    max: u32,
    /// How far classes are apart.
    stride: usize,
    lookup: Lookup,
}

/// How values become classes.
#[derive(Clone, Debug)]
enum Lookup {
    /// For fields of one or two bytes: the upper byte tells where the table starts that the lower is looked up in. Few of
    /// these are different.
    Tables(Box<[u32; 256]>, Vec<u32>),
    /// For fields of four bytes: the interval's number is the class, but for those two above.
    Tree(SearchTree),
}

impl Classes {
    /// The classes of a field, and the entries that accept each.
    pub(super) fn new(field: Field, terms: &[(usize, Term)]) -> (Classes, Vec<Bits>) {
        let (partial, absent, intervals) = sweep(field, terms);
        let starts: Vec<u32> = intervals.iter().skip(1).map(|&(start, _)| start).collect();
        let mut rows = vec![partial, absent];
        let lookup = if field.largest() > 0xffff {
            rows.extend(intervals.iter().map(|&(_, row)| row));
            Lookup::Tree(SearchTree::new(&starts))
        } else {
            let values = classes_of_values(&intervals, &distinct(&intervals, &mut rows), field.largest());
            tables(values.as_chunks().0)
        };
        let (part, offset) = part_of(field.offset);
        (
            Classes { part, end: offset + 4, shift: field.shift(), max: field.largest(), stride: 1, lookup },
            rows,
        )
    }

    /// The class of a packet. Says so if the packet has only a part of the field.
    #[inline(always)] // once for each field of each packet
    pub(super) fn of(&self, parts: &Parts<'_>, partial: &mut bool) -> usize {
        let part = parts.get(self.part);
        match part.get(..self.end).and_then(|bytes| bytes.last_chunk()) {
            Some(word) => self.class(u32::from_be_bytes(*word)),
            None => self.at_end(part.get(self.end - 4..).unwrap_or_default(), partial),
        }
    }

    #[inline(always)]
    fn class(&self, word: u32) -> usize {
        let value = word >> self.shift & self.max;
        match &self.lookup {
            Lookup::Tables(upper, lower) => {
                let start = upper[value as usize >> 8 & 0xff];
                lower.get(start as usize + (value as usize & 0xff)).copied().unwrap_or_default() as usize
            }
            Lookup::Tree(tree) => (ABSENT + 1 + tree.find(value)) * self.stride,
        }
    }

    /// The class where the packet ends before the word does.
    #[cold]
    #[inline(never)]
    fn at_end(&self, bytes: &[u8], partial: &mut bool) -> usize {
        let last = 4 - self.shift as usize / 8;
        let first = last - (32 - self.max.leading_zeros() as usize) / 8;
        if bytes.len() >= last {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            return self.class(u32::from_be_bytes(word));
        }
        *partial |= bytes.len() > first;
        if bytes.len() > first { PARTIAL * self.stride } else { ABSENT * self.stride }
    }

    /// Makes room between classes: from now on they are this many times as far apart.
    pub(super) fn spread(&mut self, stride: usize) {
        self.stride = stride;
        if let Lookup::Tables(_, classes) = &mut self.lookup {
            classes.iter_mut().for_each(|class| *class *= stride as u32);
        }
    }
}

/// The entries that accept packets with a part of the field, those without it, and the values from each start up to the next.
fn sweep(field: Field, terms: &[(usize, Term)]) -> (Bits, Bits, Vec<(u32, Bits)>) {
    let (mut partial, mut absent, mut accepting) = ([0; _], [0; _], [0; _]);
    // Where entries begin and cease to accept.
    let mut changes: Vec<(u32, usize)> = Vec::new();
    for (entry, (_, term)) in terms.iter().enumerate() {
        let found = term.sets.binary_search_by_key(&field, |&(field, _)| field);
        let set = found.ok().map(|at| &term.sets[at].1);
        if set.is_none_or(|set| set.partial) {
            flip(&mut partial, entry);
        }
        if set.is_none_or(|set| set.absent) {
            flip(&mut absent, entry);
        }
        match set {
            None => flip(&mut accepting, entry),
            Some(set) => {
                for &(from, to) in &set.intervals {
                    changes.push((from, entry));
                    changes.extend((to < field.largest()).then(|| (to + 1, entry)));
                }
            }
        }
    }
    changes.sort_unstable();
    let mut intervals = Vec::new();
    if changes.first().is_none_or(|&(start, _)| start > 0) {
        intervals.push((0, accepting));
    }
    for changes in changes.chunk_by(|a, b| a.0 == b.0) {
        changes.iter().for_each(|&(_, entry)| flip(&mut accepting, entry));
        intervals.push((changes[0].0, accepting));
    }
    (partial, absent, intervals)
}

/// Adds the rows of intervals, equal ones once. The result is the row of each interval.
fn distinct(intervals: &[(u32, Bits)], rows: &mut Vec<Bits>) -> Vec<u16> {
    let mut known: HashMap<&Bits, u16> = HashMap::new();
    let row_of = |(_, row): &'_ (u32, Bits), rows: &mut Vec<Bits>| {
        rows.push(*row);
        (rows.len() - 1) as u16
    };
    intervals
        .iter()
        .map(|interval| *known.entry(&interval.1).or_insert_with(|| row_of(interval, rows)))
        .collect()
}

/// The class of each value.
fn classes_of_values(intervals: &[(u32, Bits)], classes: &[u16], largest: u32) -> Vec<u16> {
    let mut values = Vec::with_capacity(largest as usize + 1);
    let ends = intervals.iter().skip(1).map(|&(start, _)| start).chain([largest + 1]);
    for (end, &class) in ends.zip(classes) {
        values.resize(end as usize, class);
    }
    values
}

/// Look-up in tables; those that are equal are there once.
fn tables(tables: &[[u16; 256]]) -> Lookup {
    let mut lower: Vec<u32> = Vec::new();
    let mut known: HashMap<&[u16; 256], u32> = HashMap::new();
    let mut upper = Box::new([0; 256]);
    for (at, table) in upper.iter_mut().zip(tables) {
        *at = *known.entry(table).or_insert_with(|| {
            lower.extend(table.iter().copied().map(u32::from));
            (lower.len() - table.len()) as u32
        });
    }
    Lookup::Tables(upper, lower)
}
