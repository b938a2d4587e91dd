//! What a policy sees of a packet.

use elements_shared::ipsec_port::Selector;
use elements_shared::route_port::Destination;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::{ip_proto, ipv4, ipv6};

/// Addresses, protocol, ports. IPv4 addresses are the first bits of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) six: bool,
    pub(crate) source: u128,
    pub(crate) destination: u128,
    pub(crate) protocol: u8,
    /// Those of ICMP are its type and code. None if they are not in the packet: in a later fragment, or behind a header that is unknown.
    pub(crate) ports: Option<(u16, u16)>,
    /// Where what the packet carries begins.
    pub(crate) offset: usize,
    pub(crate) is_fragment: bool,
}

/// What protecting a packet needs of its headers.
#[derive(Clone, Copy)]
pub(crate) struct Upper {
    pub(crate) six: bool,
    pub(crate) is_fragment: bool,
    pub(crate) protocol: u8,
    /// Where what the packet carries begins.
    pub(crate) offset: u32,
}

impl Upper {
    /// Of what is no IP packet.
    pub(crate) const NONE: Upper = Upper { six: false, is_fragment: false, protocol: 0, offset: 0 };
}

/// The octets that a [`Flow`] is made of, where that is simple: packets in which they are alike have one flow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Brief {
    /// Protocol, addresses, and the first octets behind the header.
    Four(u8, [u8; 8], [u8; 4]),
    Six(u8, [u8; 32], [u8; 4]),
}

impl Brief {
    /// None for packets with options or further headers, for fragments, and for what is no IP packet.
    #[inline]
    pub(crate) fn of(packet: &[u8]) -> Option<Brief> {
        match packet.first()? {
            0x45 => {
                let (header, rest) = packet.split_first_chunk::<{ ipv4::HEADER_LEN }>()?;
                let [.., flags, fragment, _, protocol, _, _, a, b, c, d, e, f, g, h] = *header;
                let is_whole = flags & 0x3f == 0 && fragment == 0;
                is_whole.then_some(Brief::Four(protocol, [a, b, c, d, e, f, g, h], *rest.first_chunk()?))
            }
            0x60..=0x6f => {
                let (header, rest) = packet.split_first_chunk::<{ ipv6::HEADER_LEN }>()?;
                let protocol = header[6];
                let is_last = matches!(protocol, ip_proto::TCP | ip_proto::UDP);
                is_last.then_some(Brief::Six(protocol, *header.last_chunk()?, *rest.first_chunk()?))
            }
            _ => None,
        }
    }
}

/// An address as the first bits of a number.
pub(crate) fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
        IpAddr::V6(address) => address.into(),
    }
}

/// The address that a number begins with.
pub(crate) fn address(six: bool, bits: u128) -> IpAddr {
    if six { Ipv6Addr::from(bits).into() } else { Ipv4Addr::from((bits >> 96) as u32).into() }
}

impl Flow {
    /// Of the IP packet that these are. None if they are none.
    #[inline]
    pub(crate) fn of(packet: &[u8]) -> Option<Flow> {
        let (six, source, destination, protocol, offset, is_fragment, first) = match packet.first()? >> 4 {
            4 => {
                let ip = ipv4::Header::new_checked(packet).ok()?;
                let offset = ip.header_len();
                if offset < ipv4::HEADER_LEN || packet.len() < offset {
                    return None;
                }
                let of = |address| u128::from(u32::from(address)) << 96;
                (
                    false,
                    of(ip.src()),
                    of(ip.dst()),
                    ip.protocol(),
                    offset,
                    ip.is_fragment(),
                    ip.is_first_fragment(),
                )
            }
            6 => {
                let ip = ipv6::Header::new_checked(packet).ok()?;
                let upper = ipv6::upper_layer(packet).ok()?;
                let (source, destination) = (ip.src().into(), ip.dst().into());
                let first = upper.first_fragment;
                (true, source, destination, upper.protocol, upper.offset, upper.fragment.is_some(), first)
            }
            _ => return None,
        };
        let ports = if first { ports(protocol, packet.get(offset..)?) } else { None };
        Some(Flow { six, source, destination, protocol, ports, offset, is_fragment })
    }

    /// What protecting the packet needs of its headers.
    #[inline]
    pub(crate) fn upper(&self) -> Upper {
        let Flow { six, is_fragment, protocol, offset, .. } = *self;
        Upper { six, is_fragment, protocol, offset: offset as u32 }
    }

    /// Where such packets come from, and where they go.
    pub(crate) fn ends(&self) -> [IpAddr; 2] {
        [self.source, self.destination].map(|bits| address(self.six, bits))
    }

    /// The selector that matches such packets and no others.
    pub(crate) fn selector(&self) -> Selector {
        let len = if self.six { 128 } else { 32 };
        let whole = |bits| Destination { address: address(self.six, bits), len };
        let (source_port, destination_port) = self
            .ports
            .map_or(((0, 0), (0, 0)), |(source, destination)| ((source, 0xffff), (destination, 0xffff)));
        let (source, destination) = (whole(self.source), whole(self.destination));
        Selector { source, destination, protocol: self.protocol, source_port, destination_port }
    }
}

/// What a policy takes for ports, as Linux does.
#[inline]
fn ports(protocol: u8, data: &[u8]) -> Option<(u16, u16)> {
    const DCCP: u8 = 33;
    const SCTP: u8 = 132;
    match protocol {
        ip_proto::TCP | ip_proto::UDP | DCCP | SCTP => {
            let &[a, b, c, d] = data.first_chunk()?;
            Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
        }
        ip_proto::ICMP | ip_proto::ICMPV6 => {
            let &[kind, code] = data.first_chunk()?;
            Some((kind.into(), code.into()))
        }
        _ => None,
    }
}

/// The bits that count of so many.
pub(crate) fn mask(len: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(len.min(128))).unwrap_or(0)
}

/// Whether a selector matches protocol and ports. One that asks for ports does not match a packet that has none.
#[inline]
pub(crate) fn matches_upper(selector: &Selector, flow: &Flow) -> bool {
    if selector.protocol != 0 && selector.protocol != flow.protocol {
        return false;
    }
    let is = |(value, mask): (u16, u16), port: u16| (value ^ port) & mask == 0;
    match flow.ports {
        Some((source, destination)) => {
            is(selector.source_port, source) && is(selector.destination_port, destination)
        }
        None => selector.source_port.1 == 0 && selector.destination_port.1 == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        /// Packets that are alike in what a brief has are of one flow, whatever else is in them.
        #[test]
        fn briefs_are_of_one_flow(
            first in prop_oneof![4 => Just(0x45u8), 1 => Just(0x60), 1 => Just(0x6f), 1 => any::<u8>()], rest in prop::collection::vec(any::<u8>(), 20..80),
            protocol in prop_oneof![Just(6u8), Just(17), Just(1), Just(58), Just(44)], at in prop_oneof![1usize..80, 6usize..10], change in any::<u8>(), whole in any::<bool>()
        ) {
            let mut packet = [&[first], &rest[..]].concat();
            if let Some(place) = packet.get_mut(if first >> 4 == 4 { 9 } else { 6 }) {
                *place = protocol;
            }
            if whole && first == 0x45 && packet.len() > 8 {
                packet[6..8].copy_from_slice(&[0x40, 0]);
            }
            let mut other = packet.clone();
            if let Some(place) = other.get_mut(at) {
                *place ^= change;
            }
            if let Some(brief) = Brief::of(&packet) && Brief::of(&other) == Some(brief) {
                prop_assert_eq!(Flow::of(&packet), Flow::of(&other));
            }
        }
    }
}
