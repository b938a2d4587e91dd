//! The lookup structure that readers see: a direct root, direct pages in an IPv6 table, and compressed blocks of 64
//! slots below.

use std::marker::PhantomData;
use std::sync::atomic::Ordering;

use crate::arena::{Arena, Block};
use crate::machine::Processor;
use crate::prefix::Key;

/// Set in an entry that refers to a block or a page: then its last two bits are the [`Width`] of the block's entries, or
/// [`PAGE`], and the bits between are its first word.
pub(crate) const CHILD: u32 = 1 << 31;
/// In place of a width: what is referred to is a page.
const PAGE: u32 = 3;
/// What a batch lookup reports where nothing matches.
pub const NONE: u32 = u32::MAX;
/// The greatest id a table takes: an entry is a 31-bit leaf, and one of those means "nothing".
pub const MAX_ID: u32 = CHILD - 2;

/// The entry of an id; 0 is the entry of "nothing matches".
pub(crate) fn leaf(id: u32) -> u32 {
    id + 1
}

/// The first word of what `entry` refers to.
#[inline(always)]
fn place(entry: u32) -> u32 {
    (entry & !CHILD) >> 2
}

/// All bits of an entry that refers to a block or a page, and none of a leaf: what chooses without a branch.
#[inline(always)]
fn child_mask(entry: u32) -> u32 {
    ((entry as i32) >> 31) as u32
}

/// The bits that an entry has in the block that `entry` refers to.
#[inline(always)]
fn value_mask(entry: u32) -> u32 {
    u32::MAX >> (32u32.wrapping_sub(8 << (entry & 3)) & 31)
}

/// The entry that refers to a page.
pub(crate) fn page_entry(page: Block) -> u32 {
    CHILD | page.at << 2 | PAGE
}

/// The entry that refers to a block whose entries have this width.
pub(crate) fn block_entry(block: Block, width: Width) -> u32 {
    CHILD | block.at << 2 | width.0
}

/// How many bytes each entry of a block has: the logarithm of 1, 2 or 4.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Width(u32);

impl Width {
    /// The least that holds all the entries, `union` being the bits that occur in any.
    fn of(union: u32) -> Self {
        Self(u32::from(union > 0xff) + u32::from(union > 0xffff))
    }
}

/// What readers walk.
pub(crate) struct Fib<K> {
    pub(crate) arena: Arena,
    pub(crate) processor: Processor,
    key: PhantomData<K>,
}

impl<K: Key> Fib<K> {
    /// Words of a page.
    pub(crate) const PAGE_WORDS: u32 = 1 << K::PAGE_BITS >> 1;

    pub(crate) fn new(limit: usize) -> Self {
        let arena = Arena::new(1 << (K::ROOT_BITS - 1), limit);
        Self { arena, processor: Processor::detect(), key: PhantomData }
    }

    /// The entry of `slot` in the block that `entry` refers to.
    #[inline(always)]
    pub(crate) fn step(&self, entry: u32, slot: usize) -> u32 {
        let (at, width) = (place(entry), entry & 3);
        // Relaxed: whoever found the block did so by an acquire load, after its words had been written.
        let bitmap = self.arena.load(at, Ordering::Relaxed);
        let run = (bitmap << (63 - slot)).count_ones();
        let byte = run << width;
        // Acquire: an entry may have been stored in place, and refer to a newer block.
        let word = self.arena.load(at.wrapping_add(1 + byte / 8), Ordering::Acquire);
        (word >> (8 * (byte % 8))) as u32 & value_mask(entry)
    }

    /// What the root, and the page below it, have for `addr`, and how many bits that took.
    #[inline(always)]
    fn start(&self, addr: K) -> u32 {
        let entry = self.arena.load_half(addr.bits(0, K::ROOT_BITS) as u32);
        if K::PAGE_BITS == 0 || entry & CHILD == 0 {
            return entry;
        }
        self.arena.load_half(2 * place(entry) + addr.bits(K::ROOT_BITS, K::PAGE_BITS) as u32)
    }

