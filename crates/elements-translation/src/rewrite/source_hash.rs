//! Consistent hashing: addresses and servers lie on a ring, and an address belongs to the server that follows it there.
//!
//! Where servers lie follows from a seed and from their numbers alone, so that routers with the same configuration agree,
//! and an address moves only if its own server goes. The positions are those that the C library's generator yields,
//! which configurations in use rely on.

use std::net::Ipv4Addr;

/// The additive feedback generator of the GNU C library's `random()`.
struct Generator {
    state: [u32; 31],
    at: usize,
}

impl Generator {
    fn new(seed: u32) -> Generator {
        let mut state = [0u32; 31];
        let mut word = i64::from(if seed == 0 { 1 } else { seed as i32 });
        for place in &mut state {
            *place = word as u32;
            // Minimal standard generator, kept between 0 and its modulus.
            word = (16_807 * word) % 2_147_483_647;
            word += if word < 0 { 2_147_483_647 } else { 0 };
        }
        let mut generator = Generator { state, at: 3 };
        (0..310).for_each(|_| _ = generator.next());
        generator
    }

    /// The next number: 31 bits.
    fn next(&mut self) -> u32 {
        // The word of 31 steps ago gives way to its sum with the one of 3 steps ago.
        let sum = self.state[self.at].wrapping_add(self.state[(self.at + 28) % 31]);
        self.state[self.at] = sum;
        self.at = (self.at + 1) % 31;
        sum >> 1
    }
}

/// The ring.
#[derive(Debug)]
pub(super) struct Ring {
    /// Positions, ascending, and the server at each.
    points: Vec<(u32, usize)>,
    /// The server for addresses behind the last position.
    last: usize,
}

impl Ring {
    /// Places servers with these numbers, each at `copies` positions. What the ring finds is the rank of a server's
    /// number among all numbers.
    pub(super) fn new(numbers: &[u16], copies: usize, seed: u32) -> Ring {
        let mut generator = Generator::new(seed);
        let mut points = Vec::new();
        let mut rank = 0;
        let largest = numbers.iter().copied().max().unwrap_or(0);
        for number in 0..=largest {
            let known = numbers.contains(&number);
            for _ in 0..copies {
                let position = generator.next();
                if known {
                    points.push((position, rank));
                }
            }
            rank += usize::from(known);
        }
        points.sort_unstable();
        let last = points.get(root(points.len())).map_or(0, |point| point.1);
        Ring { points, last }
    }

    /// The server for an address.
    pub(super) fn find(&self, address: Ipv4Addr) -> usize {
        // The first byte of the address tells more than it would alone, so that neighbours part.
        let word = u32::from_le_bytes(address.octets());
        let key = word.wrapping_mul((word & 0xff) << 24 | 1) % 0x7fff_ffff;
        let at = self.points.partition_point(|point| point.0 < key);
        self.points.get(at).map_or(self.last, |point| point.1)
    }
}

/// The place of the root if `len` sorted things were a balanced binary tree, filled from the left: to it Click falls back
/// where nothing follows.
fn root(len: usize) -> usize {
    if len < 2 {
        return 0;
    }
    let half = (len + 1).next_power_of_two() / 2;
    let lowest = len - (half - 1);
    half / 2 - 1 + lowest.min(half / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of `random()` after `srandom(1)` and `srandom(42)`.
    #[test]
    fn numbers_are_those_of_srandom() {
        let first = |seed| {
            let mut generator = Generator::new(seed);
            [generator.next(), generator.next(), generator.next()]
        };
        assert_eq!(first(1), [1_804_289_383, 846_930_886, 1_681_692_777]);
        assert_eq!(first(42), [71_876_166, 708_592_740, 1_483_128_881]);
    }

    /// Roots of trees with 1 to 8 nodes.
    #[test]
    fn the_root_follows_from_the_number_of_nodes() {
        assert_eq!([1, 2, 3, 4, 5, 6, 7, 8].map(root), [0, 1, 1, 2, 3, 3, 3, 4]);
    }

    #[test]
    fn only_the_addresses_of_a_lost_server_move() {
        let four = Ring::new(&[0, 1, 2, 3], 20, 7);
        let three = Ring::new(&[0, 1, 3], 20, 7);
        let rank = |server: usize| if server == 3 { 2 } else { server };
        let mut moved = 0;
        for n in 0..2000u32 {
            let address = Ipv4Addr::from_bits(0x0a00_0000 + n * 977);
            let (before, after) = (four.find(address), three.find(address));
            // Behind the last position the fallback decides, which may differ.
            moved += u32::from(before != 2 && rank(before) != after);
        }
        assert!(moved < 200, "{moved}");
    }
}
