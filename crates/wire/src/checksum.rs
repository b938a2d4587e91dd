//! The Internet checksum: full (RFC 1071), incremental (RFC 1624), and pseudo-header sums (RFC 768, 9293, 8200).
//!
//! The one's complement sum does not depend on the byte order it is computed in, nor on the grouping of the
//! 16-bit words (RFC 1071, section 2). So bytes are added as they lie in memory, 64 bits at a time with end-around
//! carries, or by vectors where there are many (`sums`); the sum is folded once at the end, and only the folded result is put into host order.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A one's complement sum that is not folded yet.
///
/// Start from [`Sum::of`], [`pseudo_v4`] or [`pseudo_v6`], add the pieces, end with [`Sum::checksum`].
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct Sum(u64);

impl Sum {
    /// The sum of nothing.
    pub const ZERO: Sum = Sum(0);

    /// The sum of `bytes`; an odd last byte is padded with a zero on its right.
    #[inline]
    pub fn of(bytes: &[u8]) -> Sum {
        Sum(sum_bytes(bytes))
    }

    /// The sum of 20 bytes, an IPv4 or TCP header without options: three loads and no loop.
    #[inline]
    pub fn of_20(bytes: &[u8; 20]) -> Sum {
        let [words @ .., a, b, c, d] = bytes;
        let &[a, b, c, d] = &[*a, *b, *c, *d];
        let (words, _) = words.as_chunks::<8>();
        let [first, second] = [0, 1].map(|i| words.get(i).map_or(0, |&word| u64::from_ne_bytes(word)));
        // Each carry is taken along with the next addition. After the last one the sum is small, so that its carry makes none.
        let (sum, carry) = first.overflowing_add(second);
        let (sum, carry) = sum.carrying_add(u64::from(u32::from_ne_bytes([a, b, c, d])), carry);
        Sum(sum + u64::from(carry))
    }

    /// The sum of `bytes` but for the 16-bit word at the even offset `field`: a checksum field counts as zero while its value
    /// is computed. It is not overwritten first, because loads that span a store just made would wait for it.
    ///
    /// # Panics
    /// If `bytes` end within the field.
    #[inline]
    pub fn except(bytes: &[u8], field: usize) -> Sum {
        let value = u16::from_ne_bytes([bytes[field], bytes[field + 1]]);
        let sum = Sum::of(bytes).add(Sum(u64::from(!value)));
        // Adding a complement subtracts, but makes all ones also of zero, which is what only zeros sum to.
        if sum.is_all_ones() { Sum::without(bytes, field) } else { sum }
    }

    #[cold]
    fn without(bytes: &[u8], field: usize) -> Sum {
        Sum::of(&bytes[..field]).add_bytes(&bytes[field + 2..])
    }

    /// The same for an IPv4 header without options.
    #[inline]
    pub fn of_20_except_10(bytes: &[u8; 20]) -> Sum {
        let [start @ .., _, _, _, _, _, _, _, _, _, _] = bytes;
        let [_, _, _, _, _, _, _, _, _, _, _, _, end @ ..] = bytes;
        let &[.., a, b] = start;
        let (start, _) = start.as_chunks::<8>();
        let words = start.iter().chain([end]).map(|&word| Sum(u64::from_ne_bytes(word)));
        words.fold(Sum(u64::from(u16::from_ne_bytes([a, b]))), Sum::add)
    }

    /// Adds `bytes`. Pieces before the last must have an even length, because an odd last byte is padded.
    #[inline]
    pub fn add_bytes(self, bytes: &[u8]) -> Sum {
        self.add(Sum::of(bytes))
    }

    /// Adds a 16-bit word, given in host order.
    #[inline]
    pub fn add_u16(self, word: u16) -> Sum {
        self.add(Sum(u64::from(word.to_be())))
    }

    /// The sum of a few 16-bit words, given in host order.
    #[inline]
    pub fn of_words<const N: usize>(words: [u16; N]) -> Sum {
        Sum(words.iter().map(|word| u64::from(word.to_be())).sum())
    }

    /// Adds a 32-bit word, given in host order.
    #[inline]
    pub fn add_u32(self, word: u32) -> Sum {
        self.add(Sum(u64::from(word.to_be())))
    }

    /// Adds another sum.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "one's complement addition is not what `+` suggests")]
    pub fn add(self, other: Sum) -> Sum {
        // The end-around carry keeps the sum exact however many pieces are added.
        let (sum, carry) = self.0.overflowing_add(other.0);
        Sum(sum + u64::from(carry))
    }

