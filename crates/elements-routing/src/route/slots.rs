//! In which order routes are printed: by the places that Click's tables would have given them.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

/// How places are given up and taken again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotPolicy {
    /// A route keeps its place when it is replaced; a new one takes the first hole.
    Holes,
    /// A route that is replaced gives its place up, and takes the first hole as a new one does.
    Lowest,
    /// A route that is replaced moves to a free place; the place that was given up last is taken first.
    Stack,
    /// Routes are in chains; a route that is replaced keeps its place, and a new one is the first of its chain.
    Chains,
}

/// The chain that DirectIPLookup's table has for an IPv4 prefix.
pub(super) fn chain_v4(address: u32, len: u8) -> u16 {
    let bits = u32::from(len);
    let mut mix = address ^ bits << 5 ^ (address >> (bits >> 2)).wrapping_sub(bits);
    mix ^= mix >> 23 ^ (mix >> 15).wrapping_mul(bits) ^ (address >> 17).wrapping_mul(53);
    // Click shifts by 32 bits here, which the processor takes for none.
    let high = mix.wrapping_shr(bits).wrapping_mul(7);
    mix = mix.wrapping_sub(address >> 3 ^ high ^ (mix >> 11).wrapping_mul(103));
    (mix ^ mix >> 17) as u16
}

/// Bits for the places of a chain.
const CHAIN_SHIFT: u32 = 40;

/// The places.
pub(super) struct Slots<P> {
    policy: SlotPolicy,
    of: HashMap<P, usize>,
    free: Vec<usize>,
    holes: BTreeSet<usize>,
    fresh: usize,
}

impl<P: Copy + Eq + Hash> Slots<P> {
    pub(super) fn new(policy: SlotPolicy) -> Self {
        Slots { policy, of: HashMap::new(), free: Vec::new(), holes: BTreeSet::new(), fresh: 0 }
    }

    /// A route was added or replaced, which belongs to this chain.
    pub(super) fn set(&mut self, prefix: P, chain: u16) {
        let old = self.of.get(&prefix).copied();
        if old.is_some() && matches!(self.policy, SlotPolicy::Holes | SlotPolicy::Chains) {
            return;
        }
        if self.policy == SlotPolicy::Lowest {
            self.remove(&prefix);
            return self.take(prefix, chain);
        }
        self.take(prefix, chain);
        self.give_up(old);
    }

    /// Gives a place to a route.
    fn take(&mut self, prefix: P, chain: u16) {
        let slot = match self.policy {
            SlotPolicy::Holes | SlotPolicy::Lowest => self.holes.pop_first(),
            SlotPolicy::Stack => self.free.pop(),
            // The last to come is the first of its chain.
            SlotPolicy::Chains => {
                self.fresh += 1;
                Some(((usize::from(chain) + 1) << CHAIN_SHIFT) - self.fresh)
            }
        };
        let slot = slot.unwrap_or_else(|| {
            self.fresh += 1;
            self.fresh - 1
        });
        self.of.insert(prefix, slot);
    }

    /// Whether there ever was a place.
    pub(super) fn any(&self) -> bool {
        self.fresh > 0
    }

    /// A route was removed.
    pub(super) fn remove(&mut self, prefix: &P) {
        let old = self.of.remove(prefix);
        self.give_up(old);
    }

    /// All routes were removed.
    pub(super) fn clear(&mut self) {
        *self = Slots::new(self.policy);
    }

    pub(super) fn get(&self, prefix: &P) -> Option<usize> {
        self.of.get(prefix).copied()
    }

    fn give_up(&mut self, slot: Option<usize>) {
        match self.policy {
            SlotPolicy::Holes | SlotPolicy::Lowest => self.holes.extend(slot),
            SlotPolicy::Stack => self.free.extend(slot),
            SlotPolicy::Chains => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_reused_as_in_click() {
        let places = |policy| {
            let mut slots = Slots::new(policy);
            for route in ["a", "b", "c", "d"] {
                slots.set(route, 0);
            }
            slots.remove(&"b");
            slots.remove(&"a");
            slots.set("c", 0);
            slots.set("e", 0);
            ["c", "d", "e"].map(|route| slots.get(&route).expect("a place"))
        };
        assert_eq!(places(SlotPolicy::Holes), [2, 3, 0]);
        assert_eq!(places(SlotPolicy::Lowest), [0, 3, 1]);
        assert_eq!(places(SlotPolicy::Stack), [0, 3, 2]);
        let [c, d, e] = places(SlotPolicy::Chains);
        assert!(e < d && d < c);
    }
}
