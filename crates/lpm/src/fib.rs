//! The lookup structure that readers see: a direct root and compressed nodes of 64 slots below it.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::arena::{Arena, Block};
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
}

impl Fib {
    pub(crate) fn new(limit: usize) -> Self {
        let root: Box<[AtomicU32]> = (0..1 << ROOT_BITS).map(|_| AtomicU32::new(0)).collect();
        let root =
            root.try_into().unwrap_or_else(|_| unreachable!("collected as many entries as the root has"));
        Self { root, arena: Arena::new(limit) }
    }

    /// The entry of `slot` in the block that `entry` refers to.
    #[inline(always)]
    fn step(&self, entry: u32, slot: usize) -> u32 {
        let at = entry & !CHILD;
        let bitmap = self.arena.load(at, Ordering::Relaxed);
        // Entries follow the bitmap by halves of words: run 1 is the low half of word 1.
        let half = (bitmap & (u64::MAX >> (63 - slot))).count_ones() + 1;
        let word = self.arena.load(at + half / 2, Ordering::Acquire);
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

    /// Finds up to [`LANES`] addresses level by level, so that their cache misses overlap.
    #[inline(always)]
    pub(crate) fn find_many<K: Key>(&self, addrs: &[K], out: &mut [u32]) {
        let mut active = [0u8; LANES];
        let mut count = 0;
        for (lane, (&addr, out)) in addrs.iter().zip(out.iter_mut()).enumerate().take(LANES) {
            let entry = self.root[addr.bits(0, ROOT_BITS)].load(Ordering::Acquire);
            *out = entry.wrapping_sub(1);
            active[count % LANES] = lane as u8;
            count += (entry >> 31) as usize;
        }
        let mut depth = ROOT_BITS;
        while count > 0 && depth < K::BITS {
            let mut left = 0;
            for at in 0..count {
                let lane = active[at % LANES];
                let (Some(&addr), Some(out)) = (addrs.get(lane as usize), out.get_mut(lane as usize)) else {
                    break;
                };
                let entry = self.step(out.wrapping_add(1), addr.bits(depth, 6));
                *out = entry.wrapping_sub(1);
                active[left % LANES] = lane;
                left += (entry >> 31) as usize;
            }
            count = left;
            depth += 6;
        }
    }

    /// The block that `entry` refers to, with its bitmap; `None` for a leaf. For the writer.
    pub(crate) fn block(&self, entry: u32) -> Option<(Block, u64)> {
        if entry & CHILD == 0 {
            return None;
        }
        let at = entry & !CHILD;
        let bitmap = self.arena.load(at, Ordering::Relaxed);
        Some((Block { at, words: 1 + bitmap.count_ones().div_ceil(2) }, bitmap))
    }

    /// The 64 slots of what `entry` stands for. For the writer.
    pub(crate) fn unpack(&self, entry: u32, slots: &mut [u32; 64]) {
        let Some((block, bitmap)) = self.block(entry) else { return slots.fill(entry) };
        let mut half = 1;
        for (slot, out) in slots.iter_mut().enumerate() {
            half += (bitmap >> slot & 1) as u32;
            *out = (self.arena.load(block.at + half / 2, Ordering::Relaxed) >> (32 * (half % 2))) as u32;
        }
    }
}

/// Addresses that are looked up together.
pub(crate) const LANES: usize = 32;

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
