//! Eight lookups in a register, with AVX2; four registers go level by level.
//!
//! Gathers of these processors wait for each of their lanes, and few fit into the window of instructions that are
//! under way. So what a level needs is asked for by prefetches first, which wait for nothing: those of 32 lookups
//! overlap. Finished lanes read the first word of the table, and what they find is dropped. The gathers are
//! machine code for the reason given in `avx512`.

use std::arch::asm;
use std::arch::x86_64::*;

use crate::fib::{CHILD, Fib};
use crate::prefix::Key;

/// Lookups in one register.
const LANES: usize = 8;
/// Registers that go from level to level together.
const ROWS: usize = 4;
/// Lookups at a time.
const GROUP: usize = LANES * ROWS;

/// Whether the processor has what the functions here are compiled for.
pub(super) fn is_there() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

/// [`Fib::find_all`].
#[target_feature(enable = "popcnt,bmi1,bmi2,avx2")]
pub(super) fn find_all<K: Key>(fib: &Fib<K>, addrs: &[K], out: &mut [u32]) {
    let (addrs, out) = fib.find_many(addrs, out);
    let (groups, rest) = addrs.as_chunks::<GROUP>();
    let (out, rest_out) = out.as_chunks_mut::<GROUP>();
    let mut next = groups.iter();
    if let Some(first) = next.next() {
        prefetch_roots(fib, first);
    }
    for (addrs, out) in groups.iter().zip(out) {
        if let Some(next) = next.next() {
            prefetch_roots(fib, next);
        }
        find_group(fib, addrs, out);
    }
    if rest.len() <= LANES {
        for (out, &addr) in rest_out.iter_mut().zip(rest) {
            *out = fib.find(addr).wrapping_sub(1);
        }
    } else if let Some(&first) = rest.first() {
        // Filled up by copies of one of them, which cost no further cache miss.
        let mut group = [first; GROUP];
        let mut found = [0; GROUP];
        group[..rest.len()].copy_from_slice(rest);
        find_group(fib, &group, &mut found);
        rest_out.copy_from_slice(&found[..rest.len()]);
    }
}

/// Asks for the cache lines of the root that the addresses lead to.
#[inline]
#[target_feature(enable = "bmi1,bmi2,avx2")]
fn prefetch_roots<K: Key>(fib: &Fib<K>, addrs: &[K; GROUP]) {
    let memory = Memory::new(fib);
    for addr in addrs {
        memory.prefetch(addr.bits(0, K::ROOT_BITS) as u32 / 2);
    }
}

/// Finds as many addresses as go together.
#[inline]
#[target_feature(enable = "popcnt,bmi1,bmi2,avx2")]
fn find_group<K: Key>(fib: &Fib<K>, addrs: &[K; GROUP], out: &mut [u32; GROUP]) {
    let memory = Memory::new(fib);
    let (addrs_of, _) = addrs.as_chunks::<LANES>();
    let high: [Highs; ROWS] = std::array::from_fn(|row| {
        let high: [u64; LANES] = std::array::from_fn(|lane| addrs_of[row][lane].high());
        Highs::load(&high)
    });
    let mut rows = high.map(|high| memory.gather_32(high.bits(0, K::ROOT_BITS)));
    let mut depth = K::ROOT_BITS;
    if K::PAGE_BITS > 0 {
        for (row, high) in rows.iter_mut().zip(high) {
            let at = _mm256_add_epi32(_mm256_slli_epi32::<1>(word(*row)), high.bits(depth, K::PAGE_BITS));
            let live = _mm256_srai_epi32::<31>(*row);
            let found = memory.gather_32(_mm256_and_si256(at, live));
            *row = _mm256_blendv_epi8(*row, found, live);
        }
        depth += K::PAGE_BITS;
    }
    // One level ends all but few lookups in IPv4, so whether there is any is not worth a branch.
    let last = if K::BITS == 32 { depth + 6 } else { 58 };
    while depth < last && (K::BITS == 32 || any_live(&rows)) {
        memory.prefetch_all(&rows);
        for (row, high) in rows.iter_mut().zip(high) {
            *row = memory.step(*row, high.shift(58 - depth));
        }
        depth += 6;
    }
    for (row, out) in rows.iter().zip(out.as_chunks_mut::<LANES>().0) {
        // SAFETY: room for eight.
        unsafe {
            let ids = _mm256_sub_epi32(*row, _mm256_set1_epi32(1));
            _mm256_storeu_si256(out.as_mut_ptr().cast(), ids);
        }
    }
    if any_live(&rows) {
        finish(fib, addrs, out, depth);
    }
}

