//! What a neighbour table needs of an IP address.

use elements_shared::keyed_hash::HashKey;
use std::fmt::Display;
use std::hash::Hash;
use std::net::{Ipv4Addr, Ipv6Addr};

/// An address that neighbours have.
pub(crate) trait Address: Copy + Ord + Hash + Display + Send + Sync + 'static {
    /// Whether lists say how old entries are, as Click's do for IPv4 only.
    const SHOWS_AGE: bool;

    /// A hash that strangers cannot foretell.
    fn hash(self, key: &HashKey) -> u64;

    /// Its bits, and the address that has them.
    fn bits(self) -> u128;
    /// The inverse.
    fn of_bits(bits: u128) -> Self;
}

impl Address for Ipv4Addr {
    const SHOWS_AGE: bool = true;

    #[inline]
    fn hash(self, key: &HashKey) -> u64 {
        key.hash([u64::from(self.to_bits())])
    }

    fn bits(self) -> u128 {
        self.to_bits().into()
    }

    fn of_bits(bits: u128) -> Ipv4Addr {
        Ipv4Addr::from_bits(bits as u32)
    }
}

impl Address for Ipv6Addr {
    const SHOWS_AGE: bool = false;

    #[inline]
    fn hash(self, key: &HashKey) -> u64 {
        let bits = self.to_bits();
        key.hash([(bits >> 64) as u64, bits as u64])
    }

    fn bits(self) -> u128 {
        self.to_bits()
    }

    fn of_bits(bits: u128) -> Ipv6Addr {
        Ipv6Addr::from_bits(bits)
    }
}
