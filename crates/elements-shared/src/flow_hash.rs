//! Which flow a packet belongs to, as far as choosing among several ways goes: packets of one flow take one path.

use crate::keyed_hash::HashKey;
use flows::{Key, V4Tuple, V6Tuple};
use router::{FromArg, Scope};
use std::net::IpAddr;
use wire::ip_proto::{TCP, UDP};
use wire::{ipv4, ipv6};

/// What tells flows apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fields {
    /// Addresses alone.
    Addresses,
    /// Addresses, protocol and, in whole TCP and UDP packets, ports.
    Ports,
    /// In IPv6 packets that have a flow label the label, instead of protocol and ports (RFC 6438); otherwise as [`Fields::Ports`].
    #[default]
    Label,
}

impl FromArg for Fields {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        match text {
            "addresses" => Ok(Fields::Addresses),
            "ports" => Ok(Fields::Ports),
            "label" => Ok(Fields::Label),
            _ => Err(format!("expected 'addresses', 'ports' or 'label', not '{text}'")),
        }
    }
}

/// An IPv4 header without options, and ports.
pub const PLAIN: usize = ipv4::HEADER_LEN + 4;

/// How flows are hashed: with a key, so that others cannot tell which path a flow will take, and routers in a row do not
/// choose alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flows {
    /// The hash's key.
    pub key: HashKey,
    /// What tells flows apart.
    pub fields: Fields,
}

impl Flows {
    /// A hash of an IP packet's flow; 0 of what is none.
    #[inline]
    pub fn of(&self, packet: &[u8]) -> u64 {
        match packet.first().map(|byte| byte >> 4) {
            Some(4) => self.of_v4(packet),
            Some(6) => self.of_v6(packet),
            _ => 0,
        }
    }

    /// The hash of the flow of a packet as most are, [`Flows::of`] it: IPv4 without options, not a fragment, with all of its ports; none of others. For callers
    /// that have so many bytes at hand.
    #[inline]
    pub fn of_plain(&self, packet: &[u8; PLAIN]) -> Option<u64> {
        let word =
            |at: usize| u32::from_be_bytes([packet[at], packet[at + 1], packet[at + 2], packet[at + 3]]);
        let is_whole = word(4) & u32::from(ipv4::FLAG_MF | ipv4::OFFSET_MASK) == 0;
        let protocol = packet[9];
        if packet[0] != 0x45
            || !is_whole
            || !matches!(protocol, TCP | UDP)
            || self.fields == Fields::Addresses
        {
            return None;
        }
        let ends = u64::from(word(12)) << 32 | u64::from(word(16));
        let rest = u64::from(protocol) << 32 | u64::from(word(20));
        Some(V4Tuple::from_words(ends, rest).hash(&self.key))
    }

    /// A hash of an IPv4 packet's flow. Without a header it is 0.
    #[inline]
    pub fn of_v4(&self, bytes: &[u8]) -> u64 {
        self.tuple_v4(bytes).map_or(0, |tuple| tuple.hash(&self.key))
    }

    /// What tells an IPv4 packet's flow from others; `None` without a header. Its hash is that of the flow.
    #[inline]
    pub fn tuple_v4(&self, bytes: &[u8]) -> Option<V4Tuple> {
        let header = ipv4::Header::new_checked(bytes).ok()?;
        let ends = u64::from(header.src().to_bits()) << 32 | u64::from(header.dst().to_bits());
        if self.fields == Fields::Addresses {
            return Some(V4Tuple::from_words(ends, 0));
        }
        // Fragments but the first have no ports: none may count, or a packet's fragments would part.
        let ports = match header.protocol() {
            TCP | UDP if !header.is_fragment() => ports(bytes, header.header_len()),
            _ => 0,
        };
        Some(V4Tuple::from_words(ends, u64::from(header.protocol()) << 32 | u64::from(ports)))
    }

    /// A hash of an IPv6 packet's flow. Without a header it is 0.
    pub fn of_v6(&self, bytes: &[u8]) -> u64 {
        self.tuple_v6(bytes).map_or(0, |tuple| tuple.hash(&self.key))
    }

    /// What tells an IPv6 packet's flow from others; `None` without a header. Its hash is that of the flow. A fragment header stands before
    /// the ports, so that no fragment's ports count.
    #[inline]
    pub fn tuple_v6(&self, bytes: &[u8]) -> Option<V6Tuple> {
        let header = ipv6::Header::new_checked(bytes).ok()?;
        let ports = |next| match next {
            TCP | UDP => ports(bytes, ipv6::HEADER_LEN),
            _ => 0,
        };
        let rest = match (self.fields, header.flow_label(), header.next_header()) {
            (Fields::Addresses, ..) => 0,
            (Fields::Label, label @ 1.., _) => u64::from(label) << 40,
            (_, _, next) => u64::from(next) << 32 | u64::from(ports(next)),
        };
        let [a, b] = halves(header.src().to_bits());
        let [c, d] = halves(header.dst().to_bits());
        Some(V6Tuple::from_words([a, b, c, d], rest))
    }

