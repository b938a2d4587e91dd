//! The classical tables, each under RCU. The fast tables are compared with them, and Click's classes use them.
//!
//! | table | what readers walk | what a change publishes |
//! |---|---|---|
//! | [`RadixTable`] | a root of 2^8 slots, then up to six nodes of 2^4 | one word a slot, new nodes by their parent's word |
//! | [`DirectTable`] | DIR-24-8: a root of 2^24 slots, then at most one node of 2^8 | the same |
//! | [`RangeTable`] | a kick-start array of 2^12, then a binary search in sorted ranges | the ranges behind each slot that changes |
//! | [`LinearTable`] | all prefixes, the longest first, in pieces | the pieces that change, and the list of pieces |
//!
//! The radix trie is that of Click's `RadixIPLookup`, with one difference that RCU requires. In Click a slot has a
//! key *and* a child, and a lookup returns the last key on its way down. If a reader passes a slot before its key
//! changes, and reaches the level below after a longer prefix was withdrawn, it returns a route that never was the
//! longest match. Here a slot is one word, either a leaf or a child, and a prefix is written into all leaves for which
//! it is the longest match, so the single load that finds a leaf decides.
//!
//! # Nodes and their bytes
//!
//! ```text
//!  RadixTable, DirectTable                                         slot (4 bytes)
//!   root: 2^8 slots, 1 KiB; or 2^24, 64 MiB                         0            nothing matches
//!  +---+---+--- ... ---+---+                                        1..2^31-1    leaf: id + 1
//!  | s | s |           | s |                                        2^31 | n    node n
//!  +---+---+--- ... -|-+---+
//!                    v  node: 2^4 slots, 64 bytes; or 2^8, 1 KiB
//!             +---+---+-- ... +---+
//!             | s | s |       | s |      chunks of 1,024 nodes, which never move
//!             +---+---+-- ... +---+
//!
//!  RangeTable
//!   kick-start: 2^12 pointers, 32 KiB
//!  +---+---+--- ... ---+---+
//!  | p | p |           | p |
//!  +---+---+--- ... -|-+---+
//!                    v  bucket: the ranges of 2^20 addresses, 12 bytes each; replaced as a whole
//!             +-------+-------+-- ... +
//!             | start | start |       |  4 bytes: where a range begins, ascending; searched by halving
//!             +-------+-------+-- ... +
//!             |  id   |  id   |       |  8 bytes: an id or none
//!             +-------+-------+-- ... +
//!
//!  LinearTable
//!   list of pieces, replaced as a whole
//!  +---+---+-- ... +
//!  | p | p |       |
//!  +---+-|-+-- ... +
//!        v  piece: up to 256 rows of 12 bytes, the longest prefixes first; never changed
//!  +---------+------+----+---------+------+----+-- ...
//!  | address | mask | id | address | mask | id |      the first row that the address matches decides
//!  +---------+------+----+---------+------+----+-- ...
//! ```
//!
//! The root of DIR-24-8 takes memory only where routes have been written.

mod book;
mod linear;
mod range;
mod shape;
mod slab;
mod tree;

use std::fmt;
use std::sync::{Mutex, MutexGuard};

use rcu::{Domain, Turn, Weigh};

use crate::fib::MAX_ID;
use crate::longest::LongestMatch;
use crate::prefix::Prefix4;
use crate::table::TableError;
use book::Book;

pub use shape::Shape;

/// An IPv4 table of this shape.
pub struct Faithful<S: Shape> {
    shape: S,
    writer: Mutex<(Book, S::Writer)>,
}

/// The radix trie: 2^8 slots at the root, 2^4 on each of six levels below.
pub type RadixTable = Faithful<tree::Radix>;
/// DIR-24-8, also known as D-lookup: 2^24 slots at the root, 2^8 below. The root is 64 MiB, of which
/// only what routes cover takes memory.
pub type DirectTable = Faithful<tree::Direct>;
/// Binary search in sorted ranges, behind an array of 2^12.
pub type RangeTable = Faithful<range::Ranges>;
/// All prefixes one after the other, the longest first.
pub type LinearTable = Faithful<linear::Linear>;

impl<S: Shape> Faithful<S> {
    fn write(&self) -> MutexGuard<'_, (Book, S::Writer)> {
        self.writer.lock().expect("a panic inside a change is a defect of the table itself")
    }
}

/// Enters changes into the book and has the shape follow, or takes them back.
fn apply<S: Shape>(
    shape: &S,
    (book, writer): &mut (Book, S::Writer),
    changes: &[(Prefix4, Option<u32>)],
) -> Result<Vec<Option<u32>>, TableError> {
    if let Some(id) = changes.iter().filter_map(|&(_, id)| id).find(|&id| id > MAX_ID) {
        return Err(TableError::IdTooLarge(id));
    }
    let had: Vec<_> = changes.iter().map(|&(prefix, id)| book.change(prefix, id)).collect();
    let entered = changes.iter().zip(&had);
    let mut changed: Vec<_> =
        entered.clone().filter(|((_, id), had)| id != *had).map(|((prefix, _), _)| *prefix).collect();
    changed.sort_unstable();
    changed.dedup();
    if let Err(error) = shape.follow(writer, book, &changed) {
        for (&(prefix, _), &id) in entered.rev() {
            book.change(prefix, id);
        }
        return Err(error);
    }
    Ok(had)
}

impl<S: Shape> LongestMatch<u32> for Faithful<S> {
    fn new(domain: &'static Domain) -> Self {
        let (shape, writer) = S::new(domain);
        Self { shape, writer: Mutex::new((Book::default(), writer)) }
    }

    #[inline]
    fn lookup(&self, addr: u32, turn: Turn<'_>) -> Option<u32> {
        self.shape.find(addr, turn)
    }

    fn change(&self, prefix: Prefix4, id: Option<u32>) -> Result<Option<u32>, TableError> {
        let had = apply(&self.shape, &mut self.write(), &[(prefix, id)])?;
        Ok(had.first().copied().flatten())
    }

    fn exchange(&self, changes: &[(Prefix4, Option<u32>)]) -> Result<Vec<Option<u32>>, TableError> {
        apply(&self.shape, &mut self.write(), changes)
    }

    fn clear(&self) -> Result<(), TableError> {
        let mut writer = self.write();
        let all: Vec<_> = writer.0.iter().map(|(prefix, _)| (prefix, None)).collect();
        apply(&self.shape, &mut writer, &all).map(drop)
    }

    fn get(&self, prefix: Prefix4) -> Option<u32> {
        self.write().0.get(prefix)
    }

    fn longest(&self, addr: u32) -> Option<(Prefix4, u32)> {
        self.write().0.longest(Prefix4::host(addr))
    }

    fn for_each(&self, visit: &mut dyn FnMut(Prefix4, u32)) {
        for (prefix, id) in self.write().0.iter() {
            visit(prefix, id);
        }
    }

    fn len(&self) -> usize {
        self.write().0.len()
    }
}

/// With the routes of record.
impl<S: Shape + Weigh> Weigh for Faithful<S> {
    fn heap_bytes(&self) -> usize {
        self.shape.heap_bytes() + 2 * self.len() * size_of::<(Prefix4, u32)>()
    }
}

impl<S: Shape> fmt::Debug for Faithful<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faithful").field("len", &self.len()).finish_non_exhaustive()
    }
}
