//! Packets for the tests of the family.

use proptest::prelude::*;
use wire::ipv6::{HEADER_LEN, Header};

/// A source.
pub const SRC: &str = "2001:db8:1::1";
/// A destination.
pub const DST: &str = "2001:db8:2::2";

/// A correct UDP packet with `payload` bytes of data.
pub fn udp(payload: usize) -> Vec<u8> {
    let mut body = vec![0x13, 0x88, 0x13, 0x89, 0, 0, 0, 0];
    body.extend((0..payload).map(|i| i as u8));
    with_body(17, &body)
}

/// A packet with a next header and what follows the fixed header.
pub fn with_body(next_header: u8, body: &[u8]) -> Vec<u8> {
    let mut data = vec![0; HEADER_LEN];
    data.extend_from_slice(body);
    let mut ip = Header::new_checked_mut(&mut data).unwrap();
    ip.set_version_class_flow(0, 0);
    ip.set_payload_len(body.len() as u16);
    ip.set_next_header(next_header);
    ip.set_hop_limit(64);
    with_addresses(data, SRC, DST)
}

/// A packet with other addresses.
pub fn with_addresses(mut data: Vec<u8>, src: &str, dst: &str) -> Vec<u8> {
    let mut ip = Header::new_checked_mut(&mut data).unwrap();
    ip.set_src(src.parse().unwrap());
    ip.set_dst(dst.parse().unwrap());
    data
}

/// Random bytes, and IPv6 packets with some of them overwritten or cut off.
pub fn hostile() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let noise = prop::collection::vec(any::<u8>(), 0..120);
    let next = prop::sample::select(vec![0u8, 6, 17, 43, 44, 51, 58, 59, 60]);
    let body = prop::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(44), Just(58)], 0..60);
    let damage = prop::collection::vec((0usize..60, any::<u8>()), 0..3);
    let damaged = (next, body, damage, 0usize..80).prop_map(|(next, body, damage, cut)| {
        let mut data = with_body(next, &body);
        data.truncate(data.len() - cut.saturating_sub(50));
        for (at, value) in damage {
            if let Some(byte) = data.get_mut(at) {
                *byte = value;
            }
        }
        data
    });
    prop::collection::vec(prop_oneof![1 => noise, 3 => damaged], 1..40)
}
