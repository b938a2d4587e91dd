//! The lookup structure that readers see: a direct root, direct pages in an IPv6 table, and compressed blocks of 64
//! slots below.

use std::marker::PhantomData;
use std::sync::atomic::Ordering;

use crate::arena::{Arena, Block};
use crate::machine::processor::Processor;
use crate::machine::region::Spot;
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
    (u64::MAX >> (64 - (8 << (entry & 3)))) as u32
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
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
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
        step(self.spot(entry), entry, slot)
    }

    /// Where what `entry` refers to is; the start of it all for a leaf.
    #[inline(always)]
    fn spot(&self, entry: u32) -> Spot<'_> {
        // Twice an entry is its place in bytes, and bits that the arena drops.
        self.arena.spot((entry << 1) & child_mask(entry))
    }

    /// Asks for the cache line of the root that `addr` leads to.
    #[inline(always)]
    pub(crate) fn prefetch_root(&self, addr: K) {
        self.arena.prefetch_half(addr.bits(0, K::ROOT_BITS) as u32);
    }

    /// The root's entry for `addr`.
    #[inline(always)]
    pub(crate) fn root(&self, addr: K) -> u32 {
        self.arena.load_half(addr.bits(0, K::ROOT_BITS) as u32)
    }

    /// Where the entry for `addr` is in the page that `entry` refers to, in halves of words; at the start of it all for a leaf.
    #[inline(always)]
    fn in_page(&self, entry: u32, addr: K) -> u32 {
        (2 * place(entry) + addr.bits(K::ROOT_BITS, K::PAGE_BITS) as u32) & child_mask(entry)
    }

    /// What the root, and the page below it, have for `addr`.
    #[inline(always)]
    fn start(&self, addr: K) -> u32 {
        let entry = self.root(addr);
        if K::PAGE_BITS == 0 || entry & CHILD == 0 {
            entry
        } else {
            self.arena.load_half(self.in_page(entry, addr))
        }
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

    /// Finds any number of addresses; `out` is as long as `addrs`.
    #[inline(always)]
    pub(crate) fn find_all(&self, addrs: &[K], out: &mut [u32]) {
        let (groups, rest) = addrs.as_chunks::<LANES>();
        let (out, rest_out) = out[..addrs.len()].as_chunks_mut::<LANES>();
        let prefetch = |addrs: &[K]| addrs.iter().for_each(|&addr| self.prefetch_root(addr));
        prefetch(groups.first().map_or(rest, |first| first));
        for (at, (addrs, out)) in groups.iter().zip(out).enumerate() {
            self.find_group(addrs, groups.get(at + 1).unwrap_or(addrs), out);
        }
        if !rest.is_empty() {
            self.find_group(rest, rest, rest_out);
        }
    }

    /// Finds up to [`LANES`] addresses, while the root's entries for `next` come into the caches.
    #[inline(always)]
    fn find_group(&self, addrs: &[K], next: &[K], out: &mut [u32]) {
        if K::PAGE_BITS == 0 { self.find_short(addrs, next, out) } else { self.find_long(addrs, next, out) }
    }

    /// [`Self::find_group`] of a table without pages.
    ///
    /// Each level is a loop over all of them that ends with asking for what the next begins with, so that their cache misses
    /// overlap, and no branch depends on where one of them ends: a leaf is taken for a block at the start of it all, and what that
    /// gives is not used.
    #[inline(always)]
    fn find_short(&self, addrs: &[K], next: &[K], out: &mut [u32]) {
        let (mut entries, mut spots) = ([0; LANES], [self.arena.spot(0); LANES]);
        for ((entry, spot), &addr) in entries.iter_mut().zip(&mut spots).zip(addrs) {
            *entry = self.root(addr);
            *spot = self.spot(*entry);
            spot.prefetch();
        }
        let mut any = 0;
        let lanes = entries.iter().zip(&spots).zip(addrs).zip(&mut *out).zip(next);
        for ((((&entry, &spot), &addr), out), &next) in lanes {
            self.prefetch_root(next);
            let found = below(entry, step(spot, entry, addr.bits(K::ROOT_BITS, 6)));
            any |= found;
            *out = found.wrapping_sub(1);
        }
        if any & CHILD != 0 {
            self.finish(K::ROOT_BITS + 6, addrs, out);
        }
    }

    /// [`Self::find_group`] of a table with pages: as [`Self::find_short`], but down to where nothing is below any of them.
    #[inline(always)]
    fn find_long(&self, addrs: &[K], next: &[K], out: &mut [u32]) {
        let (mut entries, mut spots) = ([0; LANES], [self.arena.spot(0); LANES]);
        let mut any = 0;
        for (((entry, &addr), out), &next) in entries.iter_mut().zip(addrs).zip(&mut *out).zip(next) {
            self.prefetch_root(next);
            *entry = self.root(addr);
            any |= *entry;
            *out = entry.wrapping_sub(1);
            self.arena.prefetch_half(self.in_page(*entry, addr));
        }
        if any & CHILD == 0 {
            return;
        }
        any = 0;
        for (((entry, spot), &addr), out) in entries.iter_mut().zip(&mut spots).zip(addrs).zip(&mut *out) {
            *entry = below(*entry, self.arena.load_half(self.in_page(*entry, addr)));
            any |= *entry;
            *out = entry.wrapping_sub(1);
            *spot = self.spot(*entry);
            spot.prefetch();
        }
        let mut depth = K::ROOT_BITS + K::PAGE_BITS;
        while any & CHILD != 0 && depth < LONG {
            any = 0;
            for (((entry, spot), &addr), out) in entries.iter_mut().zip(&mut spots).zip(addrs).zip(&mut *out)
            {
                *entry = below(*entry, step(*spot, *entry, (addr.high() << depth >> 58) as usize));
                any |= *entry;
                *out = entry.wrapping_sub(1);
                *spot = self.spot(*entry);
                spot.prefetch();
            }
            depth += 6;
        }
        if any & CHILD != 0 {
            self.finish(depth, addrs, out);
        }
    }

    /// Goes on from what was found with the first `depth` bits.
    #[cold]
    pub(crate) fn finish(&self, depth: u32, addrs: &[K], out: &mut [u32]) {
        for (out, &addr) in out.iter_mut().zip(addrs) {
            *out = self.walk(out.wrapping_add(1), depth, addr).wrapping_sub(1);
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

/// What was `found` below `entry`, or that if it is a leaf.
#[inline(always)]
fn below(entry: u32, found: u32) -> u32 {
    if entry & CHILD == 0 { entry } else { found }
}

/// The entry of `slot` in a block that `entry` refers to.
#[inline(always)]
fn step(block: Spot<'_>, entry: u32, slot: usize) -> u32 {
    // The slot's own bit becomes the highest; the bits of later slots drop out. What is left counts the runs before.
    let run = (block.word() << (!slot & 63)).count_ones();
    block.behind(run << (entry & 3)) & value_mask(entry)
}

/// Addresses that are looked up together.
const LANES: usize = 32;
/// As far as this, addresses of a table with pages are looked up together: few matches are longer.
const LONG: u32 = 50;

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
        let kinds = Processor::all();
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
    fn all_kinds_of_processors_agree() {
        for ids in [&[0, 254][..], &[254, 255, 0xfffe], &[0xfffe, 0xffff], &[0, 300, 70_000, MAX_ID]] {
            agree::<u32>(ids);
            agree::<u128>(ids);
        }
    }
}
