//! Lookups of IPv6 with AVX-512: sixteen in a register, level by level, with gather instructions; four registers go
//! together as long as there are so many, since gathers of one wait for one another's level, and those of several do
//! not. Prefetches beside them gain a tenth where the table is in the caches, and cost half where packets have pushed
//! it out.
//!
//! The gathers are written as machine code, because writers store to the same words meanwhile: to the language, a
//! gather made of ordinary loads would race with them. To the processor, each lane is an aligned load of 4 or 8
//! bytes, hence indivisible, and ordered as loads are: what a lane finds behind an entry is at least as new as
//! the entry.

use std::arch::asm;
use std::arch::x86_64::*;

use super::region::SLACK;
use crate::fib::Fib;
use crate::prefix::{Key, Shape};

/// Lookups in one register.
const LANES: usize = 16;
/// So few are faster by ordinary instructions than in a register that is not full.
const FEW: usize = 8;
/// Bytes of a block's bitmap, which comes before its entries.
const BITMAP: usize = 8;

/// [`Fib::find_all`].
///
/// Groups of each size, the rest, and what few addresses need are functions of their own: as one, a small batch would save
/// registers for all.
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
pub(super) fn find_all<K: Key>(fib: &Fib<K>, addrs: &[K], out: &mut [u32]) {
    let (addrs, rest) = addrs.as_chunks::<LANES>();
    let (out, rest_out) = out.as_chunks_mut::<LANES>();
    let (addrs, out) = find_groups::<K, 4>(fib, addrs, out);
    let (addrs, out) = find_groups::<K, 2>(fib, addrs, out);
    find_groups::<K, 1>(fib, addrs, out);
    if !rest.is_empty() {
        find_rest(fib, rest, rest_out);
    }
}

/// Finds what makes groups of `N` rows, and returns the rows that are left.
#[inline]
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
fn find_groups<'a, K: Key, const N: usize>(
    fib: &Fib<K>,
    addrs: &'a [[K; LANES]],
    out: &'a mut [[u32; LANES]],
) -> (&'a [[K; LANES]], &'a mut [[u32; LANES]]) {
    let (groups, rest) = addrs.as_chunks::<N>();
    let (out, rest_out) = out.as_chunks_mut::<N>();
    if !groups.is_empty() {
        find_each(fib, groups, out);
    }
    (rest, rest_out)
}

#[inline(never)]
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
fn find_each<K: Key, const N: usize>(
    fib: &Fib<K>,
    groups: &[[[K; LANES]; N]],
    out: &mut [[[u32; LANES]; N]],
) {
    for (addrs, out) in groups.iter().zip(out) {
        find_rows(fib, addrs, u16::MAX, out);
    }
}

/// Finds fewer than a row.
#[inline(never)]
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
fn find_rest<K: Key>(fib: &Fib<K>, addrs: &[K], out: &mut [u32]) {
    if addrs.len() <= FEW {
        return fib.find_all(addrs, out);
    }
    let mut lanes = [K::default(); LANES];
    let mut found = [0; LANES];
    lanes[..addrs.len()].copy_from_slice(addrs);
    find_rows(fib, &[lanes], (1 << addrs.len()) - 1, std::array::from_mut(&mut found));
    out.copy_from_slice(&found[..addrs.len()]);
}

