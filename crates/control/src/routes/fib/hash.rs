//! A quick hash with a secret key: prefixes come from peers, who must not choose where they lie in a table.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A table with keys that strangers choose.
pub(super) type Table<K, V> = HashMap<K, V, Seed>;

/// The key of a table's hash.
#[derive(Clone, Debug)]
pub(super) struct Seed(u64, u64);

impl Default for Seed {
    fn default() -> Seed {
        let random = RandomState::new();
        Seed(random.hash_one(1), random.hash_one(2) | 1)
    }
}

impl BuildHasher for Seed {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded { sum: self.0, factor: self.1 }
    }
}

/// Multiplies words by a secret factor, and folds the products.
pub(super) struct Folded {
    sum: u64,
    factor: u64,
}

impl Hasher for Folded {
    #[inline]
    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.sum ^ word) * u128::from(self.factor);
        self.sum = (product as u64 ^ (product >> 64) as u64).wrapping_add(self.factor.rotate_left(32));
    }

    #[inline]
    fn write_u8(&mut self, word: u8) {
        self.write_u64(word.into());
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_ne_bytes(word));
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.sum
    }
}
