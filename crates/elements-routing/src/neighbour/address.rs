//! What a neighbour table needs of an IP address.

use std::fmt::Display;
use std::hash::Hash;
use std::net::{Ipv4Addr, Ipv6Addr};

/// An address that neighbours have.
pub(crate) trait Address: Copy + Ord + Hash + Display + Send + Sync + 'static {
    /// Whether lists say how old entries are, as Click's do for IPv4 only.
    const SHOWS_AGE: bool;

    /// A hash that depends on a key.
    fn mix(self, key: u64) -> u64;
}

/// Product of two numbers, folded.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Address for Ipv4Addr {
    const SHOWS_AGE: bool = true;

    #[inline]
    fn mix(self, key: u64) -> u64 {
        fold(u64::from(self.to_bits()) ^ key, ODD)
    }
}

impl Address for Ipv6Addr {
    const SHOWS_AGE: bool = false;

    #[inline]
    fn mix(self, key: u64) -> u64 {
        let bits = self.to_bits();
        fold(fold(bits as u64 ^ key, ODD) ^ (bits >> 64) as u64, ODD ^ key)
    }
}
