//! The lookup structure that readers see: a direct root and compressed nodes of 64 slots below it.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::arena::{Arena, Block, CHUNK_WORDS};
use crate::dispatch::Processor;
use crate::prefix::Key;

/// Address bits that index the root.
pub(crate) const ROOT_BITS: u32 = 18;
/// Set in an entry that refers to a block; the other bits are its first word.
pub(crate) const CHILD: u32 = 1 << 31;
/// What a batch lookup reports where nothing matches.
pub const NONE: u32 = u32::MAX;
/// The greatest id a table takes: an entry is a 31-bit leaf, and one of those means "nothing".
pub const MAX_ID: u32 = CHILD - 2;

/// The entry of an id; 0 is the entry of "nothing matches".
pub(crate) fn leaf(id: u32) -> u32 {
    id + 1
}

/// What readers walk.
pub(crate) struct Fib {
    pub(crate) root: Box<[AtomicU32; 1 << ROOT_BITS]>,
    pub(crate) arena: Arena,
    pub(crate) processor: Processor,
}

impl Fib {
    pub(crate) fn new(limit: usize) -> Self {
        let root: Box<[AtomicU32]> = (0..1 << ROOT_BITS).map(|_| AtomicU32::new(0)).collect();
        let root =
            root.try_into().unwrap_or_else(|_| unreachable!("collected as many entries as the root has"));
        Self { root, arena: Arena::new(limit), processor: Processor::detect() }
    }

    /// The entry of `slot` in the block that `entry` refers to.
    #[inline(always)]
    pub(crate) fn step(&self, entry: u32, slot: usize) -> u32 {
        let Some((chunk, at)) = self.arena.chunk(entry & !CHILD) else { return 0 };
        // Relaxed: whoever found the block did so by an acquire load, after its words had been written.
        let bitmap = chunk[at].load(Ordering::Relaxed);
        // Entries follow the bitmap by halves of words: run 1 is the low half of word 1.
        let half = (bitmap & (u64::MAX >> (63 - slot))).count_ones() as usize + 1;
        // Acquire: an entry may have been stored in place, and refer to a newer block.
        let word = chunk[(at + half / 2) % CHUNK_WORDS].load(Ordering::Acquire);
        (word >> (32 * (half % 2))) as u32
    }

    /// The leaf for `addr`.
    #[inline(always)]
    pub(crate) fn find<K: Key>(&self, addr: K) -> u32 {
        let mut entry = self.root[addr.bits(0, ROOT_BITS)].load(Ordering::Acquire);
        let mut depth = ROOT_BITS;
        // The depth ends what only a reader without a turn could begin.
        while entry & CHILD != 0 && depth < K::BITS {
            entry = self.step(entry, addr.bits(depth, 6));
            depth += 6;
        }
        entry
    }

    /// Finds [`LANES`] addresses level by level, so that their cache misses overlap and no branch depends on
    /// where one of them ends.
    ///
    /// Each level is two loops: one that misses the cache and stores at fixed places, and one that
    /// picks out the unfinished. In one loop, the place of a store would wait for a miss, and, where processors
    /// are told not to speculate past such stores, all later loads with it.
    #[inline(always)]
    pub(crate) fn find_lanes<K: Key>(&self, addrs: &[K; LANES], out: &mut [u32; LANES]) {
        let mut lanes: [u8; LANES] = std::array::from_fn(|lane| lane as u8);
        let mut entries = [0u32; LANES];
        for (entry, addr) in entries.iter_mut().zip(addrs) {
            *entry = self.root[addr.bits(0, ROOT_BITS)].load(Ordering::Acquire);
        }
        let mut count = LANES;
        let mut depth = ROOT_BITS;
        loop {
            let mut left = 0;
            for at in 0..count {
                let (lane, entry) = (lanes[at % LANES], entries[at % LANES]);
                out[lane as usize % LANES] = entry.wrapping_sub(1);
                lanes[left % LANES] = lane;
                entries[left % LANES] = entry;
                left += (entry >> 31) as usize;
            }
            count = left;
            if count == 0 || depth >= K::BITS {
                return;
            }
            for at in 0..count {
                let addr = addrs[lanes[at % LANES] as usize % LANES];
                let entry = &mut entries[at % LANES];
                *entry = self.step(*entry, addr.bits(depth, 6));
            }
            depth += 6;
        }
    }

    /// Finds any number of addresses; `out` is as long as `addrs`.
    #[inline(always)]
    pub(crate) fn find_all<K: Key>(&self, addrs: &[K], out: &mut [u32]) {
        let (addrs, rest) = addrs.as_chunks::<LANES>();
        let (out, rest_out) = out.as_chunks_mut::<LANES>();
        for (addrs, out) in addrs.iter().zip(out) {
            self.find_lanes(addrs, out);
        }
        if rest.len() <= FEW {
            for (out, &addr) in rest_out.iter_mut().zip(rest) {
                *out = self.find(addr).wrapping_sub(1);
            }
        } else if let Some(&first) = rest.first() {
            // Filled up by a copy of one of them, which costs no further cache miss.
            let mut lanes = [first; LANES];
            let mut found = [NONE; LANES];
            lanes[..rest.len()].copy_from_slice(rest);
            self.find_lanes(&lanes, &mut found);
            rest_out.copy_from_slice(&found[..rest.len()]);
        }
    }

    /// The block that `entry` refers to, with its bitmap; `None` for a leaf. For the writer.
    pub(crate) fn block(&self, entry: u32) -> Option<(Block, u64)> {
        if entry & CHILD == 0 {
            return None;
        }
        let at = entry & !CHILD;
        let bitmap = self.arena.load(at);
        Some((Block { at, words: 1 + bitmap.count_ones().div_ceil(2) }, bitmap))
    }

    /// The 64 slots of what `entry` stands for. For the writer.
    pub(crate) fn unpack(&self, entry: u32, slots: &mut [u32; 64]) {
        let Some((block, bitmap)) = self.block(entry) else { return slots.fill(entry) };
        let mut half = 1;
        for (slot, out) in slots.iter_mut().enumerate() {
            half += (bitmap >> slot & 1) as u32;
            *out = (self.arena.load(block.at + half / 2) >> (32 * (half % 2))) as u32;
        }
    }
}

/// Addresses that are looked up together.
pub(crate) const LANES: usize = 32;
/// So few are looked up one by one: filling up the lanes would cost more than the misses that overlap.
const FEW: usize = 8;

/// The bitmap and the words of a block for these slots: a bit where a run of equal entries begins, and
/// the entries of the runs. Returns the number of words behind the bitmap.
pub(crate) fn pack(slots: &[u32; 64], words: &mut [u64; 32]) -> (u64, usize) {
    let mut bitmap = 0;
    let mut runs = 0;
    let mut last = None;
    for (slot, &entry) in slots.iter().enumerate() {
        if last != Some(entry) {
            bitmap |= 1 << slot;
            if runs % 2 == 0 {
                words[runs / 2] = u64::from(entry);
            } else {
                words[runs / 2] |= u64::from(entry) << 32;
            }
            runs += 1;
            last = Some(entry);
        }
    }
    (bitmap, runs.div_ceil(2))
}
