//! What flows are told apart by.

use crate::hash::HashKey;
use std::net::{Ipv4Addr, Ipv6Addr};

/// What records are found by.
pub trait Key: Copy + Eq {
    /// Its hash, all of whose bits are of use.
    fn hash(&self, key: &HashKey) -> u64;

    /// A quicker one ([`HashKey::quick`]).
    fn quick(&self, key: &HashKey) -> u64;

    /// The part of it that a quota counts: so many upper bits of the source address, of an IPv4 and of an IPv6 one.
    fn source(&self, bits: (u8, u8)) -> u64;
}

/// Addresses and ports of IPv4 packets, their protocol, and a zone: what keeps equal tuples apart that have nothing to do with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct V4Tuple {
    ends: u64,
    /// From the upper end: 24 bits of zone, the protocol, both ports.
    rest: u64,
}

/// The same of IPv6 packets; a flow label may stand in the place of protocol and ports (RFC 6438).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct V6Tuple {
    ends: [u64; 4],
    /// As in [`V4Tuple`]; a flow label stands in the zone's place, with the protocol 0.
    rest: u64,
}

const _: () = assert!(size_of::<V4Tuple>() == 16 && size_of::<V6Tuple>() == 40);

/// Bits of a zone.
const ZONE: u32 = (1 << 24) - 1;

fn rest(ports: (u16, u16), protocol: u8, zone: u32) -> u64 {
    let ports = u64::from(ports.0) << 16 | u64::from(ports.1);
    u64::from(zone & ZONE) << 40 | u64::from(protocol) << 32 | ports
}

fn reversed(rest: u64) -> u64 {
    rest >> 32 << 32 | u64::from((rest as u32).rotate_left(16))
}

/// What the tuples have in common.
macro_rules! ports_and_zone {
    ($tuple:ident) => {
        impl $tuple {
            /// Source and destination port.
            pub fn ports(self) -> (u16, u16) {
                ((self.rest >> 16) as u16, self.rest as u16)
            }

            /// The protocol.
            pub fn protocol(self) -> u8 {
                (self.rest >> 32) as u8
            }

            /// The zone.
            pub fn zone(self) -> u32 {
                (self.rest >> 40) as u32
            }
        }
    };
}

ports_and_zone!(V4Tuple);
ports_and_zone!(V6Tuple);

impl V4Tuple {
    /// Of source and destination. Of the zone, the lower 24 bits count.
    #[inline]
    pub fn new(ends: (Ipv4Addr, Ipv4Addr), ports: (u16, u16), protocol: u8, zone: u32) -> V4Tuple {
        let ends = u64::from(ends.0.to_bits()) << 32 | u64::from(ends.1.to_bits());
        V4Tuple { ends, rest: rest(ports, protocol, zone) }
    }

    /// From the words that are hashed: both addresses, the source in the upper half; and zone (24 bits), protocol (8), both ports.
    #[inline]
    pub fn from_words(ends: u64, rest: u64) -> V4Tuple {
        V4Tuple { ends, rest }
    }

    /// The tuple of packets that go the other way.
    #[inline]
    pub fn reversed(self) -> V4Tuple {
        V4Tuple { ends: self.ends.rotate_left(32), rest: reversed(self.rest) }
    }

    /// Source and destination.
    pub fn ends(self) -> (Ipv4Addr, Ipv4Addr) {
        (Ipv4Addr::from_bits((self.ends >> 32) as u32), Ipv4Addr::from_bits(self.ends as u32))
    }
}

impl Key for V4Tuple {
    #[inline]
    fn hash(&self, key: &HashKey) -> u64 {
        key.hash([self.ends, self.rest])
    }

    #[inline]
    fn quick(&self, key: &HashKey) -> u64 {
        key.quick([self.ends, self.rest])
    }

    fn source(&self, bits: (u8, u8)) -> u64 {
        upper(self.ends, bits.0.min(32))
    }
}

/// So many upper bits of a word, 64 at most.
fn upper(word: u64, bits: u8) -> u64 {
    if bits == 0 { 0 } else { word >> (64 - u32::from(bits.min(64))) }
}

/// The upper half of an address, and the lower one.
fn halves(address: Ipv6Addr) -> [u64; 2] {
    let bits = address.to_bits();
    [(bits >> 64) as u64, bits as u64]
}

