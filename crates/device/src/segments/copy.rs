//! Bytes are copied and summed in one pass.

use wire::checksum::Sum;

/// Bytes that are added at once, by as many sums as do not wait for each other.
const BLOCK: usize = 64;

/// Copies bytes, and returns their sum, as [`Sum::of`] has it. A copy and then a sum take half as long again, since each byte is loaded twice.
///
/// # Panics
/// If the slices do not have the same length.
pub(super) fn copy(to: &mut [u8], from: &[u8]) -> Sum {
    assert_eq!(to.len(), from.len(), "a copy is as long as what is copied");
    let (to_blocks, to_rest) = to.as_chunks_mut::<BLOCK>();
    let (blocks, rest) = from.as_chunks::<BLOCK>();
    // Slices are far below the 16 GiB at which one of these could overflow.
    let mut sums = [0u64; 8];
    for (to, block) in to_blocks.iter_mut().zip(blocks) {
        *to = *block;
        let (words, _) = block.as_chunks::<4>();
        for (i, &word) in words.iter().enumerate() {
            sums[i % 8] += u64::from(u32::from_ne_bytes(word));
        }
    }
    to_rest.copy_from_slice(rest);
    // What was added is a sum of words in memory order, and so are its own bytes.
    let sum: u64 = sums.iter().sum();
    Sum::of(&sum.to_ne_bytes()).add_bytes(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the length and the alignment, the bytes are the same and so is the sum.
    #[test]
    fn copies_and_sums() {
        let mut rng = fastrand::Rng::with_seed(5);
        for round in 0..4000 {
            let (len, skip) = (if round < 400 { round } else { rng.usize(0..9001) }, rng.usize(0..8));
            let from: Vec<u8> =
                (0..skip + len).map(|_| if round % 3 == 0 { 0xff } else { rng.u8(..) }).collect();
            let mut to = vec![rng.u8(..); len];
            let sum = copy(&mut to, &from[skip..]);
            assert_eq!(to, &from[skip..], "{len}");
            assert_eq!(sum.fold(), Sum::of(&from[skip..]).fold(), "{len}");
        }
        assert_eq!(copy(&mut [7; 640], &[0; 640]).fold(), 0, "only zeros sum to zero");
    }
}
