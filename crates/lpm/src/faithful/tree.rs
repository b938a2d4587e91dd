//! Tries of fixed strides: the radix trie (8, then 4 bits a level) and DIR-24-8 (24, then 8).
//!
//! ```text
//!  address  |-- ROOT bits --|- BITS -|- BITS -| ...      slot (32 bits)
//!                   |            |                       0           nothing matches
//!   root            v            |                       1..2^31-1   leaf: id + 1
//!  +---+---+-- ... +---+-- ..    |                       2^31 | n    node n
//!  | s | s |       | s |         |
//!  +---+---+-- ... +-|-+-- ..    v
//!   node             +--->  +---+---+-- ... +---+
//!                           | s | s |       | s |        2^BITS slots
//!                           +---+---+-- ... +---+
//! ```
//!
//! A reader follows slots until one is a leaf. Each slot on the way is read by one acquire load, and the last one decides.
//! So the result is what the address matched at the time of that load or, if the node was unlinked while the reader was on
//! its way there, what it matched just before that, since nothing is stored in an unlinked node until its grace period is
//! over.
//!
//! A change writes the new leaf over the addresses for which its prefix is the longest match. A slot that is covered in part
//! gets a node, which is filled with the slot's old leaf before it is linked. A node whose slots are all the same leaf is
//! unlinked again. So every address changes from its old leaf to its new one by one store, whatever else changes.

use std::sync::atomic::{AtomicU32, Ordering};

use rcu::{Domain, Turn, Weigh};

use super::book::{Book, Piece};
use super::shape::Shape;
use super::slab::{Pool, Slab};
use crate::fib::{CHILD, leaf};
use crate::machine::region::Region;
use crate::prefix::Prefix4;
use crate::table::TableError;

/// The radix trie of the thesis: 2^8, then six times 2^4.
pub(super) type Radix = Tree<8, 4, 16, { 1 << 24 }>;
/// DIR-24-8.
pub(super) type Direct = Tree<24, 8, 256, { 1 << 22 }>;

/// A trie with a root of 2^ROOT slots and nodes of 2^BITS = SLOTS, of which there may be LIMIT.
pub struct Tree<const ROOT: u32, const BITS: u32, const SLOTS: usize, const LIMIT: usize> {
    /// Takes memory where routes are: DIR-24-8 with a few of them need not pay for 64 MiB.
    root: Region<AtomicU32>,
    slab: Slab<SLOTS>,
}

impl<const ROOT: u32, const BITS: u32, const SLOTS: usize, const LIMIT: usize> Shape
    for Tree<ROOT, BITS, SLOTS, LIMIT>
{
    type Writer = Pool;

    fn new(domain: &'static Domain) -> (Self, Pool) {
        const { assert!(SLOTS == 1 << BITS && (32 - ROOT).is_multiple_of(BITS) && LIMIT < CHILD as usize) };
        (Self { root: Region::new(1 << ROOT), slab: Slab::new(LIMIT) }, Pool::new(domain, 4 * SLOTS))
    }

    #[inline]
    fn find(&self, addr: u32, _turn: Turn<'_>) -> Option<u32> {
        let mut entry = self.root.words()[(addr >> (32 - ROOT)) as usize].load(Ordering::Acquire);
        let mut shift = 32 - ROOT;
        // The shift ends what only a reader without a turn could begin.
        while entry & CHILD != 0 && shift > 0 {
            shift -= BITS;
            let node = self.slab.node(entry & !CHILD)?;
            entry = node[(addr >> shift) as usize % SLOTS].load(Ordering::Acquire);
        }
        entry.checked_sub(1)
    }

    fn follow(&self, pool: &mut Pool, book: &Book, changed: &[Prefix4]) -> Result<(), TableError> {
        let mut pieces = Vec::new();
        for &prefix in changed {
            book.gaps(prefix, &mut pieces);
        }
        pool.reclaim();
        if !pool.may_retire() {
            return Err(TableError::Backpressure);
        }
        // Room first: once something is published there is no way back.
        let most: usize = pieces.iter().map(Self::most_nodes).sum();
        if most > pool.room(self.slab.limit()) {
            return Err(TableError::Full { limit: self.slab.limit() * SLOTS * size_of::<AtomicU32>() });
        }
        for piece in pieces {
            self.paint_all(pool, piece);
        }
        pool.seal();
        Ok(())
    }
}