    /// Adds whole words, as they lie in memory: one instruction each.
    #[inline(always)]
    fn add_words<const N: usize>(self, bytes: &[u8; N]) -> Sum {
        const { assert!(N.is_multiple_of(8)) };
        let (words, _) = bytes.as_chunks::<8>();
        let (mut sum, mut carry) = (self.0, false);
        for &word in words {
            (sum, carry) = sum.carrying_add(u64::from_ne_bytes(word), carry);
        }
        // Sum and carry together are never more than all ones. With a word more they are at most twice as much, so that a sum with a carry is
        // less than all ones then, and the carry makes none.
        Sum(sum + u64::from(carry))
    }

    /// The sum folded to 16 bits, in host order. It is 0 only if every byte added was 0.
    #[inline]
    #[must_use]
    pub fn fold(self) -> u16 {
        // Added to itself with its halves exchanged, a number has the sum of both in its upper half, and the carry of the lower half
        // is the end-around carry.
        let s = (self.0.wrapping_add(self.0.rotate_right(32)) >> 32) as u32;
        u16::from_be(fold32(s))
    }

    /// Whether the sum is all ones when folded: what bytes that include their right checksum sum to.
    #[inline]
    #[must_use]
    pub fn is_all_ones(self) -> bool {
        // That are the multiples of 0xffff but for 0, which folds to 0. Modulo 2^64, a multiple by `q` times this is
        // `-q`, whose complement is `q - 1`; as 0xffff has an inverse, no other number comes out as small. A
        // multiplication takes less than folding.
        const MULTIPLES: u64 = u64::MAX / 0xffff;
        !self.0.wrapping_mul(MULTIPLES) < MULTIPLES
    }

    /// The checksum field's value, in host order: the complement of the folded sum.
    #[inline]
    #[must_use]
    pub fn checksum(self) -> u16 {
        !self.fold()
    }
}

/// A checksum of which a part is known beforehand, such as that of a header whose fields are the same in all packets but a few.
///
/// Holds the complement of the sum in memory order: four bytes that are written into the header are added as they are, with two
/// instructions.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Partial(u32);

impl Partial {
    /// That of what has been added so far.
    #[inline]
    pub fn of(sum: Sum) -> Partial {
        Partial(!u32::from(sum.fold().to_be()))
    }

    /// That with four more bytes, which lie at an even offset.
    #[inline]
    pub fn with(self, bytes: [u8; 4]) -> Partial {
        // To subtract from the complement is to add, and the borrow is the end-around carry.
        let (rest, borrow) = self.0.overflowing_sub(u32::from_ne_bytes(bytes));
        Partial(rest.wrapping_sub(u32::from(borrow)))
    }

    /// The checksum field.
    #[inline]
    #[must_use]
    pub fn checksum(self) -> [u8; 2] {
        checksum_of_complement(self.0).to_ne_bytes()
    }
}

/// Bytes of a block, which is added without a branch.
const BLOCK: usize = sums::BLOCK;

/// Adds words in memory order.
#[inline]
fn sum_bytes(bytes: &[u8]) -> u64 {
    let (mut sum, mut rest) = if bytes.len() < 2 * BLOCK { (Sum::ZERO, bytes) } else { sum_blocks(bytes) };
    if let Some((piece, behind)) = rest.split_first_chunk::<BLOCK>() {
        (sum, rest) = (sum.add_words(piece), behind);
    }
    if let Some((piece, behind)) = rest.split_first_chunk::<32>() {
        (sum, rest) = (sum.add_words(piece), behind);
    }
    if let Some((piece, behind)) = rest.split_first_chunk::<16>() {
        (sum, rest) = (sum.add_words(piece), behind);
    }
    if let Some((piece, behind)) = rest.split_first_chunk::<8>() {
        (sum, rest) = (sum.add_words(piece), behind);
    }
    match (rest, bytes.last_chunk()) {
        ([], _) => sum.0,
        // The last eight bytes without those that were added: one load, however many are left.
        (tail, Some(&last)) => {
            let word = u64::from_le_bytes(last) >> (64 - 8 * tail.len());
            sum.add(Sum(word.to_le())).0
        }
        (tail, None) => sum_short(tail),
    }
}

