//! The hash of everything that strangers can fill a table with, or choose a path by: flows, addresses, stations.

/// Words that a hash is made of, at most: two IPv6 addresses, and what tells flows between them apart.
const WORDS: usize = 5;

/// The key of a hash.
///
/// The hash is multilinear: each word is multiplied by a secret number of 128 bits, the products and one more secret number are
/// added up modulo 2^128, and the upper half counts (Lemire and Kaser, "Strongly universal string hashing is fast", 2014). For a key
/// that was drawn at random this is strongly universal: two different inputs of a sender who does not know the key meet in `b` bits
/// of the sum with a probability of 2^-b, whatever the inputs are, so that no list of flows exists that collides under many keys.
/// Products do not wait for each other, which makes it as quick as the two multiplications in a row of an unkeyed mixer, and several times as quick
/// as SipHash for a flow.
///
/// What is universal is not yet secret: the sum is linear, and if one pair of inputs were seen to meet, others as far apart would meet,
/// too. So the sum is folded with one more secret factor, of which only some bits choose a place. A sender can observe on which
/// path a flow goes (one or a few bits, of which the table of next hops hides most), and how long packets take on average;
/// neither shows where in a table a single flow lies. The key itself comes from the system (the seed of a router's configuration), is never
/// printed, and is another one in each process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HashKey {
    start: u128,
    factors: [u128; WORDS],
    last: u64,
}

// A key that is printed is no secret.
impl std::fmt::Debug for HashKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HashKey")
    }
}

impl HashKey {
    /// The key that follows from a seed, which is secret where hashes are to be.
    pub fn new(seed: u64) -> HashKey {
        let mut state = seed;
        let mut next = || {
            // SplitMix64 (Steele, Lea, Flood, 2014).
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ mixed >> 31
        };
        let mut wide = || u128::from(next()) << 64 | u128::from(next());
        let (start, factors) = (wide(), std::array::from_fn(|_| wide()));
        // Odd, so that no bit of the sum is lost.
        HashKey { start, factors, last: next() | 1 }
    }

    /// The hash of up to five words, all of whose bits are of use. Hashes of different numbers of words have nothing to do with each other.
    ///
    /// # Panics
    /// Does not compile for more words.
    #[inline]
    pub fn hash<const N: usize>(&self, words: [u64; N]) -> u64 {
        const { assert!(N <= WORDS, "as many factors as words") };
        let mut sum = self.start;
        for (word, factor) in words.iter().zip(&self.factors) {
            sum = sum.wrapping_add(factor.wrapping_mul(u128::from(*word)));
        }
        fold((sum >> 64) as u64, self.last)
    }

    /// A hash in a third of the instructions, all of whose bits are of use, but of which nothing is proven: words are multiplied with each
    /// other, as in wyhash. For what may be wrong, and costs little then. It has nothing to do with [`HashKey::hash`].
    ///
    /// # Panics
    /// Does not compile for more words.
    #[inline]
    pub fn quick<const N: usize>(&self, words: [u64; N]) -> u64 {
        const { assert!(N <= WORDS, "as many factors as words") };
        let mut keyed = words.iter().zip(&self.factors).map(|(word, factor)| word ^ *factor as u64);
        let mut sum = 0;
        while let Some(word) = keyed.next() {
            sum ^= fold(word, keyed.next().unwrap_or(self.last));
        }
        sum
    }
}

/// The halves of a product, one upon the other.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that differ little spread over the lower bits and the upper ones, whatever the key.
    #[test]
    fn spreads() {
        let hashes: [fn(&HashKey, u64, u64) -> u64; 3] = [
            |key, a, b| key.hash([a, b]),
            |key, a, b| key.quick([a, b]),
            |key, a, b| key.quick([b, 1, 2, 3, a]),
        ];
        for (seed, hash) in [0, 1, 7, u64::MAX].into_iter().flat_map(|seed| hashes.map(|hash| (seed, hash))) {
            let key = HashKey::new(seed);
            for shift in [0, 16, 32, 56] {
                let (mut low, mut high) = ([0u32; 16], [0u32; 16]);
                for number in 0..256u64 {
                    for other in 0..8 {
                        let hash = hash(&key, number << shift, other);
                        low[hash as usize % 16] += 1;
                        high[(hash >> 60) as usize] += 1;
                    }
                }
                let even = |counts: &[u32; 16]| counts.iter().all(|count| (64..192).contains(count));
                assert!(even(&low) && even(&high), "{seed}, {shift}: {low:?} {high:?}");
            }
        }
    }

    /// Inputs that meet under one key part under others, also those that are as far from each other as some that meet.
    #[test]
    fn collisions_do_not_carry_over() {
        const BITS: u64 = (1 << 12) - 1;
        let key = HashKey::new(1);
        let meets = |key: &HashKey, a: u64, b: u64| key.hash([a, 6]) & BITS == key.hash([b, 6]) & BITS;
        let pairs: Vec<u64> = (1..400_000u64).filter(|&number| meets(&key, 0, number)).take(64).collect();
        assert_eq!(pairs.len(), 64);
        let again = pairs.iter().filter(|&&number| meets(&HashKey::new(2), 0, number)).count();
        let shifted = pairs.iter().filter(|&&number| meets(&key, 1 << 40, (1 << 40) + number)).count();
        assert!(again <= 2 && shifted <= 2, "{again} under another key, {shifted} elsewhere");
    }
}
