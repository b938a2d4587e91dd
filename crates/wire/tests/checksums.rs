//! Checksums against a naive 16-bit loop.

use clique_wire::checksum::{self, Sum};
use clique_wire::{ipv4, tcp, udp};
use proptest::prelude::*;
use std::net::{Ipv4Addr, Ipv6Addr};

/// RFC 1071 as it reads: 16-bit words, the carry put back after each addition.
fn naive_sum(bytes: &[u8]) -> u16 {
    let mut sum = 0u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | pair.get(1).copied().map_or(0, u32::from);
        if sum > 0xffff {
            sum -= 0xffff;
        }
    }
    sum as u16
}

/// Bytes with many zeros and ones, where one's complement sums have two zeros.
fn bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![any::<u8>(), Just(0u8), Just(0xffu8)];
    prop_oneof![
        prop::collection::vec(byte, 0..max),
        prop::collection::vec(Just(0xffu8), 0..max),
        prop::collection::vec(Just(0u8), 0..max)
    ]
}

fn word() -> impl Strategy<Value = u16> {
    prop_oneof![any::<u16>(), Just(0u16), Just(0xffffu16), Just(1u16), Just(0xfffeu16)]
}

fn put(bytes: &mut [u8], at: usize, word: u16) {
    bytes[at..at + 2].copy_from_slice(&word.to_be_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_slice_sums_as_the_naive_loop(bytes in bytes(300), skip in 0usize..8) {
        let slice = bytes.get(skip..).unwrap_or(&[]);
        prop_assert_eq!(Sum::of(slice).fold(), naive_sum(slice));
        prop_assert_eq!(checksum::checksum(slice), !naive_sum(slice));
        prop_assert_eq!(checksum::verify(slice), naive_sum(slice) == 0xffff);
        if let Some(first) = slice.first_chunk() {
            prop_assert_eq!(Sum::of_20(first).fold(), naive_sum(first));
        }
    }

    /// A field that is left out counts as zero, whatever is in it; also where nothing else is.
    #[test]
    fn a_field_left_out(bytes in bytes(100), field in 0usize..50, value in word()) {
        let mut bytes = bytes;
        bytes.resize(bytes.len().max(20), 0);
        let field = (2 * field).min((bytes.len() - 2) & !1);
        let mut zeroed = bytes.clone();
        put(&mut zeroed, field, 0);
        put(&mut bytes, field, value);
        prop_assert_eq!(Sum::except(&bytes, field).fold(), naive_sum(&zeroed));
        let header = bytes.first_chunk().expect("20 bytes or more");
        prop_assert_eq!(Sum::of_20_except_10(header).fold(), Sum::except(header, 10).fold());
    }

    /// A UDP header made at once is one whose checksum was filled in.
    #[test]
    fn a_udp_header_made_at_once_is_as_one_filled_in(payload in bytes(100), ports: [u16; 2], src: u32, dst: u32) {
        let (src, dst) = (Ipv4Addr::from(src), Ipv4Addr::from(dst));
        let len = (udp::HEADER_LEN + payload.len()) as u16;
        let mut datagram = [&udp::header(ports, len, 0)[..], &payload].concat();
        udp::fill_checksum_v4(src, dst, &mut datagram).expect("a header");
        let header = udp::header_v4(src, dst, ports, len, Sum::of(&payload));
        prop_assert_eq!(&datagram[..udp::HEADER_LEN], header);
        let read = udp::Header::new(&header);
        prop_assert_eq!(([read.src_port(), read.dst_port()], read.len()), (ports, len));
    }

    #[test]
    fn pieces_add_up(bytes in bytes(200), cuts in prop::collection::vec(0usize..100, 0..4), a: u16, b: u32) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|c| (2 * c).min(bytes.len() & !1)).collect();
        cuts.sort_unstable();
        let (mut sum, mut from) = (Sum::ZERO.add_u16(a).add_u32(b), 0);
        for cut in cuts {
            sum = sum.add_bytes(&bytes[from..cut]);
            from = cut;
        }
        sum = sum.add_bytes(&bytes[from..]);
        let mut all = a.to_be_bytes().to_vec();
        all.extend(b.to_be_bytes());
        all.extend(&bytes);
        prop_assert_eq!(sum.fold(), naive_sum(&all));
    }

    /// The data keep one word that is never zero, as every header does (version, protocol).
    #[test]
    fn incremental_update_equals_recomputation(
        mut words in prop::collection::vec(word(), 5..20), fixed in 1u16.., at in 0usize..3, new in word(), new2 in word()
    ) {
        words[4] = fixed;
        let flat = |words: &[u16]| words.iter().flat_map(|w| w.to_be_bytes()).collect::<Vec<u8>>();
        let before = checksum::checksum(&flat(&words));
        let old = words[at];
        words[at] = new;
        let after = checksum::update_u16(before, old, new);
        prop_assert_eq!(after, checksum::checksum(&flat(&words)));

        let old2 = u32::from(words[at]) << 16 | u32::from(words[at + 1]);
        words[at] = new2;
        words[at + 1] = old;
        let new2 = u32::from(new2) << 16 | u32::from(old);
        prop_assert_eq!(checksum::update_u32(after, old2, new2), checksum::checksum(&flat(&words)));
    }

    #[test]
    fn ipv4_updates_keep_the_checksum_right(
        mut header: [u8; 20], src: [u8; 4], dst: [u8; 4], tos: u8, ttl in prop_oneof![1u8..=255, Just(1u8), Just(255u8)]
    ) {
        header[0] = 0x45;
        header[8] = ttl;
        let mut h = ipv4::Header::new(&mut header);
        h.fill_checksum();
        h.decrement_ttl();
        prop_assert_eq!(h.ttl(), ttl - 1);
        h.update_src(Ipv4Addr::from(src));
        h.update_dst(Ipv4Addr::from(dst));
        h.update_tos(tos);
        prop_assert_eq!(naive_sum(&header), 0xffff);
        let incremental = header;
        ipv4::Header::new(&mut header).fill_checksum();
        prop_assert_eq!(header, incremental);
    }

    #[test]
    fn transport_checksums_match_a_written_out_pseudo_header(
        data in bytes(200), src: [u8; 16], dst: [u8; 16], port in word()
    ) {
        let mut segment = vec![0; 20];
        segment.extend(&data);
        put(&mut segment, 0, port);
        let len = segment.len() as u16;
        let v4 = |array: [u8; 16]| Ipv4Addr::from(*array.first_chunk::<4>().unwrap());
        let pseudo4 = |protocol: u8| {
            let mut bytes = [&src[..4], &dst[..4], &[0, protocol, 0, 0]].concat();
            put(&mut bytes, 10, len);
            bytes
        };
        let pseudo6 = |protocol: u8| {
            let mut bytes = [&src[..], &dst[..], &[0, 0, 0, 0, 0, 0, 0, protocol]].concat();
            put(&mut bytes, 34, len);
            bytes
        };
        let sum = |pseudo: Vec<u8>, segment: &[u8]| naive_sum(&[&pseudo[..], segment].concat());
        let (s6, d6) = (Ipv6Addr::from(src), Ipv6Addr::from(dst));

        tcp::fill_checksum_v4(v4(src), v4(dst), &mut segment).unwrap();
        prop_assert_eq!(sum(pseudo4(6), &segment), 0xffff);
        prop_assert_eq!(tcp::verify_checksum_v4(v4(src), v4(dst), &segment), Ok(()));
        tcp::fill_checksum_v6(s6, d6, &mut segment).unwrap();
        prop_assert_eq!(sum(pseudo6(6), &segment), 0xffff);
        prop_assert_eq!(tcp::verify_checksum_v6(s6, d6, &segment), Ok(()));
        udp::fill_checksum_v4(v4(src), v4(dst), &mut segment).unwrap();
        prop_assert_eq!(sum(pseudo4(17), &segment), 0xffff);
        udp::fill_checksum_v6(s6, d6, &mut segment).unwrap();
        prop_assert_eq!(sum(pseudo6(17), &segment), 0xffff);
        prop_assert!(segment[6..8] != [0, 0]);
    }
}

/// RFC 1624 warns of the two zeros: every pair of extreme words, exhaustively.
#[test]
fn incremental_update_at_the_extremes() {
    let extremes = [0u16, 1, 2, 0x7fff, 0x8000, 0xfffe, 0xffff];
    for other in extremes {
        for old in extremes {
            for new in extremes {
                let data = |word: u16| [word.to_be_bytes(), other.to_be_bytes()].concat();
                if other == 0 && new == 0 {
                    continue; // all data zero: the documented exception
                }
                let before = checksum::checksum(&data(old));
                let after = checksum::update_u16(before, old, new);
                assert_eq!(after, checksum::checksum(&data(new)), "{other:#x}: {old:#x} -> {new:#x}");
            }
        }
    }
}

/// Long slices, beyond every block size, of the bytes that carry most.
#[test]
fn long_slices_of_ones() {
    let ones = vec![0xff; 70_000];
    for len in (0..200).chain([1_499, 1_500, 65_535, 65_536, 70_000]) {
        assert_eq!(Sum::of(&ones[..len]).fold(), naive_sum(&ones[..len]), "{len}");
    }
}