/// The few lanes that the registers have not finished.
#[cold]
fn finish<K: Key>(fib: &Fib<K>, addrs: &[K; GROUP], out: &mut [u32; GROUP], depth: u32) {
    for (&addr, out) in addrs.iter().zip(out) {
        let entry = out.wrapping_add(1);
        if entry & CHILD != 0 {
            *out = fib.walk(entry, depth, addr).wrapping_sub(1);
        }
    }
}

/// Whether any lane refers to a block.
#[inline]
#[target_feature(enable = "avx2")]
fn any_live(rows: &[__m256i; ROWS]) -> bool {
    let all = _mm256_or_si256(_mm256_or_si256(rows[0], rows[1]), _mm256_or_si256(rows[2], rows[3]));
    _mm256_movemask_ps(_mm256_castsi256_ps(all)) != 0
}

/// The word that entries refer to.
#[inline]
#[target_feature(enable = "avx2")]
fn word(entries: __m256i) -> __m256i {
    _mm256_srli_epi32::<3>(_mm256_slli_epi32::<1>(entries))
}

/// The first 64 bits of eight addresses.
#[derive(Clone, Copy)]
struct Highs(__m256i, __m256i);

impl Highs {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(high: &[u64; LANES]) -> Self {
        // SAFETY: two times four words, which is what there is.
        unsafe {
            Self(_mm256_loadu_si256(high.as_ptr().cast()), _mm256_loadu_si256(high.as_ptr().add(4).cast()))
        }
    }

    /// The addresses shifted right.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn shift(self, by: u32) -> Self {
        let by = _mm_cvtsi32_si128(by as i32);
        Self(_mm256_srl_epi64(self.0, by), _mm256_srl_epi64(self.1, by))
    }

    /// The `width` bits that follow the first `at`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn bits(self, at: u32, width: u32) -> __m256i {
        let Self(low, high) = self.shift(64 - at - width);
        _mm256_and_si256(join(low, high), _mm256_set1_epi32((1 << width) - 1))
    }
}

/// The lower halves of eight words.
#[inline]
#[target_feature(enable = "avx2")]
fn join(low: __m256i, high: __m256i) -> __m256i {
    let both = _mm256_shuffle_ps::<0b10_00_10_00>(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
    _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_castps_si256(both))
}

/// The words of a table. All places are taken modulo its size, a power of two, so that no gather leaves it, whatever
/// an entry says.
struct Memory {
    first: *const u64,
    mask: u32,
}

impl Memory {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new<K: Key>(fib: &Fib<K>) -> Self {
        let words = fib.arena.words();
        Self { first: words.as_ptr().cast(), mask: (words.len() - 1) as u32 }
    }

