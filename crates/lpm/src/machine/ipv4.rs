//! Lookups of IPv4 with AVX-512. What is computed, sixteen compute at once; what is loaded is loaded one by one and
//! put together in registers, after prefetches that run ahead of it all. That takes 0.67 to 0.94 of what lookups one
//! by one take on a Zen 4. Gather instructions, each of which waits for the slowest of its loads, took 1.4 times as
//! much as those on a Zen 5, and 0.7 on an Intel Xeon (Sapphire Rapids), where this has not been measured.
//!
//! Nothing that is stored piece by piece is loaded as a whole: such a load waits until all that came before it is
//! done, and with that for every line from main memory.
//!
//! The loads are written as machine code, because writers store to the same words meanwhile: to the language, ordinary loads would race
//! with them. To the processor each is a load of 4 or 8 bytes, aligned and hence indivisible as far as it counts, and ordered as loads are:
//! what is found behind an entry is at least as new as the entry.

use std::arch::asm;
use std::arch::x86_64::*;

use super::region::SLACK;
use crate::fib::Fib;
use crate::prefix::Key;

/// Lookups in a register.
const LANES: usize = 16;
/// Lookups that go from the root to the blocks together.
const GROUP: usize = 2 * LANES;
/// Bytes of a block's bitmap, which comes before its entries.
const BITMAP: usize = 8;

// The farthest that is read behind a word: what a leaf's bits make of the entries of a block that there is not.
const _: () = assert!(BITMAP + (64 << 3) + 4 <= SLACK);

/// [`Fib::find_all`].
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
pub(super) fn find_all<K: Key>(fib: &Fib<K>, addrs: &[K], out: &mut [u32]) {
    let (groups, rest) = addrs.as_chunks::<GROUP>();
    let (groups_out, rest_out) = out.as_chunks_mut::<GROUP>();
    if let Some((first, later)) = groups.split_first() {
        find_groups(fib, first, later, groups_out);
    }
    if !rest.is_empty() {
        find_rest(fib, rest, rest_out);
    }
}

/// Finds less than a group.
#[inline(never)]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
fn find_rest<K: Key>(fib: &Fib<K>, addrs: &[K], out: &mut [u32]) {
    fib.find_all(addrs, out);
}

/// Finds groups one after the other: while one is looked up, blocks of the next and the root's entries of the one
/// after that come into the caches.
#[inline(never)]
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
fn find_groups<K: Key>(fib: &Fib<K>, first: &[K; GROUP], later: &[[K; GROUP]], out: &mut [[u32; GROUP]]) {
    let memory = Memory::new(fib);
    first.iter().for_each(|&addr| fib.prefetch_root(addr));
    memory.ask(fib, first, later.first());
    let mut addrs = first;
    for (at, out) in out.iter_mut().enumerate() {
        let next = later.get(at);
        if let Some(next) = next {
            memory.ask(fib, next, later.get(at + 1));
        }
        if memory.find(addrs, out) {
            fib.finish(K::ROOT_BITS + 6, addrs, out);
        }
        addrs = next.unwrap_or(addrs);
    }
}

/// The lower halves of sixteen words.
#[inline]
#[target_feature(enable = "avx512f")]
fn join(low: __m512i, high: __m512i) -> __m512i {
    let low = _mm512_castsi256_si512(_mm512_cvtepi64_epi32(low));
    _mm512_inserti64x4::<1>(low, _mm512_cvtepi64_epi32(high))
}

/// Four quarters of a register.
#[inline]
#[target_feature(enable = "avx512f")]
fn join_four(four: [__m128i; 4]) -> __m512i {
    let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(four[0]), four[1]);
    let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(four[2]), four[3]);
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

/// Sixteen times the same number.
#[inline]
#[target_feature(enable = "avx512f")]
fn all(number: u32) -> __m512i {
    _mm512_set1_epi32(number as i32)
}

/// The numbers in a register.
#[inline]
#[target_feature(enable = "avx512f")]
fn numbers(register: __m512i) -> [u32; LANES] {
    let mut all = [0; LANES];
    store(register, &mut all);
    all
}

