//! Arbitrary bytes through every view and walk: nothing may panic, and no answer may point outside the bytes.

use clique_wire::icmpv6::NdOptions;
use clique_wire::{
    Ipv4Net, Ipv6Net, MacAddr, arp, ethernet, gre, icmpv4, icmpv6, ieee80211, ipv4, ipv6, net, radiotap, tcp,
    udp, vlan,
};
use proptest::prelude::*;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Bytes that often look like IPv4 or IPv6, so that the walks get past the first check.
fn packet() -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![0x40u8..0x50, Just(0x60u8), any::<u8>()];
    let protocol = prop_oneof![Just(0u8), Just(43), Just(44), Just(51), Just(60), Just(6), any::<u8>()];
    let byte = prop_oneof![any::<u8>(), 0u8..8, Just(60u8)];
    (first, protocol, prop::collection::vec(byte, 0..160)).prop_map(|(first, protocol, mut bytes)| {
        if let Some(b) = bytes.first_mut() {
            *b = first;
        }
        if let Some(b) = bytes.get_mut(6) {
            *b = protocol;
        }
        bytes
    })
}

fn read_all(bytes: &[u8]) {
    if let Ok(h) = ethernet::Header::new_checked(bytes) {
        let _ = (h.dst(), h.src(), h.ether_type(), h.as_bytes());
    }
    if let Ok(t) = vlan::Tag::new_checked(bytes) {
        let _ = (t.tci(), t.id(), t.priority(), t.drop_eligible(), t.ether_type());
    }
    if let Ok(h) = ieee80211::Header::new_checked(bytes) {
        let _ = (h.kind(), h.subtype(), h.duration(), h.sequence(), h.fragment());
        assert!(h.addresses().contains(&h.ends().dst) && (24..=32).contains(&h.header_len()));
    }
    assert!(ieee80211::elements(bytes).map(|(_, contents)| contents.len() + 2).sum::<usize>() <= bytes.len());
    if let Ok(h) = radiotap::Header::new_checked(bytes) {
        assert!(h.fields().map(|(_, contents)| contents.len()).sum::<usize>() + 8 <= h.len());
    }
    if let Ok(h) = gre::Header::read(bytes) {
        assert!(h.len() <= bytes.len() && gre::Header::read(&h.bytes()[..h.len()]) == Ok(h));
    }
    if let Ok(p) = arp::Packet::new_checked(bytes) {
        let _ = (p.operation(), p.sender_mac(), p.sender_ip(), p.target_mac(), p.target_ip());
        assert_eq!(arp::check(bytes).is_ok(), p.is_ethernet_ipv4());
    }
    if let Ok(h) = udp::Header::new_checked(bytes) {
        let _ = (h.src_port(), h.dst_port(), h.len(), h.is_empty(), h.checksum());
    }
    if let Ok(datagram) = udp::datagram(bytes) {
        assert!((8..=bytes.len()).contains(&datagram.len()));
    }
    if let Ok(h) = tcp::Header::new_checked(bytes) {
        let _ = (h.src_port(), h.dst_port(), h.sequence(), h.acknowledgement(), h.header_len(), h.flags());
        let _ = (h.window(), h.checksum(), h.urgent_pointer());
    }
    let options = tcp::options(bytes).into_iter().flatten().collect::<Vec<_>>();
    assert!(options.len() <= 40 && options.iter().rev().skip(1).all(Result::is_ok));
    let (v4, v6) = (Ipv4Addr::LOCALHOST, Ipv6Addr::LOCALHOST);
    let _ = (udp::verify_checksum_v4(v4, v4, bytes), udp::verify_checksum_v6(v6, v6, bytes));
    let _ = (tcp::verify_checksum_v4(v4, v4, bytes), tcp::verify_checksum_v6(v6, v6, bytes));
    read_ip(bytes);
    read_icmp(bytes);
}

fn read_ip(bytes: &[u8]) {
    if let Ok(h) = ipv4::Header::new_checked(bytes) {
        let _ = (h.version(), h.header_len(), h.dscp(), h.ecn(), h.total_len(), h.id(), h.fragment_offset());
        let _ = (h.dont_fragment(), h.more_fragments(), h.is_fragment(), h.is_first_fragment());
        let _ = (h.ttl(), h.protocol(), h.checksum(), h.src(), h.dst());
    }
    for verify in [false, true] {
        if let Ok(extent) = ipv4::check(bytes, verify) {
            assert!(20 <= extent.header_len && extent.header_len <= extent.total_len);
            assert!(extent.total_len <= bytes.len());
            assert_eq!(ipv4::header_bytes(bytes).map(<[u8]>::len), Ok(extent.header_len));
            assert_eq!(ipv4::payload(bytes).map(<[u8]>::len), Ok(extent.total_len - extent.header_len));
        }
    }
    let _ = ipv4::payload(bytes);
    for option in ipv4::options(bytes).into_iter().flatten() {
        match option {
            Ok(o) => assert_eq!(o.bytes, &bytes[o.offset..o.offset + o.bytes.len()]),
            Err(bad) => assert!((20..bytes.len()).contains(&bad.offset)),
        }
    }
    if let Ok(h) = ipv6::Header::new_checked(bytes) {
        let _ = (h.version(), h.traffic_class(), h.flow_label(), h.payload_len(), h.next_header());
        let _ = (h.hop_limit(), h.src(), h.dst());
    }
    if let Ok(f) = ipv6::Fragment::new_checked(bytes) {
        let _ = (f.next_header(), f.offset(), f.more_fragments(), f.id());
    }
    if let Ok(len) = ipv6::check(bytes) {
        assert!((40..=bytes.len()).contains(&len));
    }
    if let Ok(at) = ipv6::upper_layer(bytes) {
        assert!((40..=bytes.len()).contains(&at.offset));
        assert!(at.fragment.is_none_or(|f| f + 8 <= at.offset));
        assert!(!at.first_fragment || !ipv6::is_extension(at.protocol));
    }
}