/// As if all of the root were used.
impl<const ROOT: u32, const BITS: u32, const SLOTS: usize, const LIMIT: usize> Weigh
    for Tree<ROOT, BITS, SLOTS, LIMIT>
{
    fn heap_bytes(&self) -> usize {
        size_of_val(self.root.words()) + self.slab.bytes()
    }
}

impl<const ROOT: u32, const BITS: u32, const SLOTS: usize, const LIMIT: usize>
    Tree<ROOT, BITS, SLOTS, LIMIT>
{
    /// The most nodes that painting a piece can need: a path for each end that lies inside a slot.
    fn most_nodes(piece: &Piece) -> usize {
        let path = |edge: u32| (32 - edge.trailing_zeros()).saturating_sub(ROOT).div_ceil(BITS) as usize;
        path(piece.first) + path(piece.last.wrapping_add(1))
    }

    /// Writes a piece into the root and what is below.
    fn paint_all(&self, pool: &mut Pool, piece: Piece) {
        let entry = piece.id.map_or(0, leaf);
        self.paint(pool, self.root.words(), 0, 32 - ROOT, piece.first, piece.last, entry);
    }

    /// Writes `entry` over the addresses from `first` to `last`, which lie in these slots; the first slot begins at address
    /// `base`, and each stands for 2^`shift` addresses.
    #[expect(clippy::too_many_arguments, reason = "the state of one level of the recursion")]
    fn paint(
        &self,
        pool: &mut Pool,
        slots: &[AtomicU32],
        base: u32,
        shift: u32,
        first: u32,
        last: u32,
        entry: u32,
    ) {
        for at in (first - base) >> shift..=(last - base) >> shift {
            let slot = &slots[at as usize];
            let begin = base + (at << shift);
            let end = begin + ((1u32 << shift) - 1);
            let old = slot.load(Ordering::Relaxed);
            if old == entry {
                continue;
            }
            if first <= begin && end <= last {
                // Release: a lookup that finds the leaf finds its next hop.
                slot.store(entry, Ordering::Release);
                self.unlink(pool, old);
            } else {
                self.paint_inside(pool, slot, begin, shift, first.max(begin), last.min(end), entry);
            }
        }
    }

    /// Writes `entry` over a part of one slot.
    #[expect(clippy::too_many_arguments, reason = "as above")]
    fn paint_inside(
        &self,
        pool: &mut Pool,
        slot: &AtomicU32,
        begin: u32,
        shift: u32,
        first: u32,
        last: u32,
        entry: u32,
    ) {
        let old = slot.load(Ordering::Relaxed);
        let child = if old & CHILD != 0 {
            old
        } else {
            let Some(node) = self.slab.take(pool, old) else {
                unreachable!("`follow` made sure that there is room");
            };
            // Release: who finds the node finds it filled.
            slot.store(CHILD | node, Ordering::Release);
            CHILD | node
        };
        let Some(node) = self.slab.node(child & !CHILD) else {
            unreachable!("what a slot refers to was taken from the slab");
        };
        self.paint(pool, node, begin, shift - BITS, first, last, entry);
        let same = node[0].load(Ordering::Relaxed);
        if same & CHILD == 0 && node.iter().all(|slot| slot.load(Ordering::Relaxed) == same) {
            slot.store(same, Ordering::Release);
            self.unlink(pool, child);
        }
    }

    /// Takes back the nodes that an entry referred to which is gone.
    fn unlink(&self, pool: &mut Pool, entry: u32) {
        if entry & CHILD == 0 {
            return;
        }
        if let Some(node) = self.slab.node(entry & !CHILD) {
            for slot in node {
                self.unlink(pool, slot.load(Ordering::Relaxed));
            }
        }
        pool.retire(entry & !CHILD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trie that is soon full.
    type Small = Tree<8, 4, 16, 1024>;

    fn set(shape: &Small, pool: &mut Pool, book: &mut Book, addr: u32, len: u8, id: Option<u32>) -> bool {
        let prefix = Prefix4::new(addr, len).unwrap();
        let had = book.change(prefix, id);
        let done = shape.follow(pool, book, &[prefix]).is_ok();
        if !done {
            book.change(prefix, had);
        }
        done
    }

    /// Resident memory of this process in KiB.
    fn resident_kib() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Sixteen tables of 64 MiB each would be a gibibyte.
    #[test]
    fn a_root_with_few_routes_takes_little_memory() {
        let (domain, before) = (Domain::global(), resident_kib());
        let tables: Vec<_> = (0..16u32)
            .map(|at| {
                let ((shape, mut pool), mut book) = (Direct::new(domain), Book::default());
                let prefix = Prefix4::new(at << 24, 12).unwrap();
                book.change(prefix, Some(at));
                assert!(shape.follow(&mut pool, &book, &[prefix]).is_ok());
                shape
            })
            .collect();
        let took = resident_kib().saturating_sub(before);
        assert!(took < 256 << 10, "{took} KiB for {} tables", tables.len());
        assert_eq!(tables[3].find(0x0300_0001, domain.guard().turn()), Some(3));
    }

    #[test]
    fn withdrawn_routes_leave_no_nodes() {
        let domain = Domain::global();
        let ((shape, mut pool), mut book) = (Small::new(domain), Book::default());
        for (addr, len) in [(0x0a01_0203, 32), (0x0a01_0000, 17), (0x0a00_0000, 8), (0, 0), (0x0a01_0202, 31)]
        {
            assert!(set(&shape, &mut pool, &mut book, addr, len, Some(1)));
        }
        // All have the same id: nothing below the root is needed.
        assert_eq!(pool.in_use(), 0);
        assert!(set(&shape, &mut pool, &mut book, 0x0a01_0203, 32, Some(2)));
        assert_eq!(pool.in_use(), 6);
        assert!(set(&shape, &mut pool, &mut book, 0x0a01_0203, 32, None));
        assert_eq!(pool.in_use(), 0);
    }

    /// A reader in a node must find what was there, whatever happens to the routes meanwhile; and a full table refuses a change
    /// without having begun it.
    #[test]
    fn a_node_is_not_reused_while_a_reader_may_be_in_it() {
        let domain = Domain::global();
        let ((shape, mut pool), mut book) = (Small::new(domain), Book::default());
        assert!(set(&shape, &mut pool, &mut book, 0x0a10_0000, 12, Some(7)));
        let guard = domain.guard();
        let turn = guard.turn();
        let entry = shape.root.words()[10].load(Ordering::Acquire);
        assert!(set(&shape, &mut pool, &mut book, 0x0a10_0000, 12, None));
        let mut refused = 0;
        for round in 0..600u32 {
            // Were the reader's node reused, its slot 1 would lead to this route.
            let id = (round % 2 == 0).then_some(round);
            refused += u32::from(!set(&shape, &mut pool, &mut book, 0x1411_1111, 32, id));
        }
        assert!(refused > 100, "the limit was never reached");
        assert!(!set(&shape, &mut pool, &mut book, 0x1500_0001, 32, Some(1)));
        assert_eq!(shape.find(0x1500_0001, turn), None);
        let node = shape.slab.node(entry & !CHILD).unwrap();
        assert_eq!(node[1].load(Ordering::Acquire), 0, "what the address last matched in this node");
        drop(guard);
        domain.synchronize();
        assert!(set(&shape, &mut pool, &mut book, 0x1500_0001, 32, Some(1)));
        assert_eq!(shape.find(0x1500_0001, domain.guard().turn()), Some(1));
    }
}
