//! All prefixes in a row, the longest first, so that the first one that contains an address is its longest match.

use rcu::{Cell, Domain, Turn, Updater, Weigh};

use super::book::Book;
use super::shape::Shape;
use crate::prefix::Prefix4;
use crate::table::TableError;

/// One prefix as a scan wants it.
struct Row {
    addr: u32,
    mask: u32,
    id: u32,
}

/// The readers' part. A change publishes a new list.
pub struct Linear {
    rows: Cell<Box<[Row]>>,
}

impl Shape for Linear {
    type Writer = Updater;

    fn new(domain: &'static Domain) -> (Self, Self::Writer) {
        (Self { rows: Cell::new(Box::default()) }, domain.updater())
    }

    #[inline]
    fn find(&self, addr: u32, turn: Turn<'_>) -> Option<u32> {
        let rows = self.rows.read(turn);
        rows.iter().find(|row| addr & row.mask == row.addr).map(|row| row.id)
    }

    fn follow(&self, updater: &mut Self::Writer, book: &Book, changed: &[Prefix4]) -> Result<(), TableError> {
        if changed.is_empty() {
            return Ok(());
        }
        let mut routes: Vec<_> = book.iter().collect();
        routes.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        let new: Box<[Row]> = routes.into_iter().map(|(prefix, id)| Row::new(prefix, id)).collect();
        self.rows.replace(Box::new(new), &*updater).map_err(|_| TableError::Backpressure)
    }
}

impl Weigh for Row {
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl Row {
    fn new(prefix: Prefix4, id: u32) -> Self {
        let mask = u32::MAX.checked_shl(32 - u32::from(prefix.len())).unwrap_or(0);
        Self { addr: prefix.addr(), mask, id }
    }
}