/// Sixteen addresses.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_addrs<K: Key>(addrs: &[K; LANES]) -> __m512i {
    // Known when compiled: nothing is left of it for the addresses that this is called for.
    assert_eq!(size_of::<K>(), 4);
    // SAFETY: sixteen times four bytes, as was just said.
    unsafe { _mm512_loadu_si512(addrs.as_ptr().cast()) }
}

/// Stores sixteen numbers.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(numbers: __m512i, to: &mut [u32; LANES]) {
    // SAFETY: sixteen times four bytes.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), numbers) };
}

/// The words of a table, whose number is a power of two. What entries refer to is taken modulo their size, and no
/// block is longer than what can be read behind them; so no load leaves the table, whatever an entry says. Places are
/// counted in bytes.
struct Memory {
    first: *const u64,
    place_mask: u32,
}

impl Memory {
    #[inline]
    fn new<K: Key>(fib: &Fib<K>) -> Self {
        let words = fib.arena.words();
        Self { first: words.as_ptr().cast(), place_mask: (8 * (words.len() as u64 - 1)) as u32 }
    }

    /// Where the block is that an entry refers to.
    #[inline]
    fn spot(&self, entry: u32) -> u32 {
        // Twice an entry is its place in bytes, and bits that the mask drops.
        entry << 1 & self.place_mask & (entry as i32 >> 31) as u32
    }

    /// Asks for the blocks of a group of addresses, one by one: what the root has in the caches need not wait for
    /// what it has not. Between them, asks for the root's entries of another group: the processor waits for only so
    /// many lines at a time.
    #[inline]
    fn ask<K: Key>(&self, fib: &Fib<K>, addrs: &[K; GROUP], other: Option<&[K; GROUP]>) {
        let block = |addr| self.prefetch(self.spot(fib.root(addr)));
        match other {
            Some(other) => addrs.iter().zip(other).for_each(|(&addr, &other)| {
                block(addr);
                fib.prefetch_root(other);
            }),
            None => addrs.iter().for_each(|&addr| block(addr)),
        }
    }

    /// Finds a group of addresses as far as one block below the root; whether there is more below any of them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
    fn find<K: Key>(&self, addrs: &[K; GROUP], out: &mut [u32; GROUP]) -> bool {
        let (rows, _) = addrs.as_chunks::<LANES>();
        let (first, second) = (&rows[0], &rows[1]);
        let entries = [self.root(first), self.root(second)];
        let runs = [self.runs(entries[0], load_addrs(first)), self.runs(entries[1], load_addrs(second))];
        let found = [self.step(entries[0], runs[0]), self.step(entries[1], runs[1])];
        for (found, out) in found.into_iter().zip(out.as_chunks_mut().0) {
            store(_mm512_sub_epi32(found, all(1)), out);
        }
        _mm512_movepi32_mask(_mm512_or_si512(found[0], found[1])) != 0
    }