    /// Stands in for the flow where only an address is known.
    pub fn of_address(&self, address: IpAddr) -> u64 {
        match address {
            IpAddr::V4(address) => self.key.hash([u64::from(address.to_bits())]),
            IpAddr::V6(address) => self.key.hash(halves(address.to_bits())),
        }
    }
}

/// The halves of an address, the upper one first.
#[inline]
fn halves(bits: u128) -> [u64; 2] {
    [(bits >> 64) as u64, bits as u64]
}

#[inline]
fn ports(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|ports| ports.try_into().ok()).map_or(0, u32::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(key: u64, fields: Fields) -> Flows {
        Flows { key: HashKey::new(key), fields }
    }

    /// Neighbouring addresses must not all go one way, whatever the key.
    #[test]
    fn hashes_spread() {
        for key in [0, 1, 1 << 40, u64::MAX] {
            let mut counts = [0u32; 16];
            for low in 0..1600u32 {
                let hash = flows(key, Fields::Ports).of_address(IpAddr::V4((0x0a00_0000 | low).into()));
                counts[(hash >> 60) as usize] += 1;
            }
            assert!(counts.iter().all(|&count| (60..140).contains(&count)), "{key}: {counts:?}");
        }
    }

    /// Another key chooses otherwise: of two ways about half of the flows change theirs.
    #[test]
    fn keys_matter() {
        let hash = |key, low: u32| flows(key, Fields::Ports).of_address(IpAddr::V4(low.into())) >> 63;
        let moved = (0..1000).filter(|&low| hash(1, low) != hash(2, low)).count();
        assert!((400..600).contains(&moved), "{moved}");
    }

    fn hash(data: &[u8], fields: Fields) -> u64 {
        flows(7, fields).of(data)
    }

    fn v4(fragment: u16, port: u8) -> Vec<u8> {
        let fragment = fragment.to_be_bytes();
        let header =
            [0x45, 0, 0, 28, 0, 0, fragment[0], fragment[1], 64, UDP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        [&header[..], &[0, port, 0, 9, 0, 8, 0, 0]].concat()
    }

    fn v6(label: u8, next: u8, rest: [u8; 8]) -> Vec<u8> {
        [&[0x60, 0, 0, label, 0, 8, next, 64][..], &[1; 16], &[2; 16], &rest].concat()
    }

    /// Ports tell flows apart, but never a packet's fragments.
    #[test]
    fn fragments_stay_together() {
        assert_ne!(hash(&v4(0, 1), Fields::Ports), hash(&v4(0, 2), Fields::Ports));
        assert_ne!(hash(&v4(ipv4::FLAG_DF, 1), Fields::Ports), hash(&v4(ipv4::FLAG_DF, 2), Fields::Ports));
        let (first, later) = (v4(ipv4::FLAG_MF, 1), v4(3, 77));
        assert_eq!(hash(&first, Fields::Ports), hash(&later, Fields::Ports));
        assert_eq!(hash(&v4(0, 1), Fields::Addresses), hash(&later, Fields::Addresses));
        let fragment = |offset, port| v6(0, wire::ip_proto::FRAGMENT, [UDP, 0, 0, offset, 0, 0, 0, port]);
        assert_eq!(hash(&fragment(1, 5), Fields::Label), hash(&fragment(8, 5), Fields::Label));
    }

    /// A flow label stands for protocol and ports, where that is wanted and there is one.
    #[test]
    fn flow_labels() {
        let packet = |label, port| v6(label, UDP, [0, port, 0, 9, 0, 8, 0, 0]);
        assert_eq!(hash(&packet(5, 1), Fields::Label), hash(&packet(5, 2), Fields::Label));
        assert_ne!(hash(&packet(5, 1), Fields::Label), hash(&packet(6, 1), Fields::Label));
        assert_ne!(hash(&packet(0, 1), Fields::Label), hash(&packet(0, 2), Fields::Label));
        assert_eq!(hash(&packet(5, 1), Fields::Ports), hash(&packet(6, 1), Fields::Ports));
        assert_ne!(hash(&packet(5, 1), Fields::Ports), hash(&packet(5, 2), Fields::Ports));
        assert_eq!(hash(&packet(5, 1), Fields::Addresses), hash(&packet(6, 2), Fields::Addresses));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_have_a_hash(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..60)) {
            hash(&bytes, Fields::Label);
        }

        /// What is found out at once of most packets is what is found out of all.
        #[test]
        fn plain_packets_have_the_same_hash(mut bytes: [u8; PLAIN], is_plain: bool, fields in 0usize..3) {
            if is_plain {
                (bytes[0], bytes[6], bytes[7], bytes[9]) = (0x45, bytes[6] & 0x40, 0, [TCP, UDP][usize::from(bytes[9] % 2)]);
            }
            // The packet may be longer.
            let bytes = [&bytes[..], &[7; 20]].concat();
            let flows = flows(3, [Fields::Addresses, Fields::Ports, Fields::Label][fields]);
            let found = flows.of_plain(bytes.first_chunk().expect("as many bytes"));
            proptest::prop_assert!(found.is_none_or(|hash| hash == flows.of(&bytes)));
            proptest::prop_assert!(!is_plain || found.is_some() || fields == 0);
        }
    }
}
