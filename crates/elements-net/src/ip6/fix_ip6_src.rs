//! Sets the source address of IPv6 packets that ask for it.
//!
//! ```click
//! FixIP6Src(IP6ADDR)
//! ```
//!
//! The IPv6 counterpart of FixIPSrc: if a packet's fix-IP-source annotation is set (as ICMP6Error does on errors that
//! the router itself sends), its source address becomes IP6ADDR. The checksums of ICMPv6, UDP and TCP cover the
//! address, so the packet's is updated incrementally; a wrong one stays wrong. The annotation is cleared. Other
//! packets pass unchanged.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `IP6ADDR` (IPv6 address): the source address.
//!
//! # Example
//! ```click
//! InfiniteSource -> CheckIP6Header -> ICMP6Error(2001:db8::1, 1, 0) -> FixIP6Src(2001:db8:2::1) -> Discard
//! ```
//!
//! # See also
//! ICMP6Error, FixIPSrc

use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv6Addr;
use wire::ip_proto::{ICMPV6, TCP, UDP};
use wire::{checksum, ipv6};

/// The class.
pub(crate) const CLASS: Class = Class::new("FixIP6Src", create).pure().doc(router::manual!("fix_ip6_src.rs"));

struct FixIp6Src(Ipv6Addr);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut address = Ipv6Addr::UNSPECIFIED;
    config.args().required("IP6ADDR", &mut address).finish()?;
    Ok(Box::new(PerPacket(FixIp6Src(address))))
}

/// Where a packet has a checksum that covers its addresses, if it has one.
fn checksum_at(bytes: &[u8]) -> Option<usize> {
    let upper = ipv6::upper_layer(bytes).ok().filter(|upper| upper.first_fragment)?;
    let at = match upper.protocol {
        ICMPV6 => 2,
        UDP => 6,
        TCP => 16,
        _ => return None,
    };
    let at = upper.offset + at;
    // Tunnels may have UDP without a checksum (RFC 6935), which is zero.
    let has_none = upper.protocol == UDP && bytes.get(at..at + 2) == Some(&[0, 0]);
    (!has_none).then_some(at)
}

/// The checksum after an address that it covers has become another. It is none of zero, which is no checksum in UDP, and the same number
/// otherwise.
fn corrected(sum: u16, old: Ipv6Addr, new: Ipv6Addr) -> u16 {
    let words = old.segments().into_iter().zip(new.segments());
    match words.fold(sum, |sum, (old, new)| checksum::update_u16(sum, old, new)) {
        0 => 0xffff,
        sum => sum,
    }
}

impl FixIp6Src {
    #[cold]
    fn fix(&self, packet: &mut Packet) {
        packet.set_anno(Anno::FIX_IP_SRC, 0);
        let Some(bytes) = packet.network_mut() else { return };
        let at = checksum_at(bytes);
        let Ok(mut header) = ipv6::Header::new_checked_mut(bytes) else { return };
        let old = header.src();
        header.set_src(self.0);
        if let Some(field) = at.and_then(|at| bytes.get_mut(at..at + 2)) {
            let sum = corrected(u16::from_be_bytes([field[0], field[1]]), old, self.0);
            field.copy_from_slice(&sum.to_be_bytes());
        }
    }
}

impl Simple for FixIp6Src {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if packet.anno(Anno::FIX_IP_SRC) != 0 {
            self.fix(packet);
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send, send_one};
    use elements_testing::ip6_samples::{DST, hostile, udp, with_addresses};
    use packet::Anno;
    use proptest::prelude::*;
    use std::net::Ipv6Addr;
    use wire::{icmpv6, ipv6};

    /// Only the annotated packet changes, and only once.
    #[test]
    fn on_request() {
        let sent = [0, 1].map(|fix| Sent {
            data: with_addresses(udp(0), "2001:db8::1", DST),
            annotations: vec![(Anno::FIX_IP_SRC, fix)],
            ..Sent::default()
        });
        let config = "Inject -> MarkIP6Header -> FixIP6Src(2001:db8::2) -> FixIP6Src(::9) -> Collect(0)";
        let flow = send(config, sent);
        let source =
            |at: usize| ipv6::Header::new_checked(flow.seen[at].1.data()).map(|ip| ip.src().to_string());
        assert_eq!((source(0), source(1)), (Ok("2001:db8::1".to_owned()), Ok("2001:db8::2".to_owned())));
        assert!(flow.seen.iter().all(|(_, packet)| packet.anno(Anno::FIX_IP_SRC) == 0));
    }

    /// An error's checksum is right with the new address.
    #[test]
    fn of_an_error() {
        let config =
            "Inject -> MarkIP6Header -> ICMP6Error(fe80::1, 1, 0) -> FixIP6Src(2001:db8:7::7) -> Collect(0)";
        let flow = send_one(config, udp(100));
        let data = flow.only(0).data();
        let ip = ipv6::Header::new_checked(data).expect("a header");
        assert_eq!(ip.src(), "2001:db8:7::7".parse::<Ipv6Addr>().expect("an address"));
        assert_eq!(icmpv6::verify_checksum(ip.src(), ip.dst(), &data[40..]), Ok(()));
    }

    /// UDP without a checksum has none afterwards (RFC 6935), and none is zero that there is.
    #[test]
    fn of_udp() {
        let config = "Inject -> MarkIP6Header -> FixIP6Src(2001:db8:7::7) -> Collect(0)";
        let of = |sum: [u8; 2]| {
            let mut data = udp(0);
            data[46..48].copy_from_slice(&sum);
            let sent = Sent { data, annotations: vec![(Anno::FIX_IP_SRC, 1)], ..Sent::default() };
            send_one(config, sent).only(0).data()[46..48].to_vec()
        };
        assert_eq!(of([0, 0]), [0, 0]);
        // 2001:db8:1::1 becomes 2001:db8:7::7: what is covered grows by 12.
        assert_eq!((of([0, 13]), of([0, 12])), (vec![0, 1], vec![0xff, 0xff]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Whatever a packet is, it keeps its length, and has the address if it has a header.
        #[test]
        fn whatever_comes(mut packets in hostile()) {
            packets.retain(|data| !data.is_empty());
            let n = packets.len();
            let sent = packets.iter().map(|data| Sent {
                data: data.clone(),
                annotations: vec![(Anno::FIX_IP_SRC, 1)],
                ..Sent::default()
            });
            let flow = send("Inject -> MarkIP6Header -> FixIP6Src(2001:db8:7::7) -> Collect(0)", sent);
            prop_assert_eq!(flow.seen.len(), n);
            for ((_, packet), old) in flow.seen.iter().zip(&packets) {
                prop_assert_eq!(packet.len(), old.len());
                if let Ok(ip) = ipv6::Header::new_checked(packet.data()) {
                    prop_assert_eq!(ip.src().to_string(), "2001:db8:7::7");
                }
            }
        }
    }
}
