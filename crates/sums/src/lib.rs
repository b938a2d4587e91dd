//! Sums of 16-bit words, of which Internet checksums are made (RFC 1071), with AVX2.
//!
//! The crate is one function, [`of_blocks`], which has an answer only where the processor has these instructions. It knows nothing of
//! packets and headers. It is apart from the checksums because it needs unsafe code: a call of what was just looked for, and loads inside
//! arrays. Its tests compare it with a sum of one word at a time.

/// Octets of a block.
pub const BLOCK: usize = 64;

/// The sum of the words of blocks, each as it lies in memory; `None` on a processor without AVX2. There are less than 2^42 blocks.
#[inline]
#[must_use]
pub fn of_blocks(blocks: &[[u8; BLOCK]]) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return Some(unsafe { wide::of_blocks(blocks) });
    }
    let _ = blocks;
    None
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::BLOCK;
    use std::arch::x86_64::*;

    /// Octets of a vector.
    const VECTOR: usize = 32;
    /// Blocks after which sums of 32 bits are added up: each block takes from them, or adds, 0x10000 at most.
    const AT_ONCE: usize = 1 << 14;
    /// By how much words are lowered while they are summed.
    const LOWERED: u64 = 0x8000;

    /// The sum of the words.
    #[target_feature(enable = "avx2")]
    pub(super) fn of_blocks(blocks: &[[u8; BLOCK]]) -> u64 {
        let lowered = blocks.chunks(AT_ONCE).fold(0i64, |sum, blocks| sum + of_some(blocks));
        // Together they are what the words sum to, which is not negative.
        ((blocks.len() * (BLOCK / 2)) as u64 * LOWERED).wrapping_add_signed(lowered)
    }

    /// The sum of the words of up to [`AT_ONCE`] blocks, each word lowered.
    #[target_feature(enable = "avx2")]
    fn of_some(blocks: &[[u8; BLOCK]]) -> i64 {
        let (flip, ones) = (_mm256_set1_epi16(i16::MIN), _mm256_set1_epi16(1));
        // Two sums, so that an addition does not wait for the one before.
        let mut sums = [_mm256_setzero_si256(); BLOCK / VECTOR];
        for block in blocks {
            let (vectors, _) = block.as_chunks::<VECTOR>();
            for (sum, vector) in sums.iter_mut().zip(vectors) {
                let pairs = _mm256_madd_epi16(_mm256_xor_si256(load(vector), flip), ones);
                *sum = _mm256_add_epi32(*sum, pairs);
            }
        }
        sums.iter().map(|&sum| across(sum)).sum()
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load(octets: &[u8; VECTOR]) -> __m256i {
        // SAFETY: the array has 32 octets, and no alignment is asked for.
        unsafe { _mm256_loadu_si256(octets.as_ptr().cast()) }
    }

    /// The sum of the eight numbers of a vector.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn across(sum: __m256i) -> i64 {
        let [low, high] = [_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum)];
        let four = _mm256_add_epi64(_mm256_cvtepi32_epi64(low), _mm256_cvtepi32_epi64(high));
        let two = _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256::<1>(four));
        _mm_cvtsi128_si64(two) + _mm_extract_epi64::<1>(two)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naive(blocks: &[[u8; BLOCK]]) -> u64 {
        let (words, _) = blocks.as_flattened().as_chunks();
        words.iter().map(|&word| u64::from(u16::from_ne_bytes(word))).sum()
    }

    /// Where signs change, where carries are, and beyond what is added up at once.
    #[test]
    fn as_one_word_at_a_time() {
        if of_blocks(&[]).is_none() {
            return; // this processor cannot
        }
        let mut state = 1u32;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let noise: Vec<[u8; BLOCK]> = (0..40_000).map(|_| std::array::from_fn(|_| noise())).collect();
        for count in (0..100).chain([16_383, 16_384, 16_385, 40_000]) {
            assert_eq!(of_blocks(&noise[..count]), Some(naive(&noise[..count])), "{count}");
            for octet in [0, 1, 0x7f, 0x80, 0xff] {
                let blocks = vec![[octet; BLOCK]; count];
                assert_eq!(of_blocks(&blocks), Some(naive(&blocks)), "{count} of {octet}");
            }
        }
    }
}

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
