//! Which flow a packet belongs to, as far as choosing among several next hops goes: packets of one flow take one path.

use packet::Packet;
use std::net::IpAddr;
use wire::ip_proto::{TCP, UDP};
use wire::{ipv4, ipv6};

/// A hash of what tells flows apart: addresses, protocol and, in whole TCP and UDP packets, ports. Without a header it
/// is that of nothing.
pub(super) fn hash_v4(packet: &Packet) -> u32 {
    let Some(bytes) = packet.network() else { return 0 };
    let Ok(header) = ipv4::Header::new_checked(bytes) else { return 0 };
    // Fragments but the first have no ports: none may count, or a packet's fragments would part.
    let ports = match header.protocol() {
        TCP | UDP if !header.is_fragment() => ports(bytes, header.header_len()),
        _ => 0,
    };
    let words = [header.src().to_bits().into(), header.dst().to_bits().into()];
    mix(words, u64::from(header.protocol()) << 32 | u64::from(ports))
}

/// The same for IPv6, where the flow label counts, too.
pub(super) fn hash_v6(packet: &Packet) -> u32 {
    let Some(bytes) = packet.network() else { return 0 };
    let Ok(header) = ipv6::Header::new_checked(bytes) else { return 0 };
    let ports = match header.next_header() {
        TCP | UDP => ports(bytes, ipv6::HEADER_LEN),
        _ => 0,
    };
    let words = [header.src().to_bits(), header.dst().to_bits()];
    mix(
        words,
        u64::from(header.flow_label()) << 40 | u64::from(header.next_header()) << 32 | u64::from(ports),
    )
}

/// Stands in for the flow where only an address is known.
pub(super) fn hash_address(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(address) => mix([0, address.to_bits().into()], 0),
        IpAddr::V6(address) => mix([0, address.to_bits()], 0),
    }
}

fn ports(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|ports| ports.try_into().ok()).map_or(0, u32::from_be_bytes)
}

/// Numbers with as many ones as zeros, in no order.
const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xd1b5_4a32_d192_ed03;

fn mix(words: [u128; 2], rest: u64) -> u32 {
    let fold = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(SECOND);
        product as u64 ^ (product >> 64) as u64
    };
    let state = words.iter().fold(FIRST, |state, &word| fold(fold(state, word as u64), (word >> 64) as u64));
    (fold(state, rest) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Neighbouring addresses must not all go one way.
    #[test]
    fn hashes_spread() {
        let mut counts = [0u32; 16];
        for low in 0..1600u32 {
            let hash = hash_address(IpAddr::V4((0x0a00_0000 | low).into()));
            counts[(hash >> 28) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (60..140).contains(&count)), "{counts:?}");
    }
}