    /// The root's entries.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn root<K: Key>(&self, addrs: &[K; LANES]) -> __m512i {
        let mut four = [_mm_setzero_si128(); 4];
        for (four, addrs) in four.iter_mut().zip(addrs.as_chunks::<4>().0) {
            let [a, b, c, d] = *addrs;
            *four = self.four::<4, 0>([
                a.bits(0, K::ROOT_BITS),
                b.bits(0, K::ROOT_BITS),
                c.bits(0, K::ROOT_BITS),
                d.bits(0, K::ROOT_BITS),
            ]);
        }
        join_four(four)
    }

    /// How far from the start of it all the addresses' runs are, in bytes, without the bitmaps of their blocks.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vpopcntdq")]
    fn runs(&self, entries: __m512i, addrs: __m512i) -> __m512i {
        // What `spot` does.
        let spots = _mm512_and_si512(_mm512_slli_epi32::<1>(entries), all(self.place_mask));
        let spots = _mm512_maskz_mov_epi32(_mm512_movepi32_mask(entries), spots);
        let places = numbers(spots);
        // The slot's own bit becomes the highest; the bits of later slots drop out. What is left counts the runs before.
        let later = _mm512_andnot_si512(_mm512_srli_epi32::<8>(addrs), all(63));
        let [low, high] = [_mm512_castsi512_si256(later), _mm512_extracti64x4_epi64::<1>(later)];
        let low = _mm512_sllv_epi64(self.words(&places[..8]), _mm512_cvtepu32_epi64(low));
        let high = _mm512_sllv_epi64(self.words(&places[8..]), _mm512_cvtepu32_epi64(high));
        let before = join(_mm512_popcnt_epi64(low), _mm512_popcnt_epi64(high));
        // A run's entry has 1, 2 or 4 bytes.
        _mm512_add_epi32(spots, _mm512_sllv_epi32(before, _mm512_and_si512(entries, all(3))))
    }

    /// The entries at `runs`, which may be of 1, 2 or 4 bytes; leaves stay.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn step(&self, entries: __m512i, runs: __m512i) -> __m512i {
        let masks = _mm512_setr_epi32(
            0xff, 0xffff, -1, -1, 0xff, 0xffff, -1, -1, 0xff, 0xffff, -1, -1, 0xff, 0xffff, -1, -1,
        );
        let masks = _mm512_permutexvar_epi32(entries, masks);
        let mut four = [_mm_setzero_si128(); 4];
        for (four, runs) in four.iter_mut().zip(numbers(runs).as_chunks::<4>().0) {
            let [a, b, c, d] = *runs;
            *four = self.four::<1, BITMAP>([a as usize, b as usize, c as usize, d as usize]);
        }
        _mm512_mask_and_epi32(entries, _mm512_movepi32_mask(entries), join_four(four), masks)
    }

    /// Asks for the cache line at `spot`.
    #[inline]
    fn prefetch(&self, spot: u32) {
        let line = self.first.wrapping_byte_add(spot as usize);
        // SAFETY: a prefetch does nothing but bring memory that there is into the caches.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
    }

    /// Four times four bytes, `SKIP` bytes behind places that are counted in `SCALE` bytes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn four<const SCALE: usize, const SKIP: usize>(&self, places: [usize; 4]) -> __m128i {
        let four: __m128i;
        // SAFETY: the places are in the root, or `runs` has added to a masked place at most what may be read behind.
        // See above for what others do to it meanwhile.
        unsafe {
            asm!(
                "vmovd {four}, dword ptr [{first} + {a}*{scale} + {skip}]",
                "vpinsrd {four}, {four}, dword ptr [{first} + {b}*{scale} + {skip}], 1",
                "vpinsrd {four}, {four}, dword ptr [{first} + {c}*{scale} + {skip}], 2",
                "vpinsrd {four}, {four}, dword ptr [{first} + {d}*{scale} + {skip}], 3",
                four = out(xmm_reg) four,
                first = in(reg) self.first,
                a = in(reg) places[0],
                b = in(reg) places[1],
                c = in(reg) places[2],
                d = in(reg) places[3],
                scale = const SCALE,
                skip = const SKIP,
                options(nostack, readonly, preserves_flags),
            );
        }
        four
    }

    /// Words at eight masked places.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn words(&self, places: &[u32]) -> __m512i {
        let mut two = [_mm_setzero_si128(); 4];
        for (two, places) in two.iter_mut().zip(places.as_chunks::<2>().0) {
            // SAFETY: the places are inside the table, and those of whole words.
            unsafe {
                asm!(
                    "vmovq {two}, qword ptr [{first} + {a}]",
                    "vpinsrq {two}, {two}, qword ptr [{first} + {b}], 1",
                    two = out(xmm_reg) *two,
                    first = in(reg) self.first,
                    a = in(reg) places[0] as usize,
                    b = in(reg) places[1] as usize,
                    options(nostack, readonly, preserves_flags),
                );
            }
        }
        join_four(two)
    }
}