/// Adds blocks. What is left to add is shorter than a block.
#[inline(never)] // what adds short slices stays small
fn sum_blocks(bytes: &[u8]) -> (Sum, &[u8]) {
    let (blocks, rest) = bytes.as_chunks();
    (sums::of_blocks(blocks).map_or_else(|| sum_one_by_one(blocks), Sum), rest)
}

/// The sum of blocks, each of which is added by itself, so that none waits for the carries of the one before.
fn sum_one_by_one(blocks: &[[u8; BLOCK]]) -> Sum {
    blocks.iter().fold(Sum::ZERO, |sum, block| sum.add(Sum::ZERO.add_words(block)))
}

/// Adds the bytes of a slice shorter than a word.
fn sum_short(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    for (to, &byte) in word.iter_mut().zip(bytes) {
        *to = byte;
    }
    u64::from_ne_bytes(word)
}

/// The checksum of `bytes` (RFC 1071): the value to store, in host order, if the field was zero in `bytes`.
#[inline]
#[must_use]
pub fn checksum(bytes: &[u8]) -> u16 {
    Sum::of(bytes).checksum()
}

/// Whether `bytes`, which include their checksum field, sum to all ones.
#[inline]
#[must_use]
pub fn verify(bytes: &[u8]) -> bool {
    Sum::of(bytes).is_all_ones()
}

/// The checksum after one 16-bit word changed from `old` to `new` (RFC 1624, equation 3); all in host order.
///
/// The result equals a full recomputation unless the changed data are all zero, which no IP, TCP or UDP
/// checksum covers: their version or protocol field is never zero.
#[inline]
#[must_use]
pub fn update_u16(checksum: u16, old: u16, new: u16) -> u16 {
    add_to_complement(add_to_complement(checksum, !old), new)
}

/// The checksum after two aligned 16-bit words, given as one 32-bit number, changed from `old` to `new`.
///
/// Exact in the same cases as [`update_u16`].
#[inline]
#[must_use]
pub fn update_u32(checksum: u16, old: u32, new: u32) -> u16 {
    // The complement of the sum, and of a zero above it.
    let sum = Partial(u32::from(checksum) | 0xffff << 16);
    checksum_of_complement(sum.with((!old).to_ne_bytes()).with(new.to_ne_bytes()).0)
}

/// Adds a word to a sum whose complement is given and returned: subtracts it, and the borrow, which is the end-around carry.
#[inline]
pub(crate) fn add_to_complement(complement: u16, word: u16) -> u16 {
    let (rest, borrow) = complement.overflowing_sub(word);
    rest.wrapping_sub(u16::from(borrow))
}

#[inline]
fn fold32(sum: u32) -> u16 {
    (sum.wrapping_add(sum.rotate_right(16)) >> 16) as u16 // see `Sum::fold`
}

/// `!fold32(!n)`: a checksum, of the complement of its sum. With `s = !n` and `r` the rotation, `!(s + r(s))` is `n +
/// r(n) + 1`, so that nothing is complemented: two or three instructions less where `n` can be made in the place of
/// its complement.
#[inline]
fn checksum_of_complement(n: u32) -> u16 {
    (n.wrapping_add(n.rotate_right(16)).wrapping_add(1) >> 16) as u16
}

/// The sum of the IPv4 pseudo-header; `len` is the length in bytes of the transport header and its payload.
#[inline]
pub fn pseudo_v4(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, len: u16) -> Sum {
    let word = |a: Ipv4Addr| u64::from(u32::from_ne_bytes(a.octets()));
    Sum(word(src) + word(dst) + u64::from(u16::from(protocol).to_be()) + u64::from(len.to_be()))
}

