//! The golden table: a map for each prefix length, searched from the longest. It is slow and obviously right; the
//! tests compare the other tables with it.

use std::collections::HashMap;

use crate::prefix::{Key, Prefix};

/// A longest-prefix-match table that is easy to believe: one hash map per length.
#[derive(Clone, Debug)]
pub struct Naive<K> {
    /// `by_len[l]` maps the network addresses of the prefixes of length `l` to their ids.
    by_len: Vec<HashMap<K, u32>>,
}

impl<K: Key> Naive<K> {
    /// An empty table.
    pub fn new() -> Self {
        Self { by_len: vec![HashMap::new(); K::BITS as usize + 1] }
    }

    /// Sets the id of `prefix`, returning the one it had.
    pub fn insert(&mut self, prefix: Prefix<K>, id: u32) -> Option<u32> {
        self.by_len[usize::from(prefix.len())].insert(prefix.addr(), id)
    }

    /// Removes `prefix`, returning the id it had.
    pub fn remove(&mut self, prefix: Prefix<K>) -> Option<u32> {
        self.by_len[usize::from(prefix.len())].remove(&prefix.addr())
    }

    /// The id of exactly this prefix.
    pub fn get(&self, prefix: Prefix<K>) -> Option<u32> {
        self.by_len[usize::from(prefix.len())].get(&prefix.addr()).copied()
    }

    /// The longest prefix that contains `addr`, and its id.
    pub fn longest(&self, addr: K) -> Option<(Prefix<K>, u32)> {
        (0..=K::BITS as u8).rev().find_map(|len| {
            let prefix = Prefix::covering(addr, len);
            self.get(prefix).map(|id| (prefix, id))
        })
    }

    /// The id of the longest prefix that contains `addr`.
    pub fn lookup(&self, addr: K) -> Option<u32> {
        self.longest(addr).map(|(_, id)| id)
    }

    /// Number of prefixes.
    pub fn len(&self) -> usize {
        self.by_len.iter().map(HashMap::len).sum()
    }

    /// Whether there is no prefix at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All prefixes with their ids, ordered by address, then by length.
    pub fn sorted(&self) -> Vec<(Prefix<K>, u32)> {
        let lengths = self.by_len.iter().enumerate();
        let mut all: Vec<_> = lengths
            .flat_map(|(len, map)| {
                map.iter().map(move |(&addr, &id)| (Prefix::covering(addr, len as u8), id))
            })
            .collect();
        all.sort_unstable();
        all
    }
}

impl<K: Key> Default for Naive<K> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prefix::Prefix4;

    #[test]
    fn the_longest_wins_and_withdrawal_uncovers() {
        let mut table = Naive::new();
        let of = |text: &str| text.parse::<Prefix4>().unwrap();
        table.insert(of("0.0.0.0/0"), 1);
        table.insert(of("10.0.0.0/8"), 2);
        table.insert(of("10.1.2.3/32"), 3);
        assert_eq!(table.lookup(0x0a01_0203), Some(3));
        assert_eq!(table.lookup(0x0a01_0204), Some(2));
        assert_eq!(table.lookup(0x0b00_0000), Some(1));
        assert_eq!(table.remove(of("10.0.0.0/8")), Some(2));
        assert_eq!(table.lookup(0x0a01_0204), Some(1));
        assert_eq!(table.remove(of("0.0.0.0/0")), Some(1));
        assert_eq!(table.lookup(0x0a01_0204), None);
        assert_eq!(table.sorted(), [(of("10.1.2.3/32"), 3)]);
    }
}
