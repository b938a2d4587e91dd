//! How a change of routes becomes a change of the lookup structure.
//!
//! An update first changes the routes of record. Then it makes a plan: it builds new blocks beside the old ones and
//! lists the stores that will make them visible. Only a complete plan is carried out. If memory runs out, the update
//! is undone, and no reader has seen any of it.

use std::sync::atomic::Ordering;

use crate::arena::{Allocator, Block, Grace};
use crate::fib::{Fib, Packed, block_entry, leaf, page_entry};
use crate::prefix::{Key, Prefix};
use crate::rib::{ROOT, Rib};

/// The arena has no room for what a change needs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// One writer's state: the routes, the memory, and the plan of the update under way.
pub(crate) struct Updater<K, T> {
    pub(crate) rib: Rib<K>,
    pub(crate) memory: Allocator<T>,
    plan: Plan,
}

/// What an update is about to do, and how to forget it.
#[derive(Default)]
struct Plan {
    /// Stores to the root and to pages: first half of a word, number of halves, entry.
    direct: Vec<(u32, u32, u32)>,
    /// Stores to blocks that stay: word, value.
    words: Vec<(u32, u64)>,
    /// Blocks and pages that become visible.
    built: Vec<Block>,
    /// Blocks and pages that go out of sight.
    unlinked: Vec<Block>,
    /// Emptied nodes: parent and slot, children before parents.
    pruned: Vec<(u32, u32)>,
    /// Fields of nodes as they were.
    undo: Vec<Was>,
}

struct Was {
    node: u32,
    entry: u32,
    inherited: u32,
    dirty: bool,
    dirty_slots: u64,
}

/// What is left of a node after its rebuild.
struct Rebuilt {
    entry: u32,
    empty: bool,
}

/// The root or a page: an entry for each value of some address bits.
#[derive(Clone, Copy)]
struct Direct {
    /// The half of a word where it begins; nowhere if it is about to go.
    first: Option<u32>,
    /// The depth where its bits end.
    end: u32,
    /// What its topmost node has for an entry.
    entry: u32,
}

impl<K: Key, T: Copy> Updater<K, T> {
    pub(crate) fn new() -> Self {
        Self { rib: Rib::new(), memory: Allocator::new(), plan: Plan::default() }
    }

    /// Brings the lookup structure up to the routes. On error it is as it was, and so are the marks in the
    /// routes: the caller takes its changes of the routes back.
    pub(crate) fn publish(&mut self, fib: &Fib<K>, grace: &impl Grace<Token = T>) -> Result<(), Full> {
        self.memory.reclaim(grace);
        let root = Direct { first: Some(0), end: K::ROOT_BITS, entry: 0 };
        let planned = self.top(fib, root, ROOT, 0, 0, 0);
        match planned {
            Ok(_) => {
                self.carry_out(fib);
                self.memory.seal(grace);
            }
            Err(Full) => self.forget(),
        }
        planned.map(|_| ())
    }

    fn carry_out(&mut self, fib: &Fib<K>) {
        // Each store is the whole change for the addresses below it, so their order does not matter, but that a
        // new page is filled, as listed, before the store that shows it.
        // Release: the words of the blocks that an entry refers to come before it.
        for (first, count, entry) in self.plan.direct.drain(..) {
            fib.arena.fill_halves(first, count, entry);
        }
        for (at, word) in self.plan.words.drain(..) {
            fib.arena.store(at, word, Ordering::Release);
        }
        for block in self.plan.unlinked.drain(..) {
            self.memory.retire(block);
        }
        for (parent, slot) in self.plan.pruned.drain(..) {
            self.rib.prune(parent, slot);
        }
        self.plan.built.clear();
        self.plan.undo.clear();
    }

    fn forget(&mut self) {
        for block in self.plan.built.drain(..) {
            self.memory.free(block);
        }
        for was in self.plan.undo.drain(..).rev() {
            let node = self.rib.node_mut(was.node);
            node.entry = was.entry;
            node.inherited = was.inherited;
            node.dirty = was.dirty;
            node.dirty_slots = was.dirty_slots;
        }
        self.plan.direct.clear();
        self.plan.words.clear();
        self.plan.unlinked.clear();
        self.plan.pruned.clear();
    }

    /// Marks `node` as done, remembering how it was.
    fn settle(&mut self, at: u32, inherited: u32, entry: u32) {
        let node = self.rib.node_mut(at);
        let (dirty, dirty_slots) = (node.dirty, node.dirty_slots);
        self.plan.undo.push(Was {
            node: at,
            entry: node.entry,
            inherited: node.inherited,
            dirty,
            dirty_slots,
        });
        node.entry = entry;
        node.inherited = inherited;
        node.dirty = false;
        node.dirty_slots = 0;
    }

