//! Maps from aggregate annotations, looked at for each packet.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// A map from aggregates.
pub(super) type ByAggregate<V> = HashMap<u32, V, Keyed>;

/// Hashes numbers by two multiplications, with a key that is different for each map: senders that do not know it cannot tell
/// which aggregates meet. The standard library's hash is made for any key, and takes several times as long for a number.
#[derive(Clone, Debug)]
pub(super) struct Keyed(u64);

impl Default for Keyed {
    fn default() -> Keyed {
        Keyed(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for Keyed {
    type Hasher = Folded;

    #[inline]
    fn build_hasher(&self) -> Folded {
        Folded(self.0)
    }
}

/// The state of a hash.
pub(super) struct Folded(u64);

impl Hasher for Folded {
    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.0 = folded(self.0 ^ u64::from(number), 0x9e37_79b9_7f4a_7c15);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    #[inline]
    fn finish(&self) -> u64 {
        folded(self.0, 0xd1b5_4a32_d192_ed03)
    }
}

/// The halves of a product joined: the lower one depends on none of the bits above, the upper one on all below.
#[inline]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Numbers that differ in few bits anywhere share neither the bits that tell buckets nor those that tell entries, more than chance
    /// has it.
    #[test]
    fn numbers_spread() {
        let keyed = Keyed::default();
        for shift in 0..=20 {
            let hashes: Vec<u64> = (0..4096u32).map(|number| keyed.hash_one(number << shift)).collect();
            for bits in [|hash: u64| hash & 0xffff, |hash: u64| hash >> 48] {
                let different: HashSet<u64> = hashes.iter().map(|&hash| bits(hash)).collect();
                assert!(different.len() > 3900, "{} of 4096, shifted by {shift}", different.len());
            }
        }
    }

    #[test]
    fn each_map_has_its_key() {
        assert_ne!(Keyed::default().hash_one(1u32), Keyed::default().hash_one(1u32));
    }
}
