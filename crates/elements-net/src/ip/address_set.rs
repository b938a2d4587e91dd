//! Finding out quickly that an address is not on a short list.

use std::net::Ipv4Addr;

/// A list of addresses behind a filter of 64 bits: nearly every address that is not on the list is told by one
/// multiplication and one test.
#[derive(Debug)]
pub(super) struct AddressSet {
    filter: u64,
    list: Vec<Ipv4Addr>,
}

impl AddressSet {
    /// The set of these addresses.
    pub(super) fn new(list: Vec<Ipv4Addr>) -> AddressSet {
        AddressSet { filter: list.iter().fold(0, |filter, &address| filter | bit(address)), list }
    }

    /// Whether there is no address in it.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether an address is in the set.
    #[inline]
    pub(super) fn contains(&self, address: Ipv4Addr) -> bool {
        // Mostly there is no list.
        self.filter != 0 && self.filter & bit(address) != 0 && self.listed(address)
    }

    #[cold]
    fn listed(&self, address: Ipv4Addr) -> bool {
        self.list.contains(&address)
    }
}

/// The filter's bit for an address; the multiplier spreads neighbouring addresses over all of them.
#[inline]
fn bit(address: Ipv4Addr) -> u64 {
    1 << (u32::from_ne_bytes(address.octets()).wrapping_mul(0x9e37_79b9) >> 26)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The filter never hides an address, and lets most others be told without the list.
    #[test]
    fn as_the_list() {
        let list: Vec<Ipv4Addr> =
            [0, u32::MAX, 0x0a00_00ff, 0x0a00_01ff, 0xc0a8_ffff].map(Ipv4Addr::from).to_vec();
        let set = AddressSet::new(list.clone());
        let near =
            list.iter().flat_map(|&a| (0..2000).map(move |i| Ipv4Addr::from(u32::from(a).wrapping_add(i))));
        let mut filtered = 0;
        for address in near {
            assert_eq!(set.contains(address), list.contains(&address), "{address}");
            filtered += u32::from(set.filter & bit(address) == 0);
        }
        assert!(filtered > 8000, "{filtered}");
        assert!(!AddressSet::new(Vec::new()).contains(Ipv4Addr::UNSPECIFIED));
    }
}
