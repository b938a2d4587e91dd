//! Flow identifiers: the addresses and ports that tell flows apart.

use crate::keyed_hash::HashKey;
use std::fmt;
use std::net::Ipv4Addr;

/// Source and destination of a flow's packets. Numbers are in host order; ports that do not matter are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowId {
    /// Source address.
    pub saddr: u32,
    /// Destination address.
    pub daddr: u32,
    /// Source port.
    pub sport: u16,
    /// Destination port.
    pub dport: u16,
}

impl FlowId {
    /// From addresses and ports, in the order in which Click writes them.
    pub fn new(saddr: Ipv4Addr, sport: u16, daddr: Ipv4Addr, dport: u16) -> FlowId {
        FlowId { saddr: saddr.to_bits(), daddr: daddr.to_bits(), sport, dport }
    }

    /// The identifier of packets that go the other way.
    #[inline]
    pub fn reversed(self) -> FlowId {
        FlowId { saddr: self.daddr, daddr: self.saddr, sport: self.dport, dport: self.sport }
    }

    /// Both addresses, the source in the upper half.
    #[inline]
    pub const fn addresses(self) -> u64 {
        (self.saddr as u64) << 32 | self.daddr as u64
    }

    /// Both ports, the source in the upper half.
    #[inline]
    pub const fn ports(self) -> u32 {
        (self.sport as u32) << 16 | self.dport as u32
    }

    /// The inverse of [`FlowId::addresses`] and [`FlowId::ports`].
    #[inline]
    pub fn from_words(addresses: u64, ports: u32) -> FlowId {
        FlowId {
            saddr: (addresses >> 32) as u32,
            daddr: addresses as u32,
            sport: (ports >> 16) as u16,
            dport: ports as u16,
        }
    }

    /// The source address.
    pub fn source(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.saddr)
    }

    /// The destination address.
    pub fn destination(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.daddr)
    }
}

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {}, {})", self.source(), self.sport, self.destination(), self.dport)
    }
}

/// What a table is searched for: a flow identifier, and the map that it belongs to, as one table serves several.
/// It is kept as it is hashed and compared, in two words: a load of a word that two stores have just made would wait for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    addresses: u64,
    /// The map in the upper half, the ports in the lower one.
    rest: u64,
}

impl Key {
    /// A flow identifier in a map.
    #[inline]
    pub const fn new(map: u32, id: FlowId) -> Key {
        Key::of_words(map, id.addresses(), id.ports())
    }

    /// The same, with [`FlowId::addresses`] and [`FlowId::ports`].
    #[inline]
    pub const fn of_words(map: u32, addresses: u64, ports: u32) -> Key {
        Key { addresses, rest: (map as u64) << 32 | ports as u64 }
    }

    /// The map.
    #[inline]
    pub fn map(self) -> u32 {
        (self.rest >> 32) as u32
    }

    /// The addresses of the flow identifier.
    #[inline]
    pub fn addresses(self) -> u64 {
        self.addresses
    }

    /// Its ports.
    #[inline]
    pub fn ports(self) -> u32 {
        self.rest as u32
    }

    /// The flow identifier.
    #[inline]
    pub fn id(self) -> FlowId {
        FlowId::from_words(self.addresses, self.ports())
    }

    /// A hash whose bits are all of use, and of which strangers cannot tell which flows meet.
    #[inline]
    pub fn hash(self, key: &HashKey) -> u64 {
        key.hash([self.addresses, self.rest])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_text() {
        let id = FlowId::new(Ipv4Addr::new(1, 0, 0, 1), 20, Ipv4Addr::new(2, 0, 0, 2), 30);
        assert_eq!(FlowId::from_words(id.addresses(), id.ports()), id);
        assert_eq!(id.reversed().to_string(), "(2.0.0.2, 30, 1.0.0.1, 20)");
        assert_eq!(id.reversed().reversed(), id);
    }

    /// Neighbouring flows spread over the low bits (shard, bucket) and the high bits (tag).
    #[test]
    fn hashes_spread() {
        let mut low = [0u32; 64];
        let mut high = [0u32; 64];
        for n in 0..6400u32 {
            let id = FlowId { saddr: 0x0a00_0000 + n / 100, daddr: 1, sport: (n % 100) as u16, dport: 80 };
            let hash = Key::new(3, id).hash(&HashKey::new(7));
            low[(hash & 63) as usize] += 1;
            high[(hash >> 58) as usize] += 1;
        }
        assert!(low.iter().chain(&high).all(|&n| (50..160).contains(&n)), "{low:?} {high:?}");
    }
}
