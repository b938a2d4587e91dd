//! Packets for the tests of the family.

use proptest::prelude::*;
use std::net::Ipv4Addr;
use wire::ipv4::{self, Header};

/// A source.
pub const SRC: Ipv4Addr = Ipv4Addr::new(18, 26, 4, 1);
/// A destination.
pub const DST: Ipv4Addr = Ipv4Addr::new(10, 9, 8, 7);

/// A correct UDP packet with `payload` bytes of data.
pub fn udp(payload: usize) -> Vec<u8> {
    with_options(&[], payload)
}

/// The same with options, whose length must be a multiple of four.
pub fn with_options(options: &[u8], payload: usize) -> Vec<u8> {
    let header_len = ipv4::HEADER_LEN + options.len();
    let mut data = vec![0; header_len];
    data[ipv4::HEADER_LEN..].copy_from_slice(options);
    data.extend([0x13, 0x88, 0x13, 0x89, 0, 0, 0, 0]);
    data.extend((0..payload).map(|i| (i * 7 + i / 256) as u8));
    let len = data.len() as u16;
    data[header_len + 4..][..2].copy_from_slice(&(len - header_len as u16).to_be_bytes());
    let mut ip = Header::new_checked_mut(&mut data).unwrap();
    ip.set_version_and_header_len(header_len);
    ip.set_total_len(len);
    ip.set_id(0x4321);
    ip.set_ttl(64);
    ip.set_protocol(17);
    ip.set_src(SRC);
    ip.set_dst(DST);
    ipv4::fill_checksum(&mut data).unwrap();
    data
}

/// The packet after a change to its header, checksum corrected.
pub fn edited(mut data: Vec<u8>, edit: impl FnOnce(&mut Header<&mut [u8; ipv4::HEADER_LEN]>)) -> Vec<u8> {
    edit(&mut Header::new_checked_mut(&mut data).unwrap());
    ipv4::fill_checksum(&mut data).unwrap();
    data
}

/// A packet with other addresses.
pub fn with_addresses(data: Vec<u8>, src: Ipv4Addr, dst: Ipv4Addr) -> Vec<u8> {
    edited(data, |ip| {
        ip.set_src(src);
        ip.set_dst(dst);
    })
}

/// Random bytes, and IP packets with some of them overwritten or cut off.
pub fn hostile() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let noise = prop::collection::vec(any::<u8>(), 0..120);
    let options = prop::collection::vec(prop_oneof![any::<u8>(), 0u8..12, Just(7), Just(68), Just(131)], 40);
    let damage = prop::collection::vec((0usize..70, any::<u8>()), 0..3);
    let damaged = (options, 0usize..11, 0usize..60, damage, 0usize..40).prop_map(
        |(options, words, payload, damage, cut)| {
            let mut data = with_options(&options[..words.min(10) * 4], payload);
            data.truncate(data.len() - cut.saturating_sub(20));
            for (at, value) in damage {
                if let Some(byte) = data.get_mut(at) {
                    *byte = value;
                }
            }
            data
        },
    );
    prop::collection::vec(prop_oneof![1 => noise, 3 => damaged], 1..40)
}

/// The parts, from where to where, of what is cut at these places, each at a multiple of eight; shuffled.
pub fn cut(end: usize, places: &[prop::sample::Index], order: Vec<u32>) -> Vec<(usize, usize)> {
    let mut edges: Vec<usize> = places.iter().map(|place| place.index(end / 8) * 8).chain([0, end]).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut parts: Vec<_> = edges.windows(2).map(|edges| (edges[0], edges[1])).collect();
    let mut order = order.into_iter();
    parts.sort_by_cached_key(|_| order.next());
    parts
}
