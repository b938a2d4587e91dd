//! How a change of routes becomes a change of the lookup structure.
//!
//! An update first changes the routes of record, then plans: it builds new blocks beside the old ones and
//! lists the stores that will make them visible. Only a complete plan is carried out; one that
//! runs out of memory is undone, and no reader has seen any of it.

use std::sync::atomic::Ordering;

use crate::arena::{Allocator, Block, Grace};
use crate::fib::{Fib, ROOT_BITS, leaf, pack};
use crate::prefix::{Key, Prefix};
use crate::rib::{ROOT, Rib, STRIDE};

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
    /// Stores to the root: first slot, number of slots, entry.
    root: Vec<(u32, u32, u32)>,
    /// Stores to blocks that stay: word, value.
    words: Vec<(u32, u64)>,
    /// Blocks that become visible.
    built: Vec<Block>,
    /// Blocks that go out of sight.
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

impl<K: Key, T: Copy> Updater<K, T> {
    pub(crate) fn new() -> Self {
        Self { rib: Rib::new(), memory: Allocator::new(), plan: Plan::default() }
    }

    /// Brings the lookup structure up to the routes. On error it is as it was, and so are the marks in the
    /// routes: the caller takes its changes of the routes back.
    pub(crate) fn publish(&mut self, fib: &Fib, grace: &impl Grace<Token = T>) -> Result<(), Full> {
        self.memory.reclaim(grace);
        let planned = self.top(fib, ROOT, 0, 0, 0);
        match planned {
            Ok(_) => {
                self.carry_out(fib);
                self.memory.seal(grace);
            }
            Err(Full) => self.forget(),
        }
        planned.map(|_| ())
    }

    fn carry_out(&mut self, fib: &Fib) {
        // Each store is the whole change for the addresses below it, so their order does not matter.
        // Release: the words of the blocks that an entry refers to come before it.
        for (first, count, entry) in self.plan.root.drain(..) {
            for slot in &fib.root[first as usize..(first + count) as usize] {
                slot.store(entry, Ordering::Release);
            }
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
        self.plan.root.clear();
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

    /// Rebuilds a node above the end of the root's bits; `path` are the address bits above it.
    fn top(&mut self, fib: &Fib, at: u32, depth: u32, path: u32, inherited: u32) -> Result<bool, Full> {
        let width = 1 << (ROOT_BITS - STRIDE - depth);
        let (repaint, children) = self.scope(at, inherited);
        let mut slots = [0; 64];
        if repaint {
            self.rib.node(at).paint(inherited, leaf, &mut slots);
            // A range without a child is one leaf throughout, so its first slot speaks for all.
            let taken = self.rib.node(at).slots;
            for slot in (0..64).filter(|&slot| taken >> slot & 1 == 0) {
                self.fill(fib, (path << STRIDE | slot) * width, width, slots[slot as usize]);
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
            let below = path << STRIDE | slot;
            let empty = if depth + STRIDE == ROOT_BITS {
                let rebuilt = self.block(fib, child, inherits)?;
                self.fill(fib, below, 1, rebuilt.entry);
                rebuilt.empty
            } else {
                self.top(fib, child, depth + STRIDE, below, inherits)?
            };
            if empty {
                self.plan.pruned.push((at, slot));
                gone |= 1 << slot;
            }
        }
        self.settle(at, inherited, 0);
        let node = self.rib.node(at);
        Ok(node.prefixes == 0 && node.slots == gone)
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

    /// Plans to store `entry` in `count` slots of the root that now hold all the same.
    fn fill(&mut self, fib: &Fib, first: u32, count: u32, entry: u32) {
        if fib.root[first as usize].load(Ordering::Relaxed) != entry {
            self.plan.root.push((first, count, entry));
        }
    }

    /// Rebuilds a node that has a block, or gets or loses one.
    fn block(&mut self, fib: &Fib, at: u32, inherited: u32) -> Result<Rebuilt, Full> {
        let (repaint, children) = self.scope(at, inherited);
        let old = self.rib.node(at).entry;
        let mut slots = [0; 64];
        if repaint {
            self.rib.node(at).paint(inherited, leaf, &mut slots);
        } else {
            fib.unpack(old, &mut slots);
        }
        let mut left = children;
        let mut gone = 0u64;
        while left != 0 {
            let slot = left.trailing_zeros();
            left &= left - 1;
            let Some(child) = self.rib.node(at).child(slot) else { continue };
            let node = self.rib.node(child);
            let inherits = if repaint { slots[slot as usize] } else { node.inherited };
            let mut rebuilt = Rebuilt { entry: node.entry, empty: false };
            if self.stale(child, inherits) {
                rebuilt = self.block(fib, child, inherits)?;
            }
            slots[slot as usize] = rebuilt.entry;
            if rebuilt.empty {
                self.plan.pruned.push((at, slot));
                gone |= 1 << slot;
            }
        }
        let entry = self.place(fib, old, &slots)?;
        self.settle(at, inherited, entry);
        let node = self.rib.node(at);
        Ok(Rebuilt { entry, empty: node.prefixes == 0 && node.slots == gone })
    }

    /// Finds a home for `slots`: the parent's entry if all are equal, else the old block if only entries
    /// differ, else a new block.
    fn place(&mut self, fib: &Fib, old: u32, slots: &[u32; 64]) -> Result<u32, Full> {
        let mut words = [0; 32];
        let (bitmap, count) = pack(slots, &mut words);
        let words = &words[..count];
        let before = fib.block(old);
        if let Some((block, had)) = before
            && had == bitmap
        {
            for (at, &word) in (block.at + 1..).zip(words) {
                if fib.arena.load(at) != word {
                    self.plan.words.push((at, word));
                }
            }
            return Ok(old);
        }
        let entry = if bitmap == 1 { slots[0] } else { self.build(fib, bitmap, words)? };
        self.plan.unlinked.extend(before.map(|(block, _)| block));
        Ok(entry)
    }

    fn build(&mut self, fib: &Fib, bitmap: u64, words: &[u64]) -> Result<u32, Full> {
        let block = self.memory.alloc(&fib.arena, 1 + words.len()).ok_or(Full)?;
        self.plan.built.push(block);
        fib.arena.store(block.at, bitmap, Ordering::Relaxed);
        for (at, &word) in (block.at + 1..).zip(words) {
            fib.arena.store(at, word, Ordering::Relaxed);
        }
        Ok(crate::fib::CHILD | block.at)
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
        let entry = fib.root[addr.bits(0, ROOT_BITS)].load(Ordering::Acquire);
        for net in 2..60 {
            set(0x0a01_0000 | net << 8, 24, net);
            set(0x0b01_0000 | net << 14 | net << 8, 24, net);
        }
        fib.step(entry, addr.bits(ROOT_BITS, STRIDE))
    }

    #[test]
    fn a_block_is_not_reused_before_its_grace_period() {
        assert_eq!(stopped_reader_finds(false), leaf(1));
    }

    /// The test above would notice: without the wait, the reader's block is somebody else's.
    #[test]
    fn without_the_wait_a_reader_would_be_wrong() {
        assert_ne!(stopped_reader_finds(true), leaf(1));
    }
}
