//! Anonymizes IP addresses, preserving prefixes.
//!
//! ```click
//! AnonymizeIPAddr([KEYWORDS])
//! ```
//!
//! Replaces the source and destination addresses of IPv4 packets with a marked IP header, and corrects the checksum.
//! The replacement preserves prefixes: if two addresses share exactly their first N bits, so do their replacements.
//! 0.0.0.0 and 255.255.255.255 are kept. Addresses in the packet quoted by an ICMP error are replaced too, if its
//! whole IP header and the 8 bytes after it are present. Packets that are not IPv4 leave by output 1 if it is
//! connected, and are dropped otherwise.
//!
//! The replacement is computed from a secret key, so there is no growing table of addresses; Click chooses
//! replacements at random as new addresses arrive.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: shared.
//!
//! # Arguments
//! - `CLASS` (integer from 0 to 32, default 0): how many leading one bits to keep, so that an address stays in its
//!   class: 1 keeps class A distinct, 4 all of A to D. 99 means 32.
//! - `PRESERVE_8` (integers from 0 to 255, separated by spaces): first bytes of networks that are kept as they are.
//! - `SEED` (boolean, default true): whether the key is random. If false, it is always the same.
//!
//! # Handlers
//! - `map` (read with an address): the replacement of that address.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> AnonymizeIPAddr(CLASS 4, PRESERVE_8 18) -> ToDump(public.pcap)
//! ```
//!
//! # See also
//! StoreIPAddress, ToIPSummaryDump

use elements_shared::ip_header::header_mut;
use elements_shared::verdict::fail;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};
use std::hash::{DefaultHasher, Hasher};
use std::net::Ipv4Addr;
use std::sync::Arc;
use wire::{checksum, icmpv4, ip_proto, ipv4};

/// The class.
pub(crate) const CLASS: Class = Class::new("AnonymizeIPAddr", create)
    .ports("1/1-2")
    .processing("a/ah")
    .residency(Residency::Shared)
    .doc(router::manual!("anonymize_ip_addr.rs"));

/// What decides about replacements.
struct Key {
    secret: [u64; 2],
    /// Leading one bits that stay.
    class_bits: u32,
    /// First bytes that stay.
    preserved: Vec<u8>,
}

impl Key {
    /// Whether the bit that follows the first `len` bits of an address stays.
    fn keeps(&self, address: u32, len: u32) -> bool {
        let prefix_is = |other: u32| len == 0 || (address ^ other) >> (32 - len) == 0;
        let ones = len < self.class_bits && prefix_is(u32::MAX);
        ones || len < 8 && self.preserved.iter().any(|&first| prefix_is(u32::from(first) << 24))
    }

    /// Whether the bit that follows a prefix is flipped, where it need not stay.
    fn flips(&self, prefix: u32, len: u32) -> bool {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.secret[0]);
        hasher.write_u64(u64::from(len) << 32 | u64::from(prefix));
        hasher.write_u64(self.secret[1]);
        hasher.finish() & 1 == 1
    }

    fn replace(&self, address: Ipv4Addr) -> Ipv4Addr {
        let old = address.to_bits();
        if old == 0 || old == u32::MAX {
            return address;
        }
        // Each bit is flipped or not by what comes before it: so prefixes that are equal stay equal.
        let flips = (0..32).filter(|&len| !self.keeps(old, len)).filter(|&len| {
            let prefix = if len == 0 { 0 } else { old >> (32 - len) };
            self.flips(prefix, len)
        });
        Ipv4Addr::from_bits(flips.fold(old, |new, len| new ^ 1 << (31 - len)))
    }
}

struct AnonymizeIpAddr {
    key: Arc<Key>,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut class, mut preserve, mut seed) = (0u32, router::Raw::default(), true);
    config
        .args()
        .keyword("CLASS", &mut class)
        .keyword("PRESERVE_8", &mut preserve)
        .keyword("SEED", &mut seed)
        .finish()?;
    let class_bits = match class {
        0..=32 => class,
        99 => 32,
        _ => return Err("CLASS must be between 0 and 32".into()),
    };
    let mut preserved = Vec::new();
    for word in lang::conf::split_spaces(&preserve.0) {
        let first = router::parse_integer(&word).and_then(|first| u8::try_from(first).ok());
        preserved.push(first.ok_or("PRESERVE_8 expects integer between 0 and 255")?);
    }
    let start = if seed { config.seed() } else { 0 };
    let secret = [start, start.wrapping_mul(0x9e37_79b9_7f4a_7c15)];
    let key = config.shared(|| Ok(Key { secret, class_bits, preserved }))?;
    Ok(Box::new(PerPacket(AnonymizeIpAddr { key, outputs: config.outputs() })))
}

