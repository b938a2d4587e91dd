//! Ranges of addresses in sorted arrays, behind a kick-start array on the first 12 bits.
//!
//! A change makes new ranges for the 2^20 addresses behind each kick-start slot that it reaches, shares all others
//! with the previous version, and publishes everything by one store.

use std::sync::Arc;

use rcu::{Cell, Domain, Turn, Updater};

use super::book::{Book, Piece};
use super::shape::Shape;
use crate::prefix::Prefix4;
use crate::table::TableError;

/// Address bits that index the kick-start array.
const KICKSTART: u32 = 12;

/// The ranges behind one kick-start slot: where each begins, and its id.
#[derive(Default)]
struct Bucket {
    /// Ascending; what lies before the first matches nothing.
    starts: Box<[u32]>,
    ids: Box<[Option<u32>]>,
}

/// The readers' part.
pub struct Ranges {
    buckets: Cell<Box<[Arc<Bucket>]>>,
}

impl Shape for Ranges {
    type Writer = (&'static Domain, Updater);

    fn new(domain: &'static Domain) -> (Self, Self::Writer) {
        let empty = Arc::new(Bucket::default());
        let buckets = Cell::new(vec![empty; 1 << KICKSTART].into_boxed_slice());
        (Self { buckets }, (domain, domain.updater()))
    }

    #[inline]
    fn find(&self, addr: u32, turn: Turn<'_>) -> Option<u32> {
        let bucket = &self.buckets.read(turn)[(addr >> (32 - KICKSTART)) as usize];
        let after = bucket.starts.partition_point(|&start| start <= addr);
        bucket.ids[after.checked_sub(1)?]
    }

    fn follow(
        &self,
        (domain, updater): &mut Self::Writer,
        book: &Book,
        changed: &[Prefix4],
    ) -> Result<(), TableError> {
        let mut reached = vec![false; 1 << KICKSTART];
        for prefix in changed {
            let (first, last) = (prefix.addr() >> (32 - KICKSTART), prefix.last() >> (32 - KICKSTART));
            reached[first as usize..=last as usize].fill(true);
        }
        let mut buckets = {
            // Only the writer changes the cell, so what it reads now is the newest version also after the guard.
            let guard = domain.guard();
            self.buckets.read(guard.turn()).clone()
        };
        let mut bytes = size_of_val(&*buckets);
        for (at, bucket) in (0u32..).zip(&mut buckets).filter(|(at, _)| reached[*at as usize]) {
            bytes += bucket.starts.len() * (size_of::<u32>() + size_of::<Option<u32>>());
            *bucket = Arc::new(Bucket::of(book, at));
        }
        self.buckets.replace_weighing(Box::new(buckets), bytes, updater).map_err(|_| TableError::Backpressure)
    }
}

impl Bucket {
    /// The ranges of the addresses that begin with `at`.
    fn of(book: &Book, at: u32) -> Self {
        let prefix = Prefix4::covering(at << (32 - KICKSTART), KICKSTART as u8);
        let mut pieces = Vec::new();
        book.gaps(prefix, &mut pieces);
        for inner in book.inside(prefix) {
            book.gaps(inner, &mut pieces);
        }
        pieces.sort_unstable_by_key(|piece| piece.first);
        pieces.dedup_by(|piece, before| piece.id == before.id);
        let pieces = pieces.iter();
        Self {
            starts: pieces.clone().map(|&Piece { first, .. }| first).collect(),
            ids: pieces.map(|&Piece { id, .. }| id).collect(),
        }
    }
}
