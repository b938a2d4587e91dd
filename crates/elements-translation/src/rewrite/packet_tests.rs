//! Random packets through all rewriters.

use super::samples::{icmp, ip, udp_of};
use crate::testing::send;
use elements_shared::flow_id::FlowId;
use proptest::prelude::*;
use wire::{ip_proto, ipv4, tcp, udp};

/// A TCP or UDP packet with random contents and correct checksums.
fn good(id: FlowId, is_tcp: bool, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut transport = id.ports().to_be_bytes().to_vec();
    if is_tcp {
        transport.extend([1, 2, 3, 4, 5, 6, 7, 8, 5 << 4, flags, 9, 9, 0, 0, 0, 0]);
        transport.extend(payload);
        tcp::fill_checksum_v4(id.source(), id.destination(), &mut transport).unwrap();
        return ip(ip_proto::TCP, id.source(), id.destination(), &transport);
    }
    transport.extend(((8 + payload.len()) as u16).to_be_bytes());
    transport.extend([0, 0]);
    transport.extend(payload);
    udp::fill_checksum_v4(id.source(), id.destination(), &mut transport).unwrap();
    ip(ip_proto::UDP, id.source(), id.destination(), &transport)
}

fn ids() -> impl Strategy<Value = FlowId> {
    (any::<u32>(), any::<u32>(), any::<u16>(), any::<u16>()).prop_map(|(saddr, daddr, sport, dport)| FlowId {
        saddr: saddr & 0x00ff_ffff | 0x0a00_0000,
        daddr: daddr | 0x8000_0000,
        sport,
        dport,
    })
}

/// Packets that are nearly right: such packets get further than noise.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let about = (ids(), prop::sample::select(vec![0u8, 3, 4, 5, 8, 11, 12]), 0usize..40).prop_map(
        |(id, kind, len)| icmp(kind, [0, 1, 0, 2], "9.9.9.9", "1.2.3.4", &udp_of(id)[..len.min(32)]),
    );
    let other = (ids(), any::<bool>(), any::<u8>(), prop::collection::vec(any::<u8>(), 0..40))
        .prop_map(|(id, is_tcp, flags, payload)| good(id, is_tcp, flags, &payload));
    let ftp = ids().prop_map(|id| good(id, true, 16, b"PORT 10,0,0,2,3,9\r\n"));
    let damage = prop::collection::vec((0usize..80, any::<u8>()), 0..4);
    (prop_oneof![about, other, ftp], damage, 0usize..60).prop_map(|(mut packet, damage, cut)| {
        for (at, byte) in damage {
            if let Some(place) = packet.get_mut(at) {
                *place = byte;
            }
        }
        packet.truncate(packet.len() - cut.saturating_sub(40).min(packet.len()));
        packet
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A packet that goes out has the checksums that a full computation gives, and nothing else changes; the reply to it
    /// comes back as the reply to the original packet.
    #[test]
    fn there_and_back(
        id in ids(), is_tcp: bool, flags: u8, payload in prop::collection::vec(any::<u8>(), 0..60), port in 1u16..
    ) {
        let config = format!(
            "rw :: IPRewriter(pattern 1.2.3.4 {port} - - 0 1, drop); Inject -> c :: Classifier(12/0a, -);
             c[0] -> MarkIPHeader -> [0]rw; c[1] -> MarkIPHeader -> [1]rw; rw[0] -> Collect(0); rw[1] -> Collect(1);"
        );
        let outside = FlowId { saddr: 0x0102_0304, sport: port, ..id };
        let packets = [id, outside.reversed()].map(|id| good(id, is_tcp, flags, &payload));
        let flow = send(&config, packets);
        prop_assert_eq!(flow.data(0), [good(outside, is_tcp, flags, &payload)]);
        prop_assert_eq!(flow.data(1), [good(id.reversed(), is_tcp, flags, &payload)]);
    }

    /// No packet does harm anywhere.
    #[test]
    fn nothing_panics(packets in prop::collection::vec(hostile(), 1..60)) {
        let config = "m :: RoundRobinIPMapper(- - 1.1.1.1 - 0 0, - 5-9 - - 0 0); d :: Discard;
            rw :: IPRewriter(pattern 1.2.3.4 1-9 - - 0 0, MAPPING_CAPACITY 9) -> d; Inject -> MarkIPHeader -> t :: Tee;
            t[0] -> FTPPortMapper(rw, rw, 0) -> rw; t[1] -> tcp :: TCPRewriter(pattern - - - 7 0 0, CAPACITY rw) -> d;
            t[2] -> udp :: UDPRewriter(m) -> d; t[3] -> ping :: ICMPPingRewriter(pattern 1.2.3.4 1-9# - - 0 0) -> d;
            t[4] -> addr :: IPAddrRewriter(pattern 1.2.3.0/24 - 0 0) -> d;
            t[5] -> pair :: IPAddrPairRewriter(pattern 1.2.3.4 - 0 0) -> d;
            t[6] -> ICMPRewriter(rw tcp udp ping addr pair) -> d;";
        send(config, packets);
    }
}

/// IP options move the ports; they stay where they are.
#[test]
fn ip_options_stay_where_they_are() {
    let id = FlowId { saddr: 0x0a00_0001, daddr: 0x0506_0708, sport: 9, dport: 80 };
    let with_options = |id| {
        let mut packet = good(id, false, 0, b"data");
        packet.splice(20..20, [1, 1, 1, 0]);
        packet[0] = 0x46;
        packet[3] += 4;
        ipv4::fill_checksum(&mut packet).unwrap();
        packet
    };
    let config = "Inject -> MarkIPHeader -> IPRewriter(pattern 1.2.3.4 5 - - 0 0) -> Collect(0);";
    let out = FlowId { saddr: 0x0102_0304, sport: 5, ..id };
    assert_eq!(send(config, [with_options(id)]).data(0), [with_options(out)]);
}
