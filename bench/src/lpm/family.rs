//! The two address families.

use lpm::{Key, Prefix};
use std::net::IpAddr;

/// What the two address families have apart.
pub(super) trait Family: Key {
    const NAME: &str;
    /// An address drawn from where routes can be.
    fn any(rng: &mut fastrand::Rng) -> Self;
    fn xor(self, bits: u32) -> Self;
    fn to_ip(self) -> IpAddr;
    /// As the programs beside this one want it.
    fn raw(self) -> Vec<u8>;
}

impl Family for u32 {
    const NAME: &str = "IPv4";

    fn any(rng: &mut fastrand::Rng) -> Self {
        rng.u32(..)
    }

    fn xor(self, bits: u32) -> Self {
        self ^ bits
    }

    fn to_ip(self) -> IpAddr {
        IpAddr::V4(self.into())
    }

    fn raw(self) -> Vec<u8> {
        self.to_ne_bytes().to_vec()
    }
}

impl Family for u128 {
    const NAME: &str = "IPv6";

    fn any(rng: &mut fastrand::Rng) -> Self {
        1 << 125 | rng.u128(..) >> 3
    }

    fn xor(self, bits: u32) -> Self {
        self ^ u128::from(bits)
    }

    fn to_ip(self) -> IpAddr {
        IpAddr::V6(self.into())
    }

    fn raw(self) -> Vec<u8> {
        self.to_be_bytes().to_vec()
    }
}

/// An id below `many` that depends on the prefix alone.
pub(super) fn next_hop<K: Family>(prefix: Prefix<K>, many: u32) -> u32 {
    let left = prefix.addr().to_left() >> 64;
    let mixed = (left as u64 ^ u64::from(prefix.len())).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (((mixed >> 32) * u64::from(many)) >> 32) as u32
}