/// The sum of the IPv6 pseudo-header (RFC 8200, section 8.1); `len` is the upper-layer length in bytes.
#[inline]
pub fn pseudo_v6(src: Ipv6Addr, dst: Ipv6Addr, next_header: u8, len: u32) -> Sum {
    let rest = Sum(u64::from(len.to_be()) + u64::from(u16::from(next_header).to_be()));
    rest.add_bytes(&src.octets()).add_bytes(&dst.octets())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numerical example of RFC 1071, section 3.
    #[test]
    fn the_example_of_rfc_1071_holds() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::of(&bytes).fold(), 0xddf2);
        assert_eq!(checksum(&bytes), 0x220d);
    }

    /// The worked example of RFC 1624, section 4: equation 3 gives 0x0000 where equation 1's rival gave 0xffff.
    #[test]
    fn the_example_of_rfc_1624_holds() {
        assert_eq!(update_u16(0xdd2f, 0x5555, 0x3285), 0x0000);
        assert_eq!(update_u32(0xdd2f, 0x1234_5555, 0x1234_3285), 0x0000);
    }

    #[test]
    fn sums_of_extremes() {
        assert_eq!(Sum::ZERO.fold(), 0);
        assert_eq!(checksum(&[]), 0xffff);
        assert_eq!(checksum(&[0; 64]), 0xffff);
        assert_eq!(checksum(&[0xff; 65_535]), 0x00ff);
        assert_eq!(Sum(u64::MAX).fold(), 0xffff);
        assert_eq!(Sum(u64::MAX).add(Sum(u64::MAX)).fold(), 0xffff);
    }

    /// Around every multiple of 65,535 that matters, and at the carries.
    #[test]
    fn folding_keeps_the_remainder() {
        let near = |at: u64| (0..3).flat_map(move |d| [at.wrapping_add(d), at.wrapping_sub(d)]);
        let multiples = [0, 1, 2, 0x1_0000, 0x1_0001, 0x1_0001_0001, 0x1_0001_0001_0001].map(|n| n * 0xffff);
        for sum in multiples.into_iter().chain([1 << 16, 1 << 32, 1 << 48]).flat_map(near) {
            // Folding keeps the remainder by 65,535, and only zero folds to zero.
            let folded = if sum == 0 { 0 } else { (sum - 1) % 0xffff + 1 };
            assert_eq!(u64::from(Sum(sum).fold().to_be()), folded, "{sum:#x}");
            assert_eq!(Sum(sum).is_all_ones(), folded == 0xffff, "{sum:#x}");
        }
    }

    /// All values at the edges, beside the rule as the RFC has it.
    #[test]
    fn updates_and_partial_sums_at_the_edges() {
        let rule = |checksum: u16, old: &[u16], new: &[u16]| {
            let sum = old.iter().fold(Sum::ZERO.add_u16(!checksum), |sum, old| sum.add_u16(!old));
            new.iter().fold(sum, |sum, &new| sum.add_u16(new)).checksum()
        };
        let edges = [0u16, 1, 0x7fff, 0x8000, 0xfffe, 0xffff];
        for i in 0..edges.len().pow(3) {
            let [checksum, old, new] = [36, 6, 1].map(|step| edges[i / step % 6]);
            assert_eq!(update_u16(checksum, old, new), rule(checksum, &[old], &[new]));
            let wide = |high: u16, low: u16| u32::from(high) << 16 | u32::from(low);
            let wide_rule = rule(checksum, &[old, new], &[new, checksum]);
            assert_eq!(update_u32(checksum, wide(old, new), wide(new, checksum)), wide_rule);
            let [[a, b], [c, d]] = [old, new].map(u16::to_be_bytes);
            let partial = Partial::of(Sum::ZERO.add_u16(checksum)).with([a, b, c, d]);
            assert_eq!(
                u16::from_be_bytes(partial.checksum()),
                Sum::of_words([checksum, old, new]).checksum()
            );
        }
    }

    /// Blocks sum to the same with vectors and without, also where all words are ones and each addition has a carry.
    #[test]
    fn blocks_one_by_one_and_by_vectors() {
        for octet in [0u8, 1, 0x7f, 0x80, 0xff] {
            for count in [0, 1, 2, 7, 1000] {
                let blocks: Vec<[u8; BLOCK]> = (0..count)
                    .map(|at| std::array::from_fn(|i| if (at + i) % 5 == 0 { octet } else { 0xff }))
                    .collect();
                let words =
                    blocks.as_flattened().chunks(2).map(|w| u64::from(u16::from_ne_bytes([w[0], w[1]])));
                let naive = Sum(words.sum()).fold();
                assert_eq!(sum_one_by_one(&blocks).fold(), naive, "{count} of {octet}");
                assert_eq!(Sum::of(blocks.as_flattened()).fold(), naive, "{count} of {octet}");
            }
        }
    }

    #[test]
    fn odd_byte_is_the_high_half_of_its_word() {
        assert_eq!(Sum::of(&[0x12]).fold(), 0x1200);
        assert_eq!(Sum::of(&[0, 1, 0x12]).fold(), 0x1201);
    }
}
