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
    /// Where the field starts and ends.
    start: usize,
    end: usize,
    /// How far classes are apart.
    stride: usize,
    lookup: Lookup,
}

/// How values become classes.
#[derive(Clone, Debug)]
enum Lookup {
    /// For fields of one byte.
    Byte(Box<[u16; 256]>),
    /// For fields of two bytes: the first byte tells where the table starts that the second is looked up in. Few of these are
    /// different.
    Pair(Box<Tables>),
    /// For fields of four bytes: the interval's number is the class, but for the two classes above.
    Tree(Box<SearchTree>),
}

#[derive(Clone, Debug)]
struct Tables {
    starts: [u32; 256],
    classes: Vec<u16>,
}

impl Classes {
    /// The classes of a field, and the entries that accept each.
    pub(super) fn new(field: Field, terms: &[(usize, Term)]) -> (Classes, Vec<Bits>) {
        let (partial, absent, intervals) = sweep(field, terms);
        let starts: Vec<u32> = intervals.iter().skip(1).map(|&(start, _)| start).collect();
        let mut rows = vec![partial, absent];
        let lookup = if field.largest() > 0xffff {
            rows.extend(intervals.iter().map(|&(_, row)| row));
            Lookup::Tree(Box::new(SearchTree::new(&starts)))
        } else {
            let values = classes_of_values(&intervals, &distinct(&intervals, &mut rows), field.largest());
            match values.as_array() {
                Some(table) => Lookup::Byte(Box::new(*table)),
                None => pair(values.as_chunks().0),
            }
        };
        let (part, offset) = part_of(field.offset);
        let end = offset + 4 - field.shift() as usize / 8;
        let start = end - (32 - field.largest().leading_zeros() as usize) / 8;
        (Classes { part, start, end, stride: 1, lookup }, rows)
    }

    /// The class of a packet. Says so if the packet has only a part of the field.
    #[inline(always)] // once for each field of each packet
    pub(super) fn of(&self, parts: &Parts<'_>, partial: &mut bool) -> usize {
        let part = parts.get(self.part);
        let Some(bytes) = part.get(..self.end) else { return self.missing(part.len(), partial) };
        let class = match &self.lookup {
            Lookup::Byte(classes) => bytes.last().map(|&byte| usize::from(classes[usize::from(byte)])),
            Lookup::Pair(tables) => bytes.last_chunk().and_then(|&[first, second]| {
                let start = tables.starts[usize::from(first)] as usize;
                tables.classes.get(start + usize::from(second)).map(|&class| usize::from(class))
            }),
            Lookup::Tree(tree) => {
                let value = bytes.last_chunk().map(|&bytes| u32::from_be_bytes(bytes));
                value.map(|value| (ABSENT + 1 + tree.find(value)) * self.stride)
            }
        };
        class.unwrap_or(ABSENT)
    }

    /// The class of a packet of which this part ends before the field does.
    #[cold]
    fn missing(&self, len: usize, partial: &mut bool) -> usize {
        let some = len > self.start;
        *partial |= some;
        if some { PARTIAL * self.stride } else { ABSENT * self.stride }
    }

    /// Makes room between classes: from now on they are this many times as far apart.
    pub(super) fn spread(&mut self, stride: usize) {
        self.stride = stride;
        match &mut self.lookup {
            Lookup::Byte(classes) => classes.iter_mut().for_each(|class| *class *= stride as u16),
            Lookup::Pair(tables) => tables.classes.iter_mut().for_each(|class| *class *= stride as u16),
            Lookup::Tree(_) => {}
        }
    }
}

/// The entries that accept packets with a part of the field, those without it, and the values from each start up to the next.
fn sweep(field: Field, terms: &[(usize, Term)]) -> (Bits, Bits, Vec<(u32, Bits)>) {
    let (mut partial, mut absent, mut accepting) = ([0; _], [0; _], [0; _]);
    // Where entries begin and cease to accept.
    let mut changes: Vec<(u32, usize)> = Vec::new();
    for (entry, (_, term)) in terms.iter().enumerate() {
        let set = term.set(field);
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
    let mut of_interval = Vec::with_capacity(intervals.len());
    for (_, row) in intervals {
        let class = known.entry(row).or_insert_with(|| {
            rows.push(*row);
            (rows.len() - 1) as u16
        });
        of_interval.push(*class);
    }
    of_interval
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

/// Look-up in a table for each first byte; those that are equal are there once.
fn pair(tables: &[[u16; 256]]) -> Lookup {
    let mut different: Vec<u16> = Vec::new();
    let mut known: HashMap<&[u16; 256], u32> = HashMap::new();
    let mut starts = [0; 256];
    for (start, table) in starts.iter_mut().zip(tables) {
        *start = *known.entry(table).or_insert_with(|| {
            different.extend(table);
            (different.len() - table.len()) as u32
        });
    }
    Lookup::Pair(Box::new(Tables { starts, classes: different }))
}