/// Finds, in each row, the addresses whose bits are set in `wanted`. The rows go from level to level together, so that their
/// cache misses overlap.
#[inline]
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
fn find_rows<K: Key, const N: usize>(
    fib: &Fib<K>,
    addrs: &[[K; LANES]; N],
    wanted: u16,
    out: &mut [[u32; LANES]; N],
) {
    let memory = Memory::new(fib);
    let nothing = _mm512_setzero_si512();
    let mut bits = [Sixteen(nothing, nothing); N];
    let mut rows = [nothing; N];
    for ((row, bits), addrs) in rows.iter_mut().zip(&mut bits).zip(addrs) {
        let all = Sixteen::load(addrs);
        *row = memory.gather_32::<0>(wanted, all.first(K::ROOT_BITS), nothing);
        *bits = all.after(K::ROOT_BITS);
    }
    if any_live(&rows) {
        // Below the root of such a table there are pages only.
        for (row, bits) in rows.iter_mut().zip(&mut bits) {
            let at = _mm512_add_epi32(memory.place(*row), bits.first(K::PAGE_BITS));
            *row = memory.gather_32::<0>(_mm512_movepi32_mask(*row), at, *row);
            *bits = bits.after(K::PAGE_BITS).inverted();
        }
    }
    let mut depth = K::ROOT_BITS + K::PAGE_BITS;
    // Up to where there are six more bits in the registers.
    while depth <= 58 && any_live(&rows) {
        for (row, bits) in rows.iter_mut().zip(&mut bits) {
            *row = memory.step(_mm512_movepi32_mask(*row), *row, bits.six());
            *bits = bits.after(6);
        }
        depth += 6;
    }
    for (&row, out) in rows.iter().zip(&mut *out) {
        let ids = _mm512_sub_epi32(row, _mm512_set1_epi32(1));
        // SAFETY: `out` has room for the sixteen.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), ids) };
    }
    if any_live(&rows) {
        for ((&row, addrs), out) in rows.iter().zip(addrs).zip(out) {
            finish(fib, addrs, _mm512_movepi32_mask(row), depth, out);
        }
    }
}

/// Follows, for the addresses whose bits are set in `live`, what was found with the first `depth` bits. Few matches are so long.
#[cold]
#[inline(never)]
fn finish<K: Key>(fib: &Fib<K>, addrs: &[K; LANES], mut live: u16, depth: u32, out: &mut [u32; LANES]) {
    while live != 0 {
        let lane = live.trailing_zeros() as usize;
        live &= live - 1;
        let entry = out[lane % LANES].wrapping_add(1);
        out[lane % LANES] = fib.walk(entry, depth, addrs[lane % LANES]).wrapping_sub(1);
    }
}

/// Whether any lane refers to a block.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn any_live<const N: usize>(rows: &[__m512i; N]) -> bool {
    rows.iter().fold(0, |live, &row| live | _mm512_movepi32_mask(row)) != 0
}

/// Bits of sixteen addresses from some depth on up to the 64th, in two registers. A lane's next bits are its highest.
#[derive(Clone, Copy)]
struct Sixteen(__m512i, __m512i);

impl Sixteen {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load<K: Key>(addrs: &[K; LANES]) -> Self {
        // Known when compiled: nothing is left of it for the addresses that this is called for.
        assert_eq!(size_of::<K>(), 16);
        // The second word of an address has the bits that count more.
        let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
        let words: *const __m512i = addrs.as_ptr().cast();
        // SAFETY: four times 64 bytes, which is what there is.
        let [a, b, c, d] = unsafe {
            [
                _mm512_loadu_si512(words),
                _mm512_loadu_si512(words.add(1)),
                _mm512_loadu_si512(words.add(2)),
                _mm512_loadu_si512(words.add(3)),
            ]
        };
        Self(_mm512_permutex2var_epi64(a, odd, b), _mm512_permutex2var_epi64(c, odd, d))
    }

    /// The next `width` bits.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn first(self, width: u32) -> __m512i {
        let by = _mm_cvtsi32_si128((64 - width) as i32);
        join(_mm512_srl_epi64(self.0, by), _mm512_srl_epi64(self.1, by))
    }

    /// The next six bits, in words.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn six(self) -> [__m512i; 2] {
        [_mm512_srli_epi64::<58>(self.0), _mm512_srli_epi64::<58>(self.1)]
    }

    /// The bits without the next `width`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn after(self, width: u32) -> Self {
        let by = _mm_cvtsi32_si128(width as i32);
        Self(_mm512_sll_epi64(self.0, by), _mm512_sll_epi64(self.1, by))
    }

    /// All bits inverted.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn inverted(self) -> Self {
        let ones = _mm512_set1_epi32(-1);
        Self(_mm512_xor_si512(self.0, ones), _mm512_xor_si512(self.1, ones))
    }
}

/// The lower halves of sixteen words.
#[inline]
#[target_feature(enable = "avx512f")]
fn join(low: __m512i, high: __m512i) -> __m512i {
    let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    _mm512_permutex2var_epi32(low, even, high)
}

