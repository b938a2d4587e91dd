//! All prefixes in a row, the longest first, so that the first one that contains an address is its longest match.
//!
//! The row is a list of pieces. A change makes those pieces anew in which something changes, and the list, which shares the others
//! with the one before.

use std::sync::Arc;

use rcu::{Cell, Domain, Turn, Updater, Weigh};

use super::book::Book;
use super::shape::Shape;
use crate::prefix::Prefix4;
use crate::table::TableError;

/// Rows of a piece, at most.
const MOST: usize = 256;

/// One prefix as a scan wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    addr: u32,
    mask: u32,
    id: u32,
}

/// Rows in order, none of them empty.
type Pieces = Box<[Arc<[Row]>]>;

/// The readers' part. A change publishes a new list.
pub struct Linear {
    rows: Cell<List>,
}

struct List(Pieces);

impl Shape for Linear {
    type Writer = (&'static Domain, Updater);

    fn new(domain: &'static Domain) -> (Self, Self::Writer) {
        (Self { rows: Cell::new(List(Box::default())) }, (domain, domain.updater()))
    }

    #[inline]
    fn find(&self, addr: u32, turn: Turn<'_>) -> Option<u32> {
        let pieces = self.rows.read(turn).0.iter();
        pieces.flat_map(|piece| piece.iter()).find(|row| addr & row.mask == row.addr).map(|row| row.id)
    }

    fn follow(
        &self,
        (domain, updater): &mut Self::Writer,
        book: &Book,
        changed: &[Prefix4],
    ) -> Result<(), TableError> {
        if changed.is_empty() {
            return Ok(());
        }
        let mut changes: Vec<_> =
            changed.iter().map(|&prefix| (Row::new(prefix, 0).order(), prefix, book.get(prefix))).collect();
        changes.sort_unstable_by_key(|&(order, ..)| order);
        let changes: Vec<_> = changes
            .into_iter()
            .map(|(order, prefix, id)| (order, id.map(|id| Row::new(prefix, id))))
            .collect();
        let (new, freed) = {
            let guard = domain.guard();
            changed_pieces(&self.rows.read(guard.turn()).0, &changes)
        };
        let new = Box::new(List(new));
        self.rows.replace_weighing(new, freed, &*updater).map_err(|_| TableError::Backpressure)
    }
}

/// A change of the row with a place in the order.
type RowChange = (Order, Option<Row>);

/// The pieces after changes, which are in order, and the bytes that the list before holds alone then.
fn changed_pieces(old: &Pieces, changes: &[RowChange]) -> (Pieces, usize) {
    let mut new: Vec<Arc<[Row]>> = Vec::with_capacity(old.len() + changes.len() / MOST + 2);
    let (mut rest, mut freed) = (changes, size_of_val(&**old));
    for (at, piece) in old.iter().enumerate() {
        // What comes before the first row of the next piece belongs to this one.
        let end = old
            .get(at + 1)
            .map_or(rest.len(), |next| rest.partition_point(|&(order, _)| order < next[0].order()));
        let (here, others) = rest.split_at(end);
        rest = others;
        if here.is_empty() {
            new.push(piece.clone());
            continue;
        }
        freed += size_of_val(&**piece);
        let mut rows = merged(piece, here);
        // Pieces stay large enough that the list of them is short.
        if rows.len() < MOST / 4
            && let Some(before) = new.pop_if(|before| before.len() + rows.len() <= MOST)
        {
            if old.iter().any(|piece| Arc::ptr_eq(piece, &before)) {
                freed += size_of_val(&*before);
            }
            rows = [&before[..], &rows[..]].concat();
        }
        push(&mut new, &rows);
    }
    // There was no piece.
    push(&mut new, &merged(&[], rest));
    (new.into(), freed)
}

/// Adds rows as pieces of about equal size.
fn push(to: &mut Vec<Arc<[Row]>>, rows: &[Row]) {
    let count = rows.len().div_ceil(MOST);
    if count > 0 {
        to.extend(rows.chunks(rows.len().div_ceil(count)).map(Arc::from));
    }
}

/// Rows after changes of theirs, both in order.
fn merged(rows: &[Row], changes: &[RowChange]) -> Vec<Row> {
    let mut merged = Vec::with_capacity(rows.len() + changes.len());
    let mut rest = rows;
    for &(order, row) in changes {
        let (before, behind) = rest.split_at(rest.partition_point(|row| row.order() < order));
        merged.extend_from_slice(before);
        merged.extend(row);
        rest = match behind {
            [same, behind @ ..] if same.order() == order => behind,
            _ => behind,
        };
    }
    merged.extend_from_slice(rest);
    merged
}

impl Weigh for List {
    fn heap_bytes(&self) -> usize {
        size_of_val(&*self.0) + self.0.iter().map(|piece| size_of_val(&**piece)).sum::<usize>()
    }
}

/// The place of a row: longer prefixes first, and those of one length by address.
type Order = (u32, u32);

impl Row {
    fn new(prefix: Prefix4, id: u32) -> Self {
        let mask = u32::MAX.checked_shl(32 - u32::from(prefix.len())).unwrap_or(0);
        Self { addr: prefix.addr(), mask, id }
    }