fn read_icmp(bytes: &[u8]) {
    if let Ok(h) = icmpv4::Header::new_checked(bytes) {
        let _ = (h.kind(), h.code(), h.checksum(), h.rest(), h.id(), h.sequence(), h.gateway());
        let _ = (h.pointer(), h.next_hop_mtu(), h.is_error());
    }
    if let Ok(h) = icmpv6::Header::new_checked(bytes) {
        let _ = (h.kind(), h.code(), h.checksum(), h.rest(), h.id(), h.sequence(), h.is_error());
    }
    if let Ok(n) = icmpv6::Neighbor::new_checked(bytes) {
        let _ = (n.kind(), n.code(), n.flags(), n.target());
    }
    let _ = icmpv6::verify_checksum(Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST, bytes);
    let options: Vec<_> = NdOptions::new(bytes).collect();
    assert!(options.len() <= bytes.len().div_ceil(8));
    for option in options.into_iter().flatten() {
        assert_eq!(option.data.len() % 8, 6);
        assert!(option.link_addr().is_none() || option.data.len() == 6);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn views_of_arbitrary_bytes(bytes in packet()) {
        read_all(&bytes);
    }

    #[test]
    fn filling_checksums_of_arbitrary_bytes(mut bytes in packet()) {
        let (v4, v6) = (Ipv4Addr::LOCALHOST, Ipv6Addr::LOCALHOST);
        let filled = ipv4::fill_checksum(&mut bytes).is_ok();
        prop_assert!(!filled || clique_wire::checksum::verify(ipv4::header_bytes(&bytes).unwrap()));
        let _ = (icmpv4::fill_checksum(&mut bytes), icmpv6::fill_checksum(v6, v6, &mut bytes));
        let _ = (udp::fill_checksum_v4(v4, v4, &mut bytes), udp::fill_checksum_v6(v6, v6, &mut bytes));
        let _ = (tcp::fill_checksum_v4(v4, v4, &mut bytes), tcp::fill_checksum_v6(v6, v6, &mut bytes));
    }

    #[test]
    fn texts_round_trip(mac: [u8; 6], v4: u32, len4 in 0u8..=32, v6: u128, len6 in 0u8..=128) {
        let mac = MacAddr(mac);
        prop_assert_eq!(mac.to_string().parse(), Ok(mac));
        prop_assert_eq!(format!("{mac:#}").parse(), Ok(mac));
        let net4 = Ipv4Net::new(Ipv4Addr::from(v4), len4).unwrap();
        prop_assert_eq!(net4.to_string().parse(), Ok(net4));
        prop_assert_eq!(format!("{}/{}", Ipv4Addr::from(v4), net4.mask()).parse(), Ok(net4));
        prop_assert_eq!(net::parse_ipv4(&Ipv4Addr::from(v4).to_string()), Ok(Ipv4Addr::from(v4)));
        let net6 = Ipv6Net::new(Ipv6Addr::from(v6), len6).unwrap();
        prop_assert_eq!(net6.to_string().parse(), Ok(net6));
        prop_assert_eq!(format!("{}/{}", Ipv6Addr::from(v6), net6.mask()).parse(), Ok(net6));
    }

    /// Membership bit by bit.
    #[test]
    fn prefixes_contain_what_shares_their_bits(base: u128, len in 0u8..=128, flip in 0u8..=128) {
        let (net6, net4) = (Ipv6Net::new(base.into(), len).unwrap(), Ipv4Net::new(((base >> 96) as u32).into(), len.min(32)).unwrap());
        let other = if flip == 128 { base } else { base ^ 1 << (127 - flip) };
        prop_assert_eq!(net6.contains(other.into()), flip >= len);
        prop_assert_eq!(net4.contains(((other >> 96) as u32).into()), flip >= len.min(32));
        prop_assert!(net6.contains(net6.addr()) && net6.contains(net6.last()));
        prop_assert!(net4.contains(net4.addr()) && net4.contains(net4.last()));
        let inner = Ipv6Net::new(other.into(), len.saturating_add(1).min(128)).unwrap();
        prop_assert_eq!(net6.contains_net(inner), net6.contains(inner.addr()));
        prop_assert!(len == 128 || !inner.contains_net(net6));
    }

    #[test]
    fn arbitrary_text_is_refused_not_fatal(text in "[0-9a-fA-F:./+ é-]{0,24}") {
        let _ = (text.parse::<MacAddr>(), text.parse::<Ipv4Net>(), text.parse::<Ipv6Net>());
        let _ = (net::parse_ipv4(&text), net::parse_ipv4_and_mask(&text), net::parse_ipv6_and_len(&text));
        let _ = (clique_wire::describe::protocol(&text), clique_wire::describe::port(&text));
    }
}