    /// Whether `node` must be rebuilt for the leaf it would inherit.
    fn stale(&self, node: u32, inherited: u32) -> bool {
        let node = self.rib.node(node);
        node.dirty || node.dirty_slots != 0 || node.inherited != inherited
    }

    /// Rebuilds a node above the end of the root's or a page's bits; `path` are the address bits since its beginning.
    fn top(
        &mut self,
        fib: &Fib<K>,
        direct: Direct,
        at: u32,
        depth: u32,
        path: u32,
        inherited: u32,
    ) -> Result<bool, Full> {
        let stride = K::stride(depth);
        let below = depth + stride;
        let width = 1 << (direct.end - below);
        let (repaint, children) = self.scope(at, inherited);
        let mut slots = [0; 64];
        if repaint {
            self.rib.node(at).paint(stride, inherited, leaf, &mut slots);
            // A range without a child is one leaf throughout, so its first slot speaks for all.
            let taken = self.rib.node(at).slots;
            for slot in (0..1 << stride).filter(|&slot| taken >> slot & 1 == 0) {
                self.fill(fib, direct, (path << stride | slot) * width, width, slots[slot as usize]);
            }
        }
        let mut left = children;
        let mut gone = 0u64;
        while left != 0 {
            let slot = left.trailing_zeros();
            left &= left - 1;
            let Some(child) = self.rib.node(at).child(slot) else { continue };
            let inherits = if repaint { slots[slot as usize] } else { self.rib.node(child).inherited };
            if !self.stale(child, inherits) {
                continue;
            }
            let path = path << stride | slot;
            let empty = if below < direct.end {
                self.top(fib, direct, child, below, path, inherits)?
            } else {
                let rebuilt = self.below(fib, child, below, inherits)?;
                self.fill(fib, direct, path, 1, rebuilt.entry);
                rebuilt.empty
            };
            if empty {
                self.plan.pruned.push((at, slot));
                gone |= 1 << slot;
            }
        }
        self.settle(at, inherited, direct.entry);
        let node = self.rib.node(at);
        Ok(node.prefixes == 0 && node.slots == gone)
    }

    /// Rebuilds a node at the end of the root or of a page.
    fn below(&mut self, fib: &Fib<K>, at: u32, depth: u32, inherited: u32) -> Result<Rebuilt, Full> {
        if K::PAGE_BITS == 0 || depth > K::ROOT_BITS {
            return self.block(fib, at, inherited);
        }
        let old = fib.page(self.rib.node(at).entry);
        let page = match old {
            Some(page) => Some(page),
            // Only withdrawals are left to be noted, and those must not need room.
            None if self.rib.is_hollow(at) => None,
            None => Some(self.new_page(fib, inherited)?),
        };
        let entry = page.map_or(inherited, page_entry);
        let direct = Direct { first: page.map(|page| 2 * page.at), end: K::ROOT_BITS + K::PAGE_BITS, entry };
        let empty = self.top(fib, direct, at, depth, 0, inherited)?;
        if empty {
            self.plan.unlinked.extend(page);
            return Ok(Rebuilt { entry: inherited, empty });
        }
        Ok(Rebuilt { entry, empty })
    }

    /// A page with the same entry everywhere.
    fn new_page(&mut self, fib: &Fib<K>, entry: u32) -> Result<Block, Full> {
        let page = self.memory.alloc(&fib.arena, Fib::<K>::PAGE_WORDS as usize).ok_or(Full)?;
        self.plan.built.push(page);
        fib.arena.fill_halves(2 * page.at, 2 * page.words, entry);
        Ok(page)
    }

    /// Whether a node's own slots must be painted anew, and which of its children need a look.
    fn scope(&self, at: u32, inherited: u32) -> (bool, u64) {
        let node = self.rib.node(at);
        if node.dirty || node.inherited != inherited {
            (true, node.slots)
        } else {
            (false, node.slots & node.dirty_slots)
        }
    }

    /// Plans to store `entry` in `count` slots of the root or a page that now hold all the same.
    fn fill(&mut self, fib: &Fib<K>, direct: Direct, slot: u32, count: u32, entry: u32) {
        let first = direct.first.map(|first| first + slot);
        if let Some(first) = first.filter(|&first| fib.arena.load_half(first) != entry) {
            self.plan.direct.push((first, count, entry));
        }
    }

