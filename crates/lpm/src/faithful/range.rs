//! Ranges of addresses in sorted arrays, behind a kick-start array on the first 12 bits.
//!
//! A change makes new ranges for the 2^20 addresses behind each kick-start slot in which something changes, and publishes
//! each by one store. An address lies behind one slot, so a lookup sees it change at once.

use rcu::{Cell, Domain, Turn, Updater, Weigh};

use super::book::{Book, Piece};
use super::shape::Shape;
use crate::prefix::Prefix4;
use crate::table::TableError;

/// Address bits that index the kick-start array.
const KICKSTART: u32 = 12;

/// The ranges behind one kick-start slot: where each begins, and its id.
#[derive(Default, PartialEq)]
struct Bucket {
    /// Ascending; what lies before the first matches nothing.
    starts: Box<[u32]>,
    ids: Box<[Option<u32>]>,
}

/// The readers' part.
pub struct Ranges {
    buckets: Box<[Cell<Bucket>]>,
}

impl Shape for Ranges {
    type Writer = (&'static Domain, Updater);

    fn new(domain: &'static Domain) -> (Self, Self::Writer) {
        let buckets = (0..1 << KICKSTART).map(|_| Cell::new(Bucket::default())).collect();
        (Self { buckets }, (domain, domain.updater()))
    }

    #[inline]
    fn find(&self, addr: u32, turn: Turn<'_>) -> Option<u32> {
        let bucket = self.buckets[(addr >> (32 - KICKSTART)) as usize].read(turn);
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
        let mut new = Vec::new();
        for (at, place) in (0u32..).zip(&self.buckets).filter(|(at, _)| reached[*at as usize]) {
            let bucket = Bucket::of(book, at);
            let guard = domain.guard();
            let old = place.read(guard.turn());
            if *old != bucket {
                new.push((place, Box::new(bucket), old.heap_bytes()));
            }
        }
        // Room first: once something is published there is no way back.
        let bytes = new.iter().map(|(_, _, freed)| freed + size_of::<Bucket>()).sum();
        updater.prepare(new.len(), bytes).map_err(|_| TableError::Backpressure)?;
        for (place, bucket, freed) in new {
            if place.replace_weighing(bucket, freed, &*updater).is_err() {
                unreachable!("room for all was set aside");
            }
        }
        Ok(())
    }
}

impl Weigh for Bucket {
    fn heap_bytes(&self) -> usize {
        self.starts.heap_bytes() + self.ids.heap_bytes()
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