    /// Asks for the cache line of a word.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn prefetch(&self, at: u32) {
        _mm_prefetch::<_MM_HINT_T0>(self.first.wrapping_add((at & self.mask) as usize).cast());
    }

    /// Asks for the first cache lines of the blocks that entries refer to.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn prefetch_all(&self, rows: &[__m256i; ROWS]) {
        for &row in rows {
            let live = _mm256_srai_epi32::<31>(row);
            let places = _mm256_and_si256(word(row), live);
            let mut at = [0u32; LANES];
            // SAFETY: room for eight.
            unsafe { _mm256_storeu_si256(at.as_mut_ptr().cast(), places) };
            at.iter().for_each(|&at| self.prefetch(at));
        }
    }

    /// The entries of slots `slots % 64` in the blocks that the `entries` refer to; leaves stay.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn step(&self, entries: __m256i, slots: Highs) -> __m256i {
        let live = _mm256_srai_epi32::<31>(entries);
        let places = _mm256_and_si256(word(entries), live);
        let places = _mm256_and_si256(places, _mm256_set1_epi32(self.mask as i32));
        let low = self.gather_64(_mm256_castsi256_si128(places));
        let high = self.gather_64(_mm256_extracti128_si256::<1>(places));
        let runs = join(run(low, slots.0), run(high, slots.1));
        // A run's entry has 1, 2 or 4 bytes, by the last bits of what led here.
        let code = _mm256_and_si256(entries, _mm256_set1_epi32(3));
        let bytes = _mm256_sllv_epi32(runs, code);
        // The bitmap comes first: two halves of a word.
        let half = _mm256_add_epi32(_mm256_add_epi32(places, places), _mm256_srli_epi32::<2>(bytes));
        let found = self.gather_32(_mm256_add_epi32(half, _mm256_set1_epi32(2)));
        let masks = _mm256_setr_epi32(0xff, 0xffff, -1, -1, 0xff, 0xffff, -1, -1);
        let inside = _mm256_slli_epi32::<3>(_mm256_and_si256(bytes, _mm256_set1_epi32(3)));
        let value =
            _mm256_and_si256(_mm256_srlv_epi32(found, inside), _mm256_permutevar8x32_epi32(masks, code));
        _mm256_blendv_epi8(entries, value, live)
    }

    /// Halves of words, the places of which are taken modulo the size of the table.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn gather_32(&self, halves: __m256i) -> __m256i {
        let halves = _mm256_and_si256(halves, _mm256_set1_epi32((2 * self.mask + 1) as i32));
        let mut found = _mm256_setzero_si256();
        let all = _mm256_set1_epi32(-1);
        // SAFETY: the mask keeps every place inside the table. See `avx512` for what others do to it meanwhile.
        unsafe {
            asm!(
                "vpgatherdd {found}, [{first} + {halves}*4], {all}",
                found = inout(ymm_reg) found,
                all = inout(ymm_reg) all => _,
                first = in(reg) self.first,
                halves = in(ymm_reg) halves,
                options(nostack, readonly, preserves_flags),
            );
        }
        found
    }

    /// Words. `places` are within the mask.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn gather_64(&self, places: __m128i) -> __m256i {
        let mut found = _mm256_setzero_si256();
        let all = _mm256_set1_epi32(-1);
        // SAFETY: the mask has kept every place inside the table.
        unsafe {
            asm!(
                "vpgatherdq {found}, [{first} + {places}*8], {all}",
                found = inout(ymm_reg) found,
                all = inout(ymm_reg) all => _,
                first = in(reg) self.first,
                places = in(xmm_reg) places,
                options(nostack, readonly, preserves_flags),
            );
        }
        found
    }
}

/// The numbers of the runs that hold slots `slots % 64`.
#[inline]
#[target_feature(enable = "avx2")]
fn run(bitmaps: __m256i, slots: __m256i) -> __m256i {
    // The slot's own bit becomes the highest; the bits of later slots drop out.
    let above = _mm256_andnot_si256(slots, _mm256_set1_epi64x(63));
    count(_mm256_sllv_epi64(bitmaps, above))
}

/// The numbers of set bits of four words: by table for each half of a byte, then added up.
#[inline]
#[target_feature(enable = "avx2")]
fn count(words: __m256i) -> __m256i {
    let counts = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
    );
    let four = _mm256_set1_epi8(15);
    let low = _mm256_shuffle_epi8(counts, _mm256_and_si256(words, four));
    let high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16::<4>(words), four));
    _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256())
}