/// The words of a table. What entries refer to is taken modulo its size, a power of two, and no block or page is longer than what can be
/// read behind the table; so no gather leaves it, whatever an entry says. Places are counted in halves of words.
struct Memory {
    first: *const u64,
    place_mask: __m512i,
}

// What is read at a place: the page's entry for any bits, or the bitmap and any of the 64 entries of 8 bytes (as a
// page's code would have it).
const _: () = assert!(4 << <u128 as Shape>::PAGE_BITS <= SLACK && 8 + 64 * 8 <= SLACK);

impl Memory {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new<K: Key>(fib: &Fib<K>) -> Self {
        let words = fib.arena.words();
        let last = words.len() as u64 - 1;
        Self { first: words.as_ptr().cast(), place_mask: _mm512_set1_epi32((2 * last) as i32) }
    }

    /// Where what `entries` refer to begins.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn place(&self, entries: __m512i) -> __m512i {
        _mm512_and_si512(_mm512_srli_epi32::<1>(entries), self.place_mask)
    }

    /// The entries of the slots whose numbers `after` has subtracted from 63, in the blocks that the live `entries` refer to.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
    fn step(&self, live: u16, entries: __m512i, after: [__m512i; 2]) -> __m512i {
        let places = self.place(entries);
        let low = self.gather_64(live as u8, _mm512_castsi512_si256(places));
        let high = self.gather_64((live >> 8) as u8, _mm512_extracti64x4_epi64::<1>(places));
        // The slot's own bit becomes the highest; the bits of later slots drop out. What is left counts the runs before.
        let runs = join(
            _mm512_popcnt_epi64(_mm512_sllv_epi64(low, after[0])),
            _mm512_popcnt_epi64(_mm512_sllv_epi64(high, after[1])),
        );
        // A run's entry has 1, 2 or 4 bytes, by the last bits of what led here.
        let code = _mm512_and_si512(entries, _mm512_set1_epi32(3));
        let bytes = _mm512_sllv_epi32(runs, code);
        let halves = _mm512_add_epi32(places, _mm512_srli_epi32::<2>(bytes));
        let found = self.gather_32::<BITMAP>(live, halves, entries);
        // Of the half found, what is below the entry goes up by rotation; what is above by a mask.
        let masks = _mm512_setr_epi32(
            0xff, 0xffff, -1, -1, 0xff, 0xffff, -1, -1, 0xff, 0xffff, -1, -1, 0xff, 0xffff, -1, -1,
        );
        let value = _mm512_rorv_epi32(found, _mm512_slli_epi32::<3>(bytes));
        _mm512_mask_and_epi32(entries, live, value, _mm512_permutexvar_epi32(code, masks))
    }

    /// Halves of words, `SKIP` bytes behind places in the table or in what can be read behind it, of the lanes in `live`; the other lanes
    /// stay as in `rest`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn gather_32<const SKIP: usize>(&self, live: u16, halves: __m512i, rest: __m512i) -> __m512i {
        let mut found = rest;
        // SAFETY: all callers add to a masked place, or to that of the root, at most what may be read behind. See
        // above for what others do to it meanwhile.
        unsafe {
            asm!(
                "vpgatherdd {found}{{{live}}}, [{first} + {halves}*4 + {skip}]",
                found = inout(zmm_reg) found,
                live = inout(kreg) live => _,
                first = in(reg) self.first,
                halves = in(zmm_reg) halves,
                skip = const SKIP,
                options(nostack, readonly, preserves_flags),
            );
        }
        found
    }

    /// Words, of the lanes in `live`; 0 in the others. `places` are masked.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn gather_64(&self, live: u8, places: __m256i) -> __m512i {
        let mut found = _mm512_setzero_si512();
        // SAFETY: `place_mask` has kept every place inside the table, and has made it that of a whole word.
        unsafe {
            asm!(
                "vpgatherdq {found}{{{live}}}, [{first} + {places}*4]",
                found = inout(zmm_reg) found,
                live = inout(kreg) live => _,
                first = in(reg) self.first,
                places = in(ymm_reg) places,
                options(nostack, readonly, preserves_flags),
            );
        }
        found
    }
}