    fn order(&self) -> Order {
        (!self.mask, self.addr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The pieces of `new` that are not those of `old`.
    fn made(new: &Pieces, old: &Pieces) -> usize {
        new.iter().filter(|piece| !old.iter().any(|old| Arc::ptr_eq(old, piece))).count()
    }

    /// The bytes that dropping a list frees while another stays.
    fn alone(old: &Pieces, new: &Pieces) -> usize {
        let alone = old.iter().filter(|piece| !new.iter().any(|new| Arc::ptr_eq(new, piece)));
        size_of_val(&**old) + alone.map(|piece| size_of_val(&**piece)).sum::<usize>()
    }

    fn change(prefix: Prefix4, id: Option<u32>) -> RowChange {
        (Row::new(prefix, 0).order(), id.map(|id| Row::new(prefix, id)))
    }

    /// One route among many costs the piece that it is in, its neighbour at most, and the list of pieces.
    #[test]
    fn a_change_makes_two_pieces_at_most() {
        let prefix = |n: u32| Prefix4::new(n << 8, 24).expect("a length");
        let all: Vec<_> = (0..20_000).map(|n| change(prefix(n), Some(n))).collect();
        let (mut pieces, _) = changed_pieces(&Box::default(), &all);
        assert!((20_000 / MOST..160).contains(&pieces.len()));
        for n in 0..20_000 {
            let (new, freed) = changed_pieces(&pieces, &[change(prefix(n), (n % 64 == 0).then_some(n + 1))]);
            assert!(n % 16 > 0 || made(&new, &pieces) <= 2, "{n}");
            assert!(freed < 16 << 10, "{freed}");
            pieces = new;
        }
        assert_eq!(pieces.iter().map(|piece| piece.len()).sum::<usize>(), 20_000_usize.div_ceil(64));
        assert!(pieces.len() < 20, "{} pieces of few rows", pieces.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

        /// Random lists of changes against an ordered map: the same rows in the same order, pieces that are neither empty nor too
        /// large, and a weight that is what the list before holds alone.
        #[test]
        fn pieces_agree_with_a_map(
            lists in prop::collection::vec(
                prop::collection::vec((0u32..1200, 22u8..=32, prop::option::weighted(0.6, 0u32..9)), 1..700), 1..12)
        ) {
            let (mut pieces, mut naive) = (Pieces::default(), BTreeMap::new());
            for list in lists {
                let list: BTreeMap<_, _> = list
                    .into_iter()
                    .map(|(addr, len, id)| change(Prefix4::covering(addr * 64, len), id))
                    .collect();
                for (order, row) in &list {
                    match row {
                        Some(row) => { naive.insert(*order, *row); }
                        None => { naive.remove(order); }
                    }
                }
                let (new, freed) = changed_pieces(&pieces, &list.into_iter().collect::<Vec<_>>());
                prop_assert_eq!(freed, alone(&pieces, &new));
                prop_assert!(new.iter().all(|piece| (1..=MOST).contains(&piece.len())));
                let rows: Vec<Row> = new.iter().flat_map(|piece| piece.iter().copied()).collect();
                prop_assert_eq!(rows, naive.values().copied().collect::<Vec<_>>());
                pieces = new;
            }
        }
    }
}
