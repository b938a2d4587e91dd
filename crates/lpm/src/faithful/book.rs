//! The routes of record of a classical table, ordered: a prefix comes before everything inside it.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::prefix::Prefix4;

/// The routes of record; only writers touch them.
#[derive(Debug, Default)]
pub struct Book {
    routes: BTreeMap<Prefix4, u32>,
}

/// Addresses from the first to the last that match the same route, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) id: Option<u32>,
}

impl Book {
    /// Sets or removes one prefix; returns what it had.
    pub(super) fn change(&mut self, prefix: Prefix4, id: Option<u32>) -> Option<u32> {
        match id {
            Some(id) => self.routes.insert(prefix, id),
            None => self.routes.remove(&prefix),
        }
    }

    pub(super) fn get(&self, prefix: Prefix4) -> Option<u32> {
        self.routes.get(&prefix).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.routes.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Prefix4, u32)> + '_ {
        self.routes.iter().map(|(&prefix, &id)| (prefix, id))
    }

    /// The routes strictly inside `prefix`, in order.
    pub(super) fn inside(&self, prefix: Prefix4) -> impl Iterator<Item = Prefix4> + '_ {
        let behind = self.routes.range((Bound::Excluded(prefix), Bound::Unbounded));
        behind.map(|(&inner, _)| inner).take_while(move |inner| inner.addr() <= prefix.last())
    }

    /// The longest route that contains all of `prefix`.
    pub(super) fn longest(&self, prefix: Prefix4) -> Option<(Prefix4, u32)> {
        let mut probe = prefix;
        loop {
            // Routes that contain the prefix come before the probe, the longest of them last.
            let (&before, &id) = self.routes.range(..=probe).next_back()?;
            if before.len() <= prefix.len() && before.contains(prefix.addr()) {
                return Some((before, id));
            }
            // Both lie in every route that contains the prefix, since all between such a route and the prefix does.
            let common = (before.addr() ^ prefix.addr()).leading_zeros() as u8;
            probe = Prefix4::covering(prefix.addr(), common);
        }
    }

    /// The addresses inside `prefix` that no longer route inside it decides, and what they match.
    pub(super) fn gaps(&self, prefix: Prefix4, pieces: &mut Vec<Piece>) {
        let id = self.longest(prefix).map(|(_, id)| id);
        let mut first = prefix.addr();
        let mut from = Bound::Excluded(prefix);
        while let Some((&inner, _)) = self.routes.range((from, Bound::Unbounded)).next()
            && inner.addr() <= prefix.last()
        {
            if inner.addr() > first {
                pieces.push(Piece { first, last: inner.addr() - 1, id });
            }
            let Some(next) = inner.last().checked_add(1).filter(|&next| next <= prefix.last()) else {
                return;
            };
            first = next;
            // The shortest prefix that begins there.
            from = Bound::Included(Prefix4::covering(next, 32 - next.trailing_zeros() as u8));
        }
        pieces.push(Piece { first, last: prefix.last(), id });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Prefix4 {
        text.parse().unwrap()
    }

    #[test]
    fn gaps_are_what_no_longer_route_decides() {
        let mut book = Book::default();
        for (text, id) in [("0.0.0.0/0", 1), ("10.0.0.0/8", 2), ("10.0.0.0/9", 3), ("10.255.255.255/32", 4)] {
            book.change(of(text), Some(id));
        }
        let gaps = |book: &Book, text: &str| {
            let mut pieces = Vec::new();
            book.gaps(of(text), &mut pieces);
            pieces.iter().map(|p| (p.first, p.last, p.id)).collect::<Vec<_>>()
        };
        assert_eq!(gaps(&book, "10.0.0.0/8"), [(0x0a80_0000, 0x0aff_fffe, Some(2))]);
        assert_eq!(gaps(&book, "0.0.0.0/0"), [(0, 0x09ff_ffff, Some(1)), (0x0b00_0000, u32::MAX, Some(1))]);
        assert_eq!(gaps(&book, "11.0.0.0/24"), [(0x0b00_0000, 0x0b00_00ff, Some(1))]);
        assert_eq!(book.longest(of("10.200.0.0/16")), Some((of("10.0.0.0/8"), 2)));
        assert_eq!(book.longest(of("10.0.0.0/7")), Some((of("0.0.0.0/0"), 1)));
        book.change(of("0.0.0.0/0"), None);
        assert_eq!(book.longest(of("255.0.0.0/8")), None);
        assert_eq!(book.longest(of("10.0.0.0/7")), None);
    }
}