    /// Rebuilds a node that has a block, or gets or loses one.
    fn block(&mut self, fib: &Fib<K>, at: u32, inherited: u32) -> Result<Rebuilt, Full> {
        let (repaint, children) = self.scope(at, inherited);
        let old = self.rib.node(at).entry;
        let mut slots = [0; 64];
        if repaint {
            self.rib.node(at).paint(6, inherited, leaf, &mut slots);
        }
        let mut left = children;
        let (mut changed, mut gone) = (0u64, 0u64);
        while left != 0 {
            let slot = left.trailing_zeros();
            left &= left - 1;
            let Some(child) = self.rib.node(at).child(slot) else { continue };
            let node = self.rib.node(child);
            let before = node.entry;
            let inherits = if repaint { slots[slot as usize] } else { node.inherited };
            let mut rebuilt = Rebuilt { entry: before, empty: false };
            if self.stale(child, inherits) {
                rebuilt = self.block(fib, child, inherits)?;
            }
            slots[slot as usize] = rebuilt.entry;
            changed |= u64::from(rebuilt.entry != before) << slot;
            if rebuilt.empty {
                self.plan.pruned.push((at, slot));
                gone |= 1 << slot;
            }
        }
        let entry =
            if repaint { self.place(fib, old, &slots)? } else { self.amend(fib, old, &slots, changed)? };
        self.settle(at, inherited, entry);
        let node = self.rib.node(at);
        Ok(Rebuilt { entry, empty: node.prefixes == 0 && node.slots == gone })
    }

    /// As [`Self::place`], where only the slots in `changed` have changed and are given.
    fn amend(&mut self, fib: &Fib<K>, old: u32, slots: &[u32; 64], changed: u64) -> Result<u32, Full> {
        let first = changed.trailing_zeros() as usize % 64;
        if changed == 0 {
            return Ok(old);
        }
        if changed.count_ones() == 1
            && let Some(store) = fib.redirected(old, first, slots[first])
        {
            self.plan.words.push(store);
            return Ok(old);
        }
        let mut all = [0; 64];
        fib.unpack(old, &mut all);
        for (slot, &entry) in slots.iter().enumerate().filter(|(slot, _)| changed >> slot & 1 == 1) {
            all[slot] = entry;
        }
        self.place(fib, old, &all)
    }

    /// Finds a home for `slots`: the parent's entry if all are equal, else the old block if only entries
    /// differ, else a new block.
    fn place(&mut self, fib: &Fib<K>, old: u32, slots: &[u32; 64]) -> Result<u32, Full> {
        let packed = Packed::new(slots);
        let before = fib.block(old);
        if let Some((block, bitmap, width)) = before
            && bitmap == packed.bitmap
            && width == packed.width
        {
            for (at, &word) in (block.at + 1..).zip(packed.words()) {
                if fib.arena.load(at, Ordering::Relaxed) != word {
                    self.plan.words.push((at, word));
                }
            }
            return Ok(old);
        }
        let entry = if packed.bitmap == 0 { slots[0] } else { self.build(fib, &packed)? };
        self.plan.unlinked.extend(before.map(|(block, ..)| block));
        Ok(entry)
    }

    fn build(&mut self, fib: &Fib<K>, packed: &Packed) -> Result<u32, Full> {
        let words = packed.words();
        let block = self.memory.alloc(&fib.arena, 1 + words.len()).ok_or(Full)?;
        self.plan.built.push(block);
        fib.arena.store(block.at, packed.bitmap, Ordering::Relaxed);
        for (at, &word) in (block.at + 1..).zip(words) {
            fib.arena.store(at, word, Ordering::Relaxed);
        }
        Ok(block_entry(block, packed.width))
    }

    /// Sets or removes one prefix in the routes; returns what it had.
    pub(crate) fn change(&mut self, prefix: Prefix<K>, id: Option<u32>) -> Option<u32> {
        match id {
            Some(id) => self.rib.insert(prefix, id),
            None => self.rib.remove(prefix),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prefix::Shape as _;

    /// Grace periods that are over at once, or never.
    struct Over(bool);

    impl Grace for Over {
        type Token = ();

        fn start(&self) {}

        fn passed(&self, (): ()) -> bool {
            self.0
        }
    }

    /// What a reader finds that stopped between the root and the block below it, while others change routes
    /// beside the one it is looking for.
    fn stopped_reader_finds(over: bool) -> u32 {
        let (fib, mut updater) = (Fib::new(1 << 20), Updater::<u32, ()>::new());
        let mut set = |addr: u32, len, id| {
            updater.change(Prefix::new(addr, len).unwrap(), Some(id));
            updater.publish(&fib, &Over(over)).unwrap();
        };
        let addr = 0x0a01_0100;
        set(addr, 24, 1);
        let entry = fib.arena.load_half(addr.bits(0, u32::ROOT_BITS) as u32);
        for net in 2..60 {
            set(0x0a01_0000 | net << 8, 24, net);
            set(0x0b01_0000 | net << 14 | net << 8, 24, net);
        }
        fib.step(entry, addr.bits(u32::ROOT_BITS, 6))
    }

    #[test]
    fn a_block_is_not_reused_before_its_grace_period() {
        assert_eq!(stopped_reader_finds(false), leaf(1));
    }

    /// The test above would notice: without the wait, the reader's block belongs to other routes.
    #[test]
    fn without_the_wait_a_reader_would_be_wrong() {
        assert_ne!(stopped_reader_finds(true), leaf(1));
    }
}
