//! Where a worker's flows are, by hash: an open-addressed table whose cells can be asked for before they are needed.
//!
//! A cell of eight bytes holds a flow's hash and its place; it is in the first free cell at or behind the one that its hash names. When one
//! goes, those behind it move up, so that searches end at the first empty cell. At most half of the cells are full.

/// An empty cell's place.
const EMPTY: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Cell {
    hash: u32,
    /// Never [`EMPTY`] in a full cell.
    place: u32,
}

/// The table.
#[derive(Default)]
pub(super) struct Index {
    /// As many as a power of two.
    cells: Vec<Cell>,
    len: usize,
}

impl Index {
    /// A table for so many places.
    pub(super) fn new(capacity: usize) -> Index {
        let number = (2 * capacity).next_power_of_two();
        let mut cells = packet::roomy_vec(number);
        cells.resize(number, Cell { hash: 0, place: EMPTY });
        Index { cells, len: 0 }
    }

    /// Places in it.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The number of a cell, counted on beyond the last.
    #[inline]
    fn at(&self, number: usize) -> usize {
        number & self.cells.len().wrapping_sub(1)
    }

    /// Asks for the memory that [`Self::find`] begins with.
    #[inline]
    pub(super) fn prefetch(&self, hash: u32) {
        if let Some(cell) = self.cells.get(self.at(hash as usize)) {
            packet::prefetch(cell);
        }
    }

    /// The first place with a hash for which `is` holds.
    #[inline]
    pub(super) fn find(&self, hash: u32, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut number = hash as usize;
        loop {
            let cell = self.cells.get(self.at(number))?;
            if cell.place == EMPTY {
                return None;
            }
            if cell.hash == hash && is(cell.place) {
                return Some(cell.place);
            }
            number = number.wrapping_add(1);
        }
    }

    /// Puts in a place that is not there, if there is room.
    pub(super) fn insert(&mut self, hash: u32, place: u32) {
        if self.len >= self.cells.len() / 2 {
            return;
        }
        let free = (hash as usize..).map(|number| self.at(number)).find(|&at| self.cells[at].place == EMPTY);
        if let Some(at) = free {
            self.cells[at] = Cell { hash, place };
            self.len += 1;
        }
    }

    /// Takes out a place, if it is there.
    pub(super) fn remove(&mut self, hash: u32, place: u32) {
        let cells = (hash as usize..).map(|number| self.at(number));
        let mut search = cells.take_while(|&at| self.cells.get(at).is_some_and(|cell| cell.place != EMPTY));
        let Some(mut at) = search.find(|&at| self.cells[at].place == place) else { return };
        self.len -= 1;
        // Whatever a search from its own cell would have to pass the gap for moves into it, and leaves a gap.
        let mut next = at;
        loop {
            next = self.at(next + 1);
            let cell = self.cells[next];
            if cell.place == EMPTY {
                break;
            }
            let moved = self.at(next.wrapping_sub(cell.hash as usize));
            if moved >= self.at(next.wrapping_sub(at)) {
                self.cells[at] = cell;
                at = next;
            }
        }
        self.cells[at].place = EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Places come and go as in a map, with hashes that are next to one another, the same, or beyond the end.
        #[test]
        fn as_a_map(ops in prop::collection::vec((0u32..16, 0u32..24), 0..400)) {
            let mut index = Index::new(16);
            let mut model: BTreeMap<u32, u32> = BTreeMap::new();
            for (place, hash) in ops {
                let hash = hash.wrapping_sub(8).rotate_left(hash % 2);
                match model.remove(&place) {
                    Some(hash) => index.remove(hash, place),
                    None => {
                        index.insert(hash, place);
                        model.insert(place, hash);
                    }
                }
                prop_assert_eq!(index.len(), model.len());
                for place in 0..16 {
                    let hash = model.get(&place).copied();
                    let found = index.find(hash.unwrap_or(7), |found| found == place);
                    prop_assert_eq!(found.is_some(), hash.is_some());
                }
            }
        }
    }

    #[test]
    fn nothing_is_found_without_cells() {
        assert_eq!(Index::default().find(3, |_| true), None);
        Index::default().prefetch(3);
    }
}