fn whole([upper, lower]: [u64; 2]) -> Ipv6Addr {
    Ipv6Addr::from_bits(u128::from(upper) << 64 | u128::from(lower))
}

impl V6Tuple {
    /// Of source and destination. Of the zone, the lower 24 bits count.
    #[inline]
    pub fn new(ends: (Ipv6Addr, Ipv6Addr), ports: (u16, u16), protocol: u8, zone: u32) -> V6Tuple {
        let [[a, b], [c, d]] = [halves(ends.0), halves(ends.1)];
        V6Tuple { ends: [a, b, c, d], rest: rest(ports, protocol, zone) }
    }

    /// From the words that are hashed: source, destination, and what [`V4Tuple::from_words`] says.
    #[inline]
    pub fn from_words(ends: [u64; 4], rest: u64) -> V6Tuple {
        V6Tuple { ends, rest }
    }

    /// The tuple of packets that go the other way.
    #[inline]
    pub fn reversed(self) -> V6Tuple {
        let [a, b, c, d] = self.ends;
        V6Tuple { ends: [c, d, a, b], rest: reversed(self.rest) }
    }

    /// Source and destination.
    pub fn ends(self) -> (Ipv6Addr, Ipv6Addr) {
        let [a, b, c, d] = self.ends;
        (whole([a, b]), whole([c, d]))
    }
}

impl Key for V6Tuple {
    #[inline]
    fn hash(&self, key: &HashKey) -> u64 {
        let [a, b, c, d] = self.ends;
        key.hash([a, b, c, d, self.rest])
    }

    #[inline]
    fn quick(&self, key: &HashKey) -> u64 {
        let [a, b, c, d] = self.ends;
        key.quick([a, b, c, d, self.rest])
    }

    fn source(&self, bits: (u8, u8)) -> u64 {
        upper(self.ends[0], bits.1)
    }
}

/// An IPv4 destination. It has no source: a quota counts all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Destination4(pub u32);

/// An IPv6 destination. It has no source: a quota counts all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Destination6(pub [u64; 2]);

/// A label: whatever tells flows apart in 64 bits. It has no source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u64);

impl Key for Destination4 {
    #[inline]
    fn hash(&self, key: &HashKey) -> u64 {
        key.hash([u64::from(self.0)])
    }

    #[inline]
    fn quick(&self, key: &HashKey) -> u64 {
        key.quick([u64::from(self.0)])
    }

    fn source(&self, _: (u8, u8)) -> u64 {
        0
    }
}

impl Key for Destination6 {
    #[inline]
    fn hash(&self, key: &HashKey) -> u64 {
        key.hash(self.0)
    }

    #[inline]
    fn quick(&self, key: &HashKey) -> u64 {
        key.quick(self.0)
    }

    fn source(&self, _: (u8, u8)) -> u64 {
        0
    }
}

impl Key for Label {
    #[inline]
    fn hash(&self, key: &HashKey) -> u64 {
        key.hash([self.0])
    }

    #[inline]
    fn quick(&self, key: &HashKey) -> u64 {
        key.quick([self.0])
    }

    fn source(&self, _: (u8, u8)) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_hold_what_they_are_given() {
        let ends = (Ipv4Addr::new(10, 1, 2, 3), Ipv4Addr::new(192, 0, 2, 1));
        let tuple = V4Tuple::new(ends, (1000, 80), 6, 0x0012_3456);
        assert_eq!(
            (tuple.ends(), tuple.ports(), tuple.protocol(), tuple.zone()),
            (ends, (1000, 80), 6, 0x0012_3456)
        );
        assert_eq!(tuple.reversed(), V4Tuple::new((ends.1, ends.0), (80, 1000), 6, 0x0012_3456));
        assert_eq!((tuple.source((24, 0)), tuple.source((0, 64))), (0x0a_0102, 0));
        let ends = ("2001:db8::1".parse().unwrap(), "2001:db8:5::2".parse().unwrap());
        let tuple = V6Tuple::new(ends, (1000, 80), 17, 7);
        assert_eq!((tuple.ends(), tuple.ports(), tuple.protocol(), tuple.zone()), (ends, (1000, 80), 17, 7));
        assert_eq!(tuple.reversed(), V6Tuple::new((ends.1, ends.0), (80, 1000), 17, 7));
        assert_eq!((tuple.source((0, 32)), tuple.source((0, 0))), (0x2001_0db8, 0));
    }
}