impl AnonymizeIpAddr {
    /// Replaces the addresses of the packet that an ICMP error tells of. The message's checksum covers them, as does that of their
    /// header, which stays as it is.
    fn replace_in_error(&self, packet: &mut Packet) {
        use icmpv4::kind::{PARAMETER_PROBLEM, REDIRECT, SOURCE_QUENCH, TIME_EXCEEDED, UNREACHABLE};
        const ERRORS: [u8; 5] = [UNREACHABLE, SOURCE_QUENCH, REDIRECT, TIME_EXCEEDED, PARAMETER_PROBLEM];
        let Some(message) = packet.transport_mut().filter(|message| message.len() > icmpv4::HEADER_LEN)
        else {
            return;
        };
        let header_len = usize::from(message[icmpv4::HEADER_LEN] & 15) * 4;
        let whole = header_len >= ipv4::HEADER_LEN && message.len() >= icmpv4::HEADER_LEN + header_len + 8;
        if !ERRORS.contains(&message[0]) || !whole {
            return;
        }
        for at in [icmpv4::HEADER_LEN + 12, icmpv4::HEADER_LEN + 16] {
            let Some(bytes) = message[at..].first_chunk_mut::<4>() else { return };
            let old = Ipv4Addr::from_octets(*bytes);
            let new = self.key.replace(old);
            *bytes = new.octets();
            let sum = u16::from_be_bytes([message[2], message[3]]);
            let sum = checksum::update_u32(sum, old.to_bits(), new.to_bits());
            message[2..4].copy_from_slice(&sum.to_be_bytes());
        }
    }
}

impl Simple for AnonymizeIpAddr {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match header_mut(packet).filter(|ip| ip.version() == 4) {
            Some(mut ip) => {
                let (src, dst) = (self.key.replace(ip.src()), self.key.replace(ip.dst()));
                ip.update_src(src);
                ip.update_dst(dst);
                if ip.protocol() == ip_proto::ICMP {
                    self.replace_in_error(packet);
                }
                Verdict::Pass
            }
            None => fail(self.outputs, "no IPv4 packet"),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read_with("map", |e: &mut AnonymizeIpAddr, cx, text| {
            Ok(e.key.replace(router::value(cx, text)?).to_string())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::errors;
    use crate::testing::send;
    use elements_testing::samples::{udp, with_addresses};
    use proptest::prelude::*;

    fn key(class_bits: u32, preserved: &[u8], secret: u64) -> Key {
        Key { secret: [secret, !secret], class_bits, preserved: preserved.to_vec() }
    }

    fn common(a: u32, b: u32) -> u32 {
        (a ^ b).leading_zeros()
    }

    #[test]
    fn addresses_change_and_checksums_stay_right() {
        let [zero, ones] = ["0.0.0.0", "255.255.255.255"].map(|text| text.parse::<Ipv4Addr>().unwrap());
        let config = "Inject -> MarkIPHeader -> a :: AnonymizeIPAddr -> CheckIPHeader -> Collect(0); a[1] -> Collect(1)";
        let mut version6 = udp(3);
        version6[0] = 0x65;
        let mut flow = send(
            config,
            [udp(3), with_addresses(udp(3), "10.0.0.1".parse().unwrap(), ones), version6.clone()],
        );
        assert_eq!((flow.data(0).len(), flow.data(1)), (2, vec![version6]));
        assert_ne!(flow.data(0)[0][12..20], udp(3)[12..20]);
        assert_eq!(flow.data(0)[1][16..20], [255; 4]);
        let mapped: Ipv4Addr = flow.read_with("a.map", "10.0.0.1").parse().expect("an address");
        assert_eq!(flow.data(0)[1][12..16], mapped.octets());
        assert_eq!(key(0, &[], 5).replace(zero), zero);
        for (arguments, message) in
            [("CLASS 33", "CLASS must be between 0 and 32"), ("PRESERVE_8 1 256", "PRESERVE_8 expects")]
        {
            assert!(errors(&format!("Idle -> AnonymizeIPAddr({arguments}) -> Discard")).contains(message));
        }
    }

    proptest! {
        /// Addresses have as many first bits in common after as before; what is to stay does.
        #[test]
        fn prefixes_stay(a in 1u32.., b in 1u32.., shared in 0u32..32, secret in any::<u64>(), first in any::<u8>()) {
            let b = if shared == 0 { b } else { a >> (32 - shared) << (32 - shared) | b >> shared };
            prop_assume!(a != u32::MAX && b != u32::MAX && b != 0);
            let key = key(4, &[first], secret);
            let [x, y] = [a, b].map(|address| key.replace(Ipv4Addr::from_bits(address)).to_bits());
            prop_assert_eq!(common(a, b), common(x, y));
            prop_assert_eq!(a.leading_ones().min(4), x.leading_ones().min(4));
            prop_assert_eq!((a >> 24) as u8 == first, (x >> 24) as u8 == first);
        }
    }
}