    /// The leaf for `addr`, from `entry` on, which was found with the first `depth` bits.
    #[inline(always)]
    pub(crate) fn walk(&self, mut entry: u32, mut depth: u32, addr: K) -> u32 {
        // The depth ends what only a reader without a turn could begin.
        while entry & CHILD != 0 && depth < K::BITS {
            entry = self.step(entry, addr.bits(depth, 6));
            depth += 6;
        }
        entry
    }

    /// The leaf for `addr`.
    #[inline(always)]
    pub(crate) fn find(&self, addr: K) -> u32 {
        self.walk(self.start(addr), K::ROOT_BITS + K::PAGE_BITS, addr)
    }

    /// Finds [`MANY`] addresses at a time of a table without pages, and returns what is left: all, if there are pages.
    #[inline(always)]
    pub(crate) fn find_many<'a>(&self, addrs: &'a [K], out: &'a mut [u32]) -> (&'a [K], &'a mut [u32]) {
        if K::PAGE_BITS > 0 {
            return (addrs, out);
        }
        let (groups, rest) = addrs.as_chunks::<MANY>();
        let (out, rest_out) = out.as_chunks_mut::<MANY>();
        for (addrs, out) in groups.iter().zip(out) {
            self.find_group(addrs, out);
        }
        (rest, rest_out)
    }

    /// Finds [`MANY`] addresses of a table without pages.
    ///
    /// Each step is a loop over all of them, so that their cache misses overlap, no branch depends on where one of them ends,
    /// and steps that only compute become vector instructions. What one loop loads one by one and stores, the next reads
    /// many at a time, for which it waits until all is stored; loads are faster than gather instructions by more than that if
    /// there are many.
    #[inline(always)]
    fn find_group(&self, addrs: &[K; MANY], out: &mut [u32; MANY]) {
        let entries = self.arena.load_halves(&each(|at| addrs[at].bits(0, K::ROOT_BITS) as u32));
        // A leaf is taken for the block at word 0, and what that gives is not used.
        let blocks = each(|at| place(entries[at]) & child_mask(entries[at]));
        let bitmaps = self.arena.load_all(&blocks);
        let later = each(|at| 63 - (addrs[at].bits(K::ROOT_BITS, 6) as u32 & 63));
        let runs = each(|at| (bitmaps[at] << later[at]).count_ones());
        let bytes = each(|at| runs[at] << (entries[at] & 3));
        let halves = self.arena.load_halves(&each(|at| (2 * blocks[at] + 2).wrapping_add(bytes[at] / 4)));
        let found = each(|at| {
            let value = halves[at] >> (8 * (bytes[at] % 4)) & value_mask(entries[at]);
            let is_block = child_mask(entries[at]);
            value & is_block | entries[at] & !is_block
        });
        *out = each(|at| found[at].wrapping_sub(1));
        if found.iter().fold(0, |any, entry| any | entry) & CHILD != 0 {
            // Few addresses have more than one block.
            for ((&entry, &addr), out) in found.iter().zip(addrs).zip(out) {
                *out = self.walk(entry, K::ROOT_BITS + 6, addr).wrapping_sub(1);
            }
        }
    }

    /// As [`Self::find`], without a branch on whether there is a block below the root.
    #[inline(always)]
    fn find_flat(&self, addr: K) -> u32 {
        let entry = self.start(addr);
        let depth = K::ROOT_BITS + K::PAGE_BITS;
        // A leaf is taken for the block at word 0, and what that gives is not used.
        let below = self.step(entry & child_mask(entry), addr.bits(depth, 6));
        let found = if entry & CHILD == 0 { entry } else { below };
        if found & CHILD == 0 { found } else { self.walk(found, depth + 6, addr) }
    }

    /// Finds [`LANES`] addresses level by level, so that their cache misses overlap and no branch depends on
    /// where one of them ends.
    ///
    /// Each level is two loops: one that misses the cache and stores at fixed places, and one that
    /// picks out the unfinished. In one loop, the place of a store would wait for a miss, and, where processors
    /// are told not to speculate past such stores, all later loads with it.
    #[inline(always)]
    fn find_lanes(&self, addrs: &[K; LANES], out: &mut [u32; LANES]) {
        let mut lanes: [u8; LANES] = std::array::from_fn(|lane| lane as u8);
        let mut entries = [0u32; LANES];
        for (entry, &addr) in entries.iter_mut().zip(addrs) {
            *entry = self.start(addr);
        }
        let mut count = LANES;
        let mut depth = K::ROOT_BITS + K::PAGE_BITS;
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

    /// How many different cache lines a lookup reads.
    pub(crate) fn lines(&self, addr: K) -> usize {
        let mut words = vec![addr.bits(0, K::ROOT_BITS) as u32 / 2];
        let (mut entry, mut depth) = (self.arena.load_half(addr.bits(0, K::ROOT_BITS) as u32), K::ROOT_BITS);
        if K::PAGE_BITS > 0 && entry & CHILD != 0 {
            let half = 2 * place(entry) + addr.bits(depth, K::PAGE_BITS) as u32;
            words.push(half / 2);
            (entry, depth) = (self.arena.load_half(half), depth + K::PAGE_BITS);
        }
        while entry & CHILD != 0 && depth < K::BITS {
            let slot = addr.bits(depth, 6);
            let bitmap = self.arena.load(place(entry), Ordering::Relaxed);
            let run = (bitmap << (63 - slot)).count_ones();
            words.extend([place(entry), place(entry) + 1 + (run << (entry & 3)) / 8]);
            (entry, depth) = (self.step(entry, slot), depth + 6);
        }
        // A line has eight words, and the first begins one.
        words.iter_mut().for_each(|word| *word /= 8);
        words.sort_unstable();
        words.dedup();
        words.len()
    }

    /// Finds any number of addresses; `out` is as long as `addrs`.
    #[inline(always)]
    pub(crate) fn find_all(&self, addrs: &[K], out: &mut [u32]) {
        let (addrs, out) = self.find_many(addrs, out);
        if K::PAGE_BITS == 0 {
            // One block at most, but for few: the processor overlaps such short lookups by itself.
            for (out, &addr) in out.iter_mut().zip(addrs) {
                *out = self.find_flat(addr).wrapping_sub(1);
            }
            return;
        }
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

    /// The page that `entry` refers to. For the writer.
    pub(crate) fn page(&self, entry: u32) -> Option<Block> {
        let is_page = entry & CHILD != 0 && entry & 3 == PAGE;
        is_page.then(|| Block { at: place(entry), words: Self::PAGE_WORDS })
    }

    /// The block that `entry` refers to, with its bitmap and width; `None` for a leaf. For the writer.
    pub(crate) fn block(&self, entry: u32) -> Option<(Block, u64, Width)> {
        if entry & CHILD == 0 {
            return None;
        }
        let (at, width) = (place(entry), entry & 3);
        let bitmap = self.arena.load(at, Ordering::Relaxed);
        let words = 1 + ((1 + bitmap.count_ones()) << width).div_ceil(8);
        Some((Block { at, words }, bitmap, Width(width)))
    }

    /// The 64 slots of what `entry` stands for. For the writer.
    pub(crate) fn unpack(&self, entry: u32, slots: &mut [u32; 64]) {
        if entry & CHILD == 0 {
            return slots.fill(entry);
        }
        let mut begins = self.arena.load(place(entry), Ordering::Relaxed) | 1;
        while begins != 0 {
            let first = begins.trailing_zeros() as usize;
            begins &= begins - 1;
            let end = begins.trailing_zeros() as usize;
            slots[first..end].fill(self.step(entry, first));
        }
    }

    /// The store that makes `slot` of a block refer to another block than it does; `None` if it is not as simple as
    /// that. For the writer.
    pub(crate) fn redirected(&self, entry: u32, slot: usize, to: u32) -> Option<(u32, u64)> {
        // What refers to a block is a run of its own, of 4 bytes, before and after.
        if to & CHILD == 0 || entry & CHILD == 0 || self.step(entry, slot) & CHILD == 0 {
            return None;
        }
        let bitmap = self.arena.load(place(entry), Ordering::Relaxed);
        let run = (bitmap << (63 - slot)).count_ones();
        let at = place(entry) + 1 + run / 2;
        let shift = 32 * (run % 2);
        let word = self.arena.load(at, Ordering::Relaxed) & !(0xffff_ffff << shift);
        Some((at, word | u64::from(to) << shift))
    }
}

/// An array of what `value` gives for each place. Unlike `std::array::from_fn`, it is always compiled into its caller, for
/// the processor that the caller is compiled for.
#[inline(always)]
fn each(value: impl Fn(usize) -> u32) -> [u32; MANY] {
    let mut all = [0; MANY];
    for (at, one) in all.iter_mut().enumerate() {
        *one = value(at);
    }
    all
}

/// Addresses that are looked up together.
const LANES: usize = 32;
/// So many go together as long as there are, where lookups are short.
const MANY: usize = 128;
/// So few are looked up one by one: filling up the lanes would cost more than the misses that overlap.
const FEW: usize = 8;

/// A block before it has a place.
pub(crate) struct Packed {
    /// A bit where a run of equal slots begins, but not for the first, which always begins at slot 0.
    pub(crate) bitmap: u64,
    pub(crate) width: Width,
    words: [u64; 32],
    count: usize,
}

impl Packed {
    /// The block for these slots.
    pub(crate) fn new(slots: &[u32; 64]) -> Self {
        let (mut runs, mut count) = ([0; 64], 0);
        let (mut bitmap, mut union) = (0, 0);
        let mut last = !slots[0];
        for (slot, &entry) in slots.iter().enumerate() {
            runs[count % 64] = entry;
            let begins = entry != last;
            bitmap |= u64::from(begins) << slot;
            count += usize::from(begins);
            union |= entry;
            last = entry;
        }
        let width = Width::of(union);
        let mut words = [0; 32];
        for (run, &entry) in runs[..count].iter().enumerate() {
            let byte = run << width.0;
            words[byte / 8 % 32] |= u64::from(entry) << (8 * (byte % 8));
        }
        Self { bitmap: bitmap & !1, width, words, count: (count << width.0).div_ceil(8) }
    }

    /// The entries, without the bitmap.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words[..self.count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::update::Updater;
    use crate::{Prefix, arena::Nobody, machine};

    /// Every kind of processor finds the same, in batches of every size, whatever the widths of the ids and the lengths.
    fn agree<K: Key>(ids: &[u32]) {
        let mut rng = fastrand::Rng::with_seed(4);
        let (mut fib, mut updater) = (Fib::<K>::new(4 << 20), Updater::<K, ()>::new());
        let mut random = || 0x2001_0db8_u128 << 96 ^ rng.u128(..) >> rng.u32(0..128);
        for step in 0..3_000 {
            let len = random() as u32 % (K::BITS + 1);
            let prefix = Prefix::new(K::from_left(random()), len as u8).unwrap();
            updater.change(prefix, Some(ids[step % ids.len()]));
            updater.publish(&fib, &Nobody).unwrap();
        }
        let mut addrs: Vec<K> = Vec::new();
        updater.rib.for_each(&mut |prefix, _| addrs.extend([prefix.addr(), prefix.last()]));
        let want: Vec<u32> = addrs.iter().map(|&addr| updater.rib.longest(addr).unwrap().1).collect();
        let kinds = machine::Processor::all();
        for (kind, processor) in kinds.into_iter().enumerate() {
            fib.processor = processor;
            for size in (1..=70).chain([addrs.len()]) {
                let mut out = vec![0; size];
                for (addrs, want) in addrs.chunks_exact(size).zip(want.chunks_exact(size)).take(100) {
                    machine::find_all(&fib, addrs, &mut out);
                    assert_eq!(out, want, "processor {kind}, {size} at a time");
                }
            }
            for (&addr, &want) in addrs.iter().zip(&want) {
                assert_eq!(machine::find(&fib, addr), leaf(want), "processor {kind}");
            }
        }
    }

    #[test]
    fn processors_agree() {
        for ids in [&[0, 254][..], &[254, 255, 0xfffe], &[0xfffe, 0xffff], &[0, 300, 70_000, MAX_ID]] {
            agree::<u32>(ids);
            agree::<u128>(ids);
        }
    }
}
